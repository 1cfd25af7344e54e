"""Compilation of kernels; the only file that imports numba."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy
from llvmlite import binding, ir
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic
from numba.np import linalg

from hierdata.engines.code_folder import build_folder, lock

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

_typeof: Any = numba.typeof
_unliteral: Any = numba.types.unliteral
_integer: Any = numba.types.Integer
_tuple: Any = numba.types.Tuple
_types_of: Any = normalize_signature
_host: Any = binding
_no_cache: Any = NullCache
_config: Any = numba.config
_OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
_FOLDER = Path(__file__).parent
_ROOM = 192 * 2**20
"""Bytes of addresses that compiling or loading a kernel takes at most."""


class _CodeFile(_CacheLocator):
    """Where the code of one function is kept: in the folder of its build, under its module's name."""

    def __init__(self, function: Any, folder: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._folder = folder
        self._name = f"{function.__module__}-{function.__code__.co_firstlineno}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _CodeFile | None:
        """Return the place for a function, None if there is no folder."""
        folder = _folder_for(py_func)
        return None if folder is None else cls(py_func, folder)

    def ensure_cache_path(self) -> None:
        """Create the folder again if another process has removed it."""
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return the build, which the folder is named by."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return what distinguishes functions of one name."""
        return self._name


class _CodeStore(CompileResultCacheImpl):
    _locator_classes = (_CodeFile,)  # type: ignore[assignment]  # numba has a list there


class CodeCache(FunctionCache):
    """Compiled code on disk. It never stops a run: what cannot be read or kept is compiled again."""

    _impl_class = _CodeStore

    def __init__(self, function: Any) -> None:
        base: Any = super()
        base.__init__(function)
        file: Any = self._cache_file
        file._load_index = partial(_load_index, file._load_index)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature; None if there is none, or the file is damaged."""
        base: Any = super()
        try:
            return base.load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  # unpickling damaged files raises anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, where there is room for it."""
        base: Any = super()
        with suppress(OSError):
            self._impl.locator.ensure_cache_path()
            with lock(Path(self.cache_path)):  # numba numbers the files of a function by what it has read
                base.save_overload(sig, data)


def _load_index(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """Load the cache index; a damaged one, or one that names classes that no longer exist, is empty."""
    try:
        return load()
    except Exception:  # noqa: BLE001  # unpickling damaged files raises anything
        return {}


class Kernel(CPUDispatcher):
    """A function that is compiled at first use, once for all signed integer types, and cached on disk.

    Signed integer arguments are compiled as int64. numba itself would compile a function once for the literal
    ``0``, once for a variable, and once for integers read from an int32 array.
    """

    def compile(self, sig: Any) -> Any:
        """Compile for these types, or load the code that was compiled from the same files from disk."""
        arguments, answer = _types_of(sig)
        widened = tuple(map(_widen, arguments))
        self._cache = self.compiled_code
        _require_room()
        return super().compile(widened if answer is None else answer(*widened))

    @cached_property
    def compiled_code(self) -> Any:
        """The cache of compiled code on disk; one that keeps nothing if there is no folder for it."""
        return _no_cache() if _folder_for(self.py_func) is None else CodeCache(self.py_func)


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


def _folder_for(function: Any) -> Path | None:
    ours = _FOLDER in Path(function.__code__.co_filename).parents
    stamp = _stamp("" if ours else function.__module__.partition(".")[0])
    return build_folder(stamp, _config.CACHE_DIR)


KERNELS: list[Kernel] = []
"""All kernels of the modules imported so far."""


def jit(function: Function) -> Function:
    """Compile at first use and cache the result on disk, in a folder of this user (see ``code_folder``)."""
    return _make_kernel(function)


def lean(function: Function) -> Function:
    """Compile like ``jit`` but without reference counting, for loops that only use arrays they are given.

    Such a function must not create arrays. Where arrays are passed on, reference counting costs more than the
    loop itself. A function whose name begins with an underscore can be called from other kernels only,
    because the wrapper for calls from Python takes longer to compile than some loops.
    """
    return _make_kernel(function, _nrt=False, no_cpython_wrapper=function.__name__.startswith("_"))


def inline_kernel(function: Function) -> Function:
    """Compile like ``lean`` and inline the function into its callers, so that passing arguments is free."""
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
def _stamp(package: str) -> str:
    """Return a hash of all that compiled code depends on: source files, compiler, options and processor.

    numba itself checks the function's own file only, and would keep using an inlined callee or a constant
    after their file has changed. The files are all Python files of this module's folder; for functions from
    elsewhere also all files of their ``package``, or the single file of a module without a package. Files of
    a third package are not checked.
    """
    files = set(_FOLDER.rglob("*.py"))
    if package:
        home = sys.modules[package]
        files.update(file for folder in getattr(home, "__path__", ()) for file in Path(folder).rglob("*.py"))
        files.update(map(Path, filter(None, [getattr(home, "__file__", None)])))
    contents = sha256()
    for file in sorted(files):
        contents.update(sha256(file.read_bytes()).digest())
    build = (
        *(sys.version, numba.__version__, llvmlite.__version__, numpy.__version__),
        *(_config.OPT, _config.LOOP_VECTORIZE, _config.SLP_VECTORIZE, _config.BOUNDSCHECK),
        *(_config.CPU_NAME, _config.CPU_FEATURES, _host.get_host_cpu_name()),
        _host.get_host_cpu_features().flatten(),
    )
    contents.update(repr(build).encode())
    return contents.hexdigest()


def signature_of(answer: object, *arguments: object) -> Any:
    """Return the signature of a kernel that takes and returns values of the types of these examples."""
    return _typeof(answer)(*map(_typeof, arguments))


def address_of(kernel: Any, signature: Any) -> int:
    """Return the address of a kernel's machine code for ``call_of``; compile the kernel if needed."""
    kernel.compile(signature.args)
    compiled = kernel.overloads[signature.args]
    if compiled.signature.return_type != signature.return_type:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}")
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def call_of(signature: Any) -> Any:
    """Return a function ``call(address, arguments)`` for compiled code that calls the kernel at an address.

    A kernel that is called by its name is compiled into the caller once more; a call by address compiles only
    the call. The address is an argument, so the cached code is valid in any process.
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
    """Return the position of the lowest set bit of a nonzero unsigned 64-bit word (compiled code only)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return numba.int64(numba.uint64), generate


lowest_bit: Any = _lowest_bit


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
