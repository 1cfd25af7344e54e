"""Inputs that people had trouble with, one a line of a table: what comes of each, by the shortest way.

``publish`` follows a draft blindly: only its line ``draft`` is removed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import InputError
from hierdata.pipeline.foresee import foresee_loss
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import load
from hierdata.release.release import Release
from hierdata.release.report.wording import verdict
from tests.cases import for_each

SEED = bytes(16)
ILLS = ("flu", "asthma", "ulcer")
K3 = "version: 1\nmodels: [{kind: k-anonymity, k: 3}]\n"


def publish(source: Path) -> tuple[dict[str, str], Release]:
    """Return the roles of a draft that is followed blindly, and the release."""
    draft = hierdata.init(source)
    policy = source.parent / "drafted.yaml"
    policy.write_text(
        "\n".join(line for line in str(draft).splitlines() if not line.startswith("draft:")) + "\n"
    )
    survey, hints = survey_collection(source, load(policy))
    assert not [one for one in lint(load(policy), survey, hints) if one.severity == "error"]
    release = hierdata.anonymize(source, policy, seed=SEED, out=source.parent / "out")
    assert hierdata.verify(source.parent / "out", policy, original=source).passed
    return {one.path: one.proposal.role for one in draft.fields}, release


def anonymize(source: Path, stated: str) -> Release:
    policy = source.parent / "stated.yaml"
    policy.write_text(stated)
    return hierdata.anonymize(source, policy, seed=SEED, out=source.parent / "out")


def written(release: Release) -> str:
    return json.dumps(list(release.records()), ensure_ascii=False, default=str)


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in records)


def names_that_repeat(folder: Path) -> None:
    rows = "".join(f"Greta Holm{n},{20 + n},w{k},{ILLS[(n + k) % 3]}\n" for n in range(6) for k in range(3))
    source = put(folder, "visits.csv", f"patient_name,age,ward,illness\n{rows}")
    roles, release = publish(source)
    assert roles["$.patient_name"] == "identifier"
    assert release.report.counts.records.input == 6
    assert "Holm" not in written(release)


def a_file_for_each_record(folder: Path) -> None:
    """Printed prettily, in one line, and packed; a pretty file is no lines of JSON."""
    for name, suffix, indent in (("pretty", "", 2), ("plain", "", None), ("packed", ".gz", 1)):
        own = folder / name
        own.mkdir()
        for n in range(8):
            text = json.dumps({"id": f"p{n}", "sex": "f", "visits": [{"ward": "w"}]}, indent=indent).encode()
            put(own / "each", f"p{n}.json{suffix}", gzip.compress(text) if suffix else text)
        assert hierdata.init(own / "each").records == 8
        _, release = publish(own / "each")
        assert release.report.counts.records.published == 8
        assert '"p1"' not in written(release)
    put(folder / "plain" / "each", "p9.json.gz", b"\x1f\x8bno gzip")
    with pytest.raises(InputError, match="file 9 in the order of names: the gzip data is damaged"):
        hierdata.init(folder / "plain" / "each")


def records_deep_in_xml(folder: Path) -> None:
    people = "".join(f"<person><sex>{'fm'[n % 2]}</sex><ill>{ILLS[n % 3]}</ill></person>" for n in range(6))
    source = put(folder, "deep.xml", f"<all><head/><people>{people}</people></all>")
    at = "/all/people/person"
    rules = f"  {at}/sex: {{role: quasi, flat: true}}\n  {at}/ill: {{role: sensitive}}\n"
    release = anonymize(source, f"{K3}records: {at}\nfields:\n{rules}")
    assert release.report.counts.records.published == 6


def dates_of_other_forms(folder: Path) -> None:
    rows = "".join(
        f"{2 * n + 1:02}.03.{1960 + n % 2};{n % 9 + 1}/{n + 13}/2014;{ILLS[n % 3]}\n" for n in range(12)
    )
    source = put(folder, "dates.csv", f"born;seen;ill\n{rows}")
    stated = {one.path: one.proposal.rule for one in hierdata.init(source).fields}
    assert stated["$.born"]["date"]["format"] == "%d.%m.%Y"
    assert stated["$.seen"]["date"]["format"] == "%m/%d/%Y"
    publish(source)
    date = "date: {steps: [month, year]"
    rules = (
        f"fields:\n  born: {{role: quasi, {date}}}}}\n  seen: {{action: drop}}\n  ill: {{role: sensitive}}\n"
    )
    with pytest.raises(InputError, match="`format`"):
        anonymize(source, f"{K3}{rules}")
    rules = rules.replace("]}}", "], format: '%d.%m.%Y'}}")
    assert "1960" in written(
        anonymize(put(folder / "stated", "dates.csv", source.read_bytes()), f"{K3}{rules}")
    )


def a_date_that_is_none(folder: Path) -> None:
    rows = "".join(f"{1920 + n}-0{n % 9 + 1}-11,{ILLS[n % 3]}\n" for n in range(30))
    source = put(folder, "one.csv", f"born,ill\n{rows}1898-00-00,flu\n")
    (born, _) = hierdata.init(source).fields
    assert born.proposal.rule["date"]["missing"] == "impossible"
    assert "1 different value names no day" in born.proposal.reason
    publish(source)


def hierarchies_of_arx(folder: Path) -> None:
    source = put(folder, "arx.csv", "job,ill\n" + "".join(f"j{n % 4},{ILLS[n % 3]}\n" for n in range(12)))
    put(folder, "levels.csv", "j0;office;work;*\nj1;office;work;*\nj2;field;work;*\nj3;*;*;*\n")
    rules = "fields:\n  job: {role: quasi, taxonomy: levels.csv}\n  ill: {role: sensitive}\n"
    assert anonymize(source, f"{K3}{rules}").report.counts.records.published == 12


def hierarchies_with_an_empty_value(folder: Path) -> None:
    jobs = ("nurse", "", "doctor")
    source = put(
        folder, "arx.csv", "job,ill\n" + "".join(f"{jobs[n % 3]},{ILLS[n % 2]}\n" for n in range(12))
    )
    put(folder, "levels.csv", ";*;*\nnurse;med;*\ndoctor;med;*\n")
    rules = "fields:\n  job: {role: quasi, taxonomy: levels.csv}\n  ill: {role: sensitive}\n"
    assert anonymize(source, f"{K3}{rules}").report.counts.records.published == 12


AGE_ILL = (
    f"{K3}fields:\n  age: {{role: quasi, interval: {{steps: [1, 5, 10]}}}}\n  ill: {{role: sensitive}}\n"
)
ROWS = [f"{30 + n % 2},{ILLS[n % 3]}" for n in range(12)]


def lines_that_end_in_cr(folder: Path) -> None:
    source = put(folder, "cr.csv", "\r".join(["age,ill", *ROWS, ""]))
    assert anonymize(source, AGE_ILL).report.counts.records.published == 12


def latin_1(folder: Path) -> None:
    text = "\n".join(["ort,ill", *(f"Köln{n % 2},{ILLS[n % 3]}" for n in range(12)), ""])
    table = put(folder, "towns.csv", text.encode("latin-1"))
    town = "ort: {role: quasi, flat: true}\n"
    stated = f"{K3}fields:\n  {town}  ill: {{role: sensitive}}\n"
    with pytest.raises(InputError, match="state its `encoding`"):
        anonymize(table, stated)
    assert "Köln1" in written(anonymize(table, f"encoding: latin-1\n{stated}"))
    people = "".join(f"<p><ort>Köln{n % 2}</ort></p>" for n in range(12))
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    tree = put(folder / "xml", "towns.xml", f"{head}<all>{people}</all>".encode("latin-1"))
    stated = f"{K3}fields:\n  /all/p/{town}"
    with pytest.raises(InputError, match="state its `encoding`"):
        anonymize(tree, stated)
    assert "Köln0" in written(anonymize(tree, f"encoding: latin-1\n{stated}"))


def decimal_commas(folder: Path) -> None:
    rows = "".join(f"{30 + n % 5};{1200 + n},50;{ILLS[n % 3]}\n" for n in range(12))
    source = put(folder, "pay.csv", f"alter;betrag;ill\n{rows}")
    draft = hierdata.init(source)
    assert draft.stated["csv"]["decimal"] == ","
    assert "interval" in {one.path: one.proposal.rule for one in draft.fields}["$.betrag"]
    publish(source)
    rules = "fields:\n  betrag: {role: quasi, interval: {steps: [0.5, 50]}}\n  alter: {action: drop}\n"
    with pytest.raises(InputError, match=r"csv: \{decimal: ','\}"):
        anonymize(source, f"{K3}{rules}  ill: {{action: drop}}\n")


def comments_above_a_header(folder: Path) -> None:
    source = put(folder, "pre.csv", "\n".join(["# cohort 7", "# made, 2024", "age,ill", *ROWS, ""]))
    with pytest.raises(InputError, match=r"skip them with `csv: \{comment: '#'\}`"):
        anonymize(source, AGE_ILL)
    assert publish(source)[1].report.counts.records.input == 12


def a_list_or_a_value(folder: Path) -> None:
    records = [{"age": 30, "tags": [ILLS[n % 3]] if n % 2 else ILLS[n % 3]} for n in range(12)]
    roles, release = publish(put(folder, "tags.jsonl", lines(*records)))
    assert roles["$.tags[*]"] == "quasi"
    assert all(isinstance(one["tags"], list) for one in release.records())


def patients_of_fhir(folder: Path) -> None:
    records = [
        {
            "resourceType": "Patient",
            "identifier": [
                {"system": "urn:oid:1.9", "value": f"A{n}"},
                {"system": "urn:b", "value": f"M{n}"},
            ],
            "extension": [{"url": "http://x.example/place", "valueAddress": {"country": "NZ"}}],
            "name": [{"text": f"Dr Ines Brandt{n}", "family": f"Brandt{n}"}],
            "telecom": [{"system": "phone", "value": f"+49 30 5551{n:03}"}],
            "birthDate": ("1974", "1974-12", "1974-12-05")[n % 3],
        }
        for n in range(24)
    ]
    roles, release = publish(put(folder, "patients.ndjson", lines(*records)))
    for path in ("identifier[*].value", "name[*].text", "name[*].family", "telecom[*].value"):
        assert roles[f"$.{path}"] == "identifier"
    shown = written(release)
    assert "urn:oid:1.9" in shown
    assert "x.example/place" in shown
    assert "1974" in shown
    assert "Brandt" not in shown


def codes_with_labels(folder: Path) -> None:
    labels = ("Low", "Mid", "High")
    rows = "".join(f"d{n % 2},{n % 3 + 1},{labels[n % 3]}\n" for n in range(30))
    source = put(folder, "staff.csv", f"dept,score_id,performance_score\n{rows}")
    roles, _ = publish(source)
    assert "quasi" not in (roles["$.score_id"], roles["$.performance_score"])
    policy = source.parent / "own.yaml"
    known = "".join(f"  {name}: {{role: quasi, flat: true}}\n" for name in ("dept", "score_id"))
    policy.write_text(f"{K3}fields:\n{known}  performance_score: {{role: sensitive}}\n")
    survey, hints = survey_collection(source, load(policy))
    assert [one for one in lint(load(policy), survey, hints) if one.path == "score_id"]


def every_two_columns(folder: Path) -> None:
    rows = "".join(f"{n % 2},{n // 2 % 2},{n // 4 % 2},{n % 3}\n" for n in range(24))
    source = put(folder, "flat.csv", f"a,b,c,d\n{rows}")
    rules = "".join(f"  {name}: {{role: quasi, flat: true}}\n" for name in "abcd")
    model = "models: [{kind: bounded-knowledge, k: 3, m: 2, root: counted}]\n"
    found = list(anonymize(source, f"version: 1\n{model}fields:\n{rules}").records())
    for one in ("a", "b"):
        for other in ("c", "d"):
            pairs = [(row[one], row[other]) for row in found if "*" not in (row[one], row[other])]
            assert all(pairs.count(pair) >= 3 for pair in pairs)


def comments_in_json(folder: Path) -> None:
    with pytest.raises(InputError, match="JSON has no comments"):
        hierdata.init(put(folder, "all.json", '// all\n[{"age": 1}, {"age": 2}]'))


def pupils(folder: Path) -> None:
    rows = "".join(
        f"{'FM'[n % 2]},{15 + n % 4},{'UR'[n % 2]},{ILLS[n % 3]},{n % 5},{n % 9}\n" for n in range(40)
    )
    roles, _ = publish(put(folder, "pupils.csv", f"sex,age,address,reason,health,G1\n{rows}"))
    assert roles["$.address"] == roles["$.reason"] == "quasi"
    assert roles["$.health"] == roles["$.G1"] == "sensitive"


def a_release_of_nothing(folder: Path) -> None:
    records = [{"name": f"Ines Brandt{n}", "email": f"u{n}@example.org"} for n in range(12)]
    source = put(folder, "all.jsonl", lines(*records))
    _, release = publish(source)
    assert "publishes nothing" in verdict(release.report)
    policy = load(source.parent / "drafted.yaml")
    assert foresee_loss(source, policy, *survey_collection(source, policy)).kept == 0


def sparse_events(folder: Path) -> None:
    def places(n: int) -> Iterator[tuple[str, dict[str, str]]]:
        for at, place in enumerate(("object", "target", "group")):
            own = {f"a{(n * 3 + k * at) % 10}": "xy"[k % 2] for k in range(4)}
            yield place, {"id": f"http://e.example/{place}/{n}", "type": f"{place}{n % 3}", **own}

    records = [
        {"type": f"T{n % 3}", "eventTime": f"2018-11-0{n % 9 + 1}", **dict(places(n))} for n in range(34)
    ]
    _, release = publish(put(folder, "events.jsonl", lines(*records)))
    assert "e.example" not in written(release)


TABLE: tuple[Callable[[Path], None], ...] = (
    *(
        names_that_repeat,
        a_file_for_each_record,
        records_deep_in_xml,
        dates_of_other_forms,
        a_date_that_is_none,
    ),
    *(hierarchies_of_arx, hierarchies_with_an_empty_value, lines_that_end_in_cr, latin_1, decimal_commas),
    *(comments_above_a_header, a_list_or_a_value, patients_of_fhir, codes_with_labels, every_two_columns),
    *(comments_in_json, pupils, a_release_of_nothing, sparse_events),
)


@for_each("line", TABLE)
def test_what_failed_in_the_field(line: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / line.__name__
    folder.mkdir()
    line(folder)
