"""(l,e)-diversity: at least l records, and no two of them with similar values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.number import plain
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.similarity import NodePath, components, is_transitive, least_distance
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    FrequencyCaps,
    NotNegative,
    PrivacyModel,
    finder,
    guess,
    require_domain,
    share_at_place,
)
from hierdata.privacy.counting import total_and_most
from hierdata.privacy.presence import ApartPresence, GroupPresence, Within, limit_persons


class LEDiversity(PrivacyModel):
    """Wherever a class shows values, it shows at least l, any two more than e apart, in at least l records.

    LE definition 3. The semantic distance of two values is half the path between them in the attribute's
    taxonomy (errata LE-1, LE-7), of any shape (LE-2). With ``repeats: forbid`` any two *records* are more
    than e apart, so no value occurs twice (LE-1). With ``allow`` any two *different* values are, and none has
    more than 1/l of those present, as LE formula 3 presumes. A vertex without values passes (erratum ML-7);
    if some values are missing, l of those present are required.

    Not monotone (LE-9): the union of two classes that satisfy it may show similar values.
    ``achieved_parameters`` gives l and, if two values can be compared, ``distance``, the least distance: the
    model holds for every smaller e.

    >>> domain = SensitiveDomain("$.a", ("flu", "cold", "rash"), paths=((0, 1, 2), (0, 1, 3), (0, 4, 5)))
    >>> bound = LEDiversity(l=2, e=1).bind(domain)
    >>> bound.holds(ClassView(2, {0: 1, 2: 1})), bound.holds(ClassView(2, {0: 1, 1: 1}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min", "distance": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "l": "the least number of values that are pairwise more than e apart",
        "e": "the semantic distance up to which values count as similar: half the edges between "
        "them in the taxonomy",
        "distance": "the least semantic distance of two values at a vertex of a class",
    }
    limitation: ClassVar[str] = (
        "l-e-diversity keeps values apart that are near each other in the policy's taxonomy, and no "
        "others. A single value can still be guessed with a probability of up to 1/l."
    )

    kind: Literal["l-e-diversity"] = "l-e-diversity"
    l: Count  # noqa: E741  (the papers' letter)
    e: NotNegative
    repeats: Literal["forbid", "allow"] = "forbid"

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a taxonomy."""
        domain = require_domain(domain)
        if domain.paths is None:
            raise PolicyError(
                "l-e-diversity needs 'taxonomy' on this sensitive attribute: add it, or let the model's `on` "
                "name others",
                path=domain.path,
            )
        return (_Once if self.repeats == "forbid" else _Often)(self.l, self.e, domain.paths)

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint by component of similar values; with ``forbid`` by pairs of records."""
        bound = self.bind(domain)
        paths = domain.paths or ()
        if self.repeats == "forbid":
            return ApartPresence(self.e, paths, bound, within, tied)
        groups = components(paths, self.e)
        count = max(groups, default=-1) + 1
        bound.caps = FrequencyCaps(groups, (Fraction(1, self.l),) * count)
        return GroupPresence("l", 0, bound, within, tied, whole=True)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        if self.repeats == "forbid":
            return (
                f"{finder(apart)} sees at least {self.l} different sensitive values there, or none. Any two "
                f"of them are more than {plain(self.e)} apart in the taxonomy."
            )
        return (
            f"{guess('sensitive value', Fraction(1, self.l), apart)} Any two different ones there are more "
            f"than {plain(self.e)} apart in the taxonomy. {share_at_place('sensitive value')}"
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        if self.repeats == "forbid":
            return (
                f"{finder(apart)} sees values of at least {self.l} people there, or none. Values of two "
                f"people are more than {plain(self.e)} apart in the taxonomy."
            )
        limited = limit_persons(Fraction(1, self.l), "have values of one group", within, tied, apart)
        return f"{limited} A group is values linked by steps of at most {plain(self.e)} in the taxonomy."


class _Apart(Constraint):
    closed_under_union = closed_under_pooling = False

    def __init__(self, least: int, e: Fraction, paths: tuple[NodePath, ...]) -> None:
        self.min_class_size = least
        self._e = e
        self._paths = paths
        self._bucket_of = components(paths, e)

    def _distance(self, codes: list[int]) -> Fraction | None:
        return least_distance([self._paths[code] for code in codes])

    def _are_apart(self, codes: list[int]) -> bool:
        """Return whether all values are more than e apart; only within a bucket this is measured (LE-2)."""
        if len({self._bucket_of[code] for code in codes}) == len(codes):
            return True
        least = self._distance(codes)
        return least is None or least > self._e

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        codes = _present(counts)
        return len(codes), *total_and_most(counts), self._distance(codes)


class _Once(_Apart):
    """Any two records are apart: a bucket occurs once. If buckets chain values, the caps ask for too much."""

    def __init__(self, least: int, e: Fraction, paths: tuple[NodePath, ...]) -> None:
        super().__init__(least, e, paths)
        buckets = max(self._bucket_of, default=-1) + 1
        exact = is_transitive(paths, e)
        self.caps = FrequencyCaps(self._bucket_of, (Fraction(1),) * buckets, most=1, necessary=exact)

    def holds(self, view: ClassView) -> bool:
        codes = _present(view.counts)
        if not codes:
            return True
        once = view.present == len(codes) >= self.min_class_size <= view.records
        return once and self._are_apart(codes)

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        codes = _present(view.counts)
        if not codes:
            return {}
        reached = {"l": Fraction(min(view.present, view.records))}
        distance = self._distance(codes) if view.present == len(codes) else Fraction(0)
        return reached if distance is None else reached | {"distance": distance}


class _Often(_Apart):
    """Any two different values are apart: each has a share of at most 1/l."""

    def __init__(self, least: int, e: Fraction, paths: tuple[NodePath, ...]) -> None:
        super().__init__(least, e, paths)
        groups = self._bucket_of if is_transitive(paths, e) else tuple(range(len(paths)))
        count = max(groups, default=-1) + 1
        alone = max(self._bucket_of, default=-1) + 1 == len(paths)
        self.caps = FrequencyCaps(groups, (Fraction(1, least),) * count, sufficient=alone)

    def holds(self, view: ClassView) -> bool:
        total, most = total_and_most(view.counts)
        if not total:
            return True
        enough = most * self.min_class_size <= total and self.min_class_size <= view.records
        return enough and self._are_apart(_present(view.counts))

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        total, most = total_and_most(view.counts)
        if not total:
            return {}
        reached = {"l": Fraction(min(total // most, view.records))}
        distance = self._distance(_present(view.counts))
        return reached if distance is None else reached | {"distance": distance}


def _present(counts: Mapping[int, int]) -> list[int]:
    return [code for code, count in counts.items() if count]
