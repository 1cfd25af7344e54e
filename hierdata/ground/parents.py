"""Processes that do not outlive the process that started them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_LOOK = 0.2  # seconds between two checks whether the parent is still there


def leave_with(parent: int, leave: Callable[[], None]) -> None:
    """Call ``leave`` in a thread as soon as this process has lost its parent, the process ``parent``.

    ``leave`` ends this process.
    """

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        leave()

    threading.Thread(target=wait, daemon=True).start()
