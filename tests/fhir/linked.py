"""Resources that refer to each other, policies that keep the references, and readers of plain dicts."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

from tests.fhir.valid import validate
from tests.naive_references import Tree, places

SEED, KEY = bytes(16), bytes(range(40, 80))
FLAT = {"role": "quasi", "flat": True}
TABLES = {
    "Patient": {},
    "Encounter": {"parent": "Patient", "on": "subject.reference"},
    "Condition": {"parent": "Patient", "on": "subject.reference"},
    "Observation": {
        "parent": ["Encounter", "Patient"],
        "on": ["encounter.reference", "subject.reference"],
    },
}
LINKS = {"Condition": ("encounter",), "Observation": ("hasMember",)}
PARENTS = {"Encounter": ("subject",), "Condition": ("subject",), "Observation": ("encounter", "subject")}


def pseudonym(**more: Any) -> dict[str, Any]:
    return {"role": "identifier", "action": {"pseudonym": more}, "optional": True}


CONDITION = "$.Condition[*].encounter.reference"
FIELDS: dict[str, Any] = {
    "$.gender": FLAT,
    "$.Encounter[*].id": pseudonym(domain="encounters", identity=True),
    "$.Encounter[*].class.code": FLAT,
    "$.Condition[*].code.text": {"role": "sensitive"},
    "$.Condition[*].severity.text": FLAT | {"optional": True},
    CONDITION: pseudonym(domain="encounters"),
}
OBSERVED = {
    f"{place}.{field}": rule
    for place in ("$.Observation[*]", "$.Encounter[*].Observation[*]")
    for field, rule in {
        "id": pseudonym(domain="observations", identity=True),
        "code.text": FLAT | {"optional": True},
        "hasMember[*].reference": pseudonym(domain="observations"),
    }.items()
}


def policy(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "standard": "fhir-r4",
        "unlisted": "drop",
        "tables": {
            name: rule
            for name, rule in TABLES.items()
            if name != "Observation" or any("Observation" in path for path in fields)
        },
        "models": [
            {"kind": "k-anonymity", "k": 2},
            {"kind": "frequency-l-diversity", "l": "3/2", "on": ["$.Condition[*].code.text"]},
        ],
        "suppressed": "as_published",
        "fields": fields,
        **more,
    }


def spellings(kind: str, name: str) -> list[str]:
    return [
        f"{kind}/{name}",
        f"https://example.org/fhir/{kind}/{name}",
        f"{kind}/{name}/_history/2",
        f"urn:uuid:{name}",
    ]


def make_world(seed: int, count: int) -> list[Tree]:
    """Resources of which some refer to nothing, to another patient's or to another type."""
    draw = Random(seed)
    found: list[Tree] = []

    def add(kind: str, name: str, **content: Any) -> str:
        found.append({"resourceType": kind, "id": name, **content})
        return name

    def odd(kind: str) -> dict[str, Any]:
        """An element that leads to nothing of the patient."""
        other = draw.choice(["x", "e0.0", "o1.0", "p3"])
        return draw.choice(
            [
                {"display": "only"},
                {"reference": f"{kind}/{other}"},
                {"reference": f"Location/e{draw.randrange(count)}.0"},
                {"reference": "#inside"},
                {"reference": f"{kind}?identifier=7"},
            ]
        )

    for at in range(count):
        patient = {"reference": f"Patient/{add('Patient', f'p{at}', gender=draw.choice(['male', 'female']))}"}
        visits = [
            add("Encounter", f"e{at}.{n}", subject=patient, **{"class": {"code": draw.choice("AB")}})
            for n in range(draw.randint(1, 3))
        ]
        for n in range(draw.randint(1, 3)):
            to = draw.choice(spellings("Encounter", draw.choice(visits)))
            link: dict[str, Any] = {"encounter": {"reference": to, "display": "a name"}}
            if draw.random() < 0.15:
                link = draw.choice([{}, {"encounter": odd("Encounter")}])
            shown = {"severity": {"text": draw.choice("uv")}} if draw.random() < 0.7 else {}
            add(
                "Condition", f"c{at}.{n}", subject=patient, code={"text": draw.choice("xyz")}, **shown, **link
            )
        seen = [f"o{at}.{n}" for n in range(draw.randint(0, 3))]
        for name in seen:
            below = {"encounter": {"reference": f"Encounter/{visits[0]}"}} if draw.random() < 0.5 else {}
            members = [
                {"reference": draw.choice(spellings("Observation", draw.choice(seen)))}
                if draw.random() < 0.8
                else odd("Observation")
                for _ in range(draw.randint(0, 2))
            ]
            listed = {"hasMember": members} if members else {}
            add("Observation", name, subject=patient, code={"text": draw.choice("st")}, **below, **listed)
    return found


def write_export(folder: Path, resources: list[Tree]) -> Path:
    rows: defaultdict[str, list[Tree]] = defaultdict(list)
    for own in resources:
        rows[own["resourceType"]].append(own)
    folder.mkdir()
    for kind, own in rows.items():
        (folder / f"{kind}.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in own), "utf-8")
    return folder


def read_rows(release: Path) -> dict[str, Tree]:
    """Return the published resources by type and id; ids are numbers in order."""
    found: dict[str, Tree] = {}
    for file in sorted((release / "public" / "records").iterdir()):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            row = json.loads(line)
            validate(row)
            assert (row["resourceType"], row["id"]) == (file.stem, str(number))
            found[f"{file.stem}/{number}"] = row
    return found


def parent_of(row: Tree) -> str | None:
    links = (row.get(name) for name in PARENTS.get(row["resourceType"], ()))
    return next((one["reference"] for one in links if one), None)


def patient_of(rows: dict[str, Tree], name: str) -> str:
    above = parent_of(rows[name])
    return name if above is None else patient_of(rows, above)


def links_of(row: Tree) -> list[str]:
    """Return the references of a resource beside those to what it is nested in."""
    found = []
    for name in LINKS.get(row["resourceType"], ()):
        if name not in PARENTS[row["resourceType"]]:
            value = row.get(name, [])
            items = value if isinstance(value, list) else [value]
            found += [one["reference"] for one in items if "reference" in one]
    return found


def check_closed(rows: dict[str, Tree]) -> int:
    """Check that each reference leads to a resource of the same patient; return how many there are."""
    count = 0
    for name, row in rows.items():
        for to in links_of(row):
            assert to in rows
            assert patient_of(rows, to) == patient_of(rows, name)
            count += 1
    return count


def check_places(rows: dict[str, Tree]) -> None:
    """Check that all of a place have a reference there, or none: so absence tells of nobody."""
    nested: dict[str, Tree] = {}
    for name, row in rows.items():
        shown = {
            key: own for key, own in row.items() if key not in ("id", "subject", "resourceType", "status")
        }
        if row["resourceType"] == "Condition":
            shown["linked"] = bool(shown.pop("encounter", None))
            shown.pop("code", None)
        elif row["resourceType"] == "Observation":
            shown.pop("encounter", None)
            shown["hasMember"] = [{"linked": "reference" in one} for one in shown.get("hasMember", ())]
        nested[name] = shown
    for name, row in rows.items():
        if (above := parent_of(row)) is not None:
            nested[above].setdefault(row["resourceType"], []).append(nested[name])
    roots = [own for name, own in nested.items() if name.startswith("Patient/")]
    for _, pool in places(roots, {"linked"}):
        assert len({one.get("linked") for one in pool}) == 1


def alike(links: list[dict[str, Any]], extra: int | None = None) -> list[Tree]:
    """Patients who look alike, with two equal encounters and one condition; ``extra`` has a third one."""
    found: list[Tree] = []
    for at, link in enumerate(links):
        subject = {"subject": {"reference": f"Patient/p{at}"}}
        found.append({"resourceType": "Patient", "id": f"p{at}", "gender": "male"})
        found += [
            {"resourceType": "Encounter", "id": f"e{at}-{n}", **subject, "class": {"code": "AB"[n > 1]}}
            for n in range(3 if at == extra else 2)
        ]
        text = {"code": {"text": "xyzw"[at % 4]}}
        found.append({"resourceType": "Condition", "id": f"c{at}", **subject, **text, **link})
    return found


def to(reference: str) -> dict[str, Any]:
    return {"encounter": {"reference": reference}}


def forge(folder: Path, changed: dict[str, Tree]) -> None:
    for file in sorted(folder.iterdir()):
        rows = [row for name, row in changed.items() if name.startswith(f"{file.stem}/")]
        file.write_text("".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows), "utf-8")


def bundle_of(resources: list[Tree], at: int) -> Tree:
    """A patient's Bundle, in which resources have no ids and are named by address, or by type and id."""
    own = [one for one in resources if re.fullmatch(rf"[pec]{at}(-.*)?", one["id"])]
    text = json.dumps(own)
    for one in own:
        kind, name = one["resourceType"], one["id"]
        if at % 2:
            text = text.replace(f'"{kind}/{name}"', f'"urn:uuid:{name}"')
        else:
            text = text.replace(f'"{kind}/{name}"', f'"https://example.org/r4/{kind}/{name}/_history/1"')
    entries = []
    for one in json.loads(text):
        name = one["id"] if at % 4 else one.pop("id")
        full = f"urn:uuid:{name}" if at % 2 else f"https://example.org/r4/{one['resourceType']}/{name}"
        entries.append({"fullUrl": full, "resource": one})
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}
