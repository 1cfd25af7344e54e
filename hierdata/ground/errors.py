"""Errors: one sentence each (what, where, what to do), an exit code, and never a raw value."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence

from hierdata.ground.escaping import escape


class HierdataError(Exception):
    """Base of all errors that a user can cause or must act on.

    ``exit_code`` is what the command line returns. ``message`` is the sentence without record and path, or
    one line for each of several. Whatever names they quote from the input, both are safe to show: control
    characters are escaped. ``revealed`` holds the raw values a steward may ask for with ``--reveal FILE``;
    they are never part of the message.

    >>> str(InputError("the value is not in the taxonomy", record=17, path="$.major"))
    'record 17, $.major: the value is not in the taxonomy'
    """

    exit_code = 1

    def __init__(
        self,
        message: str | Iterable[str],
        *,
        record: int | None = None,
        path: str | None = None,
        revealed: Sequence[str] = (),
    ) -> None:
        lines = (message,) if isinstance(message, str) else message
        self.message = "\n".join(map(escape, lines))
        self.record = record
        self.path = None if path is None else escape(path)
        where = ", ".join(
            part for part in (f"record {record}" if record is not None else "", self.path or "") if part
        )
        super().__init__(f"{where}: {self.message}" if where else self.message)
        self.revealed = tuple(revealed)


class PolicyError(HierdataError):
    """The policy, an option or the combination of both cannot be used (exit code 2)."""

    exit_code = 2


class MissingPluginError(PolicyError):
    """A policy or a release needs a plug-in that is not installed here."""


def missing_extra(need: str, extra: str) -> PolicyError:
    """Return the error for a package that is not installed, with the command that installs it.

    >>> str(missing_extra("BSON needs pymongo", "mongodb"))
    "BSON needs pymongo; install it with: pip install 'hierdata[mongodb]'"
    """
    return PolicyError(f"{need}; install it with: pip install 'hierdata[{extra}]'")


class PromiseError(HierdataError):
    """The promise cannot be met on this collection (exit code 3)."""

    exit_code = 3


class VerificationError(HierdataError):
    """The judge did not confirm the promise (exit code 4)."""

    exit_code = 4


class InputError(HierdataError):
    """The input is broken or does not fit the policy (exit code 5). Records are numbered from 1."""

    exit_code = 5


class TargetError(HierdataError):
    """A file or folder cannot be read or written, or already exists (exit code 6)."""

    exit_code = 6


class UnavailableError(TargetError):
    """A server, a disk or memory cannot be had now (exit code 8): nothing was published, try again later."""

    exit_code = 8


_PASSING = frozenset(
    getattr(errno, name)
    for name in (
        *("EAGAIN", "EBUSY", "EDQUOT", "EFBIG", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC"),
        *("ESTALE", "ETIMEDOUT"),
        *("ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN"),
        *("ENETUNREACH", "ENOTCONN"),
    )
    if hasattr(errno, name)
)
"""Numbers of errors that may be gone later: no room, no descriptors, no connection to a file server."""


def file_error(error: OSError, message: str, *, path: str | None = None) -> TargetError:
    """Return the error for a file or folder, by its cause: some causes pass, most do not.

    >>> file_error(OSError(errno.ENOSPC, "no space"), "cannot be written").exit_code
    8
    >>> file_error(OSError(errno.ENOENT, "no file"), "cannot be read").exit_code
    6
    """
    kind = UnavailableError if error.errno in _PASSING else TargetError
    return kind(message, path=path)


class GateError(HierdataError):
    """A figure of the release violates a gate of the policy; nothing is published (exit code 7)."""

    exit_code = 7
