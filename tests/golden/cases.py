"""The papers' worked examples in fixtures/papers (its README.md has the format)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures" / "papers"
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Case:
    id: str
    kind: str
    input: dict[str, Any]
    expected: Any


@dataclass(frozen=True)
class Golden:
    inputs: dict[str, Any]
    cases: list[Case]

    def by_kind(self) -> dict[str, list[Case]]:
        kinds: dict[str, list[Case]] = {}
        for case in self.cases:
            kinds.setdefault(case.kind, []).append(case)
        return kinds


def load(file: str) -> Golden:
    """A file's inputs and cases; a parameter that names one of the inputs is replaced by it."""
    content = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    inputs = content["inputs"]

    def resolved(value: Any) -> Any:
        return inputs[value] if isinstance(value, str) and value in inputs else value

    cases = [
        Case(
            id=case["id"],
            kind=case["kind"],
            input={name: resolved(value) for name, value in case["input"].items()},
            expected=case["expected"],
        )
        for case in content["cases"]
    ]
    return Golden(inputs, cases)


def printed_figures(file: str) -> dict[str, Any]:
    """What the paper prints, by case; cases without a printed figure are left out."""
    content = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    return {case["id"]: case["printed"] for case in content["cases"] if case["printed"] is not None}


def agrees(expected: Any, value: Any) -> bool:
    """Whether a computed value is the expected one.

    Integers and fractions must equal the exact fraction where there is one; floats may differ by 1e-9.
    Everything else must be equal and of the same type, so that True is not taken for 1.
    """
    if isinstance(expected, dict) and "value" in expected and set(expected) <= {"exact", "value"}:
        if isinstance(value, bool):
            return False
        if isinstance(value, Rational) and "exact" in expected:
            return value == Fraction(expected["exact"])
        return abs(float(value) - expected["value"]) <= TOLERANCE
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and set(expected) == set(value)
            and all(agrees(expected[key], value[key]) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list | tuple)
            and len(expected) == len(value)
            and all(map(agrees, expected, value))
        )
    return type(expected) is type(value) and expected == value
