"""The key of a run, and its secrets: pickled only as a name, so that no file of an executor contains one.

Tasks may be written to files (a stage's work, Spark's closures). A secret in them is only a name; its bytes
are sent to the local workers through their pipes, with every request.
"""

from __future__ import annotations

import hmac
import os
import re
import weakref
from collections.abc import Mapping

from hierdata.ground.errors import PolicyError

LEAST = 32
"""Fewest bytes of a key. A shorter key could be guessed, and then every pseudonym could be recomputed."""
_MOST = 1024
_DIFFERENT = 8
"""A random key of 32 bytes has more different bytes, but for a chance below 10^-30."""
_LONGEST_WORD = 16
"""A text of fewer bytes that a key repeats could be guessed."""
_HOW = "create one with openssl rand -hex 32"

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
        return "Secret(...)"


class _Named(Secret):
    """An unpickled secret, whose bytes belong to the process that created it."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self._name = name


def export_secrets() -> dict[str, bytes]:
    """Return all secrets of this process, to be sent through a pipe."""
    return dict(_known)


def import_secrets(secrets: Mapping[str, bytes]) -> None:
    """Replace the secrets of this process by those of the driver."""
    _known.clear()
    _known.update(secrets)


class Key:
    """A key from which one is derived for each purpose; only derived keys are used.

    >>> Key(bytes(range(32)))
    Key(...)
    """

    __slots__ = ("_secret",)

    def __init__(self, value: bytes) -> None:
        """Raises PolicyError for a key that is not bytes, or too short."""
        if not isinstance(value, bytes):
            raise PolicyError(f"a key must be bytes, not {type(value).__name__}")
        if len(value) < LEAST:
            raise PolicyError(f"a key must have at least {LEAST} bytes, not {len(value)}: {_HOW}")
        if len({*value}) < _DIFFERENT or any(
            value[period:] == value[:-period] for period in range(1, _LONGEST_WORD)
        ):
            raise PolicyError(f"a key must be random, and this one repeats a byte or a short text: {_HOW}")
        self._secret = Secret(value)

    def derive_key(self, purpose: str, name: str) -> bytes:
        """Derive the key for one purpose and name, such as a domain of pseudonyms, by HMAC-SHA-256."""
        label = f"hierdata/{purpose}\0{name}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret.reveal(), label, "sha256")

    def __repr__(self) -> str:
        return "Key(...)"


def random_key() -> Key:
    """Return a random key that is not stored anywhere and ends with the run."""
    return Key(os.urandom(LEAST))


def from_text(text: str, origin: str) -> bytes:
    """Return the bytes of a key in hexadecimal digits. Raises PolicyError, which never quotes it.

    >>> from_text("00" * 32 + chr(10), "the key") == bytes(32)
    True
    """
    digits = text.strip()
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})*", digits) or len(digits) > 2 * _MOST:
        raise PolicyError(f"{origin} must be hexadecimal digits, two per byte: {_HOW}")
    if len(digits) < 2 * LEAST:
        raise PolicyError(f"{origin} must have at least {LEAST} bytes, not {len(digits) // 2}: {_HOW}")
    return bytes.fromhex(digits)
