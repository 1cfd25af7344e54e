"""A chain of stages whose result any executor must bring out alike; run as a script, one on Spark."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.executors import Executor, open_executor


def chain(executor: Executor, before: Callable[[int], None] = lambda seed: None) -> str:
    """A chain of stages over random arrays; the hash of what comes out. ``before`` is called in the tasks."""

    def make(seed: int) -> Any:
        before(seed)
        rng = np.random.default_rng(seed)
        return {"rows": rng.integers(0, 50, (3000, 4)), "names": [f"{seed}-{n}" for n in range(100)]}

    def parts(value: Any) -> Iterator[tuple[int, Any]]:
        rows = value["rows"]
        for first in range(50):
            yield first % 13, rows[rows[:, 0] == first]
        for at, name in enumerate(value["names"]):
            yield at % 17, name

    def joined(pieces: list[Any]) -> Any:
        arrays = [piece for piece in pieces if not isinstance(piece, str)]
        return np.concatenate(arrays) if arrays else None, [p for p in pieces if isinstance(p, str)]

    digest = hashlib.sha256()
    held = executor.hold(list(range(9))).map(make)
    for rows, names in held.exchange(parts, 17).map(joined).collect():
        digest.update(b"" if rows is None else rows.tobytes())
        digest.update("|".join(names).encode())
    return digest.hexdigest()


def kill_executor_once(marker: Path, *, and_worker: bool = False) -> bool:
    """Kill the executor above this Python process, if nobody has done so yet; first the worker above it."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    executor = _parent(os.getppid())
    if and_worker:
        os.kill(_parent(executor), signal.SIGKILL)
    os.kill(executor, signal.SIGKILL)
    return True


def _parent(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    (above,) = [line for line in status.splitlines() if line.startswith("PPid:")]
    return int(above.split()[1])


def main(master: str, folder: Path, marker: str) -> None:
    """Run the chain; with a marker an executor is killed in the fifth task."""

    def kill(seed: int) -> None:
        if seed == 5 and marker:
            kill_executor_once(Path(marker))

    if not marker:  # another application before it, whose folders are gone
        with open_executor("spark", workers=2, folder=folder) as executor:
            list(executor.hold([1]).collect())
    with open_executor("spark", workers=2, folder=folder, master=master or None) as executor:
        print(executor.workers, chain(executor, kill))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
