"""Kernels: functions that are compiled at first use, and the decorators that declare them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.extending import lower_builtin, type_callable
from numba.np import linalg

from hierdata.engines.compiler.cache import code_cache, shipped_code
from hierdata.engines.compiler.machine_code import (
    BranchingCompiler,
    KernelCompiler,
    Needed,
    SharedCompiler,
    box_without_python,
    refresh_if_changed,
    remember_operations,
)
from hierdata.engines.compiler.plain import plain_mode

Function = TypeVar("Function", bound=Callable[..., Any])


def _import_without_blas() -> None:
    """Import numba's array support without scipy's linear algebra, which saves 0.1 s at each start.

    numba loads scipy's linear algebra here only to check that it exists. Compiled code that multiplies
    matrices still loads it.
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
remember_operations()
refresh_if_changed()
box_without_python()

_typeof: Any = numba.typeof
_unliteral: Any = numba.types.unliteral
_integer: Any = numba.types.Integer
_tuple: Any = numba.types.Tuple
_types_of: Any = normalize_signature
_lower: Any = lower_builtin
_type_of: Any = type_callable
_OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
_ROOM = 192 * 2**20
"""Bytes of addresses that compiling or loading a kernel takes at most."""


class Kernel(CPUDispatcher):
    """A function that is compiled at first use, once for all signed integer types, and cached on disk.

    Signed integer arguments are compiled as int64. numba itself would compile a function once for the literal
    ``0``, once for a variable, and once for integers read from an int32 array.
    """

    is_shared = False
    """Whether kernels that call this one call its machine code by its symbol, so that it is compiled once."""

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled code, or the Python function (see ``plain``)."""
        mode = plain_mode()
        if mode is not None and mode.takes(self, arguments):
            return mode.call(self.py_func, arguments)
        self.require_own_code()
        if self.targetoptions["no_cpython_wrapper"]:
            return self._for_python(*arguments)
        return super().__call__(*arguments)

    @cached_property
    def _for_python(self) -> Any:
        """The kernel once more, for calls from Python, which only tests make; its code is not kept."""
        options = self.targetoptions | {"no_cpython_wrapper": False}
        return CPUDispatcher(self.py_func, targetoptions=options)

    def add_overload(self, cres: Any) -> None:
        """Take compiled code that was made or read."""
        if self.is_shared:
            names = self.py_func.__module__, self.py_func.__qualname__
            cres.library.shared = Needed(*names, cres.signature.args, cres.fndesc.llvm_func_name)
        super().add_overload(cres)

    def require_own_code(self) -> None:
        """Raise TypeError for a kernel that is only compiled as a part of others."""
        if self.targetoptions["no_cpython_wrapper"] and not self.is_shared:
            raise TypeError(f"{self.py_func.__name__} is called by other kernels only")

    def compile(self, sig: Any) -> Any:
        """Compile for these types, or load the code that was compiled from the same files from disk.

        What another process is compiling already is waited for and loaded.
        """
        types, _ = _types_of(sig)
        types = tuple(map(_widen, types))
        with global_compiler_lock, _without_collection():
            if not self.load(types):
                with self.compiled_code.alone():
                    super().compile(types)
        compiled: Any = self.overloads[types]
        return compiled.entry_point

    def is_compiled_for(self, arguments: tuple[Any, ...]) -> bool:
        """Return whether there is compiled code for arguments of these types, in the process or on disk."""
        return bool(self.overloads) or self.load(types_of(arguments))

    def load(self, types: Iterable[Any]) -> bool:
        """Load the code for arguments of these types from disk; return whether there is code now."""
        arguments = tuple(map(_widen, types))
        if arguments not in self.overloads:
            _require_room()
            self._cache = self.compiled_code
            with global_compiler_lock:
                context: Any = self.targetctx
                compiled = self.shipped_code.load_overload(arguments, context)
                if compiled is None:
                    compiled = self.compiled_code.load_overload(arguments, context)
                if compiled is not None:
                    context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
                    self.add_overload(compiled)
        return arguments in self.overloads

    @cached_property
    def compiled_code(self) -> Any:
        """The cache of compiled code on disk; one that keeps nothing if there is no folder for it."""
        return code_cache(self.py_func)

    @cached_property
    def shipped_code(self) -> Any:
        """The compiled code that comes with the package, to load from."""
        return shipped_code(self.py_func)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep Python from looking for garbage: the compiler makes many small objects, most are still in use."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _require_room() -> None:
    """Raise MemoryError where the compiler could run out of addresses, since it ends the process then."""
    if sys.platform != "linux":
        return
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed == resource.RLIM_INFINITY:
        return
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    if allowed - pages * resource.getpagesize() < _ROOM:
        raise MemoryError


KERNELS: list[Kernel] = []
"""All kernels of the modules imported so far."""


def jit(function: Function) -> Function:
    """Compile at first use and cache the result on disk, in a folder of this user (see ``cache``).

    A function whose name begins with an underscore is a ``part`` of those that call it.
    """
    return _make_kernel(function, no_cpython_wrapper=_is_own(function))


def branching(function: Function) -> Function:
    """Compile like ``jit``, but optimize like ``lean``, for functions whose loops gain nothing by vectors."""
    return _make_kernel(function, BranchingCompiler, no_cpython_wrapper=_is_own(function))


def lean(function: Function) -> Function:
    """Compile like ``jit`` but without reference counting, for loops that only use arrays they are given.

    Such a function must not create arrays. Where arrays are passed on, reference counting costs more than the
    loop itself.
    """
    return _make_kernel(function, _nrt=False, no_cpython_wrapper=_is_own(function))


def part(function: Function) -> Function:
    """Compile like ``lean``, but as a part of the kernels that call the function: nothing else can call it.

    Otherwise it would be optimized and made machine code by itself too, for nobody.
    """
    return _make_kernel(function, _nrt=False, no_cpython_wrapper=True)


def inner(function: Function) -> Function:
    """Compile like ``jit``, but as a part of the kernels that call the function; it may create arrays."""
    return _make_kernel(function, no_cpython_wrapper=True)


def shared(function: Function) -> Function:
    """Compile like ``lean``, once: kernels that call the function call its machine code, which is in memory.

    For long functions that several kernels call. Python cannot call it without compiling it again.
    """
    return call_by_symbol(_make_kernel(function, SharedCompiler, _nrt=False, no_cpython_wrapper=True))


def call_by_symbol(kernel: Function) -> Function:
    """Let kernels call the machine code of this one, as with ``shared``; Python can call it too."""
    changed: Any = kernel
    changed.is_shared = True
    return kernel


def inline_kernel(function: Function) -> Function:
    """Compile like ``part`` and inline the function into its callers, so that passing arguments is free."""
    return _make_kernel(function, _nrt=False, no_cpython_wrapper=True, forceinline=True)


def _is_own(function: Callable[..., Any]) -> bool:
    """Return whether only functions of the same file may call one, by its name."""
    return function.__name__.startswith("_")


def _make_kernel(function: Function, compiler: Any = KernelCompiler, **options: bool) -> Function:
    kernel: Any = Kernel(function, targetoptions=_OPTIONS | options, pipeline_class=compiler)
    KERNELS.append(kernel)
    compiled: Function = kernel
    return compiled


def _widen(argument: Any) -> Any:
    plain = _unliteral(argument)
    return numba.int64 if isinstance(plain, _integer) and plain.signed else plain


def types_of(arguments: Iterable[object]) -> tuple[Any, ...]:
    """Return the types that a kernel is compiled for where it is called with these arguments."""
    return tuple(_widen(_typeof(argument)) for argument in arguments)


def signature_of(answer: object, *arguments: object) -> Any:
    """Return the signature of a kernel that takes and returns values of the types of these examples."""
    return _typeof(answer)(*map(_typeof, arguments))


def address_of(kernel: Any, signature: Any) -> int:
    """Return the address of a kernel's machine code for ``call_of``; compile the kernel if needed.

    Where the kernel runs as its Python function, it is a negative number, which stands for the kernel.
    Compiled code cannot call that, so all kernels of the search then run as Python functions.
    """
    kernel.require_own_code()
    mode = plain_mode()
    if mode is not None and (mode.every or not kernel.load(signature.args)):
        mode.every = True
        return -1 - KERNELS.index(kernel)
    kernel.compile(signature.args)
    compiled = kernel.overloads[signature.args]
    if compiled.signature.return_type != signature.return_type:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}")
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    _AT[address] = kernel
    return address


_AT: dict[int, Kernel] = {}
"""The kernels by the addresses that were asked for."""


def call_of(signature: Any) -> Any:
    """Return a function ``call(address, arguments)`` for kernels that calls the kernel at an address.

    A kernel that is called by its name is compiled into the caller once more; a call by address compiles only
    the call. The address is an argument, so the cached code is valid in any process.
    """
    packed = _tuple(signature.args)

    def call(address: int, arguments: tuple[Any, ...]) -> Any:
        kernel = _AT[address] if address >= 0 else KERNELS[-1 - address]
        return kernel(*arguments)

    def give_type(context: Any) -> Any:
        return lambda address, arguments: signature.return_type(numba.int64, packed)

    def generate(context: Any, builder: Any, types: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        kernel = builder.inttoptr(values[0], kind.as_pointer())
        parts = [builder.extract_value(values[1], position) for position in range(len(signature.args))]
        status, answer = convention.call_function(
            builder, kernel, signature.return_type, signature.args, parts
        )
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return answer

    _type_of(call)(give_type)
    _lower(call, numba.int64, packed)(generate)
    return call


def lowest_bit(word: Any) -> int:
    """Return the position of the lowest set bit of a nonzero unsigned 64-bit word."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1


def _type_lowest_bit(context: Any) -> Any:
    return lambda word: numba.int64(numba.uint64)


def _generate_lowest_bit(context: Any, builder: Any, types: Any, values: Any) -> Any:
    return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))


_type_of(lowest_bit)(_type_lowest_bit)
_lower(lowest_bit, numba.uint64)(_generate_lowest_bit)


class _Announcer(event.Listener):
    """Call back once, at the first compilation that the cache does not avoid."""

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
    """Call ``callback`` once if anything is compiled in this context; cached code does not count."""
    with event.install_listener("numba:compile", _Announcer(callback)):
        yield
