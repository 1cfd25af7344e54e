"""Objects used as maps: paths into them, there and back, and what is taken for one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.ground.errors import PolicyError
from hierdata.records.maps import dynamic, resolve_maps, unfold_map, write_path
from hierdata.records.path import Path, Step, parse
from hierdata.records.survey import PathSurvey, survey

MAPS = {("m",), ("m", "value", "n"), ("g",), ("g", "value"), ("a", "m")}


@pytest.mark.parametrize(
    ("text", "keys", "many"),
    [
        ("$.m[*]~", ("m", "key"), (True, False)),
        ("$.m[*]", ("m", "value"), (True, False)),
        ("$.m[*].x", ("m", "value", "x"), (True, False, False)),
        ("$.m[*][*]", ("m", "value"), (True, True)),
        ("$.m[*][*].x", ("m", "value", "x"), (True, True, False)),
        ("$.m[*].n[*]~", ("m", "value", "n", "key"), (True, False, True, False)),
        ("$.g[*][*]~", ("g", "value", "key"), (True, True, False)),
        ("$.g[*][*]", ("g", "value", "value"), (True, True, False)),
        ("$.a[*].m[*].x", ("a", "m", "value", "x"), (True, True, False, False)),
        ("m.x", ("m", "value", "x"), (True, False, None)),
        ("$.other[*].m", ("other", "m"), (True, False)),
    ],
)
def test_paths_lead_into_entries(text: str, keys: tuple[str, ...], many: tuple[bool | None, ...]) -> None:
    path = resolve_maps(parse(text), MAPS)
    assert path.keys == keys
    assert tuple(step.many for step in path.steps) == many
    assert len(path.ends) == len(path.steps) + 1
    assert path.prefix(len(keys)) == text


@pytest.mark.parametrize("text", ["$.x[*][*]", "$.x[*]~", "$.m[*][*][*].x"])
def test_where_there_is_no_map_its_signs_are_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="map"):
        resolve_maps(parse(text), MAPS)


NAMES = st.sampled_from(["m", "n", "g", "a", "x", "value", "key", "odd name"])


@given(st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=5), st.booleans())
def test_what_is_written_of_a_path_leads_to_the_same_place(
    stated: list[tuple[str, bool]], named: bool
) -> None:
    text = (
        "$" + "".join(f"['{name}']" + "[*]" * many for name, many in stated) + "~" * (named and stated[-1][1])
    )
    try:
        path = resolve_maps(parse(text), MAPS)
    except PolicyError:
        return
    again = resolve_maps(parse(write_path(path.steps, MAPS)), MAPS)
    assert again.keys == path.keys
    assert [step.many for step in again.steps] == [step.many for step in path.steps]


def test_only_objects_are_maps() -> None:
    assert unfold_map({}) == []
    values: list[Any] = ["text", 1, True, [{"key": "a", "value": 1}]]
    assert [unfold_map(value) for value in values] == [None] * 4


DATA = [
    [f"2021-03-{day:02}" for day in range(1, 8)],
    [str(number) for number in range(17, 24)],
    [f"{number:024x}" for number in range(10**20, 10**20 + 5)],
    [f"p{number}@example.org" for number in range(5)],
    [f"S{number:05}" for number in range(5)],
    ["2019", "2020", "2021"],
    [f"name of {number}" for number in range(400)],
]
FIELDS = [
    ["name", "age", "zip", "id2", "q1", "q2", "q3"],
    ["line1", "line2", "line3"],
    ["2021", "name", "age"],
    [f"question_{number}" for number in range(60)],
    [],
]


def shape_of(keys: list[str], apart: bool) -> PathSurvey:
    """Records with all keys, or one each."""
    records: list[Any] = [{key: 1} for key in keys] if apart else [dict.fromkeys(keys, 1)] * 20
    return survey(records).shape


@pytest.mark.parametrize("keys", DATA, ids=lambda keys: keys[0])
def test_keys_that_are_data_are_noticed(keys: list[str]) -> None:
    assert dynamic(shape_of(keys, apart=True))
    assert not dynamic(shape_of(keys, apart=True), keys)  # somebody named them


@pytest.mark.parametrize("keys", FIELDS, ids=len)
def test_fields_are_no_data(keys: list[str]) -> None:
    assert not dynamic(shape_of(keys, apart=False))


def test_a_survey_follows_no_endless_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.records.survey.MOST_KEYS", 40)
    one = survey({f"n{number}": 1} for number in range(50)).shape
    assert (len(one.children), one.crowded) == (40, 10)
    other = survey({f"o{number}": 1} for number in range(5)).shape
    one.merge(other)
    assert (len(one.children), one.crowded) == (40, 15)
    assert dynamic(one, one.children)


def test_a_path_of_steps_that_go_nowhere_special_is_itself() -> None:
    path = Path((Step("x", True), Step("y", False)), "$.x[*].y", ends=(1, 6, 8))
    assert resolve_maps(path, MAPS) == path
