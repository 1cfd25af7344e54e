"""Collections in many files: one record a file, or several; what is published of them, and what is told."""

from __future__ import annotations

import gzip
import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.ground.errors import InputError, PolicyError, TargetError, VerificationError
from hierdata.policy.load import from_data
from hierdata.sources import collect
from hierdata.sources.folders import FilesSplit
from tests.publications import measurable

POLICY: dict[str, Any] = {
    "version": 1,
    "records": "/c:doc",
    "namespaces": {"c": "urn:clinic"},
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "/c:doc/@id": {"role": "identifier"},
        "/c:doc/c:born": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "/c:doc/c:visit/@ward": {"role": "quasi", "flat": True},
        "/c:doc/c:visit/c:cause": {"role": "sensitive"},
    },
}
SEED = bytes(16)


def document(number: int) -> str:
    visits = "".join(
        f'<c:visit ward="{"ew"[at % 2]}"><c:cause>{["flu", "cough"][(number + at) % 2]}</c:cause></c:visit>'
        for at in range(1 + number % 2)
    )
    return f'<c:doc xmlns:c="urn:clinic" id="p{number}"><c:born>{1950 + number}</c:born>{visits}</c:doc>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "clinic"
    place.mkdir()
    for number in range(12):
        (place / f"marker7319-{number:02}.xml").write_text(document(number))
    return place


def released(source: object, tmp_path: Path, policy: dict[str, Any] = POLICY) -> Path:
    out = tmp_path / "release"
    hierdata.anonymize(source, policy, seed=SEED).save(out)
    return out


def test_each_record_is_a_file_named_by_its_number(folder: Path, tmp_path: Path) -> None:
    public = released(folder, tmp_path) / "public"
    assert sorted(path.name for path in public.iterdir() if path.suffix != ".xsd") == [
        *("codebook.json", "records", "release.json", "summary.html")
    ]
    files = sorted((public / "records").iterdir())
    assert [file.name for file in files] == [f"{number:09}.xml" for number in range(1, len(files) + 1)]
    assert len(files) >= 8
    for file in files:
        root = etree.parse(str(file)).getroot()
        assert root.tag == "{urn:clinic}doc"
        assert root.prefix == "c"
        assert "7319" not in file.read_text()


def test_it_is_the_release_of_the_same_records_in_one_file(folder: Path, tmp_path: Path) -> None:
    apart = released(folder, tmp_path)
    one = tmp_path / "one.xml"
    one.write_text("<all>" + "".join(document(number) for number in range(12)) + "</all>")
    fields = {path.replace("/c:doc", "/all/c:doc"): rule for path, rule in POLICY["fields"].items()}
    policy = {key: value for key, value in POLICY.items() if key != "records"} | {"fields": fields}
    together = hierdata.anonymize(one, policy, seed=SEED)
    found = [dict(record) for record in together.records()]
    assert [
        record
        for file in sorted((apart / "public/records").iterdir())
        for record in collect(file, from_data(POLICY)).documents()
    ] == found


def test_verify_and_measure_take_folders_and_patterns(folder: Path, tmp_path: Path) -> None:
    out = released(f"{folder}/*.xml", tmp_path)
    assert hierdata.verify(out, POLICY, original=folder).passed
    assert hierdata.verify(out / "public", POLICY, original=f"{folder}/*.xml").passed
    assert hierdata.verify(out / "public" / "records", POLICY).passed
    measured = hierdata.measure_release(out, POLICY, original=folder)
    report = hierdata.anonymize(folder, POLICY, seed=SEED).report
    assert measured.metrics == {name: measurable(report.metrics)[name] for name in measured.metrics}


def test_elements_are_records_of_files_too(folder: Path, tmp_path: Path) -> None:
    expected = [
        file.read_bytes() for file in sorted((released(folder, tmp_path) / "public/records").iterdir())
    ]
    for given in (list, iter):
        roots = given([etree.fromstring(document(number)) for number in range(12)])
        release = hierdata.anonymize(roots, POLICY, seed=SEED)
        release.save(tmp_path / given.__name__)
        files = sorted((tmp_path / given.__name__ / "public" / "records").iterdir())
        assert [file.read_bytes() for file in files] == expected


@pytest.mark.parametrize("recoding", ["representatives", "anatomy"])
def test_what_is_no_record_lies_in_one_file(folder: Path, tmp_path: Path, recoding: str) -> None:
    policy = POLICY | {"recoding": recoding, "suppressed": "as_published"}
    out = released(folder, tmp_path, policy)
    names = {path.name for path in (out / "public").iterdir()} - {
        "codebook.json",
        "release.json",
        "summary.html",
    }
    if recoding == "representatives":
        assert "records.xml" in names
    else:
        assert {"records", "sensitive-%7Burn%3Aclinic%7Dvisit.xml"} <= names
    assert hierdata.verify(out, policy, original=folder).passed


def test_splits_are_the_files_in_order_and_count_from_the_first(folder: Path) -> None:
    policy = from_data(POLICY)
    collection = collect(folder, policy)
    whole = list(collection.documents())
    splits = collection.splits(1000)
    assert len(splits) > 1
    assert [record for split in splits for record in split.documents()] == whole
    (folder / "marker7319-09.xml").write_text("<c:doc xmlns:c='urn:clinic'><c:born></c:doc>")
    with pytest.raises(InputError) as caught:
        list(splits[-1].documents())
    assert caught.value.record == 10
    assert "7319" not in "".join(traceback.format_exception(caught.value))
    assert "7319" in caught.value.revealed[0]


def test_files_of_many_records_are_one_collection(tmp_path: Path) -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.age": {"role": "quasi", "interval": {"steps": [1, 10]}}},
    }
    place = tmp_path / "in"
    place.mkdir()
    (place / "a.json").write_text(json.dumps([{"age": 30}, {"age": 31}]))
    (place / "b.json.gz").write_bytes(gzip.compress(json.dumps([{"age": 30}, {"age": 31}]).encode()))
    out = released(place, tmp_path, policy)
    assert len(json.loads((out / "public" / "records.json").read_text())) == 4
    assert hierdata.verify(out, policy, original=place).passed
    (place / "b.json.gz").write_bytes(gzip.compress(b'[{"age": 30}, {"age": "7319"]'))
    split = collect(place, from_data(policy)).splits(1)[-1]
    assert isinstance(split, FilesSplit)
    assert len(split.earlier or ()) == 1
    with pytest.raises(InputError) as caught:
        list(split.documents())
    assert caught.value.record == 4


def test_what_is_no_collection_is_told_without_names(folder: Path, tmp_path: Path) -> None:
    policy = from_data(POLICY)

    def told(kind: type[Exception], source: object, words: str) -> None:
        with pytest.raises(kind, match=words) as caught:
            for _ in collect(source, policy).documents():
                pass
        assert "7319" not in "".join(traceback.format_exception(caught.value))

    told(InputError, tmp_path / "none*.xml", "no files")
    (folder / "marker7319-00.xml").write_text("<other/>")
    told(InputError, folder, "record 1: the root element")
    (folder / "marker7319-00.xml").write_text("7319")
    told(InputError, folder, "file 1 in the order of names")
    (folder / "marker7319-00.xml").unlink()
    (folder / "marker7319-11.txt").write_text("x")
    told(PolicyError, folder, "one format")
    (folder / "marker7319-11.txt").rename(folder / "marker7319-11.csv")
    told(PolicyError, folder, "csv and xml")
    (folder / "marker7319-11.csv").unlink()
    (folder / "marker7319").mkdir()
    told(PolicyError, folder, "not all entries are files")
    (folder / "marker7319").rmdir()
    collection = collect(folder, policy)
    (folder / "marker7319-05.xml").unlink()
    with pytest.raises(TargetError, match="file 5 in the order of names") as caught:
        list(collection.documents())
    assert "7319" not in "".join(traceback.format_exception(caught.value))


def test_published_files_have_no_other_names(folder: Path, tmp_path: Path) -> None:
    out = released(folder, tmp_path)
    first = out / "public" / "records" / "000000001.xml"
    first.rename(first.with_name("marker7319.xml"))
    with pytest.raises(VerificationError, match="named") as caught:
        hierdata.verify(out, POLICY)
    assert "7319" not in str(caught.value)
