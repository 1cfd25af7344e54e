"""t-closeness: the values of a class are distributed almost as in the original collection."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import ClassVar, Literal, Protocol

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import PolicyError
from hierdata.privacy.base import (
    FOREIGN,
    ClassView,
    Closeness,
    Constraint,
    FrequencyCaps,
    PrivacyModel,
    Share,
    require_domain,
)
from hierdata.privacy.reference import require_original

_WORK = 200_000
"""Limit on the values inspected in the search for the least class size: a few milliseconds."""


class TCloseness(PrivacyModel):
    """The earth mover's distance from the original distribution is at most t (Li et al., ICDE 2007, def. 2).

    The values present at a vertex of a class are compared with those of the original collection, including
    suppressed records. ``distance`` is the ground distance of two different values, 0..1:

    - ``equal``: 1. The distance of the distributions is half the sum of |q - p|.
    - ``ordered``: |i - j| / (m - 1) for the i-th and j-th of the m different numbers of the original.
    - ``hierarchical``: height(lowest common ancestor) / height(root). A node's height is the length of the
      longest path down to a leaf of the whole taxonomy, whether or not its values occur (errata TC-1, TC-3).

    All three are sums of weighted |q(S) - p(S)| over sets S of values, so integers decide. A class with a
    value that the original lacks has distance 1. ``achieved_parameters`` gives the distance.

    >>> from hierdata.privacy.base import ClassView
    >>> domain = SensitiveDomain("$.a", (1, 2, 3), reference=(1, 1, 1))
    >>> [TCloseness(t="1/3", distance=by).bind(domain).achieved_parameters(ClassView(2, {0: 1, 2: 1}))["t"]
    ...  for by in ("equal", "ordered")]
    [Fraction(1, 3), Fraction(1, 6)]
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"t": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "t": "the largest distance of a class's sensitive values from those of the whole collection, 0 to 1",
    }

    kind: Literal["t-closeness"] = "t-closeness"
    t: Share
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute.

        Raises PolicyError if the domain lacks the reference, or the numbers or taxonomy of the distance.
        """
        domain = require_domain(domain)
        reference = require_original(domain, self.kind)
        ground: _Moved
        if self.distance == "equal":
            ground = _equal(reference)
        elif self.distance == "ordered":
            ground = _Line(domain, reference)
        else:
            ground = _hierarchical(domain, reference)
        return _Closeness(self.t, reference, ground)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            "The sensitive values of a class are distributed as in the whole collection, up to an earth "
            f"mover's distance of {float(self.t):g} (0 equal, 1 as far as can be; {self.distance} distance)."
        )


class _Moved(Protocol):
    """The mass that must be moved to turn one distribution into the other.

    ``alone[code]`` is a positive lower bound of the distance from the value to any other.
    """

    alone: Sequence[Fraction]
    scale: int

    def closeness(self, bound: Fraction) -> Closeness:
        """Return the distance as weighted sets of values."""
        ...

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the distance times ``scale``, the number of values present, and that of the original."""
        ...


class _Closeness(Constraint):
    # The distance is convex, and a union's shares are a mean of the classes' shares.
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, t: Fraction, reference: tuple[int, ...], ground: _Moved) -> None:
        self._t = t
        self._reference = reference
        self._total = sum(reference)
        self._ground = ground
        total = max(1, self._total)
        # The excess of a value must move at least to the nearest other value.
        shares = tuple(
            min(Fraction(1), Fraction(count, total) + t / ground.alone[code])
            if count or t == 1
            else Fraction(0)
            for code, count in enumerate(reference)
        )
        if any(share < 1 for share in shares):
            self.caps = FrequencyCaps(tuple(range(len(shares))), shares, sufficient=False)
        if t < 1 and self._total:
            self.closeness = ground.closeness(t)
        slack = max((t / ground.alone[code] for code, count in enumerate(reference) if count), default=t)
        self.min_class_size = _least_size([count for count in reference if count], slack)

    def _distance(self, view: ClassView) -> tuple[int, int]:
        """Return the distance as (numerator, denominator)."""
        present = view.present
        if not present:
            return 0, 1
        if any(count and not self._reference[code] for code, count in view.counts.items()):
            return 1, 1
        return self._ground.mass_moved(view.counts, present), self._ground.scale * present * self._total

    def holds(self, view: ClassView) -> bool:
        top, bottom = self._distance(view)
        return top * self._t.denominator <= self._t.numerator * bottom

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {"t": Fraction(*self._distance(view))} if view.present else {}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return tuple(sorted(counts.items()))


def _least_size(reference: Sequence[int], slack: Fraction) -> int:
    """Return a lower bound on the size of a class within ``slack`` of the reference by the equal distance.

    Different values have a ground distance of at least a, so t-closeness by any distance implies t / a by the
    equal one. There, the best match of n values has floor(n p) of each value, and one more of those with the
    largest remainders. With many values the search ends early: then only smaller sizes are excluded.
    """
    total = sum(reference)
    size = 1
    for size in range(1, 2 + _WORK // max(1, len(reference))):
        whole = sum(count * size // total for count in reference)
        rests = sorted((count * size % total for count in reference), reverse=True)[: size - whole]
        unmatched = size * total - whole * total - sum(rests)
        if unmatched * slack.denominator <= slack.numerator * size * total:
            break
    return size


class _Sets:
    """Sets of values, any two nested or disjoint: ``sets[code]`` are those that contain the value.

    The distance is the sum of ``weights[s]`` |q(s) - p(s)| / ``scale`` over all sets s.
    """

    def __init__(
        self,
        sets: Sequence[tuple[int, ...]],
        weights: Sequence[int],
        scale: int,
        alone: Sequence[Fraction],
        reference: Sequence[int],
    ) -> None:
        self.scale = scale
        self.alone = alone
        self._sets = sets
        self._weights = weights
        self._reference = reference
        self._total = sum(reference)
        self._expected = [0] * len(weights)
        for own, count in zip(sets, reference, strict=True):
            for held in own:
                self._expected[held] += count
        self._untouched = sum(weight * count for weight, count in zip(weights, self._expected, strict=True))

    def closeness(self, bound: Fraction) -> Closeness:
        """Return the sets, including those that contain no value of the original."""
        parent = [-1] * len(self._weights)
        for own in self._sets:
            for above, held in pairwise(own):
                parent[held] = above
        return Closeness(
            tuple(
                FOREIGN if not count else own[-1] if own else -1
                for own, count in zip(self._sets, self._reference, strict=True)
            ),
            tuple(parent),
            tuple(self._weights),
            tuple(self._expected),
            self._total,
            self.scale,
            bound,
        )

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the scaled distance; a set without values of the class contributes its expected share."""
        found: dict[int, int] = {}
        for code, count in counts.items():
            for held in self._sets[code]:
                found[held] = found.get(held, 0) + count
        moved = self._untouched * present
        for held, count in found.items():
            expected = self._expected[held] * present
            moved += self._weights[held] * (abs(count * self._total - expected) - expected)
        return moved


def _equal(reference: tuple[int, ...]) -> _Sets:
    """Half the sum of |q - p| over single values."""
    codes = range(len(reference))
    return _Sets([(code,) for code in codes], [1] * len(codes), 2, [Fraction(1)] * len(codes), reference)


def _hierarchical(domain: SensitiveDomain, reference: tuple[int, ...]) -> _Sets:
    """Half the sum of |q - p| (height of the parent - own height) / height of the root, over all nodes.

    This equals the recursion of Li et al. A value at an inner node counts as one more leaf below it: its
    distance to a value under that node is that between such values of different children.
    """
    if domain.paths is None or domain.heights is None:
        raise PolicyError(
            "t-closeness by hierarchical distance needs 'taxonomy' on this sensitive attribute: add it, or "
            "let the model's `on` name others",
            path=domain.path,
        )
    heights = domain.heights
    nodes = len(heights)
    root = max(1, heights[0])
    weights = [0] * (2 * nodes)  # the second half: values at inner nodes
    sets: list[tuple[int, ...]] = []
    alone: list[Fraction] = []
    for path in domain.paths:
        for above, node in pairwise(path):
            weights[node] = heights[above] - heights[node]
        own = path[-1]
        weights[nodes + own] = heights[own]
        sets.append((*path[1:], nodes + own) if heights[own] else path[1:])
        alone.append(Fraction(heights[own] or heights[path[-2]], root))
    return _Sets(sets, weights, 2 * root, alone, reference)


class _Line:
    """Ordered values: the sum of |Q - P| / (m - 1) over the cumulated shares Q and P up to each value.

    Between two values of the class Q is constant and P increases, so prefix sums of P suffice: a class of s
    values costs O(s log m).
    """

    def __init__(self, domain: SensitiveDomain, reference: tuple[int, ...]) -> None:
        if domain.numbers is None:
            raise PolicyError(
                "t-closeness by ordered distance needs numbers: state 'number: true' if text spells them",
                path=domain.path,
            )
        occurring = [code for code, count in enumerate(reference) if count]
        occurring.sort(key=domain.numbers.__getitem__)
        self._rank = {code: rank for rank, code in enumerate(occurring)}
        self._total = sum(reference)
        self._below = list(accumulate(reference[code] for code in occurring))[:-1]
        self._sums = list(accumulate(self._below, initial=0))
        self.scale = max(1, len(occurring) - 1)
        self.alone: Sequence[Fraction] = [Fraction(1, self.scale)] * len(reference)

    def closeness(self, bound: Fraction) -> Closeness:
        """Return a chain of sets: for each value but the last, the values up to it."""
        last = len(self._below)
        return Closeness(
            tuple(
                FOREIGN if code not in self._rank else self._rank[code] if self._rank[code] < last else -1
                for code in range(len(self.alone))
            ),
            tuple(at + 1 if at + 1 < last else -1 for at in range(last)),
            (1,) * last,
            tuple(self._below),
            self._total,
            self.scale,
            bound,
        )

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the scaled distance: between two values of the class, first P is the smaller, then Q."""
        sums, total = self._sums, self._total
        moved = start = reached = 0
        ranks = sorted((self._rank[code], count) for code, count in counts.items() if count)
        for rank, count in (*ranks, (len(self._below), 0)):
            turn = bisect_right(self._below, reached * total // present, start, rank)
            less, more = sums[turn] - sums[start], sums[rank] - sums[turn]
            moved += reached * total * (turn - start - (rank - turn)) + present * (more - less)
            start = rank
            reached += count
        return moved
