"""The contract of models on presence: answers over the sets of values that records show at a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Literal, TypeAlias

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel, SensitiveReading
from hierdata.testing.answers import check_answers
from hierdata.testing.contract import require, require_sentence
from hierdata.testing.forms import check_caps, check_constraint

Shown: TypeAlias = tuple[frozenset[int], ...]
"""The set of values that each record of a class shows at a place."""
_WITHIN: tuple[Literal["place", "record"], ...] = ("place", "record")
_CODES = 3
_RECORDS = 3


def check_presence(model: PrivacyModel, domain: SensitiveDomain) -> None:
    """Check what a model says of presence, on all classes of up to three records and three values."""
    if not model.limits_presence:
        _check_refusal(model, domain)
        return
    classes = list(_classes(min(_CODES, len(domain.values))))
    for within, tied in product(_WITHIN, (True, False)):
        constraint = model.bind_presence(domain, within, tied=tied)
        _check_words(model, constraint, within, tied)
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


def _check_words(
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
    for one, other in combinations_with_replacement(good, 2):
        require(
            not constraint.closed_under_union or constraint.holds(view_of(one + other, tied)),
            f"{name} on presence is declared closed under unions, but does not hold for a class that shows "
            f"{_spell(one)} and one that shows {_spell(other)} together",
        )
        if not constraint.closed_under_pooling or len(one) != len(other):
            continue
        for matched in set(permutations(other)):
            pooled = tuple(a | b for a, b in zip(one, matched, strict=True))
            require(
                constraint.holds(view_of(pooled, tied)),
                f"{name} on presence is declared closed under pooling, but does not hold where records that "
                f"show {_spell(one)} show {_spell(matched)} at another place",
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
