"""Models asked for presence answer as their twin on all small classes; the closures are what they say."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Any

import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy import (
    MODELS,
    AlphaK,
    DeltaLDiversity,
    DistinctLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    LEDiversity,
    LevelAlphaK,
)
from hierdata.privacy.base import BY_VALUE, ClassView, PrivacyModel, SensitiveReading
from hierdata.testing.models import DOMAIN
from tests import naive_presence
from tests.naive_presence import VALUES, Record

CASES: list[PrivacyModel] = [
    AlphaK(k=2, alpha="1/2"),
    AlphaK(k=2, alpha="1/3", values=(2, "9")),
    AlphaK(k=1, alpha="2/3", by="level"),
    AlphaK(k=3, alpha="1/2", by="similarity", e=1),
    AlphaK(k=2, alpha=1),
    FrequencyLDiversity(l=2),
    FrequencyLDiversity(l="3/2", by="level"),
    LevelAlphaK(k=2, alpha=("1/2", "2/3", "1/3")),
    DeltaLDiversity(delta="1/2", l=2),
    DeltaLDiversity(delta=1, l="3/2"),
    EpsilonMAnonymity(epsilon=2, m=2),
    EpsilonMAnonymity(epsilon="1/2", m="3/2", relative=True),
    LEDiversity(l=2, e=1),
    LEDiversity(l=3, e="1/2"),
    LEDiversity(l=2, e="3/2"),
    LEDiversity(l=2, e=1, repeats="allow"),
    LEDiversity(l=2, e="3/2", repeats="allow"),
]
each = pytest.mark.parametrize("model", CASES, ids=str)
SETS: list[Record] = [
    frozenset(some) for some in chain.from_iterable(combinations(VALUES, size) for size in range(5))
]


@cache
def classes(most: int = 3) -> list[tuple[Record, ...]]:
    """All classes of one to three records; an empty set is a record without values."""
    return [own for size in range(1, most + 1) for own in combinations_with_replacement(SETS, size)]


def view_of(records: tuple[Record, ...]) -> ClassView:
    """What the judge sees: values are counted, and so are the sets that are not empty."""
    sets = Counter(frozenset(map(VALUES.index, record)) for record in records if record)
    counts = Counter(VALUES.index(value) for record in records for value in record)
    return ClassView(len(records), counts, sets=sets)


@each
@pytest.mark.parametrize("within", ["place", "record"])
def test_holds_like_the_twin(model: PrivacyModel, within: Any) -> None:
    bound = model.bind_presence(DOMAIN, within)
    assert bound.reading == SensitiveReading("presence", within)
    for records in classes():
        assert bound.holds(view_of(records)) == naive_presence.holds(model, records), records


@each
def test_one_value_for_each_record_needs_no_sets(model: PrivacyModel) -> None:
    bound = model.bind_presence(DOMAIN)
    single = [record for record in SETS if len(record) <= 1]
    for records in combinations_with_replacement(single, 4):
        view = view_of(records)
        assert bound.holds(ClassView(view.records, view.counts)) == bound.holds(view)


@pytest.mark.parametrize("model", [AlphaK(k=2, alpha="1/2"), FrequencyLDiversity(l=2)], ids=str)
def test_values_that_are_not_tied_may_be_those_of_different_records(model: PrivacyModel) -> None:
    bound = model.bind_presence(DOMAIN, tied=False)
    for size in range(5):
        for values in combinations_with_replacement(VALUES, size):
            for records, siblings in product((1, 2, 3, 4), (1, 2)):
                if size > records * siblings:
                    continue
                view = ClassView(records, Counter(map(VALUES.index, values)), siblings=siblings)
                said = naive_presence.holds_untied(model, values, records, siblings)
                assert bound.holds(view) == said, view


@each
def test_untied_promises_no_less_than_any_way_to_tie(model: PrivacyModel) -> None:
    """What holds without ties holds however the values are tied, also where some records show nothing."""
    loose, bound = model.bind_presence(DOMAIN, tied=False), model.bind_presence(DOMAIN)
    held = 0
    for records, siblings, size in product((2, 3), (1, 2), range(5)):
        for values in combinations_with_replacement(VALUES, min(size, records * siblings)):
            view = ClassView(records, Counter(map(VALUES.index, values)), siblings=siblings)
            if loose.holds(view):
                held += len(values) > 1
                for own in naive_presence.ways_to_tie(values, records, siblings):
                    assert bound.holds(view_of(own)), own
    assert held or model.kind == "l-e-diversity"  # all values may be one component


def test_untied_hiv_in_a_group_of_which_the_others_show_nothing() -> None:
    """Everybody of the group who shows a diagnosis has it."""
    model, domain = AlphaK(k=2, alpha="1/4", values=["HIV"]), SensitiveDomain("$.ill", ("HIV", "flu"))
    bound = model.bind_presence(domain, tied=False)
    assert not bound.holds(ClassView(4, {0: 1}))
    assert bound.holds(ClassView(4, {0: 1, 1: 3}))
    assert not bound.holds(ClassView(4, {0: 1, 1: 3}, siblings=2))  # two persons may have all four


def pairs_of(model: PrivacyModel, records: int) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    bound = model.bind_presence(DOMAIN)
    good = [own for own in classes(2) if bound.holds(view_of(own))]
    return ((a, b) for a in good for b in good if not records or len(a) == len(b) == records)


@each
def test_closed_under_union_is_true(model: PrivacyModel) -> None:
    bound = model.bind_presence(DOMAIN)
    if bound.closed_under_union:
        assert all(bound.holds(view_of((*a, *b))) for a, b in pairs_of(model, 0))


@pytest.mark.parametrize("model", [DeltaLDiversity(delta=1, l="3/2"), LEDiversity(l=1, e=1)], ids=str)
def test_a_union_refutes_those_that_are_not_closed(model: PrivacyModel) -> None:
    bound = model.bind_presence(DOMAIN)
    assert not bound.closed_under_union
    if isinstance(model, LEDiversity):
        pairs = pairs_of(model, 0)
    else:  # DL-2 needs more records
        good = [own for own in combinations_with_replacement(SETS[1:5], 4) if bound.holds(view_of(own))]
        pairs = ((a, b) for a in good for b in good)
    assert any(not bound.holds(view_of((*a, *b))) for a, b in pairs)


@pytest.mark.parametrize(
    "model",
    [
        AlphaK(k=2, alpha="1/2"),
        FrequencyLDiversity(l=2),
        LevelAlphaK(k=2, alpha=("1/2", "1/2", "1/2")),
        DeltaLDiversity(delta="1/2", l=2),
        EpsilonMAnonymity(epsilon=1, m=2),
        LEDiversity(l=2, e=1),
        LEDiversity(l=2, e=1, repeats="allow"),
    ],
    ids=str,
)
def test_pooling_refutes_every_model_on_presence(model: PrivacyModel) -> None:
    """Two places of two records, which are one place in the end: each record shows both sets there."""
    bound = model.bind_presence(DOMAIN)
    assert not bound.closed_under_pooling
    pools = ((a, b, tuple(x | y for x, y in zip(a, b, strict=True))) for a, b in ordered_pairs(model))
    assert any(not bound.holds(view_of(pool)) for _, _, pool in pools)


def ordered_pairs(model: PrivacyModel) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    for a, b in pairs_of(model, 2):
        yield a, b
        yield a, b[::-1]


@each
def test_achieved_holds_and_nothing_stronger_does(model: PrivacyModel) -> None:
    bound = model.bind_presence(DOMAIN)
    for records in classes(2):
        view = view_of(records)
        achieved = bound.achieved_parameters(view)
        assert all(isinstance(value, Fraction) for value in achieved.values())
        if not any(records) or not achieved:
            continue
        assert bound.holds(view) == reaches(model, achieved), records


def reaches(model: Any, achieved: dict[str, Fraction]) -> bool:
    """Whether what is achieved is as strong as the model asks."""
    for letter, value in achieved.items():
        if letter in ("k", "l", "m"):
            asked = getattr(model, letter)
            if value < asked:
                return False
        elif letter == "alpha":
            if value > model.alpha:
                return False
        elif value > model.alpha[int(letter.removeprefix("alpha_")) - 1]:
            return False
    return True


@each
def test_the_caps_of_single_vertices_are_necessary(model: PrivacyModel) -> None:
    """Kernels keep them at each vertex; what a place shows in all is judged later."""
    bound = model.bind_presence(DOMAIN)
    assert bound.min_class_size >= 1
    if bound.caps is None or not bound.caps.necessary:
        return
    assert not bound.caps.sufficient
    for records in classes():
        if not all(records) or not bound.holds(view_of(records)):
            continue
        for at in range(2):  # a vertex of the place shows one of the values of each record
            codes = [VALUES.index(sorted(record)[at % len(record)]) for record in records]
            groups = [bound.caps.group_of[code] for code in codes]
            most = bound.caps.largest_counts(len(records))
            for group in groups:
                low, high = (group, group) if bound.caps.reach is None else bound.caps.reach[group]
                assert sum(low <= own <= high for own in groups) <= most[group]


@each
def test_the_constraint_is_sent_to_workers(model: PrivacyModel) -> None:
    again = pickle.loads(pickle.dumps(model.bind_presence(DOMAIN)))
    assert all(again.holds(view_of(own)) == naive_presence.holds(model, own) for own in classes(2))


@each
@pytest.mark.parametrize("tied", [True, False])
def test_the_sentence_speaks_of_persons(model: PrivacyModel, tied: bool) -> None:
    for within in ("place", "record"):
        said = model.promise_presence(within, tied=tied)  # type: ignore[arg-type]
        assert said.endswith(".")
        assert "people" in said
        assert "guessed" not in said


def test_eight_people_who_all_have_one_of_four_diagnoses() -> None:
    """By value each has a quarter, by presence all have it."""
    domain = SensitiveDomain("$.icd", ("HIV", *map(str, range(24))))
    sets = Counter(frozenset((0, 3 * who + 1, 3 * who + 2, 3 * who + 3)) for who in range(8))
    view = ClassView(8, Counter({0: 8} | dict.fromkeys(range(1, 25), 1)), sets=sets)
    for model in (AlphaK(k=5, alpha="1/4"), FrequencyLDiversity(l=3)):
        assert model.bind(domain).holds(view)
        assert not model.bind_presence(domain).holds(view)
        assert not model.bind_presence(domain, tied=False).holds(view)


@pytest.mark.parametrize("kind", MODELS)
def test_which_models_limit_presence(kind: str) -> None:
    own = [model for model in CASES if model.kind == kind]
    assert all(model.limits_presence for model in own)
    if not own:
        assert not MODELS[kind].model_construct(kind=kind).limits_presence


def test_the_alphas_of_the_paper_are_for_values() -> None:
    assert not LevelAlphaK(k=5).limits_presence
    assert LevelAlphaK(k=5, alpha=("0.8", "0.6")).limits_presence


def test_a_model_without_presence_is_asked_by_value() -> None:
    reading = SensitiveReading("presence", "record")
    assert DistinctLDiversity(l=2).bind_reading(DOMAIN, reading).reading == BY_VALUE
    with pytest.raises(TypeError, match="does not limit presence"):
        DistinctLDiversity(l=2).bind_presence(DOMAIN)
    with pytest.raises(TypeError, match="does not limit presence"):
        DistinctLDiversity(l=2).promise_presence("place")
    with pytest.raises(PolicyError, match="levels"):
        LevelAlphaK(k=2, alpha=("1/2",)).bind_presence(SensitiveDomain("$.a", ("x",)))
