"""Files as other programs export them: what is drafted, published and verified, and what is said."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.formats import encodings
from tests.cli.conftest import Run

ILLS = ("flu", "asthma", "ulcer")


class Export:
    """An input with a policy, both in a folder of their own."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.folder = folder
        self.policy = folder / "policy.yaml"
        self.out = folder / "out"

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def state(self, fields: dict[str, Any], k: int = 3, **others: Any) -> None:
        stated = {"version": 1, "models": [{"kind": "k-anonymity", "k": k}], "fields": fields, **others}
        self.policy.write_text(json.dumps(stated))

    def draft(self, source: Path, *options: str) -> str:
        """Draft a policy, remove its line `draft`, and return it."""
        ran = self.run("init", source, *options)
        assert ran.code == 0, ran.err
        text = "".join(line for line in ran.out.splitlines(True) if not line.startswith("draft:"))
        self.policy.write_text(text)
        return text

    def publish(self, source: Path) -> str:
        """Publish and verify with the original; return the records as text."""
        ran = self.run("anonymize", source, "--policy", self.policy, "--out", self.out, "--quiet")
        assert ran.code == 0, ran.err
        ran = self.run("verify", self.out, "--policy", self.policy, "--original", source)
        assert ran.code == 0, ran.out + ran.err
        records = min((self.out / "public").glob("records*"))
        return records.read_text("utf-8") if records.is_file() else ""

    def refuse(self, source: Path, code: int = 5) -> str:
        ran = self.run("anonymize", source, "--policy", self.policy, "--out", self.out, "--quiet")
        assert ran.code == code, ran.err
        return ran.err


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Export:
    return Export(run, tmp_path)


def table(header: str, rows: list[str], end: str = "\n") -> str:
    return "".join(f"{line}{end}" for line in [header, *rows])


def test_dates_in_two_orders_are_drafted_and_published_as_periods(export: Export) -> None:
    rows = [f"{day:02}.03.1960;3/{day}/2014;{ILLS[day % 3]}" for day in range(5, 23)]
    source = export.write("dates.csv", table("born;seen;ill", rows))
    drafted = export.draft(source)
    assert 'format: "%d.%m.%Y"' in drafted
    assert 'format: "%m/%d/%Y"' in drafted
    assert "1960-03" in export.publish(source)
    export.state({"born": {"role": "quasi", "date": {"steps": ["month"]}}, "seen": {"action": "drop"}} | ILL)
    shutil.rmtree(export.out)
    assert "`format`" in export.refuse(source)


def test_partial_and_impossible_dates(export: Export) -> None:
    born = [*["1974", "1974-12", "1974-12-25"] * 5, *["1980-02-30"] * 3]
    rows = [{"born": date, "ill": ILLS[at % 3]} for at, date in enumerate(born)]
    source = export.write("dates.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    formats = {"steps": ["day", "month", "year"], "format": ["iso", "%Y-%m", "%Y"]}
    export.state({"born": {"role": "quasi", "date": formats}, **ILL})
    assert "1980" not in export.refuse(source)
    export.state({"born": {"role": "quasi", "date": {**formats, "missing": "impossible"}}, **ILL})
    published = [json.loads(line).get("born") for line in export.publish(source).splitlines()]
    assert sorted(map(str, published)) == sorted([*born[:15], *["None"] * 3])


ILL = {"ill": {"role": "sensitive"}}


def test_hierarchies_of_arx_with_the_row_of_the_empty_value(export: Export) -> None:
    jobs = [*["nurse", "doctor", "", "cook, head"] * 6]
    rows = [f'"{job}",{ILLS[at // 4 % 3]}' for at, job in enumerate(jobs)]
    source = export.write("jobs.csv", table("job,ill", rows))
    export.write("job.csv", ";*;*\nnurse;med;*\ndoctor;med;*\ncook, head;*;*\n")
    export.state({"job": {"role": "quasi", "taxonomy": "job.csv"}, **ILL}, k=6)
    published = export.publish(source).splitlines()[1:]
    assert sum(row.startswith(",") for row in published) == 6
    assert sum(row.startswith(("nurse", "doctor", '"cook')) for row in published) == 18


def test_text_in_other_encodings(export: Export) -> None:
    towns = ["Köln", "Düren", "Würzburg"] * 4
    text = table("town;ill", [f"{town};{ILLS[at % 4 % 3]}" for at, town in enumerate(towns)], "\r\n")
    lines = "".join(
        json.dumps({"town": town, "ill": ILLS[at % 4 % 3]}, ensure_ascii=False) + "\n"
        for at, town in enumerate(towns)
    )
    people = "".join(
        f"<p><town>{town}</town><ill>{ILLS[at % 4 % 3]}</ill></p>" for at, town in enumerate(towns)
    )
    xml = f"<?xml version='1.0' encoding='ENC'?><s>{people}</s>"
    cases = [
        ("a.csv", text, "latin-1", "latin-1"),
        ("b.csv", text, "utf-16", None),
        ("c.jsonl", lines, "cp1252", "windows-1252"),
        ("d.jsonl", lines, "utf-16", None),
        ("e.json", f"[{','.join(lines.splitlines())}]", "utf-16", None),
        ("f.xml", xml.replace("ENC", "ISO-8859-1"), "latin-1", "ISO-8859-1"),
        ("g.xml", xml.replace("ENC", "UTF-16"), "utf-16", None),
        ("h.csv", text, "utf-8", "utf-8"),
    ]
    for number, (name, content, encoding, stated) in enumerate(cases):
        source = export.write(name, content.encode(encoding))
        place = "/s/p/" if name.endswith("xml") else "$."
        fields = {f"{place}town": {"role": "quasi", "flat": True}, f"{place}ill": {"role": "sensitive"}}
        export.state(fields, **({} if stated is None else {"encoding": stated}))
        export.out = export.folder / f"out{number}"
        published = export.publish(source)
        assert published.count("Köln") == 4, name
        if stated not in (None, "utf-8"):
            export.state(fields)
            export.out = export.folder / f"no{number}"
            assert "`encoding`" in export.refuse(source)
            assert "encoding: latin-1" in export.draft(source, "--encoding", "latin-1")
            export.state(fields, encoding="utf-16")
            assert "encoding utf-16" in export.refuse(source)


def test_what_cannot_have_an_encoding(export: Export) -> None:
    source = export.write("a.parquet", b"PAR1")
    export.state({"a": {"role": "quasi", "flat": True}}, encoding="latin-1")
    assert "`encoding` is for text" in export.refuse(source, 2)
    export.state({"a": {"role": "quasi", "flat": True}}, encoding="klingon")
    assert "latin-1" in export.refuse(source, 2)


def test_tables_as_spreadsheets_write_them(export: Export) -> None:
    rows = [f"{30 + at};{1200 + 10 * at},50;{ILLS[at % 3]};" for at in range(12)]
    source = export.write("pay.csv", "# export\r# of 2024\r" + table("age;pay;ill;", rows, "\r"))
    drafted = export.draft(source)
    assert 'csv: {comment: "#", decimal: ","}' in drafted
    assert "decimals: true" in drafted
    fields = {
        "age": {"role": "quasi", "interval": {"steps": [1, 20]}},
        "pay": {"role": "quasi", "interval": {"steps": [0.5, 1000]}},
        **ILL,
    }
    export.state(fields, csv={"comment": "#", "decimal": ","})
    assert "[1000, 2000)" in export.publish(source).splitlines()[1]
    shutil.rmtree(export.out)
    export.state(fields, csv={"comment": "#"})
    assert "`csv: {decimal: ','}`" in export.refuse(source)
    export.state(fields, csv={"decimal": ","})
    assert "`csv: {comment: '#'}`" in export.refuse(source)
    export.state(fields, csv={"comment": "#", "decimal": ","})
    wrong = export.write("wrong.csv", source.read_bytes() + b"1;2,0;flu;more\r")
    assert "5 cells" not in export.refuse(wrong)


def test_numbers_that_are_none_are_missing_where_the_policy_says_so(export: Export) -> None:
    lines = ["NaN", "-Infinity", *map(str, range(10))] * 2
    source = export.write("n.jsonl", "".join(f'{{"n": {n}, "ill": "flu"}}\n' for n in lines))
    rule: dict[str, Any] = {"role": "quasi", "interval": {"steps": [10]}}
    export.state({"n": rule, **ILL})
    assert "`missing: [NaN]`" in export.refuse(source)
    export.state({"n": {**rule, "missing": ["NaN", "-Infinity"]}, **ILL})
    published = [json.loads(line).get("n") for line in export.publish(source).splitlines()]
    assert published.count(None) == 4
    shutil.rmtree(export.out)
    export.state({"n": {**rule, "missing": ["NaN"]}, "m": {**rule, "optional": True}, **ILL})
    assert "Infinity" in export.refuse(export.write("m.jsonl", '{"n": NaN, "m": Infinity, "ill": "flu"}\n'))


def test_a_zip_file_with_one_member(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    text = table("age,ill", [f"{30 + at % 4},{ILLS[at % 3]}" for at in range(24)])
    packed = export.folder / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("folder/people.csv", text.encode("utf-16"))
        file.writestr("__MACOSX/folder/._people.csv", b"x")
    export.state({"age": {"role": "quasi", "interval": {"steps": [1, 5]}}, **ILL})
    assert export.publish(packed).startswith("age,ill\n")
    with zipfile.ZipFile(packed, "a") as file:
        file.writestr("more.csv", text)
    shutil.rmtree(export.out)
    assert "2 files" in export.refuse(packed)
    assert "damaged" in export.refuse(export.write("broken.zip", b"PK\x03\x04xxxx"))
    bomb = export.folder / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv", b"age,ill\n" + b"1,flu\n" * 400_000)
    monkeypatch.setattr(encodings, "BOMB_START", 2**20)  # else after ten times as much
    assert "200 times" in export.refuse(bomb)


def test_comments_in_json_are_named_as_such(export: Export) -> None:
    export.state(ILL)
    for name, text in (
        ("a.json", '// x\n[{"ill": "flu"}]'),
        ("b.json", '/* x */ [{"ill": "flu"}]'),
        ("c.jsonl", '{"ill": "flu"}\n# x\n'),
        ("d.json", '[{"ill": "flu"}, // x\n{"ill": "flu"}]'),
    ):
        assert "JSON has no comments" in export.refuse(export.write(name, text)), name


def test_xml_records_at_any_depth(export: Export) -> None:
    visit = "<p:visit day='d'><sex>{}</sex><dx>{}</dx></p:visit>"
    half = "".join(visit.format("mf"[at % 2], ILLS[at % 3]) for at in range(600))
    group = f"<p:visits note='x'>{half}<other>secret</other></p:visits>"
    soap = f"<e xmlns:p='urn:p'><head>secret</head><body>{group}text{group}<p:visit/></body><body/></e>"
    place = "/e/body/p:visits/p:visit"
    for name in ("deep.xml", "deep.gpx"):
        source = export.write(name, soap)
        assert "`records`" in export.run("init", source).err
        fields = {
            f"{place}/@day": {"action": "drop"},
            f"{place}/sex": {"role": "quasi", "flat": True},
            f"{place}/dx": {"role": "sensitive"},
        }
        export.state(fields, records=place, namespaces={"p": "urn:p"})
        export.out = export.folder / f"out-{name}"
        published = export.publish(source)
        assert (published.count("<p:visit "), published.count("secret")) == (1200, 0)
        assert (export.out / "public/records.xml").exists()
    bare = export.write("plain.kml", soap.replace("p:", "").replace("xmlns:p=", "id="))
    assert "/e/body/visits/visit/sex: " in export.draft(bare, "--records", "/e/body/visits/visit")
    broken = export.write("broken.xml", soap[:2000])
    export.out = export.folder / "none"
    assert "not well-formed" in export.refuse(broken)


def test_a_folder_with_a_json_file_for_each_record(export: Export) -> None:
    for number in range(12):
        record = {"id": f"p{number}", "age": 30 + number % 3, "ill": ILLS[number % 2]}
        text = json.dumps(record, indent=number % 2 * 2).encode()
        name = f"all/p{number:02}.json"
        export.write(name, text) if number % 3 else export.write(f"{name}.gz", gzip.compress(text))
    source = export.folder / "all"
    assert "from 12 records" in export.draft(source).replace("\n# ", " ")
    export.state({"id": {"action": "drop"}, "age": {"role": "quasi", "interval": {"steps": [1, 5]}}, **ILL})
    published = json.loads(export.publish(source))
    assert len(published) == 12
    assert "id" not in published[0]
    for content, what in (
        ("[]", "record 3: the record is not an object"),
        ("{} {}", "record 3: text follows"),
    ):
        shutil.rmtree(export.out, ignore_errors=True)
        export.write("all/p02.json", content)
        assert what in export.refuse(source)
    alone = export.write("alone.json", "{}")
    assert "name their folder" in export.run("init", alone).err


def test_a_field_that_is_one_value_or_many_is_a_list(export: Export) -> None:
    rows = [
        {
            "age": 30 + at % 3,
            "dx": "flu" if at % 2 else ["ulcer", "flu"],
            "v": {"x": 1 if at % 4 else [1]},
        }
        for at in range(36)
    ]
    source = export.write("many.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    drafted = export.draft(source)
    assert "shape: [{listed: $.dx}, {listed: $.v.x}]" in drafted
    assert "$.dx[*]: " in drafted
    published = [json.loads(line) for line in export.publish(source).splitlines()]
    assert all(isinstance(record.get("dx", []), list) for record in published)
    assert any("dx" in record for record in published)


def test_a_release_of_nothing_says_so_in_its_first_line(export: Export) -> None:
    rows = [{"name": f"n{at}", "mail": f"m{at}@example.org"} for at in range(12)]
    source = export.write("all.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    export.draft(source)
    ran = export.run("anonymize", source, "--policy", export.policy, "--out", export.out)
    assert "Warning: this release publishes nothing" in ran.out.splitlines()[0]
    assert "Kept of the input: 0 %" in ran.out
    assert "1 warning" in ran.out
    ran = export.run("lint", export.policy, "--data", source)
    assert "every field is dropped" in ran.out
    assert "Foreseen: 0 % kept" in ran.out
