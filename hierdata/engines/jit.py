"""The only file that knows the compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic
from numba.np import linalg

Function = TypeVar("Function", bound=Callable[..., Any])


def _import_without_blas() -> None:
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


_import_without_blas()

_typeof: Any = numba.typeof
_unliteral: Any = numba.types.unliteral
_integer: Any = numba.types.Integer
_tuple: Any = numba.types.Tuple
_types_of: Any = normalize_signature
_cache_of: Any = FunctionCache
_config: Any = numba.config
_OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
_FOLDER = Path(__file__).parent


class Kernel(CPUDispatcher):
    """A function that is compiled at first use and kept on disk, once for all kinds of signed integers.

    An argument that is one is compiled as int64. The compiler by itself would compile a function once for
    ``0``, once for a variable, and once for integers read from an int32 array.
    """

    def compile(self, sig: Any) -> Any:
        """Compile for these types, or read from disk what was compiled from the same files."""
        arguments, answer = _types_of(sig)
        widened = tuple(map(_widen, arguments))
        self._cache = self.compiled_code
        return super().compile(widened if answer is None else answer(*widened))

    @cached_property
    def compiled_code(self) -> Any:
        """The compiled code on disk."""
        stored = _cache_of(self.py_func)
        file = stored._cache_file
        ours = _FOLDER in Path(self.py_func.__code__.co_filename).parents
        file._source_stamp = _stamp("" if ours else self.py_func.__module__.partition(".")[0])
        file._load_index = partial(_load_index, file._load_index)
        return stored


def _load_index(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """What is on disk, by types. An index that names classes that are gone is that of another build."""
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


KERNELS: list[Kernel] = []
"""All compiled functions of the modules imported so far."""


def jit(function: Function) -> Function:
    """Compile at first use and keep the result on disk.

    Where the package's own folder cannot be written, numba keeps it in the user's cache folder.
    """
    return _make_kernel(function)


def lean(function: Function) -> Function:
    """The same without counting references, for loops that only work on arrays that they are handed.

    Counting costs more than what such a loop does where arrays are passed on; it makes no arrays itself. One
    whose name begins with an underscore is for other kernels only: what lets Python call it takes longer to
    compile than some loops.
    """
    return _make_kernel(function, _nrt=False, no_cpython_wrapper=function.__name__.startswith("_"))


def inline_kernel(function: Function) -> Function:
    """The same for their helpers: one becomes part of whoever calls it, and no argument costs."""
    return _make_kernel(function, _nrt=False, forceinline=True)


def _make_kernel(function: Function, **options: bool) -> Function:
    kernel: Any = Kernel(function, targetoptions=_OPTIONS | options)
    KERNELS.append(kernel)
    compiled: Function = kernel
    return compiled


def _widen(argument: Any) -> Any:
    plain = _unliteral(argument)
    return numba.int64 if isinstance(plain, _integer) and plain.signed else plain


@cache
def _stamp(package: str) -> tuple[object, ...]:
    """What compiled code depends on besides the function and its argument types: files, compiler options.

    numba itself looks at the function's own file only, and would go on using an inlined callee or a constant
    after their file has changed. These are all files of the folder where this module lies; for functions
    from elsewhere also all of their ``package``, or the one file of a module in no package. Files of a third
    package are not looked at.
    """
    files = set(_FOLDER.rglob("*.py"))
    if package:
        home = sys.modules[package]
        files.update(file for folder in getattr(home, "__path__", ()) for file in Path(folder).rglob("*.py"))
        files.update(map(Path, filter(None, [home.__file__])))
    contents = sha256()
    for file in sorted(files):
        contents.update(sha256(file.read_bytes()).digest())
    options = repr(_config.OPT), _config.LOOP_VECTORIZE, _config.SLP_VECTORIZE, _config.BOUNDSCHECK
    return contents.hexdigest(), *options


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
