"""The bundled fixtures: ``python -m hierdata.synth.bundled`` in a checkout writes identical files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hierdata.synth.fhir import write_fhir
from hierdata.synth.patients import DEPARTMENT_TAXONOMY, outpatients
from hierdata.synth.students import StudentShape, students
from hierdata.synth.vocabulary import TAXONOMIES, csv_text
from hierdata.synth.write import json_array, json_lines


def bundled_students() -> list[dict[str, Any]]:
    """Return the 600 students of ``fixtures/students``: three levels, some books and missing values."""
    shape = StudentShape(courses=(3, 8), one_course=0.03, missing_gpa=0.015, books=0.35)
    return list(students(600, depth=3, seed=2018, correlation=0.9, skew=0.85, shape=shape))


def bundled_patients() -> list[dict[str, Any]]:
    """Return the 500 patients of ``fixtures/patients``."""
    return list(outpatients(500, seed=2018))


def bundled_fhir() -> dict[str, str]:
    """Return the text of each file of ``fixtures/fhir``: 20 patients with a year of history."""
    with TemporaryDirectory() as folder:
        write_fhir(20, Path(folder) / "export", seed=2018, years=1)
        return {path.name: path.read_text("utf-8") for path in (Path(folder) / "export").iterdir()}


def files() -> dict[str, str]:
    """Return the text of every generated file, by its path below ``fixtures``."""
    people = bundled_students()
    texts = {
        "students/students.json": "".join(json_array(people)),
        "students/students.jsonl": "".join(json_lines(people)),
        "students/students.xml": "".join(students_xml(people)),
        **{f"students/tables/{name}.csv": text for name, text in students_tables(people).items()},
        "patients/patients.jsonl": "".join(json_lines(bundled_patients())),
    }
    texts |= {f"fhir/{name}": text for name, text in bundled_fhir().items()}
    for name, lines in {**TAXONOMIES, "department": DEPARTMENT_TAXONOMY}.items():
        texts[f"taxonomies/{name}.csv"] = csv_text(lines)
    return texts


def students_tables(people: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return students as four CSV tables linked by the keys ``sid`` (student) and ``cid`` (course)."""
    columns = {
        "students": ("sid", "id", "major", "birth_year", "gpa"),
        "courses": ("cid", "sid", "code", "grade"),
        "books": ("cid", "title"),
        "evaluations": ("cid", "instructor", "score"),
    }
    lines = {name: [",".join(names)] for name, names in columns.items()}

    def add(name: str, row: dict[str, Any]) -> None:
        lines[name].append(",".join(str(row.get(column, "")) for column in columns[name]))

    cid = 0
    for sid, student in enumerate(people, 1):
        add("students", {"sid": sid, **student})
        for course in student["courses"]:
            cid += 1
            add("courses", {"cid": cid, "sid": sid, **course})
            for name in ("books", "evaluations"):
                for item in course.get(name, ()):
                    add(name, {"cid": cid, **item})
    return {name: "".join(f"{line}\n" for line in table) for name, table in lines.items()}


def students_xml(people: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield students as XML, one per line, valid against ``schemas/student.xsd``.

    A missing GPA has no element.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<students>\n'
    for student in people:
        fields = f"<major>{escape(student['major'])}</major>"
        if "gpa" in student:
            fields += f"<gpa>{student['gpa']}</gpa>"
        courses = "".join(_course_xml(course) for course in student["courses"])
        yield f"<student{_attributes(student, 'id', 'birth_year')}>{fields}{courses}</student>\n"
    yield "</students>\n"


def _course_xml(course: dict[str, Any]) -> str:
    inner = "".join(
        f"<evaluation{_attributes(item, 'instructor', 'score')}/>" for item in course["evaluations"]
    )
    inner += "".join(f"<book{_attributes(item, 'title')}/>" for item in course.get("books", []))
    return f"<course{_attributes(course, 'code', 'grade')}>{inner}</course>"


def _attributes(item: dict[str, Any], *names: str) -> str:
    return "".join(f" {name}={quoteattr(str(item[name]))}" for name in names)


def main(folder: Path) -> None:
    """Write every generated file below the folder, overwriting existing files."""
    for path, text in files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path("fixtures"))
