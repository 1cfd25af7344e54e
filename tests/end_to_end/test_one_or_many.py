"""Whether an element is one or many is decided for the collection; what is missing changes no structure."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.release import Release

SEED = b"a seed of sixteen bytes"
COUNT = {"kind": "k-anonymity", "k": 2}


def policy(fields: dict[str, Any], *models: dict[str, Any], **more: Any) -> Policy:
    return from_data({"version": 1, "fields": fields, "models": list(models) or [COUNT], **more})


def xml(*records: str) -> list[etree._Element]:
    return [etree.fromstring(f"<student>{record}</student>") for record in records]


STUDENT = {
    "/students/student/major": {"role": "quasi", "flat": True},
    "/students/student/course/@code": {"role": "quasi", "flat": True},
    "/students/student/course/@grade": {"role": "sensitive", "missing": ["?"]},
}
ONE_AND_TWO = (
    '<major>CS</major><course code="CS1" grade="A"/>',
    '<major>CS</major><course code="CS1" grade="B"/><course code="CS2" grade="C"/>',
    '<major>CS</major><course code="CS1" grade="C"/><course code="CS2" grade="A"/>',
    '<major>CS</major><course code="CS1" grade="B"/>',
)


def texts(release: Release) -> list[str]:
    return sorted(str(record) for record in release.records())


def test_a_student_with_one_course_is_like_the_others() -> None:
    release = hierdata.anonymize(xml(*ONE_AND_TWO), policy(STUDENT), seed=SEED)
    assert release.report.metrics["lm_cost"].exact["total"] == "0"
    assert texts(release) == [
        "{'major': ['CS'], 'course': [{'@code': 'CS1', '@grade': 'A'}]}",
        "{'major': ['CS'], 'course': [{'@code': 'CS1', '@grade': 'B'}, {'@code': 'CS2', '@grade': 'C'}]}",
        "{'major': ['CS'], 'course': [{'@code': 'CS1', '@grade': 'B'}]}",
        "{'major': ['CS'], 'course': [{'@code': 'CS1', '@grade': 'C'}, {'@code': 'CS2', '@grade': 'A'}]}",
    ]


def test_the_same_in_json() -> None:
    def student(*courses: tuple[str, str]) -> dict[str, Any]:
        return {"major": "CS", "courses": [{"code": code, "grade": grade} for code, grade in courses]}

    fields = {
        "$.major": {"role": "quasi", "flat": True},
        "$.courses[*].code": {"role": "quasi", "flat": True},
        "$.courses[*].grade": {"role": "sensitive", "missing": ["?"]},
    }
    students = [
        student(("CS1", "A")),
        student(("CS1", "B"), ("CS2", "C")),
        student(("CS1", "C"), ("CS2", "A")),
        student(("CS1", "B")),
    ]
    release = hierdata.anonymize(students, policy(fields), seed=SEED)
    assert release.report.counts.classes == 2
    assert sorted(map(str, release.records())) == sorted(map(str, students))


def test_a_collection_of_students_with_one_course_each_is_no_other_case() -> None:
    release = hierdata.anonymize(xml(ONE_AND_TWO[0], ONE_AND_TWO[3]), policy(STUDENT), seed=SEED)
    assert release.report.counts.records.published == 2
    assert hierdata.anonymize(xml(ONE_AND_TWO[0]), policy(STUDENT, {**COUNT, "k": 1})).report.passed


def test_an_element_whose_only_value_is_missing_is_still_there() -> None:
    """Two courses and one course are not alike, even where nothing but a missing grade would tell."""
    fields = {
        "/students/student/@major": {"role": "quasi", "flat": True},
        "/students/student/course/@grade": {"role": "sensitive", "missing": ["?"]},
    }
    one = ('<course grade="A"/>', '<course grade="?"/>', "<course/>")
    two = ('<course grade="A"/><course/>', '<course grade="B"/><course grade="?"/>', "<course/><course/>")
    records = [
        etree.fromstring(f'<student major="{major}">{courses}</student>')
        for major, own in (("CS", one), ("EE", two))
        for courses in own
    ]
    asked = policy(fields, {**COUNT, "k": 3})
    release = hierdata.anonymize(records, asked, seed=SEED)
    assert release.report.counts.classes == 2
    assert release.report.counts.vertices["/students/student/course"].suppressed == 0
    with_original = hierdata.verify(release.folder, asked, original=records)
    assert with_original == hierdata.verify(release.folder, asked)
    assert (with_original.passed, with_original.classes) == (True, 2)


def test_text_beside_an_attribute_that_is_missing_is_the_same_text() -> None:
    fields = {
        "/students/student/course/text()": {"role": "quasi", "flat": True},
        "/students/student/course/@grade": {"role": "sensitive", "missing": ["?"]},
    }
    records = ('<course grade="A">CS1</course>', '<course grade="?">CS1</course>', "<course>CS1</course>")
    release = hierdata.anonymize(xml(*records), policy(fields, {**COUNT, "k": 3}), seed=SEED)
    assert release.report.counts.classes == 1
    assert release.report.metrics["lm_cost"].exact["total"] == "0"


def test_a_missing_item_keeps_its_place_in_xml_and_json() -> None:
    records = (
        "<score>1</score><score>?</score>",
        "<score>?</score><score>3</score>",
        "<score>2</score><score>2</score>",
    )
    fields = {"/students/student/score": {"role": "sensitive", "number": True, "missing": ["?"]}}
    release = hierdata.anonymize(xml(*records), policy(fields, {**COUNT, "k": 3}), seed=SEED)
    assert sorted(sorted(record["score"]) for record in release.records()) == [
        ["1", "?"],
        ["2", "2"],
        ["3", "?"],
    ]
    scores = [{"scores": [1, None]}, {"scores": [None, 3]}, {"scores": [2, 2]}]
    fields = {"$.scores[*]": {"role": "sensitive"}}
    release = hierdata.anonymize(scores, policy(fields, {**COUNT, "k": 3}), seed=SEED)
    assert all(len(record["scores"]) == 2 for record in release.records())


REPEATED = {
    "xml": (
        xml(
            "<score>1</score><score>?</score>",
            "<score>?</score><score>?</score>",
            "<score>2</score><score>?</score>",
        ),
        {"/students/student/score": {"role": "sensitive", "number": True, "missing": ["?"]}},
    ),
    "json": (
        [{"score": [1, None]}, {"score": [None, None]}, {"score": [2, None]}],
        {"$.score[*]": {"role": "sensitive"}},
    ),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_representatives_of_repeated_values_keep_every_vertex(kind: str) -> None:
    records, fields = REPEATED[kind]
    asked = policy(fields, {**COUNT, "k": 3}, recoding="representatives")
    release = hierdata.anonymize(records, asked, seed=SEED)
    (document,) = release.records()
    representative = document["representative"]
    (content,) = representative if isinstance(representative, list) else [representative]
    values = sorted(sorted(map(str, item["value"])) for item in content["score"])
    assert values == ([["1", "2"], ["?"]] if kind == "xml" else [[], ["1", "2"]])
    verdict = hierdata.verify(release.folder, asked, original=records)
    assert (verdict.passed, verdict.records, verdict.k_raw) == (True, 3, 3)


def test_a_representative_without_anything_is_one() -> None:
    fields = {"/students/student/@gpa": {"role": "sensitive", "missing": ["?"]}}
    records = [etree.fromstring(f'<student gpa="{gpa}"/>') for gpa in "???"]
    asked = policy(fields, {**COUNT, "k": 3}, recoding="representatives")
    release = hierdata.anonymize(records, asked)
    verdict = hierdata.verify(release.folder, asked)
    assert (verdict.passed, verdict.records, verdict.malformed) == (True, 3, 0)


def test_an_attribute_whose_element_would_have_anothers_name_is_refused() -> None:
    fields = {
        "/students/student/@gpa": {"role": "sensitive"},
        "/students/student/gpa": {"role": "quasi", "flat": True},
    }
    records = [etree.fromstring('<student gpa="1"><gpa>x</gpa></student>') for _ in range(3)]
    assert hierdata.anonymize(records, policy(fields)).report.passed
    with pytest.raises(hierdata.PolicyError, match="its name is taken"):
        hierdata.anonymize(records, policy(fields, recoding="representatives"))


def test_namespaces_and_the_place_of_the_records_survive(tmp_path: Path) -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
<u:university xmlns:u="urn:u" xmlns="urn:s" name="X"><student u:gpa="4"><major>CS</major></student>
<student u:gpa="3"><major>CS</major></student></u:university>"""
    source = tmp_path / "students.xml.gz"
    source.write_bytes(gzip.compress(text.encode()))
    asked = policy(
        {
            "/u:university/s:student/s:major": {"role": "quasi", "flat": True},
            "/u:university/s:student/@u:gpa": {"role": "sensitive", "number": True},
        },
        namespaces={"u": "urn:u", "s": "urn:s"},
    )
    release = hierdata.anonymize(source, asked, seed=SEED)
    written = gzip.decompress((release.folder / "public" / "records.xml.gz").read_bytes())
    root = etree.fromstring(written)
    assert root.tag == "{urn:u}university"
    assert [child.tag for child in root] == ["{urn:s}student"] * 2
    assert sorted(child.get("{urn:u}gpa") for child in root) == ["3", "4"]
    assert [child.findtext("{urn:s}major") for child in root] == ["CS", "CS"]
    assert hierdata.verify(release.folder, asked, original=source).passed
