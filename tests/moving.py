"""What a kept worker does before it serves another test (tests/kept_workers.py); it imports little."""

from __future__ import annotations

import os

from hierdata.executors.local import Part
from hierdata.executors.spill import SpillPlace


def move(part: Part, place: SpillPlace) -> None:
    """Change to a folder."""
    os.chdir(part.load())
