"""Kernels as plain Python, for collections so small that compiling would be all the time.

Which way is chosen once a run, by its work, never by what is compiled already; both give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any

import numpy as np


class _Way(Enum):
    COMPILED = 0
    PLAIN = 1
    WITHIN = 2  # in a plain kernel, whose callees are plain as well


_WAY: ContextVar[_Way] = ContextVar("_WAY", default=_Way.COMPILED)


@contextmanager
def without_compiler(chosen: bool = True) -> Iterator[None]:
    """Run kernels that are called in this context as Python functions, if ``chosen``."""
    if not chosen:
        yield
        return
    token = _WAY.set(_Way.PLAIN)
    try:
        with np.errstate(over="ignore"):  # 64-bit integers wrap, as in compiled code
            yield
    finally:
        _WAY.reset(token)


def is_plain() -> bool:
    """Return whether kernels run as Python functions here."""
    return _WAY.get() is not _Way.COMPILED


def call_plainly(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel's Python function; from outside kernels, integers are of 64 bits as in compiled code.

    An int32 that is multiplied by a Python int stays an int32, while compiled code widens both.
    """
    if _WAY.get() is _Way.WITHIN:
        return function(*arguments)
    token = _WAY.set(_Way.WITHIN)
    try:
        return _narrow(function(*map(_widen, arguments)))
    finally:
        _WAY.reset(token)


def _widen(value: Any) -> Any:
    if type(value) is int:
        return np.int64(value)
    return _rebuild(_widen, value) if isinstance(value, tuple) else value


def _narrow(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return _rebuild(_narrow, value) if isinstance(value, tuple) else value


def _rebuild(change: Callable[[Any], Any], value: tuple[Any, ...]) -> tuple[Any, ...]:
    made: Callable[..., tuple[Any, ...]] = getattr(type(value), "_make", tuple)
    return made(map(change, value))
