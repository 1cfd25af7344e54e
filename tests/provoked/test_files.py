"""What files are refused for: taxonomies, folders, tables, resources, empty collections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from tests.provoked import Act, provoke
from tests.provoked.test_plans import BORN, FLAT, OUTER, ROWS, K, Rule, publish

FHIR: Rule = {"standard": "fhir-r4", "tables": {"Patient": {}}}


def write(file: Path, content: str | bytes) -> Path:
    """Write a file and the folder that it is in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def grow(file: Path, taxonomy: str) -> Act:
    """Return the act of publishing records by a policy that names this file."""

    def act() -> object:
        write(file, taxonomy)
        fields = {**OUTER, "$.a": {"role": "quasi", "taxonomy": file.name}}
        policy = {"version": 1, "models": [K], "fields": fields}
        stated = write(file.parent / "policy.json", json.dumps(policy))
        return hierdata.anonymize(ROWS, str(stated), seed=bytes(16))

    return act


def test_taxonomies(tmp_path: Path) -> None:
    inside: Rule = {**OUTER, "$.a": {"role": "quasi", "taxonomy": "builtin/none"}}
    provoke(
        PolicyError,
        ("taxonomy rows.csv: the tree has no leaf", grow(tmp_path / "rows.csv", ";*\n")),
        ("longer than 131,072 characters: is a quote", grow(tmp_path / "rows.csv", '"' + "x;\n" * 70_000)),
        ("taxonomy tree.json: a label is empty", grow(tmp_path / "tree.json", '{"*": {"": null}}')),
        ("the package has no such taxonomy; it has admin", publish(ROWS, inside)),
        ("large.csv: it is larger than 64 MiB", grow(tmp_path / "large.csv", "x" * (64 * 2**20 + 1))),
    )


def test_collections_with_nothing_in_them(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.json", "[]")
    keyed: Rule = {"$.id": {"role": "identifier"}, "$.a": FLAT}
    (tmp_path / "none").mkdir()
    write(tmp_path / "files" / "a.json", '{"a": 1}')
    write(tmp_path / "files" / "b.json", b'{"a": "\xff"}')
    provoke(
        InputError,
        ("the collection is empty: there is nothing to inspect", lambda: hierdata.init(empty)),
        ("there are no records: the input has nothing", publish(empty, keyed, individual="$.id")),
        ("none: there are no resources to read", publish(tmp_path / "none", BORN, **FHIR)),
        (
            "the entries of a Bundle must be an array",
            publish(bundle(tmp_path, entry={"resource": {}}), BORN, **FHIR),
        ),
        (
            "the table visits: the folder has no file visits",
            publish(people(tmp_path), {"$.a": FLAT}, tables=VISITS),
        ),
    )


VISITS: Rule = {"people": {"key": "id"}, "visits": {"parent": "people", "on": "id"}}


def people(folder: Path) -> Path:
    return write(folder / "people" / "people.csv", "id,a\n1,2\n2,2\n").parent


def bundle(folder: Path, **keys: Any) -> Path:
    return write(folder / "bundle.json", json.dumps({"resourceType": "Bundle", "type": "collection", **keys}))


def test_folders_and_schemas_that_are_something_else(tmp_path: Path) -> None:
    write(tmp_path / "tables" / "people.csv", "id,code\n" + "".join(f"{n},x{n}\n" for n in range(30)))
    write(
        tmp_path / "tables" / "v.csv", "vid,people_id\n" + "".join(f"{n + 100},{n % 30}\n" for n in range(60))
    )
    write(tmp_path / "tables" / "w.csv", "wid,code\n" + "".join(f"{n + 1000},x{n % 30}\n" for n in range(60)))
    write(tmp_path / "release" / "public" / "records" / "1.csv", "a\n1\n")
    write(tmp_path / "other" / "public" / "other.txt", "")
    write(tmp_path / "resources" / "inner" / "x.json", "{}")
    policy: Rule = {"version": 1, "models": [K], "fields": OUTER}

    def check(schema: str) -> Act:
        stated = write(tmp_path / "policy.json", json.dumps({**policy, "schema": schema}))
        return lambda: hierdata.anonymize(ROWS, str(stated), seed=bytes(16))

    provoke(
        PolicyError,
        ("the table people has two columns by which other", lambda: hierdata.init(tmp_path / "tables")),
        ("records: this is a folder of tables, but", lambda: hierdata.verify(tmp_path / "release", policy)),
        ("this folder is not a release", lambda: hierdata.verify(tmp_path / "other", policy)),
        ("the folder has other folders in it", publish(tmp_path / "resources", BORN, **FHIR)),
        ("the JSON Schema none.json cannot be read: correct", check("none.json")),
    )
    write(tmp_path / "three.json", "3")
    provoke(PolicyError, ("three.json is not a JSON Schema", check("three.json")))
