"""Under ``unlisted: keep`` nothing public names a key that few records have: its name tells whose it is."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lxml import etree

import hierdata
from hierdata.ground.errors import PromiseError

SEED = b"sixteen bytes or"
MARK = "mrn_Zq7"
K = 4
ENGINE = {"steps": [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]}
RECODINGS = ("generalization", "full_domain", "sets_and_ranges", "representatives", "anatomy", "slicing")


def policy_of(recoding: str = "generalization", **keys: Any) -> dict[str, Any]:
    """Everything but the sensitive value is kept without being named."""
    apart = recoding in ("anatomy", "slicing")
    model = {"kind": "frequency-l-diversity", "l": 2} if apart else {"kind": "k-anonymity", "k": K}
    return {
        "version": 1,
        "recoding": recoding,
        "unlisted": {"keep": "nothing of it is known to anybody"},
        "suppressed": "as_published",
        "individual": {"none": "each record is of another person"},
        "models": [model, {"kind": "k-anonymity", "k": K}] if apart else [model],
        "fields": {"$.cause": {"role": "sensitive"}},
        **({} if apart or recoding == "full_domain" else {"engine": ENGINE}),
        **keys,
    }


def people(count: int = 24) -> list[dict[str, Any]]:
    return [
        {"cause": ("flu", "cold", "gout")[at % 3], "town": f"t{at // 8}", "home": {"floor": at % 2}}
        for at in range(count)
    ]


PLACES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a field": lambda one: one.update({MARK: "x"}),
    "a missing value": lambda one: one.update({MARK: None}),
    "an object": lambda one: one.update({MARK: {"inner": 1, MARK: 2}}),
    "an array": lambda one: one.update({MARK: ["x", "y"]}),
    "an array of objects": lambda one: one.update({MARK: [{"inner": 1}, {"inner": 1}]}),
    "in an object": lambda one: one["home"].update({MARK: 1}),
    "an object in an object": lambda one: one["home"].update({MARK: {MARK: {"x": 1}}}),
    "a flood at one person": lambda one: one.update(home={"floor": 1, "n": [{MARK: 1} for _ in range(20)]}),
}


def public_bytes(folder: Path) -> dict[str, bytes]:
    """All of public/ by name; the names too."""
    files = {path.name: path.read_bytes() for path in (folder / "public").rglob("*") if path.is_file()}
    return files | {"names": "\n".join(files).encode()}


def named(folder: Path) -> list[str]:
    return [name for name, data in public_bytes(folder).items() if MARK.encode() in data]


@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_key_of_few_records_is_named_nowhere(recoding: str, tmp_path: Path) -> None:
    """Whether they are one class, spread over all, or suppressed."""
    places = PLACES if recoding == "generalization" else ("a field",)
    for number, (name, some) in enumerate(
        (name, some) for name in places for some in ([0], [0, 9, 23], [8, 9, 10])
    ):
        records = people()
        for at in some:
            PLACES[name](records[at])
        out = hierdata.anonymize(records, policy_of(recoding), seed=SEED).save(tmp_path / str(number))
        assert not named(out)
        assert hierdata.verify(out, policy_of(recoding), original=records).passed


@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_key_of_as_many_as_the_smallest_class_is_kept(recoding: str, tmp_path: Path) -> None:
    records = people()
    for at in range(K):
        records[at][MARK] = "x"
    policy = policy_of(recoding)
    out = hierdata.anonymize(records, policy, seed=SEED).save(tmp_path / "out")
    assert "codebook.json" in named(out)
    assert hierdata.verify(out, policy, original=records).passed


def test_the_key_of_a_suppressed_person_is_not_named(tmp_path: Path) -> None:
    """Nor that of the suppressed and of fewer others than a class has."""
    records = [*people(), {"cause": "flu", "town": "alone", "home": {"floor": 9}, MARK: 1}]
    for others in range(K - 1):
        for one in records[:others]:
            one[MARK] = 1
        release = hierdata.anonymize(records, policy_of(), seed=SEED)
        assert release.report.counts.records.suppressed == 1
        assert not named(release.folder)


def test_the_steward_reads_how_many_fields_were_left_out() -> None:
    records = people()
    for name, place in PLACES.items():
        if name in ("a field", "in an object"):
            place(records[5])
    release = hierdata.anonymize(records, policy_of(), seed=SEED)
    (warning,) = [one for one in release.report.warnings if one.startswith("unlisted: ")]
    assert warning.startswith(f"unlisted: 2 fields that no rule names are in fewer than {K} records")
    assert not [
        path for path in release.folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()
    ]


def test_the_least_number_is_that_of_the_models_together() -> None:
    records = people()
    for one in records[:3]:
        one[MARK] = 1
    for models, kept in (
        ([{"kind": "k-anonymity", "k": 3}], True),
        ([{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 3}], True),
        ([{"kind": "frequency-l-diversity", "l": "7/2"}], False),
    ):
        try:
            release = hierdata.anonymize(records, policy_of(models=models), seed=SEED)
        except PromiseError:
            assert not kept
        else:
            assert bool(named(release.folder)) == kept


def test_an_element_and_an_attribute_of_few_are_named_nowhere(tmp_path: Path) -> None:
    """Their namespaces are not declared either; there is no mark in records.xsd."""
    source = tmp_path / "people.xml"
    policy = policy_of(fields={"/people/person/cause": {"role": "sensitive"}})
    marks = {
        "an element": f"<{MARK}>1</{MARK}>",
        "a namespace": f'<m:a xmlns:m="urn:{MARK}">1</m:a>',
        "an attribute": f'<home {MARK}="1"/>',
        "an attribute of a namespace": f'<home xmlns:m="urn:{MARK}" m:a="1"/>',
    }
    for number, mark in enumerate(marks.values()):
        for some in ([0], [0, 9, 23]):
            root = etree.Element("people")
            for at, one in enumerate(people()):
                person = etree.SubElement(root, "person")
                etree.SubElement(person, "cause").text = one["cause"]
                etree.SubElement(person, "town").text = one["town"]
                if at in some:
                    person.append(etree.fromstring(mark))
                elif "<home" in mark:
                    person.append(etree.Element("home", floor="1"))
            source.write_bytes(etree.tostring(root))
            out = hierdata.anonymize(source, policy, seed=SEED).save(tmp_path / f"{number}-{len(some)}")
            assert not named(out)
            assert hierdata.verify(out, policy, original=source).passed


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_column_that_few_rows_fill_is_named_nowhere(suffix: str, tmp_path: Path) -> None:
    source = tmp_path / f"people{suffix}"
    for some in ([], [5], [0, 9, 23], [0, 1, 2, 3]):
        rows = [
            {"cause": one["cause"], "town": one["town"], MARK: "x" if at in some else None}
            for at, one in enumerate(people())
        ]
        if suffix == ".csv":
            with source.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
        elif suffix == ".parquet":
            pd.DataFrame(rows).to_parquet(source)
        else:
            filled = [{key: value for key, value in row.items() if value} for row in rows]
            source.write_text("\n".join(map(json.dumps, filled)))
        out = hierdata.anonymize(source, policy_of(), seed=SEED).save(tmp_path / str(len(some)))
        assert bool(named(out)) == (len(some) >= K)
        assert hierdata.verify(out, policy_of(), original=source).passed


def test_a_column_of_few_rows_of_keyed_tables_is_named_nowhere(tmp_path: Path) -> None:
    rows = [{"id": at, "cause": one["cause"], "town": one["town"]} for at, one in enumerate(people())]
    visits = [
        {"person": row["id"], "ward": "w", MARK: "x" if row["id"] in (0, 9) else ""}
        for row in rows
        for _ in "ab"
    ]
    for name, table in (("people", rows), ("visits", visits)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, table[0])
            writer.writeheader()
            writer.writerows(table)
    tables = {"people": {"key": "id"}, "visits": {"parent": "people", "on": "person"}}
    for recoding in ("generalization", "anatomy"):
        policy = policy_of(recoding, tables=tables)
        out = hierdata.anonymize(tmp_path, policy, seed=SEED).save(tmp_path.parent / f"out-{recoding}")
        assert not named(out)
        assert hierdata.verify(out, policy, original=tmp_path).passed


def test_the_keys_of_a_map_s_entries_are_counted_too(tmp_path: Path) -> None:
    """One person with many entries is one person."""
    records = [{**one, "stays": {f"2001-0{1 + at % 2}-01": {"ward": "w"}}} for at, one in enumerate(people())]
    records[7]["stays"] = {f"2001-01-{day:02}": {"ward": "w", MARK: 1} for day in range(1, 9)}
    fields = {
        "$.cause": {"role": "sensitive"},
        "$.stays": {"map": True},
        "$.stays[*]~": {"role": "quasi", "date": {"steps": ["day", "year"]}},
    }
    policy = policy_of(fields=fields)
    out = hierdata.anonymize(records, policy, seed=SEED).save(tmp_path / "out")
    assert not named(out)
    assert hierdata.verify(out, policy, original=records).passed


def test_kept_keys_stand_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Not in that of the first record, which may be suppressed."""
    alone = {"town": "alone", "home": {"floor": 9}, "cause": "flu"}
    turned = dict(reversed(alone.items()))
    orders = set()
    for records in ([alone, *people()], [turned, *people()]):
        release = hierdata.anonymize(records, policy_of(), seed=SEED)
        assert release.report.counts.records.suppressed == 1
        orders |= {tuple(record) for record in release.records()}
    assert len(orders) == 1
