"""Synthetic students of any number, modelled after the data sets A and B of ML section 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from hierdata.ground.errors import PolicyError
from hierdata.synth.vocabulary import DEPARTMENTS, GRADES, LEVELS, Department, Draws, limits, numbers_by_level

GPAS = numbers_by_level(4, 2)
SCORES = numbers_by_level(1, 1)
LETTERS = tuple(
    tuple(letter for letter in GRADES if GRADES[letter] == level) for level in range(1, LEVELS + 1)
)
SKEWED = (0.80, 0.12, 0.05, 0.02, 0.01)
"""Shares of the levels 1..5 at skew 1."""

COURSES = {d.subject: tuple(line[0] for line in d.course_lines) for d in DEPARTMENTS}
INSTRUCTORS = {d.subject: d.instructors for d in DEPARTMENTS}
BOOKS = {d.subject: d.books for d in DEPARTMENTS}
FACULTY = {
    d.subject: tuple(other for other in DEPARTMENTS if other.faculty == d.faculty) for d in DEPARTMENTS
}
OWN_SUBJECT = 0.6
"""Of the courses that follow the major, the share in its own subject; the others are in its faculty."""


@dataclass(frozen=True)
class StudentShape:
    """The shape of the records: the least and most courses per student, and shares 0..1 of optional parts.

    ``one_course`` is the share of students with exactly one course, ``missing_gpa`` of students without GPA,
    ``books`` of courses with one or two books.
    """

    courses: tuple[int, int] = (18, 22)
    one_course: float = 0.0
    missing_gpa: float = 0.0
    books: float = 0.0


PAPER = StudentShape()


def students(
    records: int,
    depth: int,
    seed: int,
    correlation: float,
    skew: float,
    shape: StudentShape = PAPER,
    levels: Sequence[float] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield ``records`` students, one at a time; a longer run begins with the students of a shorter one.

    Depth 2 is data set A of ML section 5 (students and about 20 courses each), depth 3 is data set B (also
    one or two instructors per course, with a score). ``correlation`` 0..1 is the probability that a course
    follows the student's major, and an instructor the course; at 0 all courses are equally likely for every
    major. ``skew`` 0..1 ranges from equally frequent sensitivity levels to 80 % in level 1; ``levels``, the
    relative frequencies of the levels 1..5, replace it. GPA and scores are Decimals. ``seed`` is 0 or more.
    Raises PolicyError for arguments outside these ranges.

    >>> student = next(students(1, depth=2, seed=1, correlation=0.5, skew=0.5))
    >>> list(student), student["id"], list(student["courses"][0])
    (['id', 'major', 'birth_year', 'gpa', 'courses'], 'S000001', ['code', 'grade'])
    """
    if depth not in (2, 3):
        raise PolicyError("the depth of synthetic students must be 2 or 3")
    if records < 0 or seed < 0:
        raise PolicyError("the number of records and the seed must be 0 or more")
    if not (0 <= correlation <= 1 and 0 <= skew <= 1):
        raise PolicyError("correlation and skew must be between 0 and 1")
    if levels is None:
        levels = [(1 - skew) / LEVELS + skew * share for share in SKEWED]
    if len(levels) != LEVELS or not all(0 <= share < inf for share in levels) or not sum(levels):
        raise PolicyError(f"levels must be {LEVELS} frequencies from 0, not all of them 0")
    campus = _Campus(Draws(seed), depth, correlation, limits(levels), shape)
    return (campus.student(ordinal) for ordinal in range(1, records + 1))


@dataclass(frozen=True)
class _Campus:
    """Draws students with fixed parameters."""

    draws: Draws
    depth: int
    correlation: float
    levels: tuple[float, ...]
    shape: StudentShape

    def student(self, ordinal: int) -> dict[str, Any]:
        draws, shape = self.draws, self.shape
        department = draws.pick(DEPARTMENTS)
        student: dict[str, Any] = {
            "id": f"S{ordinal:06d}",
            "major": draws.pick(department.programs),
            "birth_year": draws.whole(1985, 1996),
        }
        gpa = draws.pick(GPAS[draws.index(self.levels)])
        if not draws.chance(shape.missing_gpa):
            student["gpa"] = gpa
        number = 1 if draws.chance(shape.one_course) else draws.whole(*shape.courses)
        chosen: dict[str, str] = {}
        while len(chosen) < number:
            subject = self.subject(department)
            chosen.setdefault(draws.pick(COURSES[subject]), subject)
        student["courses"] = [self.course(code, subject) for code, subject in chosen.items()]
        return student

    def subject(self, department: Department) -> str:
        draws = self.draws
        if not draws.chance(self.correlation):
            return draws.pick(DEPARTMENTS).subject
        if draws.chance(OWN_SUBJECT):
            return department.subject
        return draws.pick(FACULTY[department.subject]).subject

    def course(self, code: str, subject: str) -> dict[str, Any]:
        draws = self.draws
        course: dict[str, Any] = {"code": code, "grade": draws.pick(LETTERS[draws.index(self.levels)])}
        if self.depth == 3:
            course["evaluations"] = self.evaluations(subject)
        if draws.chance(self.shape.books):
            course["books"] = [{"title": title} for title in self.distinct(BOOKS[subject])]
        return course

    def evaluations(self, subject: str) -> list[dict[str, Any]]:
        draws = self.draws
        follows = draws.chance(self.correlation)
        names = INSTRUCTORS[subject if follows else draws.pick(DEPARTMENTS).subject]
        return [
            {"instructor": name, "score": draws.pick(SCORES[draws.index(self.levels)])}
            for name in self.distinct(names)
        ]

    def distinct(self, items: tuple[str, ...]) -> list[str]:
        """Return one item or two different items, with equal probability."""
        first = self.draws.pick(items)
        if self.draws.chance(0.5):
            return [first]
        return [first, self.draws.pick([item for item in items if item != first])]
