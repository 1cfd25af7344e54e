"""The slow, obvious twin of the models that compare distributions, from the papers' words, in fractions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

Distribution = Mapping[Hashable, Fraction]


def shares(values: Sequence[Hashable]) -> dict[Hashable, Fraction]:
    """How often each value occurs among all."""
    return {value: Fraction(values.count(value), len(values)) for value in values}


def difference(p: Distribution, q: Distribution) -> dict[Hashable, Fraction]:
    return {value: p.get(value, Fraction(0)) - q.get(value, Fraction(0)) for value in {*p, *q}}


# Earth mover's distances (Li et al., ICDE 2007, section 4)


def equal(p: Distribution, q: Distribution) -> Fraction:
    """What one has too much of goes anywhere, at distance 1."""
    return sum((extra for extra in difference(p, q).values() if extra > 0), start=Fraction(0))


def ordered(p: Distribution, q: Distribution, numbers: Sequence[Hashable]) -> Fraction:
    """The extras r are handed on from each number to the next, |r1| + |r1 + r2| + ..., over m - 1."""
    extra = difference(p, q)
    handed, way = Fraction(0), Fraction(0)
    for number in sorted(numbers):  # type: ignore[type-var]
        handed += extra.get(number, Fraction(0))
        way += abs(handed)
    return way / max(1, len(numbers) - 1)


@dataclass(frozen=True)
class Node:
    """A node of a taxonomy; what stands at an inner node is a leaf named by it, below it."""

    name: Hashable
    children: tuple[Node, ...] = ()

    @property
    def height(self) -> int:
        """The longest way down to a leaf (erratum TC-3)."""
        return max((1 + child.height for child in self.children), default=0)

    def find(self, name: Hashable) -> Node:
        """The node of a name."""
        return next(node for node in self.nodes() if node.name == name)

    def nodes(self) -> list[Node]:
        """This node and all below."""
        return [self, *(node for child in self.children for node in child.nodes())]


@dataclass(frozen=True)
class Flow:
    """What happens at a node: what it has too much of, what its children send and get, what that costs."""

    extra: Fraction
    pos_e: Fraction
    neg_e: Fraction
    cost: Fraction


def flow(node: Node, p: Distribution, q: Distribution, root: int) -> Flow:
    """extra, pos_e, neg_e, and cost = height / height of the root * min(pos_e, neg_e)."""
    own = p.get(node.name, Fraction(0)) - q.get(node.name, Fraction(0))
    if not node.children:
        return Flow(own, Fraction(0), Fraction(0), Fraction(0))
    extras = [flow(child, p, q, root).extra for child in node.children] + [own]
    pos = sum((extra for extra in extras if extra > 0), start=Fraction(0))
    neg = -sum((extra for extra in extras if extra < 0), start=Fraction(0))
    return Flow(sum(extras, start=Fraction(0)), pos, neg, Fraction(node.height, root) * min(pos, neg))


def hierarchical(p: Distribution, q: Distribution, tree: Node) -> Fraction:
    """The costs of all inner nodes."""
    return sum((flow(node, p, q, tree.height).cost for node in tree.nodes()), start=Fraction(0))


def ground(tree: Node, a: Hashable, b: Hashable) -> Fraction:
    """height(lowest common ancestor) / height(root); what stands at an inner node is a leaf below it."""
    if a == b:
        return Fraction(0)
    above = [node for node in tree.nodes() if {a, b} <= {below.name for below in node.nodes()}]
    return Fraction(min(node.height for node in above), tree.height)


Distance = Callable[[Distribution, Distribution], Fraction]


def t_of(values: Sequence[Hashable], original: Sequence[Hashable], distance: Distance) -> Fraction:
    """The distance of a class from the original; 1 where it shows what the original lacks."""
    if not values:
        return Fraction(0)
    if not set(values) <= set(original):
        return Fraction(1)
    return distance(shares(values), shares(original))


# Likeness and disclosure, with logarithms of a hundred digits


def _ln(number: Fraction) -> Fraction:
    with localcontext(prec=100):
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def _gains(values: Sequence[Hashable], original: Sequence[Hashable]) -> list[tuple[Fraction, Fraction]]:
    """p and q of every value that is there."""
    known = shares(original)
    return [(known.get(value, Fraction(0)), q) for value, q in shares(values).items()]


def basic_beta(values: Sequence[Hashable], original: Sequence[Hashable], beta: Fraction) -> bool:
    """(q - p) / p <= beta for every value with q > p."""
    return all(p and (q - p) / p <= beta for p, q in _gains(values, original) if q > p)


def enhanced_beta(values: Sequence[Hashable], original: Sequence[Hashable], beta: Fraction) -> bool:
    """(q - p) / p <= min(beta, -ln p) for every value with q > p."""
    return all(p and (q - p) / p <= min(beta, -_ln(p)) for p, q in _gains(values, original) if q > p)


def delta_disclosure(
    values: Sequence[Hashable], original: Sequence[Hashable], delta: Fraction, absent: str
) -> bool:
    """|ln(q / p)| < delta for every value of the original; an absent one has ln 0, or is not looked at."""
    if not values:
        return True
    if not set(values) <= set(original):
        return False
    here = shares(values)
    for value, p in shares(original).items():
        if value not in here:
            if absent == "refuse":
                return False
        elif abs(_ln(here[value] / p)) >= delta:
            return False
    return True


def p_sensitive(records: int, values: Sequence[Hashable], p: int, k: int) -> bool:
    """k records, and p different values among the values of at least p records."""
    return records >= k and (not values or (len(set(values)) >= p and records >= p))


# Populations


def fits(row: Mapping[str, Hashable], shown: Mapping[str, Callable[[Hashable], bool]]) -> bool:
    """Whether every published value stands for the row's."""
    return all(stands_for(row[column]) for column, stands_for in shown.items())


def k_map(population: int, k: int) -> bool:
    return population >= k


def delta_presence(records: int, population: int, least: Fraction, most: Fraction) -> bool:
    """The chance that one of the people who fit is in the collection lies between the bounds."""
    return population > 0 and least * population <= records <= most * population
