"""Where memory runs out: how that is told apart from other errors, and what is said."""

from __future__ import annotations

import errno
import sys

EXIT_CODE = 8
"""As of a worker process that was killed, probably for lack of memory."""
SENTENCE = (
    "memory ran out, and nothing was written: allow the process more memory, use fewer --workers, or state "
    "smaller `blocks` in the policy"
)
_LEAST = 512 * 2**20
"""Bytes of addresses that a process needs for the interpreter, the libraries and the compiler. With less, the
libraries end the process or lock it up, without an exception that could be reported."""
_UNMAPPED = ("cannot allocate memory", "failed to map segment")
"""What the loader says of a library that finds no room."""


def is_shortage(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, whoever raised it."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if isinstance(error, OSError | ImportError):
        return any(text in str(error).lower() for text in _UNMAPPED)
    return False


def explain_limit() -> str:
    """Return why no command can run within the limit on addresses (``ulimit -v``); empty if one can."""
    if sys.platform == "win32":
        return ""
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed == resource.RLIM_INFINITY or allowed >= _LEAST:
        return ""
    return (
        f"this process may use only {allowed // 2**20} MiB of addresses (ulimit -v), and needs at least "
        f"{_LEAST // 2**20} MiB: allow more"
    )
