"""What an attempt may cost: ``cheap`` bounds its processor time, ``small`` its memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cheap(seconds: float = 10) -> Iterator[None]:
    """What is done here takes little time."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


@contextmanager
def small(mebibytes: float) -> Iterator[None]:
    """What is done here takes little memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes * 2**20
    finally:
        tracemalloc.stop()
