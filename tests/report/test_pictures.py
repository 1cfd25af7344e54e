"""What pictures are drawn from, counted again from the input and the published records."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.release.report.parts import Pictures

SEED = b"the-seed-of-the-pictures"
PEOPLE: list[dict[str, Any]] = [
    {
        "id": at,
        "age": None if at == 3 else 30 + at % 20,
        "visits": [
            {"ward": "east" if at % 3 else "west", "reason": ("flu", "cold", "rash")[(at + one) % 3]}
            for one in range(at % 4)
        ],
    }
    for at in range(60)
]
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 4}, {"kind": "frequency-l-diversity", "l": 2}],
    "fields": {
        "$.id": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].reason": {"role": "sensitive"},
    },
}


def release_of(
    policy: dict[str, Any], people: list[dict[str, Any]] = PEOPLE
) -> tuple[Pictures, list[dict[str, Any]]]:
    release = hierdata.anonymize(people, policy, seed=SEED)
    assert release.report.pictures is not None
    return release.report.pictures, [dict(own) for own in release.records()]


@pytest.fixture(scope="module")
def found() -> tuple[Pictures, list[dict[str, Any]]]:
    return release_of(POLICY)


def visits_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [visit for own in records for visit in own.get("visits", ())]


def test_every_value_of_the_input_has_one_depth(found: tuple[Pictures, list[dict[str, Any]]]) -> None:
    pictures, records = found
    ages = Counter(str(own["age"]) for own in records if own.get("age") is not None)
    depths = pictures.depths["$.age"]
    assert sum(depths.values()) == len(PEOPLE)
    assert depths["as they were"] == sum(count for age, count in ages.items() if age.isdigit())
    assert depths["everything (*)"] == ages["*"]
    assert depths["left out"] == len(PEOPLE) - len(records)
    wards = pictures.depths["$.visits[*].ward"]
    assert sum(wards.values()) == len(visits_of(PEOPLE))
    assert wards["left out"] == len(visits_of(PEOPLE)) - len(visits_of(records))


def test_sensitive_values_are_counted_before_and_after(found: tuple[Pictures, list[dict[str, Any]]]) -> None:
    pictures, records = found
    before = Counter(visit["reason"] for visit in visits_of(PEOPLE))
    after = Counter(visit["reason"] for visit in visits_of(records))
    changes = pictures.distributions["$.visits[*].reason"]
    assert [change.name for change in changes] == ["v1", "v2", "v3"]
    assert sorted(change.input for change in changes) == sorted(before.values())
    assert sum(change.published for change in changes) == sum(after.values())
    assert sorted((one.input, one.published) for one in changes) == sorted(
        (before[reason], after[reason]) for reason in before
    )


def test_records_are_counted_by_the_size_of_their_class(found: tuple[Pictures, list[dict[str, Any]]]) -> None:
    pictures, records = found

    def form(own: dict[str, Any]) -> str:
        shown = [
            {key: value for key, value in visit.items() if key != "reason"} for visit in own.get("visits", ())
        ]
        return json.dumps([own.get("age"), shown], default=str)

    classes = Counter(map(form, records))
    sizes = Counter(classes[form(own)] for own in records)
    assert pictures.class_sizes == {str(size): sizes[size] for size in sorted(sizes)}


def test_an_invented_record_repeats_no_value_but_published_forms(
    found: tuple[Pictures, list[dict[str, Any]]],
) -> None:
    pictures, records = found
    told = {own.path: (own.before, own.after) for own in pictures.example}
    assert told["$.id"] == ("a value", "left out")
    # As a tree: the visits below the fields of the record, and their fields below them.
    tree = [(own.depth, own.name) for own in pictures.example]
    at = tree.index((0, "visits"))
    assert all(depth == 0 for depth, _ in tree[:at])
    assert {(1, "ward"), (1, "reason")} <= set(tree[at + 1 :])
    assert told["$.visits[*]"] in {("one of a list", "one of a list"), ("one of a list", "left out, in most")}
    _, after = told["$.age"]
    assert after in {str(own.get("age")) for own in records} | {"the same value"}
    sets, _ = release_of({**POLICY, "recoding": "sets_and_ranges"})
    assert {own.path: own.after for own in sets.example}["$.age"] == "a set or range"


def test_an_invented_record_has_nothing_of_somebody_whose_values_are_not_published() -> None:
    odd = {"id": 99, "age": 97, "visits": [{"ward": "attic", "reason": "leprosy"}]}
    pictures, records = release_of(POLICY, [*PEOPLE, odd])
    published = json.dumps(records, default=str)
    assert "attic" not in published
    told = json.dumps([own.model_dump() for own in pictures.example])
    assert not any(word in told for word in ("attic", "97", "99", "leprosy"))
    assert release_of(POLICY, [*PEOPLE, odd])[0].example == pictures.example


def test_groups_that_hide_values_bound_no_chance_to_find_a_record() -> None:
    pictures, records = release_of({**POLICY, "recoding": "anatomy"})
    assert any(str(own.get("age")).isdigit() for own in records), "ages are exact here"
    assert pictures.class_sizes == {}


def test_a_changed_file_is_named_with_both_digests(tmp_path: Path) -> None:
    folder = hierdata.anonymize(PEOPLE, POLICY, seed=SEED).save(tmp_path / "release")
    claims = folder / "public" / "release.json"
    stated = json.loads(claims.read_text("utf-8"))["files"][0]
    claims.write_text(claims.read_text("utf-8").replace(stated["sha256"], "0" * 64), "utf-8")
    with pytest.raises(hierdata.VerificationError) as refused:
        hierdata.verify(folder, POLICY)
    assert f"{stated['name']} has SHA-256 {stated['sha256']}, and {'0' * 64} is stated" in str(refused.value)
