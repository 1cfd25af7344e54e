"""The bundled collections: the same students in three formats, reproducible, valid, fully described."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from lxml import etree

from hierdata.synth.bundled import main
from hierdata.synth.vocabulary import BREAKPOINTS, LEVELS
from hierdata.synth.write import student_policy
from tests.cases import naming

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
ALPHA = [Fraction(4, 5), Fraction(3, 5), Fraction(2, 5), Fraction(1, 5), Fraction(1, 10)]


def json_lines(path: str) -> list[dict[str, Any]]:
    lines = (FIXTURES / path).read_text("utf-8").splitlines()
    return [json.loads(line, parse_float=Decimal) for line in lines]


def policy_of(name: str) -> dict[str, Any]:
    return yaml.safe_load((FIXTURES / "policies" / name).read_text("utf-8"))


def student_of(element: etree._Element) -> dict[str, Any]:
    """A student element in the form that the JSON file has."""
    student: dict[str, Any] = {
        "id": element.get("id"),
        "major": element.findtext("major"),
        "birth_year": int(element.get("birth_year")),
    }
    if element.find("gpa") is not None:
        student["gpa"] = Decimal(element.findtext("gpa"))
    student["courses"] = [course_of(course) for course in element.iterfind("course")]
    return student


def course_of(element: etree._Element) -> dict[str, Any]:
    course: dict[str, Any] = dict(element.attrib)
    course["evaluations"] = [
        {"instructor": e.get("instructor"), "score": Decimal(e.get("score"))}
        for e in element.iterfind("evaluation")
    ]
    if element.find("book") is not None:
        course["books"] = [dict(book.attrib) for book in element.iterfind("book")]
    return course


def test_the_command_in_the_readme_writes_the_same_bytes_again(tmp_path: Path) -> None:
    main(tmp_path)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent.name for path in written} == {"students", "tables", "patients", "fhir", "taxonomies"}
    for path in written:
        with naming(path=path.relative_to(tmp_path)):
            kept = FIXTURES / path.relative_to(tmp_path)
            assert kept.read_bytes() == path.read_bytes()
            assert kept.stat().st_size < 1_000_000


def test_the_three_files_hold_the_same_students() -> None:
    from_lines = json_lines("students/students.jsonl")
    from_array = json.loads((FIXTURES / "students/students.json").read_text("utf-8"), parse_float=Decimal)
    from_xml = [student_of(e) for e in etree.parse(FIXTURES / "students/students.xml").getroot()]
    assert from_lines == from_array == from_xml
    assert len(from_lines) == len({s["id"] for s in from_lines}) == 600


def test_the_students_have_every_feature() -> None:
    people = json_lines("students/students.jsonl")
    courses = [course for student in people for course in student["courses"]]
    assert sum(len(s["courses"]) == 1 for s in people) >= 5
    assert sum("gpa" not in s for s in people) >= 5
    assert {len(c["evaluations"]) for c in courses} == {1, 2}
    assert {len(c.get("books", [])) for c in courses} == {0, 1, 2}
    assert {c["grade"] for c in courses} == set(
        policy_of("students-multilevel.yaml")["fields"]["$.courses[*].grade"]["levels"]["by"]
    )


def test_the_xml_is_valid_and_the_schema_refuses_what_is_not() -> None:
    schema = etree.XMLSchema(etree.parse(ROOT / "schemas/student.xsd"))
    tree = etree.parse(FIXTURES / "students/students.xml")
    schema.assertValid(tree)
    for xpath in ("student/@id", "student/major", "student/course", "student/course/@grade"):
        broken = etree.fromstring(etree.tostring(tree))
        found = broken.xpath(xpath)[0]
        if isinstance(found, str):
            del found.getparent().attrib[found.attrname]
        else:
            parent = found.getparent()
            for twin in parent.findall(found.tag):
                parent.remove(twin)
        assert not schema.validate(broken), xpath


def test_the_records_are_valid_against_the_json_schema_and_broken_ones_are_not() -> None:
    schema = json.loads((ROOT / "schemas/student.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    people = json_lines("students/students.jsonl")
    assert all(validator.is_valid(student) for student in people)
    for change in ({"gpa": Decimal("4.01")}, {"birth_year": "1990"}, {"courses": []}, {"nickname": "x"}):
        assert not validator.is_valid(people[0] | change), change


def annotations(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """The ``x-hierdata`` objects below a schema, by field path."""
    found: dict[str, Any] = {}
    for key, part in schema.get("properties", {}).items():
        below = f"{path}.{key}"
        if "x-hierdata" in part:
            found[below] = part["x-hierdata"]
        found |= annotations(part.get("items", {}), f"{below}[*]")
    return found


def located(rules: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The rules with the taxonomy files' full paths."""
    return {
        path: rule | ({"taxonomy": (folder / rule["taxonomy"]).resolve()} if "taxonomy" in rule else {})
        for path, rule in rules.items()
    }


def test_the_json_schema_states_the_facts_of_the_policy() -> None:
    schema = json.loads((ROOT / "schemas/student.schema.json").read_text("utf-8"))
    stated = policy_of("students-multilevel.yaml")
    fields = stated.pop("fields")
    assert schema["x-hierdata"] == stated
    assert located(annotations(schema, "$"), ROOT / "schemas") == located(fields, FIXTURES / "policies")


def test_the_xml_policy_states_the_facts_of_the_json_policy() -> None:
    ours, theirs = policy_of("students-multilevel.yaml"), policy_of("students-xml.yaml")
    attributes = {"id", "birth_year", "code", "grade", "instructor", "score", "title"}

    def xpath(path: str) -> str:
        *steps, last = path.removeprefix("$.").split(".")
        singular = [re.sub(r"s\[\*\]$", "", step) for step in steps]
        return "/".join(["/students/student", *singular, "@" + last if last in attributes else last])

    ours["fields"] = {xpath(path): rule for path, rule in ours["fields"].items()}
    assert ours == theirs
    root = etree.parse(FIXTURES / "students/students.xml")
    assert all(root.xpath(path) for path in theirs["fields"])


def test_the_policy_of_the_tables_states_the_facts_of_the_json_policy() -> None:
    tables = policy_of("students-tables.yaml")
    assert list(tables.pop("tables")) == ["students", "courses", "books", "evaluations"]
    assert tables == policy_of("students-multilevel.yaml")


def test_the_baseline_policy_differs_in_models_and_engine_only() -> None:
    ours, baseline = policy_of("students-mlevclutree.yaml"), policy_of("students-clustree.yaml")
    assert {key for key in ours if ours[key] != baseline[key]} == {"models", "engine"}


def test_the_policy_of_the_paper_adds_its_preset() -> None:
    assert policy_of("students-mlevclutree.yaml") == policy_of("students-multilevel.yaml") | {
        "engine": {"preset": "MLevCluTree"}
    }


def test_the_bundled_policy_is_the_one_that_synth_writes_and_the_books() -> None:
    written, bundled = yaml.safe_load(student_policy(3)), policy_of("students-multilevel.yaml")
    del bundled["fields"]["$.courses[*].books[*].title"], bundled["unlisted"]
    assert located(written.pop("fields"), FIXTURES) == located(bundled.pop("fields"), FIXTURES / "policies")
    assert written == bundled | {"suppressed": "as_published"}


@pytest.mark.parametrize(
    ("name", "records"),
    [("students-multilevel.yaml", "students/students.jsonl"), ("patients.yaml", "patients/patients.jsonl")],
)
def test_policies_list_every_field_and_taxonomies_cover_every_value(name: str, records: str) -> None:
    rules = policy_of(name)["fields"]
    values: dict[str, set[Any]] = {}
    for record in json_lines(records):
        collect(record, "$", values)
    assert set(values) == set(rules)
    for path, rule in rules.items():
        if "taxonomy" in rule:
            lines = (FIXTURES / "policies" / rule["taxonomy"]).read_text("utf-8").splitlines()
            assert values[path] <= {line.split(";")[0] for line in lines}
            assert {line.split(";")[-1] for line in lines} == {"*"}
            assert len({line.count(";") for line in lines}) == 1


def collect(value: Any, path: str, into: dict[str, set[Any]]) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            collect(item, f"{path}.{key}", into)
    elif isinstance(value, list):
        for item in value:
            collect(item, f"{path}[*]", into)
    else:
        into.setdefault(path, set()).add(value)


def test_flu_is_common_and_hiv_rare_and_every_level_can_be_published() -> None:
    people = json_lines("patients/patients.jsonl")
    counts = Counter(visit["diagnosis"] for patient in people for visit in patient["visits"])
    low, high = min(counts.values()), max(counts.values())
    levels: Counter[int] = Counter()
    of: dict[str, int] = {}
    for diagnosis, count in counts.items():
        share = Fraction(count - low, high - low)
        of[diagnosis] = LEVELS - sum(share >= point for point in BREAKPOINTS)
        levels[of[diagnosis]] += count
    assert (of["flu"], of["HIV"]) == (1, 5)
    assert all(0 < Fraction(levels[n], levels.total()) < ALPHA[n - 1] for n in range(1, LEVELS + 1))
    assert len(people) == len({p["id"] for p in people}) >= 400
    assert min(len(p["visits"]) for p in people) == 0
    assert any(p["postal_code"].startswith("0") for p in people)
    assert all(re.fullmatch(r"\d{5}", p["postal_code"]) for p in people)
