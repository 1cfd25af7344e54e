"""Kernels that are called later are compiled by a second process while this one compiles the first.

The second process is given modules, names and types: no data. Each kernel has a lock (see ``cache``), so it
is compiled once, by whichever process comes first; the other waits and loads it. If the second process fails
or is killed, this one compiles what is missing. It ends with this process, however that ends.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hierdata.engines.compiler.cache import is_kept
from hierdata.engines.compiler.kernels import Kernel, types_of
from hierdata.engines.compiler.plain import is_plain
from hierdata.ground.parents import leave_with

if TYPE_CHECKING:
    import subprocess

_START = """
import sys
kernels = sys.stdin.buffer.read()
first, sys.path[:] = int(sys.argv[1]), sys.argv[2:]
from hierdata.engines.compiler.ahead import compile_all
compile_all(kernels, first)
"""


class KernelCall(NamedTuple):
    """A kernel, and arguments of the types that it will be called with."""

    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]


@contextmanager
def compiling_ahead(find_calls: Callable[[], Iterable[KernelCall]], processors: int) -> Iterator[None]:
    """Compile the kernels of calls that are made later in a second process, in their order.

    There is none where nothing is missing, kernels run as Python functions, only one processor is available,
    or compiled code is not kept. What still runs at the end is ended.
    """
    process = None
    is_python = Path(sys.executable or "").name.startswith("python")  # not an application that contains it
    if processors > 1 and is_python and not is_plain() and is_kept():
        missing = _find_missing(find_calls())
        process = _start(missing) if missing else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _find_missing(calls: Iterable[KernelCall]) -> list[tuple[str, str, Any]]:
    """Return the module, name and types of each kernel without code on disk."""
    missing = []
    for function, arguments in calls:
        kernel: Any = function
        if not kernel.is_compiled_for(arguments):
            missing.append((kernel.py_func.__module__, kernel.py_func.__qualname__, types_of(arguments)))
    return missing


def _start(missing: list[tuple[str, str, Any]]) -> subprocess.Popen[bytes] | None:
    import subprocess

    try:
        # A process group of its own: the terminal's Ctrl-C reaches this process, which ends the second.
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _START, str(os.getpid()), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except OSError:
        return None
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(pickle.dumps(missing))
    with suppress(OSError):
        process.stdin.close()
    return process


def compile_all(kernels: bytes, first: int) -> None:
    """Compile kernels in the second process, until the ``first`` one has ended."""
    leave_with(first, lambda: os._exit(1))
    for module, name, types in pickle.loads(kernels):  # noqa: S301  # from the process that started this one
        kernel: Kernel = getattr(import_module(module), name)
        kernel.compile(types)
    os._exit(0)
