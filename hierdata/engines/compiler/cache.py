"""Compiled code on disk, in a folder for each build. What is loaded runs, so it is this user's alone.

A wheel may bring code for any processor of its kind beside the package (see ``.ci/wheel.py``). It is only
read, and where it does not fit, or others could have changed it, it is as if it were not there.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator

from hierdata.ground.errors import TargetError
from hierdata.ground.private_folder import PrivateFolder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_host: Any = binding
_config: Any = numba.config
_FOLDER = Path(__file__).parents[1]
"""The folder of the engines, which has all kernels of the package but those of the adversary."""
SHIPPED = _FOLDER / "compiled"
"""The folder of the code that comes with the package, if any does."""
_ANY_PROCESSOR = ("generic", "")
"""numba's name for the processor that all of a kind agree with, and its features beyond these: none."""
_NOTED = "noted"
_PATIENCE = 600.0
"""Seconds that a process waits for another one, which may be stopped, to compile a function."""
_PAUSE = 0.02


def folder_of_code() -> Path | None:
    """Return the folder of the compiled code of this build; None if there is none."""
    return build_folder(_stamp(""), _config.CACHE_DIR)


def is_kept() -> bool:
    """Return whether other processes of this user find the code that this one compiles."""
    folder = folder_of_code()
    return folder is not None and not _FRESH and os.access(folder, os.W_OK)


def is_first_compilation() -> bool:
    """Return whether this build compiles here for the first time, and note that it does."""
    folder = folder_of_code()
    if folder is None:
        return True
    with suppress(OSError):
        (folder / _NOTED).touch(mode=0o600, exist_ok=False)
        return True
    return not (folder / _NOTED).exists()


def code_cache(function: Any) -> Any:
    """Return the cache for the code of a function; one that keeps nothing if there is no folder for it."""
    return NoCache() if _folder_for(function) is None else CodeCache(function)


def shipped_code(function: Any) -> Any:
    """Return the code of a function that comes with the package, to load from."""
    return NoCache() if _shipped_folder(_package_of(function)) is None else _ShippedCode(function)


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
    """What is kept of compiled code: the code, and which kernels it calls by their symbols."""

    _locator_classes = (_CodeFile,)  # type: ignore[assignment]  # numba has a list there

    def reduce(self, cres: Any) -> Any:
        """Return what is kept."""
        base: Any = super()
        return base.reduce(cres), tuple(dict.fromkeys(cres.library.needs))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the code; None if one of the kernels that it calls has been compiled again."""
        code, needs = payload
        for module, name, types, symbol in needs:
            kernel = getattr(import_module(module), name)
            if not kernel.load(types) or kernel.overloads[types].fndesc.llvm_func_name != symbol:
                return None
        base: Any = super()
        compiled = base.rebuild(target_context, code)
        compiled.library.needs = list(needs)
        return compiled


class CodeCache(FunctionCache):
    """Compiled code on disk. It never stops a run: what cannot be read or kept is compiled again."""

    _impl_class = _CodeStore

    def __init__(self, function: Any) -> None:
        base: Any = super()
        base.__init__(function)
        self._is_ours = False
        file: Any = self._cache_file
        file._load_index = partial(_load_index, file._load_index)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature; None if there is none, or the file is damaged."""
        base: Any = super()
        try:
            return base.load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  # unpickling damaged files raises anything
            return None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from compiling this function, and wait for one that does so already.

        Each function has a lock of its own. It ends with its process. A process that holds one asks only for
        those of functions that its function calls. No function calls itself, not even by way of others, so
        two processes never wait for each other. Without a lock the code is compiled and not kept.
        """
        with suppress(OSError):
            self._impl.locator.ensure_cache_path()
        with _hold_lock(Path(self.cache_path) / f"{self._impl.filename_base}.lock") as self._is_ours:
            yield

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, where there is room for it."""
        base: Any = super()
        if self._is_ours:  # numba numbers the files of a function by what it has read
            with suppress(OSError):
                base.save_overload(sig, data)


class _ShippedFile(_CodeFile):
    """Where the code of one function is that comes with the package."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _ShippedFile | None:
        """Return the place for a function, None if there is no folder."""
        folder = _shipped_folder(_package_of(py_func))
        return None if folder is None else cls(py_func, folder)


class _ShippedStore(_CodeStore):
    """The code that comes with the package."""

    _locator_classes = (_ShippedFile,)


class _ShippedCode(CodeCache):
    """Code for any processor of this kind, to load."""

    _impl_class = _ShippedStore

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return the name of the code for a signature."""
        base: Any = super()
        types, (kind, *_), contents = base._index_key(sig, codegen)
        return types, (kind, *_ANY_PROCESSOR), contents


class NoCache(NullCache):
    """Keeps nothing."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Do nothing: nobody else could use the code."""
        yield


@contextmanager
def _hold_lock(file: Path) -> Iterator[bool]:
    """Wait for the lock on a file; False if nothing can be locked here, or another process keeps it."""
    if fcntl is None:
        yield True
        return
    descriptor = None
    with suppress(OSError):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor is not None and _wait_for_lock(descriptor)
    finally:
        if descriptor is not None:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked process may have the file open too
            os.close(descriptor)


def _wait_for_lock(descriptor: int) -> bool:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:
            return False
        else:
            return True
    return False


def _load_index(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """Load the cache index; a damaged one, or one that names classes that no longer exist, is empty."""
    try:
        return load()
    except Exception:  # noqa: BLE001  # unpickling damaged files raises anything
        return {}


def _folder_for(function: Any) -> Path | None:
    return build_folder(_stamp(_package_of(function)), _config.CACHE_DIR)


def _package_of(function: Any) -> str:
    """Return the package whose files a function depends on; nothing where the files of engines are all."""
    ours = _FOLDER in Path(function.__code__.co_filename).parents
    return "" if ours else function.__module__.partition(".")[0]


def ship_code(package: str) -> None:
    """Copy this build's code beside the package; it must have been compiled for any processor.

    Raises ValueError for code that was compiled for this processor alone.
    """
    built = build_folder(_stamp(package), _config.CACHE_DIR)
    if built is None or (_config.CPU_NAME, _config.CPU_FEATURES) != _ANY_PROCESSOR:
        raise ValueError("code that is given away is compiled with NUMBA_CPU_NAME=generic")
    shutil.copytree(built, SHIPPED / built.name, ignore=shutil.ignore_patterns("*.lock", _NOTED))


@cache
def _shipped_folder(package: str) -> Path | None:
    """Return the folder of the code that comes with the package, None where none does that fits."""
    if not SHIPPED.is_dir() or (_config.CPU_NAME, _config.CPU_FEATURES) not in ((None, None), _ANY_PROCESSOR):
        return None
    folder = SHIPPED / _portable_stamp(package)
    with suppress(OSError):
        return folder if folder.is_dir() and _is_as_safe_as_source(folder) else None
    return None


def _is_as_safe_as_source(folder: Path) -> bool:
    """Return whether nobody can change the code in a folder who cannot change the package's Python files."""
    for path in (SHIPPED, folder, *folder.iterdir()):
        status, known = path.lstat(), (_FOLDER if path.is_dir() else Path(__file__)).stat()
        writable = status.st_mode & ~known.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if stat.S_ISLNK(status.st_mode) or status.st_uid != known.st_uid or writable:
            return False
    return True


@cache
def _portable_stamp(package: str) -> str:
    """Return the name of the folder of code for any processor of this kind, and any patch of this Python."""
    python = sys.implementation.cache_tag, getattr(sys, "abiflags", "")
    # Which loops of numpy numba chooses may change with numpy's first number.
    return _hash_build(package, *python, numpy.__version__.partition(".")[0])


@cache
def _stamp(package: str) -> str:
    """Return the name of the folder of code that is compiled here."""
    if (_config.CPU_NAME, _config.CPU_FEATURES) == _ANY_PROCESSOR:
        return _portable_stamp(package)
    return _hash_build(
        package,
        *(sys.version, numpy.__version__, _config.CPU_NAME, _config.CPU_FEATURES),
        *(_host.get_host_cpu_name(), _host.get_host_cpu_features().flatten()),
    )


def _hash_build(package: str, *surroundings: object) -> str:
    """Return a hash of all that compiled code depends on: source files, compiler, options, surroundings.

    numba itself checks the function's own file only, and would keep using an inlined callee or a constant
    after their file has changed. The files are all Python files of this module's folder; for functions from
    elsewhere also all files of their ``package``, or the single file of a module without a package. Files of
    a third package are not checked.
    """
    options = (_config.OPT, _config.LOOP_VECTORIZE, _config.SLP_VECTORIZE, _config.BOUNDSCHECK)
    build = (numba.__version__, llvmlite.__version__, *options, *surroundings)
    return sha256(_hash_sources(package) + repr(build).encode()).hexdigest()


@cache
def _hash_sources(package: str) -> bytes:
    files = set(_FOLDER.rglob("*.py"))
    if package:
        home = sys.modules[package]
        files.update(file for folder in getattr(home, "__path__", ()) for file in Path(folder).rglob("*.py"))
        files.update(map(Path, filter(None, [getattr(home, "__file__", None)])))
    contents = sha256()
    for file in sorted(files):
        contents.update(sha256(file.read_bytes()).digest())
    return contents.digest()


_KEPT = 8
"""Builds whose code is kept; those used least recently are removed."""


def build_folder(stamp: str, stated: str) -> Path | None:
    """Return the folder for the code of one build, which ``stamp`` names; None where none can be made.

    ``stated`` is the parent folder that the user names, or empty.
    """
    above = _code_folder(stated)
    folder = above and above / stamp
    if above is None or folder is None:
        return None
    with suppress(OSError):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
            _remove_old(above)
        os.utime(folder)
    return folder


@cache
def _code_folder(stated: str) -> Path | None:
    """Return a folder of this user alone: the first that can be had, else a fresh one until the process ends.

    None if there is no place for temporary files either: then nothing is kept.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None
    name = "hierdata" if user is None else f"hierdata-{user}"
    for parent in _parents(stated):
        with suppress(OSError, RuntimeError):  # RuntimeError: links in a circle
            parent.mkdir(mode=0o700, exist_ok=True)
            folder = parent / name
            folder.mkdir(mode=0o700, exist_ok=True)
            if user is None or _is_private(folder, user):
                return folder
    try:
        fresh = PrivateFolder(None, "compiled code")
    except (TargetError, OSError):
        return None
    _FRESH.append(fresh)
    return fresh.path


_FRESH: list[PrivateFolder] = []
"""The fresh folder of this process, which is removed with it."""


def _parents(stated: str) -> Iterator[Path]:
    """Yield where the folder may be, the best place first: no other user can choose the names in these."""
    if stated:
        yield Path(stated).absolute()
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        yield chosen
    with suppress(RuntimeError):  # neither HOME nor an entry in the list of users
        yield Path.home() / ".cache"
    with suppress(OSError):
        temporary = Path(tempfile.gettempdir())
        if temporary != Path.cwd():  # chosen for lack of another, and nobody expects our folder there
            yield temporary


def _is_private(folder: Path, user: int) -> bool:
    """Return whether a folder is this user's alone, is no link, and cannot be exchanged by other users."""
    status = folder.lstat()
    if (
        not stat.S_ISDIR(status.st_mode)
        or status.st_uid != user
        or stat.S_IMODE(status.st_mode) & 0o777 != 0o700
    ):
        return False
    trusted = {user, Path("/").stat().st_uid}  # whoever owns the root owns the machine
    parent = folder.parent.resolve(strict=True)
    return all(_keeps_entries(above.stat(), trusted) for above in (parent, *parent.parents))


def _keeps_entries(status: os.stat_result, trusted: set[int]) -> bool:
    """Return whether only trusted users can rename what is in a folder; a sticky one guards each entry."""
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
    return status.st_uid in trusted and not shared


def _remove_old(above: Path) -> None:
    builds = [path for path in above.iterdir() if path.is_dir() and not path.is_symlink()]
    for old in sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
