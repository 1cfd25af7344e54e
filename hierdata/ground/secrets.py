"""Secrets of a run: pickled only as a name, so that no file of an executor contains one.

Tasks may be written to files (a stage's work, Spark's closures). A secret in them is only a name; its bytes
are sent to the local workers through their pipes, with every request.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping

from hierdata.ground.errors import PolicyError

_known: dict[str, bytes] = {}


class Secret:
    """Secret bytes, which repr and pickle do not show.

    >>> Secret(b"x" * 32)
    Secret(...)
    """

    __slots__ = ("__weakref__", "_name")

    def __init__(self, value: bytes) -> None:
        self._name = os.urandom(16).hex()
        _known[self._name] = bytes(value)
        weakref.finalize(self, _known.pop, self._name, None)

    def reveal(self) -> bytes:
        """Return the bytes. Raises PolicyError in a process that did not receive them."""
        value = _known.get(self._name)
        if value is None:
            raise PolicyError(
                "the key is not known to this process, since it is sent only to worker processes on this "
                "machine: use the executor serial or processes"
            )
        return value

    def __reduce__(self) -> tuple[type[_Named], tuple[str]]:
        return _Named, (self._name,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


class _Named(Secret):
    """An unpickled secret, whose bytes belong to the process that created it."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return "Secret(...)"


def export_secrets() -> dict[str, bytes]:
    """Return all secrets of this process, to be sent through a pipe."""
    return dict(_known)


def import_secrets(secrets: Mapping[str, bytes]) -> None:
    """Replace the secrets of this process by those of the driver."""
    _known.clear()
    _known.update(secrets)
