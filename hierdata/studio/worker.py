"""A worker process: ``python -m hierdata.studio.worker STUDY WORK``, with arguments as JSON on stdin.

Each line on stdout is a JSON object: progress, or how the work ended. The process ends when stdin is closed,
which happens when the studio ends or stops it. Nothing is written to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from hierdata.ground.errors import HierdataError
from hierdata.ground.progress import Progress
from hierdata.studio.study import StudyFolder
from hierdata.studio.tasks import TASKS

_EVERY = 0.2
"""Seconds between two reports of progress."""
_OURS = Path(__file__).parents[1]


def run(folder: Path, name: str, arguments: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
    """Run one work, keep its result in the study, and tell how it ended."""
    try:
        study = StudyFolder(folder)
        result = TASKS[name](study, arguments, _report(tell))
        if result is not None:
            study.keep_figures(name, result)
        tell({"ended": "done"})
    except HierdataError as error:
        tell({"ended": "failed", "why": str(error)})
    except MemoryError:
        tell({"ended": "failed", "why": "memory ran out: allow more, or work on a smaller file"})
    except Exception as error:  # noqa: BLE001  (a traceback could show raw values)
        tell({"ended": "failed", "why": describe_fault(error)})


def describe_fault(error: BaseException) -> str:
    """Return where an internal error arose, without its message, which could quote the data."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _OURS in Path(frame.filename).parents]
    location = ""
    if ours:
        file = Path(ours[-1].filename).relative_to(_OURS.parent).as_posix()
        location = f" at {file}:{ours[-1].lineno}"
    return f"internal error ({type(error).__name__}{location}); this is a fault of hierdata, please report it"


def _report(tell: Callable[[dict[str, Any]], None]) -> Progress:
    last: dict[str, float] = {}

    def progress(stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - last.get(stage, 0.0) >= _EVERY or done == total:
            last[stage] = now
            tell({"stage": stage, "done": done, "total": total})

    return progress


def main() -> None:
    """Read the arguments, then work until the end, or until stdin is closed."""
    folder, name = sys.argv[1:]
    arguments = json.loads(sys.stdin.readline())
    out, lock = sys.stdout, Lock()
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (libraries that print)

    def tell(line: dict[str, Any]) -> None:
        with lock:
            out.write(json.dumps(line) + "\n")
            out.flush()

    def await_end() -> None:
        sys.stdin.read()
        os._exit(1)  # private folders are removed by the process that waits for this one

    Thread(target=await_end, daemon=True).start()
    run(Path(folder), name, arguments, tell)
    os._exit(0)


if __name__ == "__main__":
    main()
