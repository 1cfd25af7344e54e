"""t-closeness: the values of a class are distributed almost as in the original collection."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    EXACTLY,
    ClassView,
    Constraint,
    FrequencyCaps,
    PrivacyModel,
    Share,
    finder,
    require_domain,
)
from hierdata.privacy.earth_mover import (
    Distance,
    MovedMass,
    OrderedMasses,
    equal_masses,
    hierarchical_masses,
    suitable_distance,
)
from hierdata.privacy.grouping import GroupingModel, ValueGroups
from hierdata.privacy.reference import require_original

_WORK = 200_000
"""Limit on the values inspected in the search for the least class size: a few milliseconds."""


class TCloseness(GroupingModel):
    """The earth mover's distance from the original distribution is at most t (Li et al., ICDE 2007, def. 2).

    The values present at a vertex of a class are compared with those of the original collection, including
    suppressed records. ``distance`` is the ground distance of two different values, 0..1:

    - ``equal``: 1. The distance of the distributions is half the sum of |q - p|.
    - ``ordered``: |i - j| / (m - 1) for the i-th and j-th of the m different numbers of the original.
    - ``hierarchical``: height(lowest common ancestor) / height(root). A node's height is the length of the
      longest path down to a leaf of the whole taxonomy, whether or not its values occur (errata TC-1, TC-3).

    Without ``distance`` each attribute has the one that suits it: hierarchical with a taxonomy, ordered if
    all values of the original are numbers, equal if none is. With ``by`` the groups of values are compared,
    and values of one group have the distance 0:
    a weaker promise. Bins of numbers and levels are ordered; blocks at a depth of
    the taxonomy have the hierarchical distance of their nodes; of all others only ``equal`` is defined.

    All three are sums of weighted |q(S) - p(S)| over sets S of values, so integers decide. A class with a
    value that the original lacks has distance 1. ``achieved_parameters`` gives the distance.

    >>> from hierdata.privacy.base import ClassView
    >>> domain = SensitiveDomain("$.a", (1, 2, 3), reference=(1, 1, 1))
    >>> [TCloseness(t="1/3", distance=by).bind(domain).achieved_parameters(ClassView(2, {0: 1, 2: 1}))["t"]
    ...  for by in ("equal", "ordered")]
    [Fraction(1, 3), Fraction(1, 6)]
    >>> TCloseness(t="1/3").resolve(domain).distance
    'ordered'
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"t": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "t": "the largest distance of a class's sensitive values from those of the whole collection, 0 to 1",
    }

    kind: Literal["t-closeness"] = "t-closeness"
    t: Share
    distance: Distance | None = Field(
        default=None,
        description="distance of two values; by default hierarchical where the attribute has a taxonomy, "
        "ordered for numbers, else equal",
    )

    @model_validator(mode="after")
    def _suits_groups(self) -> TCloseness:
        if self.distance not in (None, "equal", self._distance_of_groups or self.distance):
            raise ValueError(
                f"{self.distance} distance does not suit these groups of values: bins and levels are "
                "ordered, the blocks of a depth are hierarchical, all groups may have distance: equal"
            )
        return self

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute.

        Raises PolicyError if the domain lacks the reference, or the numbers or taxonomy of the distance.
        """
        domain = require_domain(domain)
        require_original(domain, self.kind)
        groups = self.groups(domain)
        compared = self._compare_groups(domain, groups)
        reference = require_original(compared, self.kind)
        distance = self._distance_at(domain)
        masses: MovedMass
        if distance == "ordered":
            masses = OrderedMasses(compared, reference)
        elif distance == "hierarchical":
            masses = hierarchical_masses(compared, reference)
        else:
            masses = equal_masses(reference)
        return groups.wrap_constraint(_Closeness(self.t, reference, masses))

    def resolve(self, domain: SensitiveDomain) -> PrivacyModel:
        """State the distance that one attribute has. Raises PolicyError if none suits it."""
        return self.model_copy(update={"distance": self._distance_at(domain)})

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        noun = "sensitive values" if self.by == "value" else self.count_noun(many=True)
        stated = self.distance or self._distance_of_groups
        distance = f"{stated} distance"
        if stated is None:
            distance = "hierarchical distance with a taxonomy, ordered for numbers, else equal"
        return (
            f"{finder(apart)} sees {noun} there that are spread nearly as in the whole collection. The "
            f"difference is at most {float(self.t):g} on a scale from 0 (equal) to 1. {EXACTLY}it is the "
            f"earth mover's distance of the two ({distance})."
        )

    @property
    def _distance_of_groups(self) -> Distance | None:
        """The distance that suits groups of values; None if single values are compared."""
        if self.by == "value":
            return None
        if self.by == "level" or (self.partition is not None and self.partition.is_ordered):
            return "ordered"
        return "hierarchical" if self.partition is not None and self.partition.depth else "equal"

    def _distance_at(self, domain: SensitiveDomain) -> Distance | None:
        """Return the distance of an attribute, None without values. Raises PolicyError if none suits."""
        return self.distance or self._distance_of_groups or suitable_distance(domain)

    def _compare_groups(self, domain: SensitiveDomain, groups: ValueGroups) -> SensitiveDomain:
        """Return the domain of what is compared: groups of values, numbers if these have an order."""
        if groups.of_code is None:
            return domain
        counts = [0] * groups.count
        for group, count in zip(groups.of_code, domain.reference or (), strict=True):
            counts[group] += count
        compared = SensitiveDomain(domain.path, tuple(range(groups.count)), reference=tuple(counts))
        if self.partition is None or self.partition.depth is None or domain.paths is None:
            return compared
        end = self.partition.depth + 1
        paths = {group: path[:end] for group, path in zip(groups.of_code, domain.paths, strict=True)}
        return replace(
            compared, paths=tuple(paths[group] for group in range(groups.count)), heights=domain.heights
        )


class _Closeness(Constraint):
    # The distance is convex, and a union's shares are a mean of the classes' shares.
    closed_under_union = closed_under_pooling = True

    def __init__(self, t: Fraction, reference: tuple[int, ...], masses: MovedMass) -> None:
        self._t = t
        self._reference = reference
        self._total = sum(reference)
        self._masses = masses
        total = max(1, self._total)
        # The excess of a value must move at least to the nearest other value.
        shares = tuple(
            min(Fraction(1), Fraction(count, total) + t / masses.alone[code])
            if count or t == 1
            else Fraction(0)
            for code, count in enumerate(reference)
        )
        if any(share < 1 for share in shares):
            self.caps = FrequencyCaps(tuple(range(len(shares))), shares, sufficient=False)
        if t < 1 and self._total:
            self.closeness = masses.closeness(t)
        slack = max((t / masses.alone[code] for code, count in enumerate(reference) if count), default=t)
        self.min_class_size = _least_size([count for count in reference if count], slack)

    def _distance(self, view: ClassView) -> tuple[int, int]:
        """Return the distance as (numerator, denominator)."""
        present = view.present
        if not present:
            return 0, 1
        if any(count and not self._reference[code] for code, count in view.counts.items()):
            return 1, 1
        return self._masses.mass_moved(view.counts, present), self._masses.scale * present * self._total

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
