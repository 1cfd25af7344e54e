"""The contract of privacy models: consistent answers on all small multisets of sensitive values.

A model that limits presence is also asked what it says of records by the sets of values that they show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Literal, TypeAlias

from hierdata.domains.sensitive import SensitiveDomain, heights_in, path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.privacy.base import FOREIGN, ClassView, Closeness, Constraint, PrivacyModel, SensitiveReading
from hierdata.testing.answers import check_answers, check_caps, check_constraint
from hierdata.testing.contract import check_parameters, require, require_sentence

Shown: TypeAlias = tuple[frozenset[int], ...]
"""The set of values that each record of a class shows at a place."""
_WITHIN: tuple[Literal["place", "record"], ...] = ("place", "record")
_CODES = 3
_RECORDS = 3
VALUES = ("1", "2", "4", "9")
_TREE = Taxonomy(tree={"*": {"low": ["1", "2"], "4": None, "high": ["9"]}}).compile({}, Path())
DOMAIN = SensitiveDomain(
    "$.a",
    (1, 2, 4, 9),
    levels=(1, 2, 2, 3),
    level_count=3,
    number=True,
    paths=tuple(path_in(_TREE, value) for value in VALUES),
    reference=(4, 3, 2, 1),
    heights=heights_in(_TREE),
)
"""Four numbers, with levels, a taxonomy and the count of each in the original."""
_MOST = 3


def check_presence(model: PrivacyModel, domain: SensitiveDomain) -> None:
    """Check what a model says of presence, on all classes of up to three records and three values."""
    if not model.limits_presence:
        _check_refusal(model, domain)
        return
    classes = list(_classes(min(_CODES, len(domain.values))))
    for within, tied in product(_WITHIN, (True, False)):
        constraint = model.bind_presence(domain, within, tied=tied)
        _check_presence_words(model, constraint, within, tied)
        views = [view_of(shown, tied) for shown in classes]
        for view in views:
            _check_view(model, constraint, domain, within, tied, view)
        _check_closures(model, constraint, classes, tied)
        if tied:
            _check_ties(model, constraint, classes)


def view_of(shown: Shown, tied: bool = True) -> ClassView:
    """Return a class of records that show these sets."""
    counts = Counter(code for codes in shown for code in codes)
    return ClassView(len(shown), dict(counts), sets=Counter(filter(None, shown)) if tied else None)


def _classes(codes: int) -> Iterator[Shown]:
    sets = [frozenset(chosen) for size in range(codes + 1) for chosen in combinations(range(codes), size)]
    for records in range(1, _RECORDS + 1):
        yield from combinations_with_replacement(sets, records)


def _check_refusal(model: PrivacyModel, domain: SensitiveDomain) -> None:
    try:
        model.bind_presence(domain)
    except TypeError:
        return
    require(False, f"{type(model).__name__}.bind_presence must raise TypeError, or limits_presence be True")


def _check_presence_words(
    model: PrivacyModel, constraint: Constraint, within: Literal["place", "record"], tied: bool
) -> None:
    name = type(model).__name__
    for apart in (False, True):
        said = model.promise_presence(within, apart=apart, tied=tied)
        require_sentence(said, f"promise_presence of {name}")
    require(
        constraint.reading == SensitiveReading("presence", within),
        f"the reading of what bind_presence of {name} returns must be presence within {within}",
    )
    check_constraint(f"{name} on presence", constraint)


def _check_view(
    model: PrivacyModel,
    constraint: Constraint,
    domain: SensitiveDomain,
    within: Literal["place", "record"],
    tied: bool,
    view: ClassView,
) -> None:
    check_answers(model, constraint, view, lambda other: other.bind_presence(domain, within, tied=tied))
    caps = constraint.caps
    if caps is None or not tied or view.present != sum(view.record_sets.values()):
        return
    check_caps(f"{type(model).__name__} on presence", caps, view.counts, constraint.holds(view))


def _check_closures(model: PrivacyModel, constraint: Constraint, classes: list[Shown], tied: bool) -> None:
    good = [shown for shown in classes if constraint.holds(view_of(shown, tied))]
    name = type(model).__name__
    for shown, other in combinations_with_replacement(good, 2):
        require(
            not constraint.closed_under_union or constraint.holds(view_of(shown + other, tied)),
            f"{name} on presence is declared closed under unions, but does not hold for a class that shows "
            f"{_spell(shown)} and one that shows {_spell(other)} together",
        )
        if not constraint.closed_under_pooling or len(shown) != len(other):
            continue
        for matched in set(permutations(other)):
            pooled = tuple(a | b for a, b in zip(shown, matched, strict=True))
            require(
                constraint.holds(view_of(pooled, tied)),
                f"{name} on presence is declared closed under pooling, but does not hold where records that "
                f"show {_spell(shown)} show {_spell(matched)} at another place",
            )


def _check_ties(model: PrivacyModel, constraint: Constraint, classes: list[Shown]) -> None:
    """Check that a record counts once however often it shows a value."""
    name = type(model).__name__
    for shown in classes:
        view = view_of(shown)
        least = min(view.counts, default=None)
        counts = {code: n + 3 * (code == least) for code, n in view.counts.items()}
        often = ClassView(view.records, counts, sets=view.sets)
        answer = constraint.holds(view), constraint.achieved_parameters(view)
        require(
            answer == (constraint.holds(often), constraint.achieved_parameters(often)),
            f"{name} on presence must count each record once, however often it shows a value",
        )


def _spell(shown: Shown) -> str:
    return ", ".join(str(sorted(codes)) for codes in shown)


def check_model(model: PrivacyModel, domain: SensitiveDomain = DOMAIN) -> None:
    """Check a privacy model against its contract, on all classes with at most three of each domain value.

    ``domain`` should have at most four values. Pass one if the model cannot bind to the default: the values
    1, 2, 4 and 9 with levels, a taxonomy and counts in the original. Raises ContractError.
    """
    name = type(model).__name__
    check_parameters(model)
    _check_words(model)
    values = domain if model.per_attribute else None
    constraint = model.bind(values)
    if model.per_attribute:
        _check_needs_domain(model)
    check_constraint(name, constraint)
    multisets = _multisets(len(domain.values))
    for counts in multisets:
        for view in _views(model, counts):
            check_answers(model, constraint, view, lambda other: other.bind(values))
    _check_summaries(name, model, constraint, multisets)
    _check_forms(name, constraint, multisets)
    if constraint.closed_under_union or constraint.closed_under_pooling:
        _check_pairs(name, model, constraint, multisets)
    if model.per_attribute:
        check_presence(model, domain)


def _check_words(model: PrivacyModel) -> None:
    name = type(model).__name__
    for apart in (False, True):
        require_sentence(model.promise(apart=apart), f"promise of {name}")
    require(
        model.combine.keys() <= model.letters.keys(),
        f"letters of {name} must explain every letter of its combine",
    )
    require(
        set(model.combine.values()) <= {"min", "max"},
        f"combine of {name} must have min or max for each letter",
    )


def _check_needs_domain(model: PrivacyModel) -> None:
    try:
        model.bind(None)
    except TypeError:
        return
    require(False, f"{type(model).__name__}.bind(None) must raise TypeError, or per_attribute be False")


def _multisets(values: int) -> list[dict[int, int]]:
    """Return all multisets with at most three of each of ``values`` values, the empty one first."""
    return [
        {code: count for code, count in enumerate(counts) if count}
        for counts in product(range(_MOST + 1), repeat=values)
    ]


def _views(model: PrivacyModel, counts: dict[int, int]) -> list[ClassView]:
    """Return classes with fewer, as many and more records than values: siblings, one each, missing ones."""
    present = sum(counts.values())
    return [
        ClassView(records, counts, records + records % 4 if model.needs_population else None)
        for records in sorted({max(1, present // 2), max(1, present), present + 2})
    ]


def _check_summaries(
    name: str, model: PrivacyModel, constraint: Constraint, multisets: list[dict[int, int]]
) -> None:
    answers: dict[object, object] = {}
    for counts in multisets:
        view = ClassView(6, counts, 8 if model.needs_population else None)
        answer = (constraint.holds(view), constraint.achieved_parameters(view))
        known = answers.setdefault((constraint.summary(counts), bool(counts)), answer)
        require(known == answer, f"summary of {name} is the same for values with different answers")


def _check_forms(name: str, constraint: Constraint, multisets: list[dict[int, int]]) -> None:
    """Check minimum size, caps and closeness in classes with one value per record."""
    caps, closeness = constraint.caps, constraint.closeness
    for counts in multisets[1:]:
        present = sum(counts.values())
        holds = constraint.holds(ClassView(present, counts, present))
        if present < constraint.min_class_size:
            everywhere = len(counts) == len(multisets[-1])
            require(
                not (holds and everywhere),
                f"min_class_size of {name} is {constraint.min_class_size}, and {present} records satisfy it",
            )
            continue
        if caps is not None:
            check_caps(name, caps, counts, holds)
        if closeness is not None:
            near = _is_near(closeness, counts)
            require(near == holds, f"closeness of {name} and its holds differ at {counts}")


def _is_near(closeness: Closeness, counts: Mapping[int, int]) -> bool:
    """Return whether counts satisfy a closeness, computed from the definition in Closeness."""
    inside = [0] * len(closeness.parent)
    for code, count in counts.items():
        set_number = closeness.set_of[code]
        if set_number == FOREIGN:
            return False
        while set_number >= 0:
            inside[set_number] += count
            set_number = closeness.parent[set_number]
    present = sum(counts.values())
    pairs = zip(closeness.weight, inside, closeness.expected, strict=True)
    distance = sum(
        weight * abs(Fraction(count, present) - Fraction(expected, closeness.total))
        for weight, count, expected in pairs
    )
    return distance / closeness.scale <= closeness.bound


def _check_pairs(
    name: str, model: PrivacyModel, constraint: Constraint, multisets: list[dict[int, int]]
) -> None:
    """Check that what is declared closed under unions or pooling is, for all pairs of small classes."""
    small = [counts for counts in multisets if all(count < _MOST for count in counts.values())]
    good = [view for counts in small for view in _views(model, counts)[:2] if constraint.holds(view)]
    for view, other in combinations_with_replacement(good, 2):
        of_both = f"it holds for the values {dict(view.counts)} and {dict(other.counts)}"
        for union in _unions(view, other) if constraint.closed_under_union else ():
            require(
                constraint.holds(union),
                f"{name} is declared closed under unions: {of_both}, but not for both classes together",
            )
        alike = (view.records, view.population) == (other.records, other.population)
        if constraint.closed_under_pooling and alike:
            require(
                constraint.holds(ClassView(view.records, _both(view, other), view.population)),
                f"{name} is declared closed under pooling: {of_both} at two places of a class, but not for "
                "both at one place",
            )


def _both(view: ClassView, other: ClassView) -> dict[int, int]:
    codes = view.counts.keys() | other.counts.keys()
    return {code: view.counts.get(code, 0) + other.counts.get(code, 0) for code in codes}


def _unions(view: ClassView, other: ClassView) -> Iterator[ClassView]:
    """Yield the union of two classes with every population it may have.

    Its published values fit everyone whom those of either class fit, and possibly more people.
    """
    counts = _both(view, other)
    records = view.records + other.records
    if view.population is None or other.population is None:
        yield ClassView(records, counts)
        return
    both = view.population + other.population
    for population in {max(view.population, other.population), both, both + 5}:
        yield ClassView(records, counts, population)
