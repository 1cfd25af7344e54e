"""Kernels as Python functions: for small collections, where compiling would take nearly all the time.

A process spends at most ``BUDGET`` CPU seconds in such kernels, ever. A search that needs more starts again
with the compiler, so it costs at most the budget more than the better way, and nothing has to be estimated.
Both ways give the same result; which one is taken may depend on what is compiled already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import Any, Protocol, TypeVar

import numpy as np

Answer = TypeVar("Answer")

BUDGET = 2.0
"""The CPU seconds that a process may spend in kernels that run as Python functions."""
SMALL = 500
"""Collections of at most so many vertices are tried without the compiler."""


class HasCode(Protocol):
    """A kernel, which may be compiled already."""

    py_func: Callable[..., Any]

    def is_compiled_for(self, arguments: tuple[Any, ...]) -> bool:
        """Return whether there is compiled code for arguments of these types, in the process or on disk."""


class _OverBudget(BaseException):
    """The process has spent its budget; the search must start again with the compiler."""


class _PlainMode:
    """Which kernels run as Python functions: all, or those that are not compiled, within the budget."""

    def __init__(self, *, every: bool, limited: bool) -> None:
        self.every = every
        self._limited = limited
        self._started: float | None = None  # CPU time at the start of the outermost kernel that runs plainly
        self._without_code: set[HasCode] = set()

    def takes(self, kernel: HasCode, arguments: tuple[Any, ...]) -> bool:
        """Return whether a kernel runs as its Python function; the kernels that it calls then do so too."""
        if self._started is not None or self.every or kernel in self._without_code:
            return True
        if kernel.is_compiled_for(arguments):
            return False
        self._without_code.add(kernel)
        return True

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a kernel's Python function; from outside kernels, integers are of 64 bits as in compiled code.

        An int32 that is multiplied by a Python int stays an int32, while compiled code widens both.
        """
        if self._started is not None:
            if self._limited and thread_time() - self._started > _budget.remaining:
                raise _OverBudget
            return function(*arguments)
        self._started = thread_time()
        try:
            with np.errstate(over="ignore"):  # 64-bit integers wrap, as in compiled code
                return _narrow(function(*map(_widen, arguments)))
        finally:
            if self._limited:
                _budget.spent += thread_time() - self._started
            self._started = None


class _Budget:
    """What this process has spent of its budget."""

    spent = 0.0

    @property
    def remaining(self) -> float:
        return BUDGET - self.spent


_budget = _Budget()
_MODE: ContextVar[_PlainMode | None] = ContextVar("_MODE", default=None)
_ALWAYS: ContextVar[bool] = ContextVar("_ALWAYS", default=False)


def plain_mode() -> _PlainMode | None:
    """Return how kernels run as Python functions in this context; None if all of them are compiled."""
    return _MODE.get()


def is_plain() -> bool:
    """Return whether kernels may run as Python functions here."""
    return _MODE.get() is not None


@contextmanager
def without_compiler(chosen: bool = True) -> Iterator[None]:
    """Run all kernels in this context as Python functions, however long it takes, if ``chosen``."""
    if not chosen:
        yield
        return
    with _in_mode(_PlainMode(every=True, limited=False)):
        yield


@contextmanager
def always_compiled() -> Iterator[None]:
    """Compile all kernels of the searches in this context, however small the collections are."""
    token = _ALWAYS.set(True)
    try:
        yield
    finally:
        _ALWAYS.reset(token)


@contextmanager
def _in_mode(mode: _PlainMode) -> Iterator[None]:
    token = _MODE.set(mode)
    try:
        yield
    finally:
        _MODE.reset(token)


def run_small(vertices: int, search: Callable[[], Answer]) -> Answer:
    """Return the answer of a search, which may be called twice and must then do the same again.

    Of at most ``SMALL`` vertices, kernels that are not compiled yet run as Python functions while the budget
    of the process lasts. Otherwise all are compiled.
    """
    if vertices <= SMALL and _budget.remaining > 0 and not _ALWAYS.get():
        try:
            with _in_mode(_PlainMode(every=False, limited=True)):
                return search()
        except _OverBudget:
            pass
    return search()


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
