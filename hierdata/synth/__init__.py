"""Synthetic collections of any size, without real people."""

from __future__ import annotations

from hierdata.synth.students import students
from hierdata.synth.write import write

GENERATORS = {"students": students}

__all__ = ["GENERATORS", "students", "write"]
