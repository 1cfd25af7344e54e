"""The only file that knows the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import event
from numba.extending import intrinsic
from numba.np import linalg

Function = TypeVar("Function", bound=Callable[..., Any])


def _without_asking_for_blas() -> None:
    """Import what numba knows of arrays without scipy's linear algebra, a tenth of a second at each start.

    numba loads it only to see that it is there; who really multiplies matrices in compiled code still does.
    """
    asked: Any = getattr(linalg, "ensure_blas", None)
    if asked is None:
        return
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = asked


_without_asking_for_blas()

_compiler: Any = partial(numba.njit, cache=True, nogil=True, no_cfunc_wrapper=True)
_typeof: Any = numba.typeof
_tuple: Any = numba.types.Tuple
_STAMP = tuple(
    (source.name, source.stat().st_mtime_ns, source.stat().st_size)
    for source in sorted(Path(__file__).parent.rglob("*.py"))
)


def jit(function: Function) -> Function:
    """Compile at first use and keep the result on disk.

    Where the package's own folder cannot be written, numba keeps it in the user's cache folder. What is
    kept belongs to the state of all kernels: numba itself looks at the function's own file only, and would
    go on using an inlined callee after the callee's file has changed.
    """
    compiled: Function = _kept(_compiler()(function))
    return compiled


def lean(function: Function) -> Function:
    """The same without counting references, for loops that only work on arrays that they are handed.

    Counting costs more than what such a loop does where arrays are passed on; it makes no arrays itself. One
    whose name begins with an underscore is for other kernels only: what lets Python call it takes longer to
    compile than some loops.
    """
    private = function.__name__.startswith("_")
    compiled: Function = _kept(_compiler(_nrt=False, no_cpython_wrapper=private)(function))
    return compiled


def inlined(function: Function) -> Function:
    """The same for their helpers: one becomes part of whoever calls it, and no argument costs."""
    compiled: Function = _kept(_compiler(_nrt=False, forceinline=True)(function))
    return compiled


def signature_of(answer: object, *arguments: object) -> Any:
    """The signature of a kernel that is handed arguments like these and answers something like that."""
    return _typeof(answer)(*map(_typeof, arguments))


def address_of(kernel: Any, signature: Any) -> int:
    """Where a kernel's machine code for this signature is, compiled or read from disk; for ``call_of``."""
    kernel.compile(signature.args)
    compiled = kernel.overloads[signature.args]
    if compiled.signature.return_type != signature.return_type:
        raise TypeError(f"{kernel.__name__} answers {compiled.signature.return_type}")
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def call_of(signature: Any) -> Any:
    """A call, inside compiled code, of the kernel at an address: ``call(address, arguments)``.

    Whoever calls a kernel by its name has all its code compiled into its own once more; by its address, only
    the call. The address is an argument, so what is kept on disk holds in any process.
    """
    arguments = _tuple(signature.args)

    @intrinsic
    def call(typing_context: Any, address: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, own: Any, values: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(signature.return_type, signature.args)
            kernel = builder.inttoptr(values[0], kind.as_pointer())
            parts = [builder.extract_value(values[1], at) for at in range(len(signature.args))]
            status, answer = convention.call_function(
                builder, kernel, signature.return_type, signature.args, parts
            )
            with builder.if_then(status.is_error, likely=False):
                convention.return_status_propagate(builder, status)
            return answer

        return signature.return_type(numba.int64, arguments), generate

    return call


def _kept(compiled: Any) -> Any:
    compiled._cache._cache_file._source_stamp = _STAMP
    return compiled


@intrinsic
def _lowest_bit(typing_context: Any, word: Any) -> Any:
    """Position of the lowest set bit of an unsigned 64-bit word that is not 0 (inside compiled code only)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return numba.int64(numba.uint64), generate


lowest_bit: Any = _lowest_bit


class _Announcer(event.Listener):
    """Calls back once, when something is really compiled and not taken from the cache."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def on_start(self, event: object) -> None:
        if self._callback is not None:
            callback, self._callback = self._callback, None
            callback()

    def on_end(self, event: object) -> None:
        pass


@contextmanager
def announcing_compilation(callback: Callable[[], None]) -> Iterator[None]:
    """Call ``callback`` once if anything is compiled inside; cached code does not count."""
    with event.install_listener("numba:compile", _Announcer(callback)):
        yield
