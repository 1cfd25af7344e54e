"""References between sibling resources under models of classes: each leads to a resource of its patient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hierdata import anonymize, verify
from hierdata.ground.errors import HierdataError, PolicyError, VerificationError
from hierdata.records.row_links import RowLink, RowLinks
from hierdata.sources.closed_ids import ClosedIds
from tests.fhir.linked import (
    CONDITION,
    FIELDS,
    FLAT,
    KEY,
    OBSERVED,
    SEED,
    alike,
    bundle_of,
    check_closed,
    check_places,
    forge,
    links_of,
    make_world,
    parent_of,
    patient_of,
    policy,
    pseudonym,
    read_rows,
    spellings,
    to,
    write_export,
)
from tests.naive_references import Tree


@pytest.mark.parametrize("recoding", ["generalization", "full_domain"])
@pytest.mark.parametrize("seed", range(2))
def test_each_reference_leads_to_a_resource_of_its_patient(tmp_path: Path, seed: int, recoding: str) -> None:
    export = write_export(tmp_path / "export", make_world(seed, 16))
    stated = policy(FIELDS | OBSERVED, recoding=recoding)
    anonymize(export, stated, out=tmp_path / "out", seed=SEED, key=KEY)
    rows = read_rows(tmp_path / "out")
    assert check_closed(rows) > 5
    check_places(rows)
    assert verify(tmp_path / "out", stated).passed
    assert verify(tmp_path / "out", stated, original=export, key=KEY).passed
    told = (tmp_path / "out" / "public" / "release.json").read_text("utf-8")
    assert "tell which resources of a record belong together" in told
    assert "Every reference at $.Condition[*].encounter.reference" in told
    assert "lack the key" not in told


def release(folder: Path, resources: list[Tree], stated: dict[str, Any]) -> dict[str, Tree]:
    anonymize(write_export(folder / "in", resources), stated, out=folder / "out", seed=SEED, key=KEY)
    rows = read_rows(folder / "out")
    check_closed(rows)
    return rows


def count_links(rows: dict[str, Tree]) -> int:
    return sum(len(links_of(row)) for row in rows.values())


def test_all_spellings_of_a_reference_lead_to_their_resource(tmp_path: Path) -> None:
    links = [to(spellings("Encounter", f"e{at}-1")[at % 4]) for at in range(8)]
    rows = release(tmp_path, alike(links), policy(FIELDS))
    assert count_links(rows) == 8


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"encounter": {"display": "a name"}},
        to("Encounter/e7-2"),
        to("Encounter/e3-0"),
        to("Location/e7-0"),
        to("#e7-0"),
        to("Encounter?identifier=7"),
    ],
)
def test_one_that_leads_nowhere_takes_those_of_its_class_along(tmp_path: Path, link: dict[str, Any]) -> None:
    """Missing, suppressed (e7-2 is the only one of its class), another patient's, another type."""
    links = [to(f"Encounter/e{at}-0") for at in range(7)]
    stated = policy(FIELDS) | {"models": [{"kind": "k-anonymity", "k": 8}]}
    rows = release(tmp_path, alike([*links, link], extra=7), stated)
    assert len(rows) == 8 * 4
    assert not count_links(rows)
    assert all("encounter" not in row for row in rows.values())


def test_a_patient_who_is_suppressed_takes_nothing_along(tmp_path: Path) -> None:
    resources = alike([to(f"Encounter/e{at}-0") for at in range(5)])
    resources[0]["gender"] = "female"
    stated = policy({**FIELDS, "$.gender": FLAT | {"weight": 100}})
    stated["models"] = [{"kind": "k-anonymity", "k": 4}]
    rows = release(tmp_path, resources, stated)
    assert count_links(rows) == sum(row["resourceType"] == "Patient" for row in rows.values()) >= 4


def test_who_knows_what_belongs_together_may_find_the_record(tmp_path: Path) -> None:
    """Patients of one class who differ in the kind of encounter that their condition is from."""
    resources = alike([to(f"Encounter/e{at}-{0 if at == 3 else 1}") for at in range(8)])
    for own in resources:
        own |= {"class": {"code": "IMP"}} if own["id"].endswith("-0") else {}
    stated = policy(FIELDS) | {"models": [{"kind": "k-anonymity", "k": 8}]}
    rows = release(tmp_path, resources, stated)
    found = [
        row["code"]["text"]
        for row in rows.values()
        if row["resourceType"] == "Condition"
        and rows[row["encounter"]["reference"]]["class"]["code"] == "IMP"
    ]
    assert found == ["w"], "the condition of p3 is told"
    told = json.loads((tmp_path / "out/public/release.json").read_text("utf-8"))["limitations"]
    assert any(f"References at {CONDITION} tell which resources" in text for text in told)


def test_the_order_of_equal_siblings_tells_nothing(tmp_path: Path) -> None:
    """Equal encounters of a patient, exchanged in the input: which has the smaller id stays the same."""
    resources = alike([to(f"Encounter/e{at}-0") for at in range(8)])
    for own in resources:
        if own["resourceType"] == "Condition":
            own["code"]["text"] = own["id"]
    exchanged = sorted(resources, key=lambda own: own["id"], reverse=True)
    found: list[dict[str, bool]] = []
    for name, given in (("a", resources), ("b", exchanged)):
        (tmp_path / name).mkdir()
        rows = release(tmp_path / name, given, policy(FIELDS))
        first: dict[str, bool] = {}
        for row in rows.values():
            if row["resourceType"] == "Condition":
                own = [one for one in rows if "Enc" in one and parent_of(rows[one]) == parent_of(row)]
                ordered = sorted(own, key=lambda one: int(one.rpartition("/")[2]))
                first[row["code"]["text"]] = ordered[0] == row["encounter"]["reference"]
        found.append(first)
    assert found[0] == found[1]
    assert {*found[0].values()} == {True, False}, "the first of the input is not always the first"


@pytest.mark.parametrize(
    ("reference", "original"),
    [
        ("Encounter/17", False),
        ("Encounter/0", False),
        ("Encounter/3/_history/1", False),
        ("0" * 31 + "2", False),
        ("Patient/1", False),
        ("of another patient", False),
        ("the other encounter", True),
        (None, False),
    ],
)
def test_a_forged_reference_is_found(tmp_path: Path, reference: str | None, original: bool) -> None:
    """With the original also one to another encounter of the patient, which looks the same without."""
    stated = policy(FIELDS)
    rows = release(tmp_path, alike([to(f"Encounter/e{at}-0") for at in range(8)]), stated)
    records = tmp_path / "out/public/records"
    assert verify(records, stated).passed
    own = rows["Condition/1"]
    others = [
        name
        for name in rows
        if name.startswith("Encounter/")
        and name != own["encounter"]["reference"]
        and (patient_of(rows, name) == "Patient/1") == (reference == "the other encounter")
    ]
    if reference is None:
        del own["encounter"]
    else:
        own["encounter"]["reference"] = others[0] if " " in reference else reference
    forge(records, rows)
    if original:
        assert verify(records, stated).passed
        records = tmp_path / "out"
        with pytest.raises(HierdataError):
            verify(records, stated, original=tmp_path / "in", key=KEY)
    else:
        assert not verify(records, stated).passed


def test_nothing_is_written_that_leads_nowhere() -> None:
    """What the search missed, if anything, would stop the release here."""
    link = RowLink(("encounter",), ("encounter",), "Encounter", "Condition", ("encounter",), "e", 32)
    identity = RowLink(("id",), ("id",), "Encounter", "Encounter", ("id",), "e", 32)
    ids = ClosedIds(RowLinks((identity,), (link,)), "Patient")
    rows: list[tuple[str, Tree]] = [("Patient", {"id": "1"}), ("Condition", {"encounter": "Encounter/00"})]
    with pytest.raises(VerificationError, match="the type Condition: a reference leads to nothing published"):
        [*ids.link_rows(rows)]


def test_bundles_have_references_by_address(tmp_path: Path) -> None:
    resources = alike([to(f"Encounter/e{at}-0") for at in range(8)])
    lines = (json.dumps(bundle_of(resources, at)) for at in range(8))
    (source := tmp_path / "in.ndjson").write_text("\n".join(lines), "utf-8")
    stated = policy(FIELDS)
    out = tmp_path / "out"
    anonymize(source, stated, out=out, seed=SEED, key=KEY)
    (file,) = (path for path in (out / "public").iterdir() if path.name.startswith("records"))
    bundles = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for bundle in bundles:
        rows = {f"{one['resource']['resourceType']}/{one['resource']['id']}" for one in bundle["entry"]}
        (condition,) = (one["resource"] for one in bundle["entry"] if "code" in one["resource"])
        assert condition["encounter"]["reference"] in rows
    assert len(bundles) == 8
    assert verify(out, stated, original=source, key=KEY).passed
    for one in bundles[0]["entry"]:
        if one["resource"]["resourceType"] == "Condition":
            one["resource"]["encounter"]["reference"] = "Encounter/99"
    file.write_text("".join(f"{json.dumps(own, separators=(',', ':'))}\n" for own in bundles), "utf-8")
    assert not verify(file, stated).passed


def without(path: str) -> dict[str, Any]:
    return {name: rule for name, rule in FIELDS.items() if name != path}


@pytest.mark.parametrize(
    ("fields", "more", "told"),
    [
        (
            FIELDS,
            {"models": [{"kind": "bounded-knowledge", "k": 2, "m": 1}], "suppressed": None},
            "takes the facts of a record as unlinked",
        ),
        (without("$.Encounter[*].id"), {}, "in one domain with the id that it refers to"),
        (FIELDS | {CONDITION: FLAT}, {}, "in one domain with the id that it refers to"),
        (FIELDS | {CONDITION: pseudonym(domain="encounters", references="keep")}, {}, "state `domain` alone"),
        (FIELDS | {CONDITION: pseudonym(domain="encounters", links="known")}, {}, "state `domain` alone"),
        (
            FIELDS | {"$.Condition[*].id": pseudonym(domain="encounters", identity=True)},
            {},
            "no other field can share it",
        ),
        (
            FIELDS | {"$.Condition[*].identifier[*].value": pseudonym(domain="encounters")},
            {},
            "no other field can share it",
        ),
        (
            {path: rule for path, rule in (FIELDS | OBSERVED).items() if path != "$.Observation[*].id"},
            {},
            r"state \$.Observation\[\*\].id",
        ),
        (FIELDS | {"$.Condition[*].id": pseudonym()}, {}, "it takes no rule"),
        (FIELDS, {"recoding": "anatomy"}, "anatomy"),
    ],
)
def test_what_is_not_closed_is_refused(fields: dict[str, Any], more: dict[str, Any], told: str) -> None:
    stated = {key: value for key, value in (policy(fields) | more).items() if value is not None}
    with pytest.raises(PolicyError, match=told):
        anonymize(alike([to("Encounter/e0-0")]), stated, seed=SEED, key=KEY)
