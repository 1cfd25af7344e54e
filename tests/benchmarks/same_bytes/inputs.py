"""The collections of the comparison: small synthetic people in every format, and the first bundled records.

Nothing of hierdata is imported here: the collections must not depend on the builds that are compared.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from xml.etree import ElementTree

import bson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

Record: TypeAlias = dict[str, Any]
Writer: TypeAlias = Callable[[Path, Sequence[Record]], None]

COUNT = 40
FIXTURES = Path(__file__).parents[3] / "fixtures"
SCHEMAS = Path(__file__).parents[3] / "schemas"
TOWNS = {"*": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Bari"], "west": ["Porto"]}}
DISEASES = {"*": {"lungs": ["flu", "asthma"], "skin": ["rash", "acne"], "nerves": ["migraine", "stroke"]}}
DRUGS = {"*": {"pain": ["aspirin", "ibuprofen"], "sleep": ["melatonin"]}}
_LEAVES = [leaf for group in DISEASES["*"].values() for leaf in group]


def people(count: int = COUNT) -> list[Record]:
    """People with one to three visits each and up to two drugs a visit; some values are missing."""
    rng = Random(7)

    def disease() -> str:
        return rng.choices(_LEAVES, weights=[5, 4, 3, 2, 2, 1])[0]

    def visit() -> Record:
        drugs = [
            {"name": rng.choice(["aspirin", "ibuprofen", "melatonin"])} for _ in range(rng.randint(0, 2))
        ]
        return {"ward": rng.choice("uv"), "reason": disease(), "drugs": drugs}

    def person(number: int) -> Record:
        record: Record = {
            "id": f"P{number:03}",
            "born": f"{rng.randint(1960, 1989)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "zip": f"{rng.choice([481, 490])}{rng.randint(10, 29)}",
            "sex": rng.choice("fm"),
            "age": rng.randint(20, 59),
            "town": rng.choice(["Oslo", "Bergen", "Rome", "Bari", "Porto", "?"]),
            "note": f"seen on day {rng.randint(1, 99)}",
            "batch": rng.randint(1, 9),
            "disease": disease(),
            "income": rng.randint(15, 60) * 100,
        }
        for name in ("zip", "income"):
            if rng.random() < 0.06:
                del record[name]
        record["visits"] = [visit() for _ in range(rng.randint(1, 3))]
        return record

    return [person(number) for number in range(1, count + 1)]


def flat(records: Sequence[Record]) -> list[Record]:
    """The records without what lies below them."""
    return [{name: value for name, value in one.items() if not isinstance(value, list)} for one in records]


def _write_json(path: Path, records: Sequence[Record]) -> None:
    path.write_text(json.dumps(records, indent=1))


def _write_lines(path: Path, records: Sequence[Record]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def _with_object_ids(records: Sequence[Record]) -> list[Record]:
    return [{"_id": bson.ObjectId(f"{number:024x}"), **one} for number, one in enumerate(records)]


def _write_extended_json(path: Path, records: Sequence[Record]) -> None:
    _write_lines(path, [{**one, "_id": {"$oid": str(one["_id"])}} for one in _with_object_ids(records)])


def _write_bson(path: Path, records: Sequence[Record]) -> None:
    path.write_bytes(b"".join(bson.encode(one) for one in _with_object_ids(records)))


def element(name: str, content: Record) -> ElementTree.Element:
    """A record as XML: its id is an attribute, every other field an element, repeated for a list."""
    found = ElementTree.Element(name)
    for key, value in content.items():
        if key == "id":
            found.set(key, value)
        elif isinstance(value, list):
            found.extend(element(key, one) for one in value)
        else:
            ElementTree.SubElement(found, key).text = str(value)
    return found


def _write_xml(path: Path, records: Sequence[Record]) -> None:
    root = ElementTree.Element("people")
    root.extend(element("person", one) for one in records)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="UTF-8", xml_declaration=True)


def _write_csv(path: Path, records: Sequence[Record]) -> None:
    columns = list(dict.fromkeys(name for one in records for name in one))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(records)


def _write_parquet(path: Path, records: Sequence[Record]) -> None:
    columns = dict.fromkeys(name for one in records for name in one)
    table = {name: [one.get(name) for one in records] for name in columns}
    pa.parquet.write_table(pa.table(table), path)


WRITERS: dict[str, tuple[str, Writer]] = {
    "json": (".json", _write_json),
    "jsonl": (".jsonl", _write_lines),
    "extended-json": (".ejson", _write_extended_json),
    "bson": (".bson", _write_bson),
    "xml": (".xml", _write_xml),
    "csv": (".csv", _write_csv),
    "parquet": (".parquet", _write_parquet),
}
"""How each format is written, with its suffix."""
TABULAR = ("csv", "parquet")
"""Formats in which trees are keyed tables."""


def tables(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Trees as keyed tables: people, their visits, and the drugs of these."""
    found: dict[str, list[Record]] = {"people": [], "visits": [], "drugs": []}
    for person, root in zip(records, flat(records), strict=True):
        found["people"].append({"pid": len(found["people"]) + 1, **root})
        for visit in person["visits"]:
            keys = {"vid": len(found["visits"]) + 1, "pid": len(found["people"])}
            found["visits"].append({**keys, "ward": visit["ward"], "reason": visit["reason"]})
            found["drugs"] += [{"vid": keys["vid"], **drug} for drug in visit["drugs"]]
    return found


def source_of(shape: str, format_name: str) -> str:
    """Where ``write_inputs`` puts the people of this shape, relative to its folder."""
    if shape == "tree" and format_name in TABULAR:
        return f"inputs/tables-{format_name}"
    return f"inputs/{shape}{WRITERS[format_name][0]}"


def write_inputs(folder: Path) -> None:
    """Write all collections below an empty folder, and the taxonomies and schemas that policies name."""
    inputs = folder / "inputs"
    inputs.mkdir()
    (folder / "policies").mkdir()
    trees = people()
    for name, (suffix, write) in WRITERS.items():
        write(folder / source_of("flat", name), flat(trees))
        if name not in TABULAR:
            write(folder / source_of("tree", name), trees)
            continue
        place = folder / source_of("tree", name)
        place.mkdir()
        for table, rows in tables(trees).items():
            write(place / f"{table}{suffix}", rows)
    _write_csv(inputs / "population.csv", [{"sex": one["sex"], "age": one["age"]} for one in trees] * 3)
    (inputs / "envelope.json").write_text(json.dumps({"made": "by hand", "people": trees}))
    (inputs / "tree.jsonl.gz").write_bytes(gzip.compress((inputs / "tree.jsonl").read_bytes(), mtime=0))
    (inputs / "semicolons.csv").write_text((inputs / "flat.csv").read_text().replace(",", ";"))
    (inputs / "documents").mkdir()
    for number, one in enumerate(trees):
        document = ElementTree.ElementTree(element("person", one))
        document.write(inputs / "documents" / f"{number:02}.xml", encoding="UTF-8", xml_declaration=True)
    maps = [
        {
            "sex": one["sex"],
            "stays": {f"2021-03-{at:02}": {"ward": "u"} for at, _ in enumerate(one["visits"], 1)},
        }
        for one in trees
    ]
    _write_lines(inputs / "maps.jsonl", maps)
    spouses = [{"sex": one["sex"], "spouse": {"age": one["age"]}, "disease": one["disease"]} for one in trees]
    _write_lines(inputs / "spouse.jsonl", spouses)
    _write_lines(inputs / "unlisted.jsonl", [{"sex": "f", "disease": "flu", "secret": 1}] * 5)
    (inputs / "broken.jsonl").write_text('{"sex": "f", "disease": "flu"}\n{"sex": \n')
    copy_bundled(folder)


def copy_bundled(folder: Path, count: int = COUNT) -> None:
    """The first records of the bundled collections, with their policies and all that these name."""
    for name in ("taxonomies", "policies"):
        shutil.copytree(FIXTURES / name, folder / "fixtures" / name)
    for place in (folder, folder / "fixtures"):
        shutil.copytree(SCHEMAS, place / "schemas")
    bundled = folder / "fixtures" / "policies"
    for policy, schema in (("students-xml", "student.xsd"), ("students-multilevel", "student.schema.json")):
        stated = (bundled / f"{policy}.yaml").read_text("utf-8")
        own = bundled / f"students-{Path(schema).suffix[1:].replace('json', 'schema')}.yaml"
        own.write_text(f"{stated}schema: ../schemas/{schema}\n", "utf-8")
    students = folder / "students"
    (students / "tables").mkdir(parents=True)
    source = FIXTURES / "students"

    def head(path: Path, lines: int, end: str = "") -> str:
        return "".join(path.read_text("utf-8").splitlines(keepends=True)[:lines]) + end

    (students / "students.jsonl").write_text(head(source / "students.jsonl", count), "utf-8")
    (students / "students.xml").write_text(head(source / "students.xml", count + 2, "</students>\n"), "utf-8")
    for name in ("relaxed", "canonical"):
        text = head(source / "mongodb" / f"{name}.ejson", count)
        (students / f"{name}.ejson").write_text(text, "utf-8")
    with (source / "mongodb/university/students.bson").open("rb") as stream:
        documents = islice(bson.decode_file_iter(stream), count)
        found = [bson.encode(one) for one in documents]
    (students / "students.bson").write_bytes(b"".join(found))
    (students / "patients.jsonl").write_text(head(FIXTURES / "patients/patients.jsonl", count), "utf-8")
    kept: dict[str, set[str]] = {"sid": {str(number) for number in range(1, count + 1)}}
    for table in ("students", "courses", "books", "evaluations"):
        with (source / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        key = "cid" if table in ("books", "evaluations") else "sid"
        rows = [row for row in rows if row[key] in kept[key]]
        if table == "courses":
            kept["cid"] = {row["cid"] for row in rows}
        _write_csv(students / "tables" / f"{table}.csv", rows)
