"""Forged releases: verify must not pass what it has not judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hierdata

MODELS = [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}]
JSON_POLICY: dict[str, Any] = {
    "version": 1,
    "records": "$.list",
    "models": MODELS,
    "fields": {
        "$.id": {"role": "identifier", "optional": True},
        "$.q": {"role": "quasi", "flat": True},
        "$.visits[*].w": {"role": "quasi", "flat": True},
        "$.visits[*].s": {"role": "sensitive"},
    },
}
XML_POLICY: dict[str, Any] = {
    "version": 1,
    "models": MODELS,
    "fields": {
        "/list/item/@id": {"role": "identifier", "optional": True},
        "/list/item/@q": {"role": "quasi", "flat": True},
        "/list/item/visit/@w": {"role": "quasi", "flat": True},
        "/list/item/visit/@s": {"role": "sensitive"},
    },
}
JSON_ITEMS = '{"q":1,"visits":[{"w":2,"s":"A"}]},{"q":1,"visits":[{"w":2,"s":"B"}]}'
XML_ITEMS = '<item q="1"><visit w="2" s="A"/></item><item q="1"><visit w="2" s="B"/></item>'


def judged(folder: Path, text: str) -> hierdata.Verdict:
    xml = text.startswith("<")
    file = folder / ("records.xml" if xml else "records.json")
    file.write_text(text, "utf-8")
    return hierdata.verify(file, XML_POLICY if xml else JSON_POLICY)


def test_the_records_alone_pass(tmp_path: Path) -> None:
    assert judged(tmp_path, f'{{"list":[{JSON_ITEMS}]}}').passed
    assert judged(tmp_path, f"<list>\n{XML_ITEMS}\n</list>").passed


@pytest.mark.parametrize(
    "text",
    [
        f'{{"raw":[{{"id":"Ada"}}],"list":[{JSON_ITEMS}]}}',
        f'{{"list":[{JSON_ITEMS}],"raw":"Ada"}}',
        f'<list of="Ada">{XML_ITEMS}</list>',
        f'<list>{XML_ITEMS}<raw id="Ada"/></list>',
        f"<list>Ada{XML_ITEMS}</list>",
        f"<list>{XML_ITEMS}Ada</list>",
        f"<list>{XML_ITEMS}<!-- Ada --></list>",
        f"<!-- Ada --><list>{XML_ITEMS}</list>",
        f"<list>{XML_ITEMS}</list><?note Ada?>",
        f"<list>{XML_ITEMS.replace('/></item>', '><!-- Ada --></visit></item>', 1)}</list>",
    ],
)
def test_nothing_lies_beside_the_records(tmp_path: Path, text: str) -> None:
    with pytest.raises(hierdata.VerificationError, match="besides the records") as refused:
        judged(tmp_path, text)
    assert "Ada" not in str(refused.value)


def test_what_lies_around_the_input_is_still_left_out(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text(json.dumps({"source": "Ada", **json.loads(f'{{"list":[{JSON_ITEMS}]}}')}), "utf-8")
    release = hierdata.anonymize(file, JSON_POLICY)
    assert b"Ada" not in (release.folder / "public" / "records.json").read_bytes()


@pytest.mark.parametrize(
    "items",
    [
        JSON_ITEMS.replace('"w":2', '"w":2,"S":"E"'),
        JSON_ITEMS.replace('"q":1', '"q":1,"note":null'),
        JSON_ITEMS.replace('"q":1', '"q":{"s":"E"}'),
        XML_ITEMS.replace("w=", 'S="E" w='),
        XML_ITEMS.replace("/></item>", ">E</visit></item>"),
        XML_ITEMS.replace("</item>", "<S>E</S></item>"),
    ],
)
def test_a_sensitive_value_does_not_pass_under_another_name(tmp_path: Path, items: str) -> None:
    """All in the class have it, so as a part of the form it is no offence against k."""
    verdict = judged(tmp_path, f"<list>{items}</list>" if items.startswith("<") else f'{{"list":[{items}]}}')
    assert verdict.k == 2
    assert not verdict.passed
    assert verdict.forbidden["<key>"] == 2


def test_kept_fields_need_no_listing(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    items = JSON_ITEMS.replace('"q":1', '"q":1,"note":2')
    file.write_text(f'{{"list":[{items}]}}', "utf-8")
    assert hierdata.verify(file, JSON_POLICY | {"unlisted": {"keep": "harmless"}}).passed


@pytest.mark.parametrize("key", ["grades", "@grades", "#text"])
def test_sensitive_arrays_of_any_name_are_judged_in_representatives(tmp_path: Path, key: str) -> None:
    policy = {
        "version": 1,
        "recoding": "representatives",
        "models": MODELS,
        "fields": {"$.q": {"role": "quasi", "flat": True}, f'$["{key}"][*]': {"role": "sensitive"}},
    }
    records = [{"q": 1, key: ["A"]}, {"q": 1, key: ["B"]}]
    release = hierdata.anonymize(records, policy)
    assert list(release.records()) == [
        {"records": 2, "representative": {"q": 1, key: [{"value": ["A", "B"]}]}}
    ]
    file = tmp_path / "records.json"
    for values, holds in ((["A", "B"], True), (["A", "A"], False)):
        class_ = {"records": 2, "representative": {"q": 1, key: [{"value": values}]}}
        file.write_text(json.dumps([class_]), "utf-8")
        verdict = hierdata.verify(file, policy)
        assert (verdict.passed, verdict.judgements[1].held) == (holds, holds)


def test_an_attribute_s_own_place_is_judged_in_representatives(tmp_path: Path) -> None:
    items = '<class records="2"><representative q="1"><visit w="2" s="E"/></representative></class>'
    file = tmp_path / "records.xml"
    file.write_text(f"<list>{items}</list>", "utf-8")
    assert not hierdata.verify(file, XML_POLICY | {"recoding": "representatives"}).passed


def test_nothing_else_lies_in_the_public_folder(tmp_path: Path) -> None:
    folder = hierdata.anonymize(json.loads(f"[{JSON_ITEMS}]"), JSON_POLICY).save(tmp_path / "release")
    assert hierdata.verify(folder, JSON_POLICY).passed
    (folder / "public" / "input.json").write_text("[]", "utf-8")
    for place in (folder, folder / "public"):
        with pytest.raises(
            hierdata.VerificationError, match=r"unexpected entries in the public folder \(1\)"
        ):
            hierdata.verify(place, JSON_POLICY)


@pytest.mark.parametrize("value", ["-9", "-9.0", "-9e0", '"-9"', "true"])
def test_what_is_missing_dilutes_no_share(tmp_path: Path, value: str) -> None:
    """A reader's -9.0 is as missing as the policy's -9."""
    policy = JSON_POLICY | {
        "fields": {
            "$.q": {"role": "quasi", "flat": True},
            "$.s": {"role": "sensitive", "missing": [-9, True]},
        }
    }
    file = tmp_path / "records.json"
    file.write_text(f'{{"list":[{{"q":1,"s":"E"}},{{"q":1,"s":{value}}}]}}', "utf-8")
    assert not hierdata.verify(file, policy).passed


def overstated(release: dict[str, Any]) -> None:
    release["promises"][0] |= {"parameters": {"k": 50}, "achieved": {"k": {"exact": "50", "value": 50.0}}}


def one_more_model(release: dict[str, Any]) -> None:
    release["promises"].append(release["promises"][1] | {"kind": "t-closeness"})


def larger_classes(release: dict[str, Any]) -> None:
    release["counts"]["smallest_class"] = release["counts"]["largest_class"] = 50


@pytest.mark.parametrize("forge", [overstated, one_more_model, larger_classes, dict.clear])
def test_the_release_claims_what_the_judge_found(tmp_path: Path, forge: Any) -> None:
    folder = hierdata.anonymize(json.loads(f"[{JSON_ITEMS}]"), JSON_POLICY).save(tmp_path / "release")
    file = folder / "public" / "release.json"
    stated = json.loads(file.read_text("utf-8"))
    forge(stated)
    file.write_text(json.dumps(stated), "utf-8")
    with pytest.raises(hierdata.VerificationError, match=r"release\.json"):
        hierdata.verify(folder, JSON_POLICY)


@pytest.mark.parametrize("header", ["q,s,Ada", "q,s,id", "Ada,q,s"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_without_values_says_nothing_by_its_name(tmp_path: Path, header: str, suffix: str) -> None:
    policy = {
        "version": 1,
        "models": MODELS,
        "fields": {
            "$.id": {"role": "identifier", "optional": True},
            "$.q": {"role": "quasi", "flat": True},
            "$.s": {"role": "sensitive"},
        },
    }
    rows = [{"q": "1", "s": "A"}, {"q": "1", "s": "B"}]
    file = tmp_path / f"records.{suffix}"
    columns = header.split(",")
    if suffix == "csv":
        lines = [columns, *([row.get(column, "") for column in columns] for row in rows)]
        file.write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({column: pa.array([row.get(column) for row in rows], "str") for column in columns})
        pytest.importorskip("pyarrow.parquet").write_table(table, file)
    if "Ada" not in columns:
        assert hierdata.verify(file, policy).passed
        return
    with pytest.raises(hierdata.VerificationError, match="does not list: 1") as refused:
        hierdata.verify(file, policy)
    assert "Ada" not in str(refused.value)


@pytest.mark.parametrize("name", ["codebook.json", "release.json", "summary.html"])
def test_no_folder_goes_by_the_name_of_a_file(tmp_path: Path, name: str) -> None:
    items = json.loads(f"[{JSON_ITEMS}]")
    policy = {key: value for key, value in JSON_POLICY.items() if key != "records"}
    folder = hierdata.anonymize(items, policy).save(tmp_path / "release")
    file = folder / "public" / name
    file.unlink()
    file.mkdir()
    (file / "raw").write_text("Ada", "utf-8")
    with pytest.raises(hierdata.VerificationError, match=r"unexpected entries in the public folder \(1\)"):
        hierdata.verify(folder, policy)


def test_frozen_facts_of_another_release_are_refused(tmp_path: Path) -> None:
    """They are bound to the published files: two releases of one policy may have other levels."""
    stated = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
    }
    for name, value in (("one", "x"), ("other", "y")):
        records = [{"a": at % 2, "s": value} for at in range(6)]
        hierdata.anonymize(records, stated).save(tmp_path / name)
        assert hierdata.verify(tmp_path / name, stated).passed
    facts = "steward/verification.json"
    (tmp_path / "one" / facts).write_bytes((tmp_path / "other" / facts).read_bytes())
    with pytest.raises(hierdata.VerificationError, match="facts are of another release"):
        hierdata.verify(tmp_path / "one", stated)
    with pytest.raises(hierdata.VerificationError, match="facts are of another release"):
        hierdata.verify(tmp_path / "one", stated, facts=tmp_path / "other" / facts)
