"""Compiled code on disk, in a folder for each build."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator

from hierdata.engines.code_folder import build_folder, lock

_host: Any = binding
_no_cache: Any = NullCache
_config: Any = numba.config
_FOLDER = Path(__file__).parent
_NOTED = "noted"


def folder_of_code() -> Path | None:
    """Return the folder of the compiled code of this build; None if there is none."""
    return build_folder(_stamp(""), _config.CACHE_DIR)


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
    return _no_cache() if _folder_for(function) is None else CodeCache(function)


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


def _folder_for(function: Any) -> Path | None:
    ours = _FOLDER in Path(function.__code__.co_filename).parents
    stamp = _stamp("" if ours else function.__module__.partition(".")[0])
    return build_folder(stamp, _config.CACHE_DIR)


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
