"""People with identifiers, references, free text and dates, in every format, and a policy for each."""

from __future__ import annotations

import csv
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

KEY = bytes(range(40, 80))

ACTIONS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier", "action": {"pseudonym": {"domain": "people", "identity": True}}},
    "name": {"role": "identifier"},
    "note": {"role": "free_text", "action": "redact", "missing": [""]},
    "born": {
        "role": "quasi",
        "date": {"steps": ["day", "year", "century"]},
        "action": {"shift": {"days": 40, "by": "$.id"}},
    },
    "seen": {"role": "sensitive", "action": {"shift": {"days": 40, "by": "$.id"}}},
    "sex": {"role": "quasi", "flat": True},
    "visits.who": {
        "role": "identifier",
        "action": {"pseudonym": {"domain": "people", "references": "keep"}},
    },
    "visits.ward": {"role": "quasi", "flat": True},
}


def people(count: int = 12) -> list[dict[str, Any]]:
    return [
        {
            "id": f"S{number:03}",
            "name": f"Name{number}",
            "note": f"Note{number}" if number % 3 else "",
            "born": f"19{70 + number % 4}-05-1{number % 9}",
            "seen": f"2001-02-{10 + number}",
            "sex": "fm"[number % 2],
            "visits": [
                {"who": f"S{number:03}", "ward": "ab"[number % 2]},
                {"who": f"T{number}", "ward": "c"},
            ],
        }
        for number in range(count)
    ]


def policy(fields: dict[str, dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """The policy for JSON; ``fields`` are rules that come in addition or instead."""
    stated = deepcopy(ACTIONS)
    rules = {"$." + name.replace("visits.", "visits[*]."): rule for name, rule in stated.items()}
    models = [{"kind": "k-anonymity", "k": 3}]
    return {"version": 1, "models": models, "fields": {**rules, **(fields or {})}, **more}


def flat_policy(**more: Any) -> dict[str, Any]:
    """The policy for one table."""
    stated = policy(**more)
    stated["fields"] = {path: rule for path, rule in stated["fields"].items() if "visits" not in path}
    return stated


def xml_policy(**more: Any) -> dict[str, Any]:
    """The policy for XML, with an attribute and an element."""
    names = {"id": "@id", "visits.who": "visit/@who", "visits.ward": "visit"}
    place = "/people/person/"
    rules = {place + names.get(name, name): rule for name, rule in deepcopy(ACTIONS).items()}
    rules[place + "visit/text()"] = rules.pop(place + "visit")
    for rule in rules.values():
        if "shift" in (rule.get("action") or {}):
            rule["action"]["shift"]["by"] = place + "@id"
    return policy(**more) | {"fields": rules}


def write(folder: Path, form: str) -> tuple[Path, dict[str, Any]]:
    """The people in a format, and the policy for it."""
    found = people()
    path = folder / f"people.{form}"
    if form == "json":
        path.write_text(json.dumps(found))
        return path, policy()
    if form == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in found))
        return path, policy()
    if form == "xml":
        path.write_text(f"<people>{''.join(map(_element, found))}</people>")
        return path, xml_policy()
    rows = [{key: value for key, value in one.items() if key != "visits"} for one in found]
    if form == "csv":
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    return path, flat_policy()


def write_tables(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The people in two keyed tables, one of them of visits."""
    own = folder / "tables"
    own.mkdir()
    with (own / "persons.csv").open("w", newline="") as stream:
        rows = [
            {"pid": number, **{key: value for key, value in one.items() if key != "visits"}}
            for number, one in enumerate(people())
        ]
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with (own / "visits.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["pid", "who", "ward"])
        writer.writeheader()
        writer.writerows(
            {"pid": number, **visit} for number, one in enumerate(people()) for visit in one["visits"]
        )
    tables = {"persons": {"key": "pid"}, "visits": {"parent": "persons", "on": "pid"}}
    return own, policy(tables=tables)


def _element(one: dict[str, Any]) -> str:
    plain = "".join(f"<{key}>{one[key]}</{key}>" for key in ("name", "note", "born", "seen", "sex"))
    visits = "".join(f'<visit who="{visit["who"]}">{visit["ward"]}</visit>' for visit in one["visits"])
    return f'<person id="{one["id"]}">{plain}{visits}</person>'
