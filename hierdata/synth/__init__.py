"""Synthetic collections of any size, without real people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hierdata.synth.patients import patients
from hierdata.synth.students import students
from hierdata.synth.write import Companions, beside_patients, beside_students, write

GENERATORS: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "students": students,
    "patients": patients,
}

__all__ = ["GENERATORS", "Companions", "beside_patients", "beside_students", "patients", "students", "write"]
