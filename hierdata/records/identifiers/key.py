"""The key of pseudonyms and shifts. It is in no file: not in a report, a release, a spill or a message."""

from __future__ import annotations

import hmac
import os
import re

from hierdata.documents.secrets import Secret
from hierdata.errors import PolicyError

LEAST = 32
"""Bytes of a key; fewer could be tried one by one, and with a key every pseudonym can be."""
_MOST = 1024
_HOW = "openssl rand -hex 32 makes one"


class Key:
    """A key, from which one is derived for each purpose; only what is derived is ever used.

    >>> Key(bytes(range(32)))
    Key(...)
    """

    __slots__ = ("_secret",)

    def __init__(self, value: bytes) -> None:
        """Raises PolicyError for a key that is no bytes, or too short."""
        if not isinstance(value, bytes):
            raise PolicyError(f"a key is secret bytes, and this has the type {type(value).__name__}")
        if len(value) < LEAST:
            raise PolicyError(f"a key has at least {LEAST} bytes, and this one has {len(value)}: {_HOW}")
        self._secret = Secret(value)

    def derived(self, purpose: str, name: str) -> bytes:
        """The key of one purpose and name, such as a domain of pseudonyms: HMAC-SHA-256."""
        label = f"hierdata/{purpose}\0{name}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret.reveal(), label, "sha256")

    def __repr__(self) -> str:
        return "Key(...)"


def key_of(stated: bytes | None) -> Key | None:
    """The key that was given, None where none was. Raises PolicyError."""
    return None if stated is None else Key(stated)


def per_run() -> Key:
    """A key that nobody knows, and that ends with the run."""
    return Key(os.urandom(LEAST))


def from_text(text: str, origin: str) -> bytes:
    """The bytes of a key that is written in hexadecimal digits. Raises PolicyError, which quotes nothing.

    >>> from_text("00" * 32 + chr(10), "the key") == bytes(32)
    True
    """
    digits = text.strip()
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})*", digits) or len(digits) > 2 * _MOST:
        raise PolicyError(f"{origin} is not written in hexadecimal digits, two a byte: {_HOW}")
    if len(digits) < 2 * LEAST:
        raise PolicyError(f"{origin} has {len(digits) // 2} bytes, and at least {LEAST} are due: {_HOW}")
    return bytes.fromhex(digits)
