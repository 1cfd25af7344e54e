"""Synthetic collections: nobody real is in them, and they come in any size."""

from __future__ import annotations

from hierdata.synth.students import students
from hierdata.synth.write import write

GENERATORS = {"students": students}

__all__ = ["GENERATORS", "students", "write"]
