"""Each step of a shape against its naive twin, and what holds for all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.ground.errors import InputError
from hierdata.policy.spec.shape import StepSpec
from hierdata.records.shape import STEPS, ShapeStep
from hierdata.records.shape.base import ShapeTally, Shaping
from hierdata.records.shape.places import ShapeNotation
from tests import naive_shape
from tests.naive_shape import content

NESTED = "$.visits[*].codes"
LIFT = {"lift": {"from": NESTED, "to": "$.codes", "carry": ["day"]}}
EACH: list[dict[str, Any]] = [
    LIFT,
    {"cap": {"path": NESTED, "n": 2}},
    {"distinct": {"path": NESTED, "fields": ["code"]}},
    {"distinct": {"path": NESTED}},
    {"distinct": {"path": NESTED, "fields": ["code"], "count": "times"}},
    {"drop_below": {"path": NESTED, "by": "code", "k": 2}},
    {"take": {"path": NESTED, "first": 2, "by": "at"}},
    {"take": {"path": NESTED, "last": 1, "by": "at"}},
    {"take": {"path": NESTED, "sample": 2}},
    {"listed": NESTED},
    {"count": {"path": NESTED, "to": "$.codes_count"}},
    {"count": {"path": NESTED, "to": "$.codes_count", "bins": [1, 2, 4]}},
]
ORDERED = [step for step in EACH if "cap" not in step]
"""Steps that do not ask for the order of items."""
TWICE = [
    step for step in EACH if not {"lift", "count"} & step.keys() and "count" not in step.get("distinct", {})
]
"""Steps that can be done twice."""

codes = st.fixed_dictionaries(
    {"code": st.sampled_from(["a", "b", None, 1]), "at": st.integers(0, 3)},
    optional={"note": st.sampled_from(["x", "y"])},
)
visits = st.fixed_dictionaries(
    {}, optional={"codes": st.lists(codes, max_size=5), "day": st.sampled_from(["2001-02-03", "2001-02-04"])}
)
records = st.fixed_dictionaries(
    {"born": st.integers(1, 3)}, optional={"visits": st.lists(visits, max_size=3)}
)
collections = st.lists(records, max_size=5)
each_step = pytest.mark.parametrize("step", EACH, ids=lambda step: json.dumps(step)[:60])


def steps_of(stated: list[dict[str, Any]]) -> tuple[ShapeStep, ...]:
    return tuple(StepSpec.model_validate(step).step for step in stated)


def shaped(
    documents: list[dict[str, Any]], stated: list[dict[str, Any]], secret: bytes = b"s" * 32
) -> list[dict[str, Any]]:
    """Shape documents as the pipeline does, in one process."""
    steps, found = steps_of(stated), deepcopy(documents)
    frequent: list[frozenset[bytes]] = []
    for number, step in enumerate(steps):
        counted: Counter[bytes] = Counter()
        if (k := step.fewest_individuals) is not None:
            before = Shaping(steps, ShapeNotation(), secret, tuple(frequent))
            for values in before.values(deepcopy(documents), number):
                counted.update(values)
            frequent.append(frozenset(value for value, count in counted.items() if count >= k))
        else:
            frequent.append(frozenset())
    tally = ShapeTally()
    made = list(Shaping(steps, ShapeNotation(), secret, tuple(frequent)).documents(found, tally))
    assert not any(own.misfits.total() for own in tally.steps)
    return made


def items_in(documents: list[dict[str, Any]], path: str = NESTED) -> Iterator[list[Any]]:
    for document in documents:
        for holder, key in naive_shape.lists(document, path):
            yield holder[key]


def scalars_in(value: Any) -> Counter[str]:
    if isinstance(value, dict):
        return sum((scalars_in(own) for own in value.values()), Counter())
    if isinstance(value, list):
        return sum(map(scalars_in, value), Counter())
    return Counter([content(value)])


@pytest.mark.parametrize("step", [one for one in EACH if not {"take", "distinct"} & one.keys()], ids=str)
@given(collections)
def test_a_step_does_what_its_twin_does(step: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    assert shaped(documents, [step]) == naive_shape.shape(documents, [step])


@pytest.mark.parametrize("step", [one for one in EACH if "distinct" in one], ids=str)
@given(collections)
def test_distinct_keeps_one_of_the_items_that_its_twin_names(
    step: dict[str, Any], documents: list[dict[str, Any]]
) -> None:
    count = step["distinct"].get("count")
    kept = list(items_in(shaped(documents, [step])))
    named = list(items_in(naive_shape.shape(documents, [step])))
    assert [len(items) for items in kept] == [len(items) for items in named]
    for items, groups in zip(kept, named, strict=True):
        times = [item.pop(count) if count else None for item in items]
        for item, number in zip(items, times, strict=True):
            (group,) = [one for one in groups if content(item) in one["any of"]]
            assert number in (None, group["times"])


@pytest.mark.parametrize("step", [one for one in EACH if "by" in one.get("take", {})], ids=str)
@given(collections)
def test_take_keeps_items_with_the_values_of_its_twin(
    step: dict[str, Any], documents: list[dict[str, Any]]
) -> None:
    kept = [sorted(item["at"] for item in items) for items in items_in(shaped(documents, [step]))]
    assert kept == list(items_in(naive_shape.shape(documents, [step])))


@given(collections, st.binary(min_size=1, max_size=32))
def test_a_sample_has_items_of_the_list_and_as_many_as_it_may(
    documents: list[dict[str, Any]], secret: bytes
) -> None:
    made = shaped(documents, [{"take": {"path": NESTED, "sample": 2}}], secret)
    for before, after in zip(items_in(documents), items_in(made), strict=True):
        assert len(after) == min(2, len(before))
        assert not Counter(map(content, after)) - Counter(map(content, before))


def test_every_item_is_drawn_by_some_key() -> None:
    documents = [{"visits": [{"codes": [{"code": code} for code in "abcd"]}]}]
    step = {"take": {"path": NESTED, "sample": 1}}
    drawn = Counter(
        items[0]["code"] for at in range(200) for items in items_in(shaped(documents, [step], bytes([at])))
    )
    assert set(drawn) == set("abcd")
    assert min(drawn.values()) > 20


def test_a_sample_depends_on_the_record() -> None:
    documents = [
        {"born": at, "visits": [{"day": str(at), "codes": [{"code": code} for code in "abcd"]}]}
        for at in range(60)
    ]
    made = shaped(documents, [{"take": {"path": NESTED, "sample": 1}}])
    assert len({items[0]["code"] for items in items_in(made)}) == 4


@each_step
@given(collections)
def test_a_step_invents_no_value(step: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    made = shaped(documents, [step])
    if step.get("distinct", {}).get("count"):
        for items in items_in(made):
            for item in items:
                del item["times"]
    if "count" in step:
        for document in made:
            del document["codes_count"]
    assert len(made) == len(documents)
    for before, after in zip(documents, made, strict=True):
        allowed = scalars_in(before)
        if "lift" in step:  # what is carried is there once for each item
            assert set(scalars_in(after)) <= set(allowed)
        else:
            assert not scalars_in(after) - allowed


@each_step
@given(st.data(), collections)
def test_the_order_of_records_does_not_matter(
    step: dict[str, Any], data: st.DataObject, documents: list[dict[str, Any]]
) -> None:
    order = data.draw(st.permutations(range(len(documents))))
    made = shaped(documents, [step])
    assert shaped([documents[at] for at in order], [step]) == [made[at] for at in order]


@pytest.mark.parametrize("step", ORDERED, ids=str)
@given(st.data(), collections)
def test_the_order_of_items_does_not_matter(
    step: dict[str, Any], data: st.DataObject, documents: list[dict[str, Any]]
) -> None:
    mixed = deepcopy(documents)
    for items in items_in(mixed):
        items[:] = data.draw(st.permutations(items))
    assert content(shaped(mixed, [step])) == content(shaped(documents, [step]))


@pytest.mark.parametrize("step", TWICE, ids=str)
@given(collections)
def test_a_step_changes_nothing_the_second_time(
    step: dict[str, Any], documents: list[dict[str, Any]]
) -> None:
    once = shaped(documents, [step])
    assert shaped(once, [step]) == once


@given(collections)
def test_steps_are_done_in_order(documents: list[dict[str, Any]]) -> None:
    stated: list[dict[str, Any]] = [
        LIFT,
        {"drop_below": {"path": "$.codes", "by": "code", "k": 2}},
        {"cap": {"path": "$.codes", "n": 3}},
    ]
    assert shaped(documents, stated) == naive_shape.shape(documents, stated)


def test_an_example_by_hand() -> None:
    document = {
        "id": 1,
        "encounters": [
            {"start": "2001-05-01", "conditions": [{"code": "J06"}, {"code": "I10"}]},
            {"start": "2003-01-09", "conditions": [{"code": "I10"}]},
            {"start": "2002-07-30"},
        ],
    }
    found = shaped(
        [document],
        [
            {
                "lift": {
                    "from": "$.encounters[*].conditions[*]",
                    "to": "$.conditions",
                    "carry": {"seen": "start"},
                }
            },
            {"take": {"path": "$.conditions[*]", "last": 2, "by": "seen"}},
            {"distinct": {"path": "$.conditions", "fields": ["code"], "count": "times"}},
        ],
    )
    # Of the two items of 2001 the one with the larger content is taken: this is fixed, not meaningful.
    (kept,) = found
    assert kept["encounters"] == [{"start": "2001-05-01"}, {"start": "2003-01-09"}, {"start": "2002-07-30"}]
    assert sum(item["times"] for item in kept["conditions"]) == 2
    assert {"I10"} <= {item["code"] for item in kept["conditions"]} <= {"I10", "J06"}


@pytest.mark.parametrize(
    ("values", "last"),
    [
        (["9", "10"], "10"),
        (["2001-12", "2002", "2001"], "2002"),
        (["2001-01-01T00:30:00+02:00", "2000-12-31T23:00:00Z"], "2000-12-31T23:00:00Z"),
        ([1, Decimal("2.5"), 2], Decimal("2.5")),
    ],
)
def test_values_are_ordered_by_what_they_are(values: list[Any], last: Any) -> None:
    (found,) = shaped(
        [{"a": [{"at": value} for value in values]}], [{"take": {"path": "$.a", "last": 1, "by": "at"}}]
    )
    assert found == {"a": [{"at": last}]}


def test_items_may_be_scalars() -> None:
    documents = [{"tags": ["a", "b", "a"]}, {"tags": ["a"]}]
    assert shaped(documents, [{"distinct": {"path": "$.tags"}}]) == [{"tags": ["a", "b"]}, {"tags": ["a"]}]
    assert shaped(documents, [{"drop_below": {"path": "$.tags", "k": 2}}]) == [
        {"tags": ["a", "a"]},
        {"tags": ["a"]},
    ]


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (LIFT, {"visits": [{"codes": {"a": 1}}]}, "a value is not a list (in 1 cases)"),
    (LIFT, {"visits": [{"codes": []}], "codes": []}, "there is a value already where the list would go"),
    (
        LIFT,
        {"visits": [{"day": "x", "codes": [1, 2]}]},
        "an item is not an object, so that nothing can be carried into it (in 2 cases)",
    ),
    (LIFT, {"visits": [{"day": "x", "codes": [{"day": "y"}]}]}, "an item already has a field"),
    (LIFT, {"visits": [{"day": [1], "codes": [{}]}]}, "a field that is carried is a list or an object"),
    (LIFT, {"visits": 3}, "no record has a list here"),
    (EACH[1], {"visits": [{"codes": "x"}]}, "a value is not a list"),
    (EACH[4], {"visits": [{"codes": [{"times": 1}]}]}, "an item has the field of `count` already"),
    (EACH[4], {"visits": [{"codes": ["a"]}]}, "an item is not an object, so that `count` has no place"),
    (
        EACH[6],
        {"visits": [{"codes": [{"at": 1}, {}, {"at": None}]}]},
        "no value in the field of `by` (in 2 cases)",
    ),
    (EACH[2], {"visits": [{"codes": [{"cod": 1}, {}]}]}, "the field code has no value at any of 2 items"),
    (EACH[5], {"visits": [{"codes": [{"cod": 1}]}]}, "the field code has no value at any of 1 items"),
    (LIFT, {"visits": [{"date": 1, "codes": [{}]}]}, "the field day has no value at any of 1 items"),
    (EACH[-1], {"visits": [{"codes": 3}]}, "a value is not a list (in 1 cases)"),
    (EACH[-1], {"codes_count": 1, "visits": [{"codes": []}]}, "the record has the field of `to` already"),
    (EACH[6], {"visits": [{"codes": [{"at": [1]}]}]}, "the field of `by` is a list or an object"),
    (EACH[6], {"visits": [{"codes": [{"at": 1}, {"at": "x"}]}]}, "which have no common order"),
]


@pytest.mark.parametrize(("step", "document", "message"), WRONG)
def test_what_cannot_be_shaped_is_told_with_path_and_count(
    step: dict[str, Any], document: dict[str, Any], message: str
) -> None:
    steps, tally = steps_of([step]), ShapeTally()
    list(Shaping(steps).documents([deepcopy(document)], tally))
    with pytest.raises(InputError) as told:
        tally.check(steps)
    assert message in str(told.value)
    assert str(told.value).startswith(f"{NESTED}: {steps[0].kind}: ")


def test_what_steps_meet_is_counted() -> None:
    documents = [
        {"visits": [{"codes": [{"code": "a"}, {"code": "a"}]}]},
        {"visits": [{"codes": [{"code": "b"}]}, {}]},
    ]
    first, second = ShapeTally(), ShapeTally()
    steps = steps_of([EACH[2]])
    list(Shaping(steps).documents(documents[:1], first))
    list(Shaping(steps).documents(documents[1:], second))
    first.merge(second)
    (tally,) = first.steps
    assert (tally.lists, tally.before, tally.after) == (2, 3, 2)


def test_a_single_value_becomes_a_list_of_one() -> None:
    document = {"visits": [{"codes": "x"}, {"codes": {"code": "a"}}, {"codes": ["y", "z"]}, {"codes": None}]}
    (found,) = shaped([document], [{"listed": NESTED}])
    assert [visit["codes"] for visit in found["visits"]] == [["x"], [{"code": "a"}], ["y", "z"], None]


def test_every_member_is_tested() -> None:
    assert {kind for step in EACH for kind in step} == set(STEPS)


def test_a_list_may_be_lifted_to_an_object_in_between() -> None:
    document = {
        "a": [
            {"x": 1, "b": [{"y": 2, "c": [{"code": "u"}]}, {"c": [{"code": "v"}, {"code": "w"}]}]},
            {"x": 3},
        ]
    }
    step = {"lift": {"from": "$.a[*].b[*].c", "to": "$.a[*].c", "carry": {"why": "y"}}}
    (found,) = shaped([document], [step])
    items = [{"code": "u", "why": 2}, {"code": "v"}, {"code": "w"}]
    assert found == {"a": [{"x": 1, "b": [{"y": 2}, {}], "c": items}, {"x": 3}]}


def test_a_field_is_carried_from_one_object_only() -> None:
    document = {"a": [{"x": 1, "b": [{"x": 2, "c": [{"code": "u"}]}]}]}
    steps, tally = steps_of([{"lift": {"from": "$.a[*].b[*].c", "to": "$.c", "carry": ["x"]}}]), ShapeTally()
    list(Shaping(steps).documents([document], tally))
    with pytest.raises(InputError, match="several of the objects around an item have a field"):
        tally.check(steps)


def test_a_record_that_has_the_new_list_already_is_refused() -> None:
    steps, tally = steps_of([LIFT]), ShapeTally()
    list(Shaping(steps).documents([{"visits": [{"codes": []}]}, {"codes": ["own"]}], tally))
    with pytest.raises(InputError, match=r"a value already where the list would go \(in 1 cases\)"):
        tally.check(steps)
