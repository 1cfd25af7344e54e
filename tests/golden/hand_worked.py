"""One small collection and three runs of Algorithm 2 on it, worked by hand (the steps: test_ml_by_hand.py).

Plain documents and child -> parent taxonomies, so that anything that anonymizes can be run on them.
Sensitive values (`gpa`, `grade`) are sensitivity levels already.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

TAXONOMIES: dict[str, dict[str, str | None]] = {
    "program": {"ANYP": None, "P1": "ANYP", "P2": "ANYP"},
    "course": {
        "ANY": None,
        "CS": "ANY",
        "MATH101": "ANY",
        "CS2xx": "CS",
        "CS305": "CS",
        "CS201": "CS2xx",
        "CS204": "CS2xx",
    },
}


@dataclass(frozen=True)
class Run:
    """Settings and result of one run. `published`: per class its representative, None if suppressed.

    `draws`: the seed record is number draw mod (records left) of those left, in input order.
    `level_alpha`: whether the shares 4/5, 3/5, 2/5, 1/5, 1/10 bind gpa and grade; else k alone counts.
    """

    name: str
    k: int
    level_alpha: bool
    window: int
    draws: list[int]
    members: list[list[int]]
    published: list[dict[str, Any] | None]
    leftover: list[int]
    total_loss: Fraction


def by_hand_collection() -> list[dict[str, Any]]:
    """Five students; `grade` None is a missing one."""

    def student(program: str, gpa: int, *courses: tuple[str, int | None]) -> dict[str, Any]:
        return {
            "program": program,
            "gpa": gpa,
            "courses": [{"code": code, "grade": grade} for code, grade in courses],
        }

    return [
        student("P1", 2, ("CS204", 2), ("MATH101", None)),
        student("P1", 1, ("CS305", 1)),
        student("P1", 1, ("CS201", 1), ("MATH101", 1)),
        student("P2", 2, ("CS201", 2)),
        student("P2", 3),
    ]


def by_hand_runs() -> list[Run]:
    """The runs; in `published` a sensitive attribute is the sorted multiset of the members' values."""
    return [
        Run(
            name="level alpha, k = 2",
            k=2,
            level_alpha=True,
            window=50,
            draws=[7, 2],
            members=[[2, 0], [4, 1]],
            published=[
                {"program": "P1", "gpa": [1, 2], "courses": [{"code": "CS2xx", "grade": [1, 2]}]},
                None,
            ],
            leftover=[3],
            total_loss=Fraction(23, 3),
        ),
        Run(
            name="k = 3 alone",
            k=3,
            level_alpha=False,
            window=50,
            draws=[3],
            members=[[3, 4, 1]],
            published=[{"program": "ANYP", "gpa": [1, 2, 3], "courses": []}],
            leftover=[0, 2],
            total_loss=Fraction(11),
        ),
        Run(
            name="k = 3 alone, window of 2",
            k=3,
            level_alpha=False,
            window=2,
            draws=[3],
            members=[[3, 4, 2]],
            published=[{"program": "ANYP", "gpa": [1, 2, 3], "courses": []}],
            leftover=[0, 1],
            total_loss=Fraction(11),
        ),
    ]
