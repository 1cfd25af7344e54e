"""Secrets of a run: pickled by a name alone, so that no file of an executor ever holds one.

What tasks are made of may be written to files (a stage's work, Spark's closures). A secret in it is a name
there; the bytes go to our own workers through their pipes, with every request.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from typing import NoReturn

from hierdata.errors import PolicyError

_known: dict[str, bytes] = {}


class Secret:
    """Secret bytes. Nothing that prints it or copies it shows them.

    >>> Secret(b"x" * 32)
    Secret(...)
    """

    __slots__ = ("__weakref__", "_name")

    def __init__(self, value: bytes) -> None:
        self._name = os.urandom(16).hex()
        _known[self._name] = bytes(value)
        weakref.finalize(self, _known.pop, self._name, None)

    def reveal(self) -> bytes:
        """The bytes. Raises PolicyError in a process that was not told them."""
        value = _known.get(self._name)
        if value is None:
            _untold()
        return value

    def __reduce__(self) -> tuple[type[_Named], tuple[str]]:
        return _Named, (self._name,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


class _Named(Secret):
    """A secret where it was unpickled: it ends with the process that it was made in."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return "Secret(...)"


def _untold() -> NoReturn:
    raise PolicyError(
        "the key is not known to this process: it is told to worker processes of this machine alone; take "
        "the executor serial or processes"
    )


def told() -> dict[str, bytes]:
    """All secrets of this process, to be sent through a pipe."""
    return dict(_known)


def hear(secrets: Mapping[str, bytes]) -> None:
    """Take over the secrets of the driver, and forget those that it has no more."""
    _known.clear()
    _known.update(secrets)
