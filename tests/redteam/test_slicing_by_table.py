"""Slicing by table: all worlds that fit the files, what is forged, and what ids and known values tell."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import factorial, prod
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from tests import naive_slicing_by_table as naive
from tests.redteam.test_anatomy import Parts, Rows, read, rewrite

SEED = b"sixteen bytes or"
FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
SENSITIVE: dict[str, Any] = {"role": "sensitive"}
POLICY: dict[str, Any] = {
    "version": 1,
    "recoding": "slicing_by_table",
    "accept": {"group-ids": "nobody outside reads it"},
    "suppressed": "as_published",
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
    "fields": {"$.zip": FLAT, "$.ill": SENSITIVE, "$.job": SENSITIVE, "$.pay": SENSITIVE},
}
WRITTEN = [["$.ill"], ["$.job", "$.pay"]]
TABLES: naive.Tables = {
    "sensitive-1": ("group_1", ("ill",)),
    "sensitive-2": ("group_2", ("job", "pay")),
}


def people(count: int, seed: int, zips: str = "abc") -> Rows:
    rng = Random(seed)
    found = []
    for at in range(count):
        job = rng.choice("pqr")
        ill = rng.choice(("x", "y", "z", None))
        row = {"zip": zips[at % len(zips)], "job": job, "pay": "pqr".index(job) // 2}
        found.append(row | ({} if ill is None else {"ill": ill}))
    return found


# All worlds

MOST = 2_000
"""Releases with more worlds are left out: the rest has groups and classes of all small sizes."""


def fits(person: dict[str, Any], record: dict[str, Any]) -> bool:
    return record["zip"] in (person["zip"], "*")


@cache
def small_releases() -> list[tuple[hierdata.Release, Rows]]:
    """Releases of few people and few worlds, each with those who are published."""
    found = []
    for seed in range(60):
        rows = people(4 + seed % 3, seed, zips="aab"[: 2 + seed % 2])
        marked = [row | {"mark": at} for at, row in enumerate(rows)]
        fields = POLICY["fields"] | {"$.mark": {"role": "insensitive", "exempt": "so that the test can see"}}
        asked = POLICY | {"fields": fields, "sensitive_tables": WRITTEN}
        try:
            release = hierdata.anonymize(marked, asked, seed=bytes([seed]) * 16)
        except hierdata.PromiseError:
            continue
        ids: list[Any] = [
            (key, record[key]) for record in release.records() for key in ("zip", "group_1", "group_2")
        ]
        if prod(map(factorial, Counter(ids).values())) > MOST:
            continue
        shown = [marked[record["mark"]] for record in release.records()]  # type: ignore[call-overload,index]
        found.append((release, shown))
    return found


def test_in_all_worlds_nobody_has_a_value_more_often_than_promised_and_stated() -> None:
    """Given quasi-identifiers no value has more than 1/l; given one other value no more than is stated."""
    met = singled = 0
    for release, shown in small_releases():
        records: list[Any] = [
            {key: value for key, value in record.items() if key != "mark"} for record in release.records()
        ]
        parts: dict[str, Any] = {
            part: list(release.part(part)) for part in release.parts if part != "records"
        }
        worlds = list(naive.worlds(shown, fits, records, parts, TABLES))
        assert worlds
        true = [{name: person.get(name) for name in ("ill", "job", "pay")} for person in shown]
        assert true in worlds, "what is published can be true"
        ids = release.report.group_ids
        assert ids is not None
        worst = {f"$.{name}": Fraction(0) for name in ("ill", "job", "pay")}
        for at, _ in enumerate(shown):
            for name in ("ill", "job", "pay"):
                values = Counter(world[at][name] for world in worlds)
                present = sum(count for value, count in values.items() if value is not None)
                for value, count in values.items():
                    assert value is None or 2 * count <= present
                for other in {"ill", "job", "pay"} - {name}:
                    joint: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
                    for world in worlds:
                        joint[world[at][other]][world[at][name]] += 1
                    for own in joint.values():
                        most = max((count for value, count in own.items() if value is not None), default=0)
                        worst[f"$.{name}"] = max(worst[f"$.{name}"], Fraction(most, own.total()))
        stated = {path: guess.fraction for path, guess in ids.worst_guess.items()}
        assert all(worst[path] <= stated.get(path, 0) for path in worst)
        if not any(fits(one, other) and one["zip"] != other["zip"] for one in shown for other in records):
            # Each person fits one class alone: then the stated figure is exact.
            assert worst == {path: stated.get(path, Fraction(0)) for path in worst}
            met += 1
        singled += ids.k == 1
    assert met > 5, met
    assert singled > 2, singled


def test_who_knows_a_value_of_one_table_may_know_which_record_it_is() -> None:
    """Not promised: the ids that a known value leads to are those of one record of the class."""
    found = 0
    for release, _ in small_releases():
        rows: list[Any] = list(release.part("sensitive-1"))
        for one, other in combinations(list(release.records()), 2):
            held = [
                {row.get("ill") for row in rows if row["group"] == own["group_1"]} for own in (one, other)
            ]
            found += one["zip"] == other["zip"] and held[0] != held[1]
    assert found


def test_who_knows_a_value_reads_the_others_of_its_row() -> None:
    """Jobs tell pay in the same row: the stated guess is 1, though l = 2 holds for pay."""
    release = hierdata.anonymize(people(60, 1), POLICY | {"sensitive_tables": WRITTEN}, seed=SEED)
    ids = release.report.group_ids
    assert ids is not None
    assert ids.worst_guess["$.pay"].fraction == 1
    assert release.report.worst_guess["$.pay"].fraction <= Fraction(1, 2)
    assert any("1 at $.pay" in sentence for sentence in release.report.limitations)


# Forgeries


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = POLICY | {"sensitive_tables": WRITTEN}
    return hierdata.anonymize(people(60, 1), asked, seed=SEED).save(
        tmp_path_factory.mktemp("made") / "release"
    )


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "release"))


def passes(folder: Path, **more: Any) -> bool:
    try:
        return hierdata.verify(folder, POLICY | {"sensitive_tables": WRITTEN}, **more).passed
    except hierdata.VerificationError:
        return False


def test_the_release_is_the_one_expected(folder: Path) -> None:
    parts = read(folder)
    assert parts.keys() == {"records", "sensitive-1", "sensitive-2"}
    assert passes(folder, original=people(60, 1))
    rewrite(folder, parts, claims=True)
    assert passes(folder)
    assert passes(folder, original=people(60, 1)), "the same parts again, named by release.json"


def count_changed(parts: Parts) -> None:
    parts["sensitive-2"][0]["count"] += 1


def record_moved(parts: Parts) -> None:
    """To another group of one table, with the counts left alone."""
    first = parts["records"][0]
    first["group_1"] = next(own["group_1"] for own in parts["records"] if own["group_1"] != first["group_1"])


def id_missing(parts: Parts) -> None:
    del parts["records"][0]["group_2"]


def id_of_all_tables(parts: Parts) -> None:
    for record in parts["records"]:
        record["group"] = record.pop("group_1")


def a_third_id(parts: Parts) -> None:
    for record in parts["records"]:
        record["group_3"] = 1


def ids_exchanged(parts: Parts) -> None:
    for record in parts["records"]:
        record["group_1"], record["group_2"] = record["group_2"], record["group_1"]


def tables_exchanged(parts: Parts) -> None:
    parts["sensitive-1"], parts["sensitive-2"] = parts["sensitive-2"], parts["sensitive-1"]


def a_group_of_one(parts: Parts) -> None:
    """A fresh id for one record, with a row of its own: its value is told."""
    first = parts["records"][0]
    row = next(row for row in parts["sensitive-1"] if row["group"] == first["group_1"] and "ill" in row)
    row["count"] -= 1
    parts["sensitive-1"] = [row for row in parts["sensitive-1"] if row["count"]]
    parts["sensitive-1"].append(row | {"group": 999, "count": 1})
    first["group_1"] = 999


def values_of_one_group_alike(parts: Parts) -> None:
    for row in parts["sensitive-1"]:
        if row["group"] == 1:
            row["ill"] = "x"


def own_value_beside(parts: Parts) -> None:
    parts["records"][0]["ill"] = "x"


def class_of_one(parts: Parts) -> None:
    parts["records"][0]["zip"] = "d"


def table_missing(parts: Parts) -> None:
    parts["sensitive-2"] = []


def two_spellings(parts: Parts) -> None:
    first = parts["records"][0]
    row = next(row for row in parts["sensitive-1"] if row["group"] == first["group_1"])
    row["count"] -= 1
    parts["sensitive-1"] = [row for row in parts["sensitive-1"] if row["count"]]
    parts["sensitive-1"].append(row | {"group": str(first["group_1"]), "count": 1})
    first["group_1"] = str(first["group_1"])


def attribute_in_two_tables(parts: Parts) -> None:
    for row in parts["sensitive-2"]:
        row["ill"] = "x"


FOUND: list[Callable[[Parts], None]] = [
    count_changed,
    record_moved,
    id_missing,
    id_of_all_tables,
    a_third_id,
    ids_exchanged,
    tables_exchanged,
    a_group_of_one,
    values_of_one_group_alike,
    own_value_beside,
    class_of_one,
    table_missing,
    two_spellings,
    attribute_in_two_tables,
]


def test_the_judge_finds_what_is_forged(made: Path, tmp_path: Path) -> None:
    for forge in FOUND:
        folder = Path(shutil.copytree(made, tmp_path / forge.__name__))
        parts = read(folder)
        forge(parts)
        rewrite(folder, parts, claims=True)
        assert not passes(folder), forge.__name__
        public = hierdata.verify(folder / "public", POLICY | {"sensitive_tables": WRITTEN})
        assert not public.passed, forge.__name__


def test_stated_figures_that_are_made_smaller_are_refused(folder: Path) -> None:
    for path, forged in (("k", '"k": 99'), ("worst_guess", '"exact": "1/100"')):
        file = folder / "public" / "release.json"
        before = file.read_text("utf-8")
        at = before.index('"group_ids"')
        wrong = '"k": 1' if path == "k" else '"exact": "1"'
        assert wrong in before[at:]
        file.write_text(before[:at] + before[at:].replace(wrong, forged, 1), "utf-8")
        assert not passes(folder)
        file.write_text(before, "utf-8")
        assert passes(folder)


def test_ids_of_two_tables_tell_nothing_of_each_other_or_of_the_order() -> None:
    """Ids are numbered as their records come, and rows of a group by their values."""
    release = hierdata.anonymize(people(60, 1), POLICY | {"sensitive_tables": WRITTEN}, seed=SEED)
    for number in (1, 2):
        ids = [record[f"group_{number}"] for record in release.records()]
        assert [*dict.fromkeys(ids)] == [*range(1, max(ids) + 1)]  # type: ignore[type-var,operator]
        rows: list[Any] = list(release.part(f"sensitive-{number}"))
        assert [row["group"] for row in rows] == sorted(row["group"] for row in rows)
