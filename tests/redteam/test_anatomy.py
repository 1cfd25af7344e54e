"""Anatomy: what is forged fails, and no order or number tells where in the input something stood."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.documents.formats import FORMATS, Layout
from hierdata.documents.formats.objects import from_python
from tests.adversarial.test_order import assert_unrelated

SEED = b"sixteen bytes or"
CLUSTREE = {"steps": [{"kind": "clustree", "pairing": "greedy"}]}
POLICY: dict[str, Any] = {
    "version": 1,
    "recoding": "anatomy",
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
    "engine": CLUSTREE,
    "fields": {
        "$.zip": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].cost": {"role": "sensitive"},
    },
}
Rows = list[dict[str, Any]]
Parts = dict[str, Rows]


def people(count: int = 40, seed: int = 1) -> Rows:
    rng = Random(seed)
    return [
        {
            "zip": rng.choice("abc"),
            "ill": rng.choice("xyz"),
            "visits": [
                {"ward": rng.choice("uv"), "cost": rng.randint(1, 3)} for _ in range(rng.randint(0, 3))
            ],
        }
        for _ in range(count)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return hierdata.anonymize(people(), POLICY, seed=SEED).save(tmp_path / "release")


def read(folder: Path) -> Parts:
    files = sorted((folder / "public").glob("*.json"))
    return {
        file.stem: json.loads(file.read_text("utf-8"))
        for file in files
        if file.stem not in ("release", "codebook")
    }


def rewrite(folder: Path, parts: Parts, *, claims: bool) -> None:
    """Write forged parts; with ``claims`` release.json is made to name the new files too."""
    file = folder / "public" / "release.json"
    release = json.loads(file.read_text("utf-8"))
    release["files"] = []
    for part, rows in sorted(parts.items(), key=lambda one: f"{one[0]}.json"):
        with (folder / "public" / f"{part}.json").open("wb") as stream:
            FORMATS["json"]().write(map(from_python, rows), stream, Layout())
        data = (folder / "public" / f"{part}.json").read_bytes()
        release["files"].append({"name": f"{part}.json", "sha256": hashlib.sha256(data).hexdigest()})
    if claims:
        file.write_text(json.dumps(release, ensure_ascii=False, indent=2) + "\n", "utf-8")


def passes(folder: Path) -> bool:
    try:
        return hierdata.verify(folder, POLICY).passed
    except hierdata.VerificationError:
        return False


def test_the_release_is_the_one_expected(folder: Path) -> None:
    parts = read(folder)
    assert parts.keys() == {"records", "sensitive", "sensitive-visits"}
    assert all(set(record) <= {"zip", "group", "visits"} for record in parts["records"])
    assert all(row.keys() == {"group", "ill", "count"} for row in parts["sensitive"])
    assert passes(folder)
    assert hierdata.verify(folder / "public", POLICY).passed
    assert hierdata.verify(folder, POLICY, original=people()).passed
    rewrite(folder, parts, claims=True)
    assert passes(folder), "the same parts again, named by release.json"


@pytest.mark.parametrize("engine", [None, "mbf", "mondrian"])
def test_groups_of_every_vertex_type_by_itself_are_judged(engine: str | None, tmp_path: Path) -> None:
    policy = {key: value for key, value in POLICY.items() if key != "engine"}
    policy["models"] = [{"kind": "frequency-l-diversity", "l": 2}]
    if engine is not None:
        policy["engine"] = {"steps": [{"kind": engine}]}
    release = hierdata.anonymize(people(), policy, seed=SEED)
    for record in release.records():
        groups = [visit["group"] for visit in record.get("visits", ())]
        assert len(set(groups)) == len(groups), "one person, one vertex of a group"
    verdict = hierdata.verify(release.save(tmp_path / "release"), policy)
    assert verdict.passed
    assert verdict.k >= 2


def test_every_group_states_its_members_values_and_no_more() -> None:
    """Told apart by the input alone: joined again, each person's own value is among those of the group."""
    persons = [person | {"zip": f"{at}"} for at, person in enumerate(people())]
    release = hierdata.anonymize(persons, POLICY, seed=SEED)
    expected: dict[int, Counter[str]] = {}
    for record in release.records():
        person = persons[int(record["zip"])]
        expected.setdefault(record["group"], Counter())[person["ill"]] += 1
        kept = Counter(visit["ward"] for visit in record.get("visits", ()))
        assert kept <= Counter(visit["ward"] for visit in person["visits"])
    stated: dict[int, Counter[str]] = {}
    for row in release.part("sensitive"):
        stated.setdefault(row["group"], Counter())[row["ill"]] += row["count"]
    assert stated == expected
    assert list(expected) == sorted(expected), "numbers follow the first member"


# Forgeries that the judge finds by itself, whatever release.json claims.


def count_changed(parts: Parts) -> None:
    parts["sensitive"][0]["count"] += 1


def count_moved(parts: Parts) -> None:
    parts["sensitive"][0]["count"] += 1
    other = next(row for row in parts["sensitive"] if row["group"] != parts["sensitive"][0]["group"])
    other["count"] -= 1


def count_fractional(parts: Parts) -> None:
    parts["sensitive"][0]["count"] = float(parts["sensitive"][0]["count"])


def count_missing(parts: Parts) -> None:
    del parts["sensitive"][0]["count"]


def count_negative(parts: Parts) -> None:
    row = parts["sensitive"][0]
    parts["sensitive"] += [row | {"count": 2 * row["count"]}, row | {"count": -2 * row["count"]}]


def person_moved(parts: Parts) -> None:
    first, second = parts["records"][0], parts["records"][1]
    assert first["group"] != second["group"]
    first["group"] = second["group"]


def row_moved(parts: Parts) -> None:
    parts["sensitive"][0]["group"] = parts["sensitive"][-1]["group"]


def one_more_group(parts: Parts) -> None:
    parts["sensitive"].append({"group": 10_000, "ill": "x", "count": 1})


def one_more_person(parts: Parts) -> None:
    parts["records"].append(parts["records"][0])


def value_removed(parts: Parts) -> None:
    del parts["sensitive"][0]


def group_removed(parts: Parts) -> None:
    number = parts["records"][0]["group"]
    parts["sensitive"] = [row for row in parts["sensitive"] if row["group"] != number]


def all_values_alike(parts: Parts) -> None:
    for row in parts["sensitive"]:
        row["ill"] = "x"


def no_group(parts: Parts) -> None:
    del parts["records"][0]["group"]


def group_of_another_kind(parts: Parts) -> None:
    parts["records"][0]["group"] = [parts["records"][0]["group"]]


def own_value_beside(parts: Parts) -> None:
    parts["records"][0]["ill"] = "x"


def own_value_in_a_visit(parts: Parts) -> None:
    next(record for record in parts["records"] if "visits" in record)["visits"][0]["cost"] = 1


def own_value_under_another_name(parts: Parts) -> None:
    parts["records"][0]["Ill"] = "x"


def a_name_in_a_row(parts: Parts) -> None:
    parts["sensitive"][0]["zip"] = "a"


def a_visit_without_group(parts: Parts) -> None:
    next(record for record in parts["records"] if "visits" in record)["visits"].append({"ward": "u"})


def one_person_twice(parts: Parts) -> None:
    """Two visits of one person change places with another's: sums stay, persons do not."""
    rows = [(record, visit) for record in parts["records"] for visit in record.get("visits", ())]
    for record, visit in rows:
        for sibling in record["visits"]:
            other = next(
                (
                    there
                    for owner, there in rows
                    if owner is not record and there["group"] == visit["group"] != sibling["group"]
                ),
                None,
            )
            if other is not None and sibling is not visit:
                sibling["group"], other["group"] = other["group"], sibling["group"]
                return
    raise AssertionError("no such pair")


def parts_exchanged(parts: Parts) -> None:
    parts["sensitive"], parts["sensitive-visits"] = parts["sensitive-visits"], parts["sensitive"]


def a_part_of_nobody(parts: Parts) -> None:
    parts["sensitive-others"] = [{"group": 1, "name": "Ada", "count": 1}]


FOUND: list[Callable[[Parts], None]] = [
    count_changed,
    count_moved,
    count_fractional,
    count_missing,
    count_negative,
    person_moved,
    row_moved,
    one_more_group,
    one_more_person,
    value_removed,
    group_removed,
    all_values_alike,
    no_group,
    group_of_another_kind,
    own_value_beside,
    own_value_in_a_visit,
    own_value_under_another_name,
    a_name_in_a_row,
    a_visit_without_group,
    one_person_twice,
    parts_exchanged,
    a_part_of_nobody,
]


@pytest.mark.parametrize("forge", FOUND, ids=lambda forge: forge.__name__)
def test_the_judge_finds_what_is_forged(folder: Path, forge: Callable[[Parts], None]) -> None:
    parts = read(folder)
    forge(parts)
    rewrite(folder, parts, claims=True)
    assert not passes(folder)
    assert not hierdata.verify(folder / "public", POLICY).passed


def groups_exchanged(parts: Parts) -> None:
    """Two persons change groups: the promise holds for what is published, but it is not what was."""
    first = parts["records"][0]
    second = next(record for record in parts["records"] if record["group"] != first["group"])
    first["group"], second["group"] = second["group"], first["group"]


def a_value_replaced(parts: Parts) -> None:
    parts["sensitive"][0]["ill"] = "harmless"


@pytest.mark.parametrize("forge", [groups_exchanged, a_value_replaced], ids=lambda forge: forge.__name__)
def test_other_files_than_those_of_the_release_fail(folder: Path, forge: Callable[[Parts], None]) -> None:
    parts = read(folder)
    forge(parts)
    rewrite(folder, parts, claims=False)
    assert not passes(folder)


@pytest.mark.parametrize("part", ["records", "sensitive", "sensitive-visits"])
def test_parts_of_two_releases_do_not_go_together(folder: Path, tmp_path: Path, part: str) -> None:
    other = hierdata.anonymize(people(), POLICY, seed=b"another seed of 16").save(tmp_path / "other")
    name = f"public/{part}.json"
    (folder / name).write_bytes((other / name).read_bytes())
    assert not passes(folder)


def test_a_part_that_is_missing_fails(folder: Path) -> None:
    (folder / "public" / "sensitive-visits.json").unlink()
    assert not passes(folder)


def test_records_alone_are_not_judged(folder: Path) -> None:
    for published in (folder / "public" / "records.json", read(folder)["records"]):
        with pytest.raises(hierdata.PolicyError, match="give the folder of the release"):
            hierdata.verify(published, POLICY)


@pytest.mark.parametrize(
    ("old", "new"),
    [("$.zip", "$.group"), ("$.ill", "$.count"), ("$.visits[*].ward", "$.visits[*].group")],
)
def test_names_that_anatomy_needs_are_refused(old: str, new: str) -> None:
    text = json.dumps(POLICY).replace(old, new)
    key, other = (path.rpartition(".")[2] for path in (old, new))
    records = json.loads(json.dumps(people()).replace(f'"{key}"', f'"{other}"'))
    with pytest.raises(hierdata.PolicyError, match="give the field of the input another name"):
        hierdata.anonymize(records, json.loads(text))


def test_what_is_promised_is_said_of_groups(folder: Path) -> None:
    release = json.loads((folder / "public" / "release.json").read_text("utf-8"))
    said = " ".join([*(promise["statement"] for promise in release["promises"]), *release["limitations"]])
    assert "cannot be told apart" not in said, "every record can"
    assert "could be that of any of at least 2 people" in said
    assert "published in the finest form that the policy allows" in said
    assert "hold $.ill and $.visits[*].cost, each type by itself" in said
    assert release["counts"]["k_raw"] is None


def test_anatomy_of_nothing_sensitive_is_refused() -> None:
    fields = {"$.zip": {"role": "quasi", "flat": True}}
    with pytest.raises(hierdata.PolicyError, match="there are none"):
        hierdata.anonymize(
            [{"zip": "a"}], POLICY | {"models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
        )


@pytest.mark.parametrize("suffix", ["csv", "xml"])
def test_one_group_has_one_spelling(tmp_path: Path, suffix: str) -> None:
    """Joined as text, 1 and 01 are two groups of one person each."""
    fields = {"zip": {"role": "quasi", "flat": True}, "ill": {"role": "sensitive"}}
    prefix = {"csv": "$.", "xml": "/list/item/"}[suffix]
    policy = {
        "version": 1,
        "recoding": "anatomy",
        "models": [{"kind": "distinct-l-diversity", "l": 2}],
        "fields": {f"{prefix}{name}": rule for name, rule in fields.items()},
    }

    def verdict(group: str) -> bool:
        records = [{"zip": "a", "group": group}, {"zip": "b", "group": "1"}]
        rows = [{"group": group, "ill": "flu", "count": "1"}, {"group": "1", "ill": "HIV", "count": "1"}]
        for part, documents in (("records", records), ("sensitive", rows)):
            text = "".join(
                ",".join(line) + "\n" for line in ([*documents[0]], *(d.values() for d in documents))
            )
            if suffix == "xml":
                tag = {"records": "item", "sensitive": "value"}[part]
                cells = ["".join(f"<{key}>{cell}</{key}>" for key, cell in one.items()) for one in documents]
                text = "<list>" + "".join(f"<{tag}>{own}</{tag}>" for own in cells) + "</list>"
            (tmp_path / f"{part}.{suffix}").write_text(text, "utf-8")
        return hierdata.verify(tmp_path, policy).passed

    assert verdict("1")
    assert not verdict("01")


# Orders. Every person has a value of its own that says where in the input it stood.

TABLE: dict[str, Any] = {
    "version": 1,
    "recoding": "anatomy",
    "models": [{"kind": "k-anonymity", "k": 3}],
    "engine": CLUSTREE,
    "fields": {"$.at": {"role": "quasi", "interval": {"steps": [1]}}, "$.own": {"role": "sensitive"}},
}


def rows(count: int) -> Rows:
    return [{"at": at, "own": f"{at:04}"} for at in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_neither_rows_nor_numbers_follow_the_input(seed: int) -> None:
    release = hierdata.anonymize(rows(300), TABLE, seed=bytes([seed]) * 16)
    published = list(release.records())
    values = list(release.part("sensitive"))
    in_records = [record["at"] for record in published]
    in_sensitive = [int(row["own"]) for row in values]
    assert sorted(in_records) == sorted(in_sensitive) == list(range(300))
    assert_unrelated(range(300), in_records)
    assert_unrelated(range(300), in_sensitive)
    first = {row["group"]: int(row["own"]) for row in reversed(values)}
    assert_unrelated(list(first), list(first.values()))


def test_places_in_the_files_tell_no_more_than_the_group() -> None:
    """Over many seeds, within a group: who stands first in the records is no more often first in the values.

    A permutation test: the number of agreements lies where independent orders put it.
    """
    agreeing, expected, variance = 0, 0.0, 0.0
    for seed in range(12):
        rng = Random(seed)
        table = [{"at": at, "own": str(rng.random())} for at in range(90)]
        release = hierdata.anonymize(table, TABLE, seed=bytes([seed]) * 16)
        members: dict[int, list[str]] = {}
        for record in release.records():
            members.setdefault(record["group"], []).append(table[record["at"]]["own"])
        values: dict[int, list[str]] = {}
        for row in release.part("sensitive"):
            values.setdefault(row["group"], []).append(row["own"])
        for group, own in members.items():
            share = 1 / len(own)
            agreeing += own[0] == values[group][0]
            expected += share
            variance += share * (1 - share)
    assert expected > 50
    assert abs(agreeing - expected) < 4 * np.sqrt(variance)


def test_numbers_of_siblings_do_not_tell_their_order() -> None:
    """Siblings that look alike, with values that say their places: which has the lower number is chance."""
    policy = TABLE | {
        "fields": {
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].place": {"role": "sensitive"},
        }
    }
    records = [{"visits": [{"ward": "u", "place": place} for place in range(2)]} for _ in range(600)]
    release = hierdata.anonymize(records, policy, seed=SEED)
    places: dict[int, set[int]] = {}
    for row in release.part("sensitive-visits"):
        places.setdefault(row["group"], set()).add(row["place"])
    told = [
        (places[lower], places[upper])
        for lower, upper in {
            tuple(visit["group"] for visit in record["visits"]) for record in release.records()
        }
    ]
    lower = [min(one) for one, other in told if len(one) == len(other) == 1]
    assert len(lower) > 50, "the engine puts siblings of one place together"
    assert abs(sum(lower) - len(lower) / 2) < 4 * np.sqrt(len(lower)) / 2


def test_rows_of_a_group_stand_by_their_values(folder: Path) -> None:
    for part in ("sensitive", "sensitive-visits"):
        found = read(folder)[part]
        keys = [(row["group"], str(row.get("ill", row.get("cost")))) for row in found]
        assert keys == sorted(keys)
        assert len(set(keys)) == len(keys)
