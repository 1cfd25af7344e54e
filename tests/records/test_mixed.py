"""Filters of list items: read as RFC 9535 does, by a library of others; records separated and united."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import jsonpath_rfc9535
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.ground.errors import InputError, PolicyError
from hierdata.policy.load import from_data
from hierdata.records.mixed import REST, Mixed
from hierdata.records.path import jsonpath, parse
from hierdata.records.record import MisfitError
from tests.cases import examples

TEXTS = st.sampled_from(["x", "y", "it's", 'a "b"', "http://loinc.org", "\\", "", "é\n", "]"])
FIELDS = st.sampled_from(["@.a", "@.b", "@.a.b", "@['odd name']", '@["a"]["it\'s"]'])
KEYS = st.sampled_from(["a", "b", "odd name", "it's"])
ITEMS = st.recursive(
    TEXTS | st.none() | st.integers(0, 2) | st.booleans(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


@st.composite
def filters(draw: st.DrawFn) -> str:
    fields = draw(st.lists(FIELDS, min_size=1, max_size=2, unique=True))
    space = draw(st.sampled_from(["", " "]))
    conditions = [f"{field}{space}=={space}{literal(draw(TEXTS))}" for field in fields]
    return f"[?{space}{f'{space}&&{space}'.join(conditions)}]"


@given(st.lists(filters(), min_size=1, max_size=3), st.lists(ITEMS, max_size=5))
@examples(120)
def test_filters_select_what_the_standard_says(written: list[str], items: list[Any]) -> None:
    paths = []
    for text in written:
        try:
            paths.append(parse(f"$.l{text}.c"))
        except PolicyError:
            assert "&&" in text, "a field cannot equal two texts"
    if not paths:
        return
    mixed = Mixed.of(paths)
    (own,) = mixed.keys
    chosen = {kind.key: jsonpath_rfc9535.find(kind.path, {"l": items}).values() for kind in own.kinds}
    for path in paths:  # what is written canonically selects the same
        again = jsonpath_rfc9535.find(jsonpath(path.steps[:1]), {"l": items}).values()
        assert again == chosen[path.keys[0]]
        assert parse(jsonpath(path.steps)).keys == path.keys
    counts = [sum(any(one is item for one in found) for found in chosen.values()) for item in items]
    if any(isinstance(item, dict) and count > 1 for item, count in zip(items, counts, strict=True)):
        with pytest.raises(MisfitError, match="by this filter and by"):
            own.split(items)
        return
    parts = own.split(items)
    rest = parts.pop("l" + REST, [])
    assert parts == {key: found for key, found in chosen.items() if found}
    assert sum(map(len, chosen.values())) + len(rest) == len(items)


def policy(*paths: str, **more: Any) -> Any:
    rule = {"role": "quasi", "flat": True}
    models = [{"kind": "k-anonymity", "k": 2}]
    return from_data({"version": 1, "models": models, "fields": dict.fromkeys(paths, rule), **more})


BUNDLE = (
    "$.sex",
    "$.entry[?@.resource.type == 'C'].resource.on",
    "$.entry[?@.resource.type == 'C'].resource.coding[?@.system == 's' && @.use == 'u'].code",
    "$.entry[?@.resource.type == 'C'].resource.coding[?@.system == 't'].code",
    "$.entry[?@.resource.type == 'E'].class",
    "$.reason",
    "$.reason.text",
    "$.notes[*]",
    "$.notes[*].by",
)


def test_published_records_are_united_and_separated_again() -> None:
    mixed = policy(*BUNDLE).mixed_keys
    coding = [{"system": "s", "use": "u", "code": 1}, {"system": "t", "code": 2}]
    record = {
        "sex": "f",
        "entry": [
            {"resource": {"type": "C", "on": "2001", "coding": coding}},
            {"resource": {"type": "E"}, "class": "A"},
        ],
        "reason": {"text": "x"},
        "notes": ["a", None, {"by": "b"}],
    }
    before = deepcopy(record)
    (parts,) = mixed.separate([record])
    assert record == before
    condition = parts["entry[?@.resource.type == 'C']"]
    assert condition == [
        {
            "resource": {
                "on": "2001",
                "coding[?@.system == 's' && @.use == 'u']": [{"code": 1}],
                "coding[?@.system == 't']": [{"code": 2}],
            }
        }
    ]
    assert parts["entry[?@.resource.type == 'E']"] == [{"resource": {}, "class": "A"}]
    assert parts["reason.*"] == {"text": "x"}
    assert (parts["notes"], parts["notes.*"]) == (["a", None], [{"by": "b"}])
    united = mixed.unite(deepcopy(parts))
    assert united == before
    assert [*united["entry"][0]["resource"]] == ["type", "on", "coding"], "what a filter compares is first"


def test_types_are_published_in_the_order_of_the_policy() -> None:
    mixed = policy("$.l[?@.t == 'b'].x", "$.l[?@.t == 'a'].x").mixed_keys
    (parts,) = mixed.separate([{"l": [{"t": "a", "x": 1}, {"t": "b", "x": 2}, {"t": "a", "x": 3}]}])
    assert [one["x"] for one in mixed.unite(parts)["l"]] == [2, 1, 3]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("$.a[?@.b != 'x'].c", "only == and &&, not !="),
        ("$.a[?@.b < 'x'].c", "only == and &&, not <"),
        ("$.a[?!@.b].c", r"write a filter as"),
        ("$.a[?@.b == 'x' || @.b == 'y'].c", "write a filter as"),
        ("$.a[?(@.b == 'x')].c", "write a filter as"),
        ("$.a[?@.b].c", "expected =="),
        ("$.a[?@.b == 1].c", "compares with a text in quotes"),
        ("$.a[?@.b == true].c", "compares with a text in quotes"),
        ("$.a[?@.b == @.c].c", "compares with a text in quotes"),
        ("$.a[?'x' == @.b].c", "write a filter as"),
        ("$.a[?@ == 'x']", "compares a field of the item"),
        ("$.a[?$.b == 'x'].c", "write a filter as"),
        ("$.a[?@.b[0] == 'x'].c", "not items of its lists"),
        ("$.a[?@.b[*] == 'x'].c", "not items of its lists"),
        ("$.a[?@.b[?@.c == 'x'] == 'y'].c", "not items of its lists"),
        ("$.a[?@..b == 'x'].c", "expected a name"),
        ("$.a[?length(@.b) == 'x'].c", "write a filter as"),
        ("$.a[?@.b == 'x' && @.b == 'y'].c", "matches nothing"),
        ("$.a[?@.b == 'x'", "write a filter as"),
        ("$.a[?@.b == 'x].c", "compares with a text in quotes"),
        ("$.a[?@.b == '\\q'].c", "unknown escape"),
        ("$.a[?@.b == 'x'][*].c", "only .name"),
        ("$.a[0].c", "only .name"),
        ("$[?@.b == 'x'].c", "only .name"),
        ("a[?@.b == 'x'].c", r"must begin with \$"),
        ("/a/b[c='x']/d", "are supported"),
    ],
)
def test_other_filters_are_refused_in_a_sentence(path: str, why: str) -> None:
    with pytest.raises(PolicyError, match=why) as refused:
        policy(path)
    assert "\n" not in str(refused.value)


FILTERED = "$.a[?@.t == 'x']"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([f"{FILTERED}.c", "$.a[*].d"], r"have filters for \$\.a: give this one a filter too"),
        ([f"{FILTERED}.c", "$.a"], "have filters"),
        ([f"{FILTERED}.c", {"$.a": {"map": True}}, "$.a[*]~"], "have filters"),
        ([f"{FILTERED}.c", {"$.a[*]": {"role": "identifier"}}], "have filters"),
        ([f"{FILTERED}.c", "$.a[?@.t == 'x' && @.u == 'y'].c"], "selects all items of this filter too"),
        ([f"{FILTERED}.c", f"{FILTERED}.t"], "published as it is: leave the rule out"),
        ([f"{FILTERED}.c", {f"{FILTERED}.t": {"role": "identifier"}}], "leave the rule out"),
        ([f"{FILTERED}.c", f"{FILTERED}.t.u"], "it has no fields"),
        (["$.a[?@.b.t == 'x'].c", {"$.a[?@.b.t == 'x'].b": {"role": "identifier"}}], "cannot cover it"),
        (["$.a[?@.b.t == 'x'].b[*].c"], "a value of the item itself"),
        (["$.a[?@.b.t == 'x'].b.c", {"$.a[?@.b.t == 'x'].b": {"vertex": True}}], "of the item itself"),
        (["$.a[?@.b.t == 'x'].b", "$.a[?@.b.t == 'x'].b.c"], "of the item itself"),
        ([{f"{FILTERED}.c": {"role": "kind"}}], "none does"),
        ([f"{FILTERED}.c", {f"{FILTERED}.t": {"role": "kind", "missing": ["?"]}}], "takes no missing"),
    ],
)
def test_rules_that_contradict_a_filter_are_refused(fields: list[Any], why: str) -> None:
    rule = {"role": "quasi", "flat": True}
    stated: dict[str, Any] = {}
    for one in fields:
        stated |= one if isinstance(one, dict) else {one: rule}
    with pytest.raises(PolicyError, match=why):
        from_data({"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": stated})


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"records": FILTERED}, "all items of a list"),
        ({"shape": [{"listed": FILTERED}]}, "filters belong to `fields`"),
        ({"individual": {"by": f"{FILTERED}.c", "nest": "$.visits"}}, "one value of the record"),
        ({"individual": {"by": "$.id", "nest": FILTERED}}, "must be a list of the individual"),
        ({"individual": {"by": "$.id", "nest": "$.a", "own": [FILTERED]}}, "directly in the record"),
        (
            {"models": [{"kind": "bounded-knowledge", "k": 2, "m": 1, "counts": {FILTERED: [1]}}]},
            "counts are of whole lists",
        ),
    ],
)
def test_where_no_filter_can_be_it_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        policy(f"{FILTERED}.c", **more)


def test_a_record_with_the_key_of_a_filter_is_refused() -> None:
    mixed = policy(f"{FILTERED}.c").mixed_keys
    with pytest.raises(InputError, match="has the name of a filter"):
        [*mixed.separate([{"a[?@.t == 'x']": [{"c": 1}]}])]
    with pytest.raises(InputError, match="selects items of an array, and this is an object"):
        [*mixed.separate([{"a": {"t": "x", "c": 1}}])]
