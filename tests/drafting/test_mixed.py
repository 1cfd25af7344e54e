"""Drafts of lists with several types, and of strings beside objects."""

from __future__ import annotations

from typing import Any

import pytest

import hierdata

RECORDS: list[dict[str, Any]] = [
    {
        "sex": "fm"[number % 2],
        "entry": [
            {"resource": {"resourceType": "Condition", "onset": str(2000 + number % 3)}},
            {"resource": {"resourceType": "Encounter", "class": "AI"[number % 2]}},
        ],
        "telecom": [
            {"system": "phone", "value": f"0{number}"},
            {"system": "email", "value": f"{number}@x.org"},
        ],
        "reason": "fall" if number % 2 else {"text": "cold", "code": number % 3},
    }
    for number in range(40)
]


def paths(records: list[dict[str, Any]]) -> list[str]:
    return [one.path for one in hierdata.init(records).fields]


def test_a_filter_for_each_type_and_a_rule_for_strings_and_for_objects() -> None:
    draft = hierdata.init(RECORDS)
    assert {one.path for one in draft.fields} == {
        "$.sex",
        "$.entry[?@.resource.resourceType == 'Condition'].resource.onset",
        "$.entry[?@.resource.resourceType == 'Encounter'].resource.class",
        "$.telecom[*].system",
        "$.telecom[*].value",
        "$.reason",
        "$.reason.text",
        "$.reason.code",
    }, "telecom has items with the same fields"
    assert {below.path for below in draft.vertices} == {
        "$.entry[?@.resource.resourceType == 'Condition']",
        "$.entry[?@.resource.resourceType == 'Encounter']",
        "$.telecom[*]",
        "$.reason",
        "$.reason.*",
    }
    assert "no value of the data but the texts that filters compare" in " ".join(str(draft).split("\n# "))
    release = hierdata.anonymize(RECORDS, draft.confirmed(), seed=b"sixteen bytes of seed")
    published = list(release.records())
    assert any(isinstance(one.get("reason"), str) for one in published)
    assert any(isinstance(one.get("reason"), dict) for one in published)
    assert hierdata.verify(published, draft.confirmed()).passed


@pytest.mark.parametrize(
    "entry",
    [
        [{"type": "a", "x": 1}, {"type": "b", "y": 1}, {"x": 2}],
        [{"type": "a", "x": 1}, {"type": 5, "y": 1}],
        [{"type": "a", "x": 1}, {"type": "b", "x": 1}],
        [{"type": "Mary Smith", "x": 1}, {"type": "b", "y": 1}],
        [{"type": "a", "x": 1}, {"type": "b", "y": 1}, "c"],
    ],
    ids=["without", "numbers", "same fields", "names", "strings"],
)
def test_where_types_are_not_certain_no_filter_is_drafted(entry: list[Any]) -> None:
    assert not any("[?" in path for path in paths([{"l": entry}] * 20))


def test_a_type_of_few_records_is_no_filter_since_its_text_could_tell_of_them() -> None:
    rare = [{"l": [{"type": "a", "x": 1}, {"type": "b", "y": 1}]}] * 20
    assert any("[?" in path for path in paths(rare))
    rare = [*rare, *[{"l": [{"type": "secret", "z": 1}]}] * 4]
    draft = hierdata.init(rare)
    assert not any("[?" in one.path for one in draft.fields)
    assert "secret" not in str(draft)


def test_strings_that_a_draft_drops_leave_the_objects() -> None:
    fields = {
        "$.sex": {"role": "quasi", "flat": True},
        "$.reason": {"role": "free_text"},
        "$.reason.code": {"role": "quasi", "flat": True},
        "$.reason.text": {"role": "sensitive"},
    }
    stated = {"version": 1, "unlisted": "drop", "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    published = list(hierdata.anonymize(RECORDS, stated, seed=b"sixteen bytes of seed").records())
    assert {type(one.get("reason")) for one in published} == {dict, type(None)}
    assert hierdata.verify(published, stated).passed
    assert not hierdata.verify([{**one, "reason": "fall"} for one in published], stated).passed
    with pytest.raises(hierdata.PolicyError, match="never a single value"):
        hierdata.anonymize([{"sex": "f", "reason": {"code": 1, "text": "x"}}] * 2, stated)
