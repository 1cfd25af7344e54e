"""What a kept worker does before it serves another test (tests/kept_workers.py); it imports little."""

from __future__ import annotations

import os
import tempfile

from hierdata.executors.local import Part
from hierdata.executors.spill import SpillPlace


def move(part: Part, place: SpillPlace) -> None:
    """Change to a folder and to other variables of the environment."""
    folder, variables = part.load()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None  # it is found again
