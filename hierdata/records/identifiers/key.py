"""The key of pseudonyms and shifts. It is never written: not to a report, release, spill file or message."""

from __future__ import annotations

import hmac
import os
import re

from hierdata.ground.errors import PolicyError
from hierdata.ground.secrets import Secret

LEAST = 32
"""Fewest bytes of a key. A shorter key could be guessed, and then every pseudonym could be recomputed."""
_MOST = 1024
_HOW = "create one with openssl rand -hex 32"


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
        self._secret = Secret(value)

    def derive_key(self, purpose: str, name: str) -> bytes:
        """Derive the key for one purpose and name, such as a domain of pseudonyms, by HMAC-SHA-256."""
        label = f"hierdata/{purpose}\0{name}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret.reveal(), label, "sha256")

    def __repr__(self) -> str:
        return "Key(...)"


def key_of(stated: bytes | None) -> Key | None:
    """Return the given key, None if there is none. Raises PolicyError."""
    return None if stated is None else Key(stated)


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
