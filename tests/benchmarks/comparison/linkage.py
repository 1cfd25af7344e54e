"""A linkage attack on a published table: who agrees with what the attacker knows of a victim?

The attacker knows all quasi-identifiers of each person of the original and takes the published rows that may
be this person's. It looks at published cells and hierarchy files only, and shares no code with the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache

from tests.benchmarks.comparison.labels import Attribute

Row = Mapping[str, str]


@dataclass(frozen=True)
class Linkage:
    """What the attacker reaches: shares of victims; ``guessed`` and ``certain`` are about the value.

    ``below``: from one candidate to k - 1. ``unique``: exactly one. ``guessed``: the expected share of right
    guesses, where the attacker takes the most frequent value of the candidates (of all published rows where
    nobody agrees). ``certain``: all candidates show one value.
    """

    victims: int
    below: float
    unique: float
    guessed: float
    certain: float

    def plain(self) -> dict[str, float]:
        """As JSON."""
        return asdict(self)


def chance(counts: Mapping[Hashable, int], value: Hashable) -> Fraction:
    """The probability that the most frequent value is this one; ties are broken at random."""
    most = max(counts.values(), default=0)
    tied = [one for one, count in counts.items() if count == most]
    return Fraction(value in tied, max(1, len(tied)))


def summed(
    victims: Sequence[tuple[Hashable, Hashable]],
    candidates: Callable[[Hashable], Mapping[Hashable, int]],
    overall: Mapping[Hashable, int],
    k: int,
) -> Linkage:
    """Count over victims, each what is known of them and the true value.

    ``candidates`` gives the values of the published rows that agree. Published rows without a value count
    under None, which is a value nobody has.
    """
    below = unique = certain = 0
    guessed = Fraction(0)
    for known, value in victims:
        counts = candidates(known)
        found = sum(counts.values())
        below += 0 < found < k
        unique += found == 1
        certain += found > 0 and len(counts) == 1 and None not in counts
        guessed += chance(counts or overall, value)
    shares = [float(Fraction(number) / max(1, len(victims))) for number in (below, unique, guessed, certain)]
    return Linkage(len(victims), *shares)


def link(
    published: Sequence[Row],
    original: Sequence[Row],
    attributes: Mapping[str, Attribute],
    sensitive: str,
    k: int,
) -> Linkage:
    """Attack every row of the original. Rows are sets of bits, so that a victim takes one AND a column."""
    agreeing = {name: _rows_by_leaf(published, name, own) for name, own in attributes.items()}
    by_value = _rows_by_label(published, sensitive)

    @cache
    def candidates(known: tuple[str, ...]) -> dict[str, int]:
        rows = (1 << len(published)) - 1
        for name, value in zip(attributes, known, strict=True):
            rows &= agreeing[name].get(value, 0)
        return {value: count for value, own in by_value.items() if (count := (rows & own).bit_count())}

    victims = [(tuple(row[name] for name in attributes), row[sensitive]) for row in original]
    return summed(victims, candidates, Counter(row[sensitive] for row in published), k)


def _rows_by_label(rows: Sequence[Row], name: str) -> dict[str, int]:
    """For each label of a column the rows that show it, as bits."""
    places: dict[str, bytearray] = {}
    for at, row in enumerate(rows):
        own = places.setdefault(row[name], bytearray(len(rows) // 8 + 1))
        own[at // 8] |= 1 << at % 8
    return {label: int.from_bytes(own, "little") for label, own in places.items()}


def _rows_by_leaf(rows: Sequence[Row], name: str, attribute: Attribute) -> dict[str, int]:
    found: dict[str, int] = {}
    for label, own in _rows_by_label(rows, name).items():
        for leaf in attribute.covered(label):
            found[leaf] = found.get(leaf, 0) | own
    return found
