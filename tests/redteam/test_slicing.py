"""Slicing: what is forged fails, in the records and in every table, and nothing ties tables together."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from tests.adversarial.test_order import assert_unrelated
from tests.cases import each_once
from tests.redteam.test_anatomy import Parts, Rows, read, rewrite

SEED = b"sixteen bytes or"
POLICY: dict[str, Any] = {
    "version": 1,
    "recoding": "slicing",
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "$.zip": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.job": {"role": "sensitive"},
        "$.pay": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].cost": {"role": "sensitive"},
        "$.visits[*].drug": {"role": "sensitive"},
    },
}
WRITTEN = [["$.ill"], ["$.job", "$.pay"], ["$.visits[*].cost"], ["$.visits[*].drug"]]
STATED = {"two": 2, "written": WRITTEN}
"""Tables by their number, where the judge must find out what stands in which, and written out."""


def people(count: int = 80, seed: int = 1) -> Rows:
    rng = Random(seed)
    found = []
    for _ in range(count):
        job = rng.choice("pqr")
        visits = [
            {"ward": rng.choice("uv"), "cost": rng.randint(1, 3), "drug": rng.choice("mn")}
            for _ in range(rng.randint(0, 3))
        ]
        row = {"zip": rng.choice("abc"), "ill": rng.choice("xyz"), "job": job, "pay": "pqr".index(job)}
        found.append(row | {"visits": visits})
    return found


@pytest.fixture(scope="module", params=STATED)
def policy(request: pytest.FixtureRequest) -> dict[str, Any]:
    return POLICY | {"sensitive_tables": STATED[request.param]}


@pytest.fixture(scope="module")
def made(policy: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hierdata.anonymize(people(), policy, seed=SEED).save(tmp_path_factory.mktemp("made") / "release")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "release"))


def passes(folder: Path, policy: dict[str, Any]) -> bool:
    try:
        return hierdata.verify(folder, policy).passed
    except hierdata.VerificationError:
        return False


def test_the_release_is_the_one_expected(folder: Path, policy: dict[str, Any]) -> None:
    parts = read(folder)
    assert parts.keys() == {
        "records",
        "sensitive-1",
        "sensitive-2",
        "sensitive-visits-1",
        "sensitive-visits-2",
    }
    assert all(set(record) <= {"zip", "group", "visits"} for record in parts["records"])
    assert all(row.keys() == {"group", "job", "pay", "count"} for row in parts["sensitive-2"])
    assert passes(folder, policy)
    assert hierdata.verify(folder / "public", policy).passed
    assert hierdata.verify(folder, policy, original=people()).passed
    rewrite(folder, parts, claims=True)
    assert passes(folder, policy), "the same parts again, named by release.json"


# Forgeries that the judge finds by itself, whatever release.json claims.


def of_other_group(rows: Rows, than: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in rows if row["group"] != than["group"])


def visit_of(parts: Parts) -> dict[str, Any]:
    visit: dict[str, Any] = next(record for record in parts["records"] if record.get("visits"))["visits"][0]
    return visit


def count_changed(parts: Parts) -> None:
    parts["sensitive-2"][0]["count"] += 1


def count_of_visits_changed(parts: Parts) -> None:
    parts["sensitive-visits-2"][0]["count"] += 1


def count_moved(parts: Parts) -> None:
    parts["sensitive-1"][0]["count"] += 1
    of_other_group(parts["sensitive-1"], parts["sensitive-1"][0])["count"] -= 1


def count_fractional(parts: Parts) -> None:
    parts["sensitive-1"][0]["count"] = float(parts["sensitive-1"][0]["count"])


def count_missing(parts: Parts) -> None:
    del parts["sensitive-1"][0]["count"]


def count_negative(parts: Parts) -> None:
    row = parts["sensitive-1"][0]
    parts["sensitive-1"] += [row | {"count": 2 * row["count"]}, row | {"count": -2 * row["count"]}]


def person_moved(parts: Parts) -> None:
    """To another class with all the counts put right: the form tells who does not belong there."""
    first = parts["records"][0]
    second = next(record for record in parts["records"] if record["zip"] != first["zip"])
    for part in ("sensitive-1", "sensitive-2"):
        row = next(row for row in parts[part] if row["group"] == first["group"])
        row["count"] -= 1
        next(row for row in parts[part] if row["group"] == second["group"])["count"] += 1
        parts[part] = [row for row in parts[part] if row["count"]]
    first["group"] = second["group"]


def person_moved_alone(parts: Parts) -> None:
    parts["records"][0]["group"] = of_other_group(parts["records"], parts["records"][0])["group"]


def persons_exchanged(parts: Parts) -> None:
    """Two persons of classes that look different: sums stay, ids no longer go with what is shown."""
    first = parts["records"][0]
    second = next(record for record in parts["records"] if record["zip"] != first["zip"])
    first["group"], second["group"] = second["group"], first["group"]


def class_split_in_the_records(parts: Parts) -> None:
    """A fresh id for one person, with rows of its own: alone with it."""
    first = parts["records"][0]
    for part in ("sensitive-1", "sensitive-2"):
        row = next(row for row in parts[part] if row["group"] == first["group"])
        row["count"] -= 1
        parts[part].append(row | {"group": 999, "count": 1})
        parts[part] = [row for row in parts[part] if row["count"]]
    first["group"] = 999


def visits_of_two_classes_in_one_group(parts: Parts) -> None:
    """Two groups of visits become one, in all parts: the values are more, and the group is torn."""
    visit = visit_of(parts)
    root = next(record for record in parts["records"] if visit in record.get("visits", ()))
    other = next(
        one
        for record in parts["records"]
        if record["group"] != root["group"]
        for one in record.get("visits", ())
    )
    old, new = visit["group"], other["group"]
    for record in parts["records"]:
        for one in record.get("visits", ()):
            one["group"] = new if one["group"] == old else one["group"]
    for part in ("sensitive-visits-1", "sensitive-visits-2"):
        for row in parts[part]:
            row["group"] = new if row["group"] == old else row["group"]


def row_moved(parts: Parts) -> None:
    parts["sensitive-2"][0]["group"] = parts["sensitive-2"][-1]["group"]


def one_more_group(parts: Parts) -> None:
    parts["sensitive-1"].append({"group": 10_000, "ill": "x", "count": 1})


def one_more_person(parts: Parts) -> None:
    parts["records"].append(parts["records"][0])


def group_removed(parts: Parts) -> None:
    number = parts["records"][0]["group"]
    parts["sensitive-1"] = [row for row in parts["sensitive-1"] if row["group"] != number]


def all_values_alike(parts: Parts) -> None:
    for row in parts["sensitive-1"]:
        row["ill"] = "x"


def values_of_one_group_alike(parts: Parts) -> None:
    for row in parts["sensitive-visits-1"]:
        if row["group"] == 1:
            row["cost"] = 1


def table_missing(parts: Parts) -> None:
    parts["sensitive-2"] = []


def table_repeated(parts: Parts) -> None:
    parts["sensitive-3"] = parts["sensitive-2"]


def table_in_the_place_of_another(parts: Parts) -> None:
    parts["sensitive-1"] = parts["sensitive-2"]


def tables_of_two_types_exchanged(parts: Parts) -> None:
    parts["sensitive-1"], parts["sensitive-visits-1"] = parts["sensitive-visits-1"], parts["sensitive-1"]


def attribute_in_two_tables(parts: Parts) -> None:
    for row in parts["sensitive-2"]:
        row["ill"] = "x"


def attribute_in_two_tables_once(parts: Parts) -> None:
    parts["sensitive-2"][0]["ill"] = None


def all_in_one_table_as_anatomy_has_it(parts: Parts) -> None:
    parts["sensitive"] = parts["sensitive-1"]


def no_group(parts: Parts) -> None:
    del parts["records"][0]["group"]


def no_group_anywhere(parts: Parts) -> None:
    for record in parts["records"]:
        del record["group"]


def no_group_of_a_visit(parts: Parts) -> None:
    del visit_of(parts)["group"]


def group_in_a_list(parts: Parts) -> None:
    parts["records"][0]["group"] = [parts["records"][0]["group"]]


def two_groups(parts: Parts) -> None:
    parts["records"][0]["group"] = [1, 2]


def two_spellings(parts: Parts) -> None:
    """To who joins by type, "1" is a group of one person, whose values are told."""
    first = parts["records"][0]
    for part in ("sensitive-1", "sensitive-2"):
        row = next(row for row in parts[part] if row["group"] == first["group"])
        row["count"] -= 1
        parts[part].append(row | {"group": str(first["group"]), "count": 1})
        parts[part] = [row for row in parts[part] if row["count"]]
    first["group"] = str(first["group"])


def own_value_beside(parts: Parts) -> None:
    parts["records"][0]["ill"] = "x"


def own_value_in_a_visit(parts: Parts) -> None:
    visit_of(parts)["cost"] = 1


def own_value_of_another_place(parts: Parts) -> None:
    visit_of(parts)["ill"] = "x"


def own_value_under_another_name(parts: Parts) -> None:
    parts["records"][0]["Ill"] = "x"


def a_second_id(parts: Parts) -> None:
    parts["records"][0]["group2"] = 1


def a_name_in_a_row(parts: Parts) -> None:
    parts["sensitive-1"][0]["zip"] = "a"


def a_count_in_a_record(parts: Parts) -> None:
    parts["records"][0]["count"] = 1


def a_visit_more(parts: Parts) -> None:
    next(record for record in parts["records"] if "visits" in record)["visits"].append({"ward": "u"})


def visits_exchanged(parts: Parts) -> None:
    """Two visits of one person that look different change their groups."""
    for record in parts["records"]:
        by_ward = {visit["ward"]: visit for visit in record.get("visits", ())}
        if len(by_ward) > 1:
            one, other, *_ = by_ward.values()
            one["group"], other["group"] = other["group"], one["group"]
            return
    raise AssertionError("no such person")


def one_person_twice(parts: Parts) -> None:
    for record in parts["records"]:
        if len(record.get("visits", ())) > 1:
            record["visits"][0]["group"] = record["visits"][1]["group"]
            return
    raise AssertionError("no such person")


def quasi_identifier_changed(parts: Parts) -> None:
    parts["records"][0]["zip"] = "d"


def a_part_of_nobody(parts: Parts) -> None:
    parts["sensitive-others-1"] = [{"group": 1, "name": "Ada", "count": 1}]


FOUND: list[Callable[[Parts], None]] = [
    count_changed,
    count_of_visits_changed,
    count_moved,
    count_fractional,
    count_missing,
    count_negative,
    person_moved,
    person_moved_alone,
    persons_exchanged,
    class_split_in_the_records,
    visits_of_two_classes_in_one_group,
    row_moved,
    one_more_group,
    one_more_person,
    group_removed,
    all_values_alike,
    values_of_one_group_alike,
    table_missing,
    table_repeated,
    table_in_the_place_of_another,
    tables_of_two_types_exchanged,
    attribute_in_two_tables,
    attribute_in_two_tables_once,
    all_in_one_table_as_anatomy_has_it,
    no_group,
    no_group_anywhere,
    no_group_of_a_visit,
    group_in_a_list,
    two_groups,
    two_spellings,
    own_value_beside,
    own_value_in_a_visit,
    own_value_of_another_place,
    own_value_under_another_name,
    a_second_id,
    a_name_in_a_row,
    a_count_in_a_record,
    a_visit_more,
    visits_exchanged,
    one_person_twice,
    quasi_identifier_changed,
    a_part_of_nobody,
]


@pytest.mark.parametrize(("forge", "policy"), each_once(FOUND, [*STATED]), indirect=["policy"])
def test_the_judge_finds_what_is_forged(
    folder: Path, policy: dict[str, Any], forge: Callable[[Parts], None]
) -> None:
    parts = read(folder)
    forge(parts)
    rewrite(folder, parts, claims=True)
    assert not passes(folder, policy)
    assert not hierdata.verify(folder / "public", policy).passed


def test_an_attribute_in_the_table_of_another_is_found_where_tables_are_written_out(folder: Path) -> None:
    alone = (folder / "public").rename(folder.parent / "public")  # without the facts, which tell the policy
    stated = POLICY | {"sensitive_tables": [["$.job"], ["$.ill", "$.pay"], *WRITTEN[2:]]}
    assert hierdata.verify(alone, POLICY | {"sensitive_tables": WRITTEN}).passed
    assert not hierdata.verify(alone, stated).passed
    assert not hierdata.verify(alone, POLICY).passed, "each has a table of its own"


def test_values_joined_in_one_table_are_not_what_was_published(folder: Path, policy: dict[str, Any]) -> None:
    """Both tables account for every vertex, and no model asks for links; but the facts know the tables."""
    parts = read(folder)
    sizes: dict[int, int] = {}
    for row in parts["sensitive-2"]:
        sizes[row["group"]] = sizes.get(row["group"], 0) + row["count"]
    parts["sensitive-1"] = [
        {
            "group": row["group"],
            "ill": f"{row['job']}",
            "job": row["job"],
            "pay": row["pay"],
            "count": row["count"],
        }
        for row in parts["sensitive-2"]
    ]
    parts["sensitive-2"] = [{"group": group, "count": count} for group, count in sizes.items()]
    rewrite(folder, parts, claims=True)
    file = folder / "public" / "release.json"
    stated = json.loads(file.read_text("utf-8"))
    stated["tables"] |= {"sensitive-1": ["$.ill", "$.job", "$.pay"], "sensitive-2": []}
    file.write_text(json.dumps(stated, ensure_ascii=False, indent=2) + "\n", "utf-8")
    assert not passes(folder, policy)


def test_the_facts_are_of_the_tables_that_the_policy_asks_for(folder: Path) -> None:
    with pytest.raises(hierdata.VerificationError, match="another policy"):
        hierdata.verify(folder, POLICY | {"sensitive_tables": 3})


def a_value_replaced(parts: Parts) -> None:
    parts["sensitive-1"][0]["ill"] = "harmless"


@pytest.mark.parametrize("forge", [a_value_replaced])
def test_other_files_than_those_of_the_release_fail(
    folder: Path, policy: dict[str, Any], forge: Callable[[Parts], None]
) -> None:
    parts = read(folder)
    forge(parts)
    rewrite(folder, parts, claims=False)
    assert not passes(folder, policy)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"sensitive-1": ["$.ill"]},
        {"sensitive-1": ["$.ill", "$.job"], "sensitive-2": ["$.job", "$.pay"]},
        {"sensitive-1": ["$.job", "$.pay"], "sensitive-2": ["$.ill"]},
        {"sensitive-1": ["$.zip", "$.ill"], "sensitive-2": ["$.job", "$.pay"]},
    ],
)
def test_release_json_names_the_tables_that_are_there(
    folder: Path, policy: dict[str, Any], tables: dict[str, list[str]]
) -> None:
    file = folder / "public" / "release.json"
    stated = json.loads(file.read_text("utf-8"))
    below = {part: paths for part, paths in stated["tables"].items() if "visits" in part}
    file.write_text(json.dumps(stated | {"tables": tables | below}), "utf-8")
    with pytest.raises(hierdata.VerificationError, match="sensitive tables"):
        hierdata.verify(folder, policy)


@pytest.mark.parametrize("part", ["records", "sensitive-1", "sensitive-2", "sensitive-visits-1"])
def test_parts_of_two_releases_do_not_go_together(
    folder: Path, policy: dict[str, Any], tmp_path: Path, part: str
) -> None:
    other = hierdata.anonymize(people(), policy, seed=b"another seed of 16").save(tmp_path / "other")
    name = f"public/{part}.json"
    (folder / name).write_bytes((other / name).read_bytes())
    assert not passes(folder, policy)


def test_a_part_that_is_missing_fails(folder: Path, policy: dict[str, Any]) -> None:
    (folder / "public" / "sensitive-visits-2.json").unlink()
    assert not passes(folder, policy)
    assert not hierdata.verify(folder / "public", policy).passed


def test_one_file_more_fails(folder: Path, policy: dict[str, Any]) -> None:
    (folder / "public" / "names.json").write_text("[]", "utf-8")
    with pytest.raises(hierdata.VerificationError, match="unexpected entries in the public folder"):
        hierdata.verify(folder, policy)


def test_records_alone_are_not_judged(folder: Path, policy: dict[str, Any]) -> None:
    for published in (folder / "public" / "records.json", read(folder)["records"]):
        with pytest.raises(hierdata.PolicyError, match="give the folder of the release"):
            hierdata.verify(published, policy)


# Classes that look alike but for their ids


def test_classes_that_look_alike_are_judged_together_too(tmp_path: Path) -> None:
    """(2,1)-diversity holds in {flu, rash} and in {flu, burn}; together they hold flu twice."""
    tree = {"*": {"lungs": ["flu", "cold"], "skin": ["rash"], "eyes": ["burn"]}}
    policy = {
        "version": 1,
        "recoding": "slicing",
        "models": [{"kind": "l-e-diversity", "l": 2, "e": 1}],
        "fields": {
            "$.zip": {"role": "quasi", "flat": True},
            "$.ill": {"role": "sensitive", "taxonomy": {"tree": tree}},
        },
    }
    rows = [
        {"group": group, "ill": ill, "count": 1}
        for group, ill in ((1, "flu"), (1, "rash"), (2, "flu"), (2, "burn"))
    ]

    def verdict(second: str) -> Any:
        records = [
            {"zip": zip_code, "group": group}
            for group, zip_code in ((1, "a"), (1, "a"), (2, second), (2, second))
        ]
        for part, documents in (("records", records), ("sensitive-1", rows)):
            (tmp_path / f"{part}.json").write_text(json.dumps(documents), "utf-8")
        return hierdata.verify(tmp_path, policy)

    assert verdict("b").passed
    found = verdict("a")
    assert not found.passed
    assert (found.classes, found.judgements[0].failing_classes) == (2, 1)


# Orders. Every person has values of its own that say where in the input it stood.

TABLE: dict[str, Any] = {
    "version": 1,
    "recoding": "slicing",
    "models": [{"kind": "k-anonymity", "k": 3}],
    "engine": {"steps": [{"kind": "clustree", "pairing": "greedy"}]},
    "fields": {
        "$.at": {"role": "insensitive", "exempt": "so that the test can see"},
        "$.zip": {"role": "quasi", "flat": True},
        "$.one": {"role": "sensitive"},
        "$.two": {"role": "sensitive"},
    },
}


@pytest.mark.parametrize("seed", range(3))
def test_neither_rows_nor_numbers_follow_the_input(seed: int) -> None:
    rows = [{"at": at, "zip": "a", "one": f"{at:04}", "two": f"{at:04}"} for at in range(300)]
    release = hierdata.anonymize(rows, TABLE, seed=bytes([seed]) * 16)
    published = list(release.records())
    assert_unrelated(range(300), [record["at"] for record in published])
    for part, name in (("sensitive-1", "one"), ("sensitive-2", "two")):
        values = list(release.part(part))
        first = {row["group"]: int(row[name]) for row in reversed(values)}
        assert len(first) > 50
        assert_unrelated(list(first), list(first.values()))
    members: dict[int, list[int]] = {}
    for record in published:
        members.setdefault(record["group"], []).append(record["at"])
    # Equal quasi-identifiers: who is together must not tell who stood together.
    gaps = [abs(own[0] - own[1]) for own in members.values()]
    assert np.mean(gaps) > 50, "neighbours of the input share groups"


def test_places_in_the_tables_tell_no_more_than_the_group() -> None:
    """Two tables say the same persons' values under fresh names: their rows agree no more than by chance."""
    agreeing, expected, variance = 0, 0.0, 0.0
    for seed in range(10):
        rng = Random(seed)
        rows = [
            {"at": at, "zip": "a", "one": str(rng.random()), "two": str(rng.random())} for at in range(90)
        ]
        owner = {row["one"]: row["at"] for row in rows} | {row["two"]: row["at"] for row in rows}
        release = hierdata.anonymize(rows, TABLE, seed=bytes([seed]) * 16)
        one, two = (
            {row["group"]: owner[row[name]] for row in reversed(list(release.part(part)))}
            for part, name in (("sensitive-1", "one"), ("sensitive-2", "two"))
        )
        sizes: dict[int, int] = {}
        for record in release.records():
            sizes[record["group"]] = sizes.get(record["group"], 0) + 1
        for group, size in sizes.items():
            agreeing += one[group] == two[group]
            expected += 1 / size
            variance += (1 - 1 / size) / size
    assert expected > 50
    assert abs(agreeing - expected) < 4 * np.sqrt(variance)


def test_the_same_seed_gives_the_same_bytes(policy: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    again = hierdata.anonymize(people(), policy, seed=SEED).save(tmp_path / "again")

    def digests(where: Path) -> dict[str, str]:
        return {
            str(file.relative_to(where)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in where.rglob("*.*")
        }

    assert digests(folder) == digests(again)
