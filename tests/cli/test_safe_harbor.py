"""HIPAA's Safe Harbor: what may be left of the 18 identifiers, the report of them, and drafts by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PolicyError
from hierdata.pipeline.draft import init
from hierdata.policy.load import from_data, load
from hierdata.policy.spec.safe_harbor import IDENTIFIERS
from tests.cli.conftest import Run
from tests.cli.test_init_fhir import EXPORT

SEED = bytes(16)
NONE: dict[str, list[str]] = {name: [] for name in IDENTIFIERS}
YEARS = {"role": "quasi", "date": {"steps": ["year", "decade"], "earliest": 1936}}
FLAT = {"role": "quasi", "flat": True}
AGES = {"role": "quasi", "interval": {"steps": [1, 5], "domain": [0, 90], "outside": "clamp"}}
OLD_AGES = {"role": "quasi", "interval": {"steps": [1, 5], "domain": [0, 120], "outside": "clamp"}}
ZIP = {"role": "quasi", "taxonomy": {"file": "builtin/zip-3", "finest": 1}}


def policy_with(rule: dict[str, Any], held: dict[str, list[str]], **more: Any) -> Any:
    return from_data(
        {
            "version": 1,
            "models": [{"kind": "k-anonymity", "k": 2}],
            "safe_harbor": NONE | held,
            "fields": {"$.sex": FLAT, "$.x": rule},
        }
        | more
    )


def test_the_identifiers_are_the_18_of_the_regulation() -> None:
    assert "".join(one.letter for one in IDENTIFIERS.values()) == "ABCDEFGHIJKLMNOPQR"


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_each_identifier_is_refused_where_it_is_published(name: str) -> None:
    held = {name: ["$.x"]}
    policy_with({"role": "identifier"}, held)
    policy_with({"role": "identifier", "action": "redact"}, held)
    with pytest.raises(PolicyError, match=rf"\(i\)\({IDENTIFIERS[name].letter}\)\)"):
        policy_with(FLAT, held)
    with pytest.raises(PolicyError, match=rf"\(i\)\({IDENTIFIERS[name].letter}\)\)"):
        policy_with({"role": "sensitive"}, held)
    with pytest.raises(PolicyError, match="no code that is made from information"):
        policy_with({"role": "identifier", "action": "pseudonym"}, held, key="per-run")
    others = {key: value for key, value in NONE.items() if key != name}
    with pytest.raises(PolicyError, match=f"say for {name} "):
        policy_with(FLAT, {}, safe_harbor=others)


@pytest.mark.parametrize(
    ("rule", "held", "words"),
    [
        (YEARS, {"dates": ["$.x"]}, None),
        (AGES, {"dates": ["$.x"]}, None),
        ({"role": "quasi", "taxonomy": {"file": "builtin/ages", "finest": 1}}, {"dates": ["$.x"]}, None),
        (ZIP, {"places": ["$.x"]}, None),
        (FLAT, {}, None),
        (YEARS, {}, "name this date in safe_harbor"),
        ({"role": "quasi", "date": {"steps": ["month", "year"]}}, {"dates": ["$.x"]}, "only years remain"),
        ({"role": "quasi", "date": {"steps": ["year"]}}, {"dates": ["$.x"]}, "earliest: YEAR"),
        (OLD_AGES, {"dates": ["$.x"]}, "only years remain"),
        ({"role": "quasi", "taxonomy": "builtin/ages"}, {"dates": ["$.x"]}, "only years remain"),
        ({"role": "quasi", "prefix": {"keep": [3]}}, {"places": ["$.x"]}, "three digits of ZIP"),
        ({"role": "quasi", "taxonomy": "builtin/zip-3"}, {"places": ["$.x"]}, "three digits of ZIP"),
        (YEARS, {"dates": ["$.x"], "names": ["$.x"]}, r"\(A\)"),
        (YEARS, {"names": ["$"], "dates": ["$.x"]}, r"\(A\)"),
    ],
)
def test_what_may_remain(rule: dict[str, Any], held: dict[str, list[str]], words: str | None) -> None:
    if words is None:
        policy_with(rule, held)
        return
    with pytest.raises(PolicyError, match=words):
        policy_with(rule, held)


def test_fields_without_a_rule_and_moved_dates_are_refused() -> None:
    with pytest.raises(PolicyError, match="cannot be kept"):
        policy_with(FLAT, {}, unlisted={"keep": "a reason"})
    shifted = {**YEARS, "action": {"shift": {"days": 90}}}
    with pytest.raises(PolicyError, match="no moved dates"):
        policy_with(shifted, {"dates": ["$.x"]}, key="per-run")


def test_the_report_has_all_of_them_and_nobody_is_shown_to_be_older_than_89(tmp_path: Path) -> None:
    people = [
        {"name": f"Canary {n}", "born": f"{1925 + n}-02-03", "zip": f"021{n}", "sex": "f"} for n in range(24)
    ]
    held = {"names": ["$.name"], "places": ["$.zip"], "dates": ["$.born"]}
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "safe_harbor": NONE | held,
        "fields": {
            "$.name": {"role": "identifier"},
            "$.born": YEARS,
            "$.zip": {"role": "identifier"},
            "$.sex": FLAT,
        },
    }
    release = hierdata.anonymize(people, policy, seed=SEED, out=tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", policy, original=people).passed
    published = list(release.records())
    assert not any("zip" in one for one in published)
    years = {str(one["born"]) for one in published}
    assert {year for year in years if year < "1937"} <= {"1936", "*"} | {
        own for own in years if own[0] == "["
    }
    assert min(int(year.strip("[*")[:4] or 9999) for year in years) >= 1930
    report = json.loads((tmp_path / "out" / "steward" / "report.json").read_text())
    rows = {one["letter"]: one["fields"] for one in report["safe_harbor"]}
    assert "".join(rows) == "ABCDEFGHIJKLMNOPQR"
    assert rows["A"] == {"$.name": "left out"}
    assert "1936 or earlier" in rows["C"]["$.born"]
    assert "until the end of 2026" in rows["C"]["$.born"]
    assert rows["D"] == {}
    page = (tmp_path / "out" / "steward" / "report.html").read_text()
    assert "none in the records, the policy says" in page
    assert "164.514(b)(2)(ii)" in page


PERSON = {
    "patientName": ("Ada Berger{0}", "names"), "city": ("Town {0}", "places"),
    "dob": ("19{0:02}-04-05", "dates"),
    "age": (30, "dates"), "phone": ("555-010-01{0:02}", "phones"), "fax": ("555-020-01{0:02}", "faxes"),
    "mail": ("p{0}@clinic.example", "emails"), "ssn": ("123-45-67{0:02}", "social_security"),
    "mrn": ("M{0:05}", "medical_records"), "beneficiary": ("B{0:05}", "health_plans"),
    "account": ("A{0:05}", "accounts"), "passport": ("P{0:05}", "licenses"), "vin": ("V{0:05}", "vehicles"),
    "deviceSerial": ("D{0:05}", "devices"), "homepage": ("https://p{0}.example/", "urls"),
    "ip": ("10.0.0.{0}", "ips"), "fingerprint": ("F{0:05}", "biometrics"), "photo": ("X{0:05}", "photos"),
    "remarks": ("Was seen by the nurse at night, number {0} of all", "other"),
}  # fmt: skip


def test_a_draft_names_each_identifier_and_its_release_has_none(run: Run, tmp_path: Path) -> None:
    people = [
        {key: form.format(n) if isinstance(form, str) else form + n for key, (form, _) in PERSON.items()}
        | {"sex": "mf"[n % 2], "diagnosis": ("flu", "asthma", "cold")[n % 3]}
        for n in range(30, 90)
    ]
    source = tmp_path / "people.json"
    source.write_text(json.dumps(people))
    draft = init(source, safe_harbor=True)
    held = draft.confirmed()["safe_harbor"]
    assert {key: own for own, paths in held.items() for key in paths} == {
        f"$.{key}": name for key, (_, name) in PERSON.items()
    }
    out = tmp_path / "draft.yaml"
    assert run("init", source, "--as", "hipaa-safe-harbor", "--out", out, "--quiet").code == 0
    text = out.read_text()
    assert "45 CFR 164.514(b)(2)" in text
    policy = tmp_path / "policy.yaml"
    policy.write_text("".join(one for one in text.splitlines(True) if not one.startswith("draft:")))
    release = tmp_path / "release"
    assert run("anonymize", source, "--policy", policy, "--out", release, "--quiet").code == 0
    published = json.loads((release / "public" / "records.json").read_text())
    assert {key for one in published for key in one} <= {"dob", "age", "sex", "diagnosis"}
    assert "flu" in json.dumps(published)


def test_resources_of_fhir_are_drafted_by_it_too(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "draft.yaml"
    assert run("init", EXPORT, "--as", "hipaa-safe-harbor", "--out", out, "--quiet").code == 0
    text = out.read_text()
    assert "earliest:" in text
    assert "CONFIRM 9" in text
    out.write_text("".join(one for one in text.splitlines(True) if not one.startswith("draft:")))
    assert load(out).safe_harbor["dates"][0] == "$.birthDate"
