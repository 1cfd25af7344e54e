"""The fictional university of the synthetic students: the source of all their values and taxonomies.

A taxonomy is a tuple of lines, one for each leaf, from the leaf to the root. ``Draws`` makes reproducible
random choices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import TypeVar

ROOT = "*"
LEVELS = 5
BREAKPOINTS = (Fraction(2, 9), Fraction(5, 12), Fraction(7, 12), Fraction(7, 9))
"""Fractions of a numeric domain at which the next value level begins (ML section 3.3, erratum ML-2)."""


@dataclass(frozen=True)
class Department:
    """A department: the subject it teaches, its faculty, and the programs that can be a student's major."""

    subject: str
    name: str
    faculty: str
    topic: str
    programs: tuple[str, ...]

    @property
    def course_lines(self) -> tuple[tuple[str, ...], ...]:
        """The courses in their taxonomy: subject, hundred level, course."""
        return tuple(
            (f"{self.subject}{hundred}{number}", f"{self.subject} {hundred}xx", self.subject, ROOT)
            for hundred in "123"
            for number in ("01", "02", "04", "05")
        )

    @property
    def instructors(self) -> tuple[str, ...]:
        """The teaching staff."""
        return tuple(f"Prof. {self.subject}-{number}" for number in range(1, 7))

    @property
    def books(self) -> tuple[str, ...]:
        """The titles used in the department's courses."""
        patterns = ("Introduction to {}", "Principles of {}", "{} by Example", "{} Workbook", "Advanced {}")
        return tuple(pattern.format(self.topic) for pattern in patterns)


DEPARTMENTS = (
    Department("CS", "Computing", "Engineering", "Algorithms", ("Computer Science", "Data Science")),
    Department("EE", "Electronics", "Engineering", "Circuits", ("Electrical Engineering", "Mechatronics")),
    Department("IE", "Production", "Engineering", "Operations", ("Industrial Engineering", "Logistics")),
    Department("MATH", "Mathematical Sciences", "Sciences", "Algebra", ("Mathematics", "Statistics")),
    Department("PHYS", "Physical Sciences", "Sciences", "Mechanics", ("Physics", "Astronomy")),
    Department("BIO", "Life Sciences", "Sciences", "Genetics", ("Biology", "Biochemistry")),
    Department("ECON", "Economic Studies", "Social Studies", "Markets", ("Economics", "Finance")),
    Department(
        "PSY", "Behavioural Studies", "Social Studies", "Perception", ("Psychology", "Cognitive Science")
    ),
    Department("POLS", "Political Studies", "Social Studies", "Government", ("Politics", "Public Policy")),
    Department("HIST", "Historical Studies", "Arts", "Antiquity", ("History", "Archaeology")),
    Department("LIT", "Literary Studies", "Arts", "Poetics", ("Literature", "Linguistics")),
    Department("ART", "Visual Studies", "Arts", "Drawing", ("Fine Arts", "Film Studies")),
)

GRADES = {letter + sign: level for level, letter in enumerate("ABCD", start=1) for sign in ("+", "", "-")} | {
    "E": 5
}
"""Letter grade to sensitivity level (ML table 2): A* 1, B* 2, C* 3, D* 4, E 5."""

TAXONOMIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "major": tuple((program, d.name, d.faculty, ROOT) for d in DEPARTMENTS for program in d.programs),
    "course": tuple(line for d in DEPARTMENTS for line in d.course_lines),
    "instructor": tuple((name, d.name, d.faculty, ROOT) for d in DEPARTMENTS for name in d.instructors),
    "book": tuple((title, d.name, d.faculty, ROOT) for d in DEPARTMENTS for title in d.books),
}
"""The students' taxonomies by name."""


def csv_text(lines: tuple[tuple[str, ...], ...]) -> str:
    """Return a taxonomy as CSV: one line for each leaf, from leaf to root, delimiter ``;``.

    >>> csv_text(TAXONOMIES["course"]).splitlines()[4]
    'CS201;CS 2xx;CS;*'
    """
    return "".join(";".join(line) + "\n" for line in lines)


def numbers_by_level(top: int, digits: int) -> tuple[tuple[Decimal, ...], ...]:
    """Return the decimals of the domain 0..``top`` with ``digits`` digits, grouped by sensitivity level 1..5.

    Low values are sensitive: level = 6 - value level, and a value on a breakpoint belongs to the upper value
    level (ML section 3.3, errata ML-2 and ML-3).

    >>> [(str(values[0]), str(values[-1])) for values in numbers_by_level(1, 1)]
    [('0.8', '1.0'), ('0.6', '0.7'), ('0.5', '0.5'), ('0.3', '0.4'), ('0.0', '0.2')]
    """
    groups: list[list[Decimal]] = [[] for _ in range(LEVELS)]
    for count in range(top * 10**digits + 1):
        share = Fraction(count, top * 10**digits)
        groups[LEVELS - 1 - sum(share >= point for point in BREAKPOINTS)].append(
            Decimal(count).scaleb(-digits)
        )
    return tuple(tuple(group) for group in groups)


Item = TypeVar("Item")


class Draws:
    """A stream of draws from a seed of 0 or more.

    Only ``Random.random`` is used, since Python guarantees the sequence of no other method, and only
    arithmetic that IEEE 754 defines exactly.

    >>> Draws(1).pick("abc") == Draws(1).pick("abc")
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311 - meant to be reproducible, protects nothing

    def share(self) -> float:
        """Return a number from 0 to 1, without 1."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """Return True with this probability; never at 0, always at 1."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items, all equally likely."""
        return items[int(self._random() * len(items))]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + int(self._random() * (high - low + 1))

    def index(self, limits: Sequence[float]) -> int:
        """Return the index of the interval of a draw from 0..1; ``limits`` are the inner ends."""
        return bisect_right(limits, self._random())


def limits(weights: Sequence[float]) -> tuple[float, ...]:
    """Return the inner ends of the intervals of 0..1 whose widths are proportional to the weights.

    >>> limits([2, 1, 1])
    (0.5, 0.75)
    """
    total = sum(weights)
    return tuple(end / total for end in accumulate(weights[:-1]))
