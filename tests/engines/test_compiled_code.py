"""The compiler's cache on disk: code is taken from it until a file that it was compiled from has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from numba.core.compiler import Flags

import hierdata
from hierdata.engines.compiler import cache
from hierdata.engines.compiler.machine_code import KernelSettings

CALLEE = """
from {jit} import inline_kernel
from {constants} import FACTOR

@inline_kernel
def callee(number):
    return number * FACTOR + 1
"""
CALLER = """
from {jit} import jit
from {callee} import callee

@jit
def caller(number):
    return callee(number)
"""
RUN = """
from {jit} import announcing_compilation
from {caller} import caller

compiled = []
with announcing_compilation(lambda: compiled.append(1)):
    answer = caller(4)
print(answer, "compiled" if compiled else "cached")
"""
JIT = "hierdata.engines.jit"
KERNELS = JIT.rpartition(".")[0]


def write(folder: Path, module: str, text: str) -> Path:
    """A module below a folder, its packages with it."""
    file = folder.joinpath(*module.split(".")).with_suffix(".py")
    for package in file.relative_to(folder).parents[:-1]:
        (folder / package).mkdir(exist_ok=True, parents=True)
        (folder / package / "__init__.py").touch()
    file.write_text(text)
    return file


def run_alone(folder: Path, **variables: str) -> str:
    """What ``run.py`` prints, in a process that finds modules and compiled code in the folder only."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(Path(hierdata.__file__).parents[1])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    ran = subprocess.run(
        [sys.executable, "run.py"], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


@pytest.mark.full
@pytest.mark.parametrize("package", [f"{KERNELS}.copied", pytest.param("plugin", marks=pytest.mark.full)])
def test_an_edit_in_another_folder_is_seen(tmp_path: Path, package: str) -> None:
    """Of an inlined callee and of a constant, among the package's own kernels and in a plug-in."""
    shutil.copytree(Path(hierdata.__file__).parent, tmp_path / "hierdata")
    names = {
        "jit": JIT,
        "caller": f"{package}.one.caller",
        "callee": f"{package}.two.callee",
        "constants": f"{package}.three.constants",
    }
    write(tmp_path, names["caller"], CALLER.format(**names))
    callee = write(tmp_path, names["callee"], CALLEE.format(**names))
    constants = write(tmp_path, names["constants"], "FACTOR = 10\n")
    (tmp_path / "run.py").write_text(RUN.format(**names))

    run = partial(run_alone, tmp_path)
    assert run() == "41 compiled"
    assert run() == "41 cached"
    callee.write_text(callee.read_text().replace("+ 1", "+ 2"))
    assert run() == "42 compiled"
    constants.write_text("FACTOR = 20\n")
    assert run() == "82 compiled"
    assert run() == "82 cached"
    assert run(NUMBA_OPT="1") == "82 compiled"
    assert run(NUMBA_OPT="1") == "82 cached"


NESTED = """
from hierdata.engines.jit import inline_kernel, jit, lean, part

@part
def lowest(number):
    return number % 7

@lean
def low(number):
    return lowest(number) + 1

@inline_kernel
def other(number):
    return lowest(number) + 2

@jit
def top(number):
    return low(number) + other(number)

@jit
def second(number):
    return other(number) * low(number)
"""
BOTH = """
import sys, time
from pathlib import Path
from numba.core import event
import nested
from hierdata.engines.jit import Kernel

class Note(event.Listener):
    def on_start(self, found):
        dispatcher = found.data["dispatcher"]
        if isinstance(dispatcher, Kernel):
            print(dispatcher.__name__)
    def on_end(self, found):
        pass

name, other = sys.argv[1:]
Path(name).touch()
while not Path(other).exists():
    time.sleep(0.001)
with event.install_listener("numba:compile", Note()):
    order = (nested.top, nested.second) if name < other else (nested.second, nested.top)
    assert sorted(kernel(10) for kernel in order) == [9, 20]
"""


BY_SYMBOL = """
from hierdata.engines.jit import call_by_symbol, jit, part, shared

@shared
def deep(number):
    return number * 2 + 1

@part
def middle(number):
    return deep(number) + 1

@jit
def top(number):
    return middle(number) * 10

@call_by_symbol
@jit
def other(number):
    return deep(number) - 1

@jit
def uses(number):
    return other(number) + middle(number)
"""
RUN_BY_SYMBOL = """
import sys
from numba.core import event
import by_symbol
from hierdata.engines.jit import Kernel, address_of, signature_of

class Note(event.Listener):
    def on_start(self, found):
        dispatcher = found.data["dispatcher"]
        if isinstance(dispatcher, Kernel):
            print(dispatcher.__name__)
    def on_end(self, found):
        pass

with event.install_listener("numba:compile", Note()):
    for name in sys.argv[1:]:
        if name == "deep":
            assert address_of(by_symbol.deep, signature_of(0, 0))
        else:
            assert getattr(by_symbol, name)(5) == {"top": 120, "other": 10, "uses": 22}[name]
"""


@pytest.mark.full
def test_kernels_called_by_symbol_are_compiled_once_and_found_again(tmp_path: Path) -> None:
    """Where a callee was compiled again its symbol is another one, and its callers are compiled again too."""
    (tmp_path / "by_symbol.py").write_text(BY_SYMBOL)
    (tmp_path / "run.py").write_text(RUN_BY_SYMBOL)

    def run(*names: str) -> set[str]:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "run.py", *names]
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )
        compiled = ran.stdout.split()
        assert len(compiled) == len(set(compiled))
        return set(compiled)

    def forget(name: str) -> None:
        files = [file for file in (tmp_path / "cache").rglob("*.nb[ic]") if f".{name}-" in file.name]
        assert files
        for file in files:
            file.unlink()

    assert run("top", "uses") == {"top", "middle", "deep", "uses", "other"}
    assert run("uses", "top") == set()
    assert run("top") == set()
    forget("deep")
    assert run("other", "deep") == {"other", "deep"}  # with other numbers in their symbols
    assert run("top", "uses") == {"top", "middle", "uses"}
    assert run("uses", "top") == set()


@pytest.mark.full
def test_python_can_call_what_is_called_by_symbol(tmp_path: Path) -> None:
    (tmp_path / "by_symbol.py").write_text(BY_SYMBOL)
    (tmp_path / "run.py").write_text("import by_symbol\nprint(by_symbol.deep(5), by_symbol.top(5))")
    assert run_alone(tmp_path) == "11 120"


def test_two_processes_compile_each_kernel_once(tmp_path: Path) -> None:
    """They begin at the same time, at opposite ends, and share callees."""
    (tmp_path / "nested.py").write_text(NESTED)
    (tmp_path / "both.py").write_text(BOTH)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, "both.py", *names],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for names in (("a", "b"), ("b", "a"))
    ]
    compiled = [process.communicate(timeout=300)[0].split() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sorted(compiled[0] + compiled[1]) == ["low", "lowest", "other", "second", "top"]


@pytest.mark.full
@pytest.mark.parametrize("failing", ["flock", "open"])
def test_where_nothing_can_be_locked_code_is_compiled(tmp_path: Path, failing: str) -> None:
    """A file system without locks stops no run; its code is not kept, as processes could mix their files."""
    broken = {
        "flock": "import fcntl\ndef refuse(*_): raise OSError(37, 'No locks')\nfcntl.flock = refuse\n",
        "open": "import os\ntaken = os.open\ndef refuse(path, *rest):\n    if str(path).endswith('.lock'):\n"
        "        raise OSError(30, 'Read-only')\n    return taken(path, *rest)\nos.open = refuse\n",
    }[failing]
    (tmp_path / "nested.py").write_text(NESTED)
    lines = "from hierdata.engines.jit import announcing_compilation\nimport nested\ncompiled = []\n"
    call = (
        "with announcing_compilation(lambda: compiled.append(1)):\n    print(nested.top(10), len(compiled))\n"
    )
    (tmp_path / "run.py").write_text(broken + lines + call)
    assert [run_alone(tmp_path), run_alone(tmp_path)] == ["9 1", "9 1"]


def test_a_lock_that_is_kept_is_waited_for_only_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped keeps its lock; one that was killed does not."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(cache, "_PATIENCE", 0.1)
    file = tmp_path / "kernel.lock"
    with file.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with cache._hold_lock(file) as locked:
            assert not locked
    with cache._hold_lock(file) as locked:
        assert locked
    with cache._hold_lock(file) as locked:
        assert locked


@pytest.mark.full
def test_code_of_a_build_whose_classes_had_other_names_is_stale(tmp_path: Path) -> None:
    """Types of arguments are on disk with the names of their classes: an index may name what is gone."""
    shutil.copytree(Path(hierdata.__file__).parent, tmp_path / "hierdata")
    kernel = """
from typing import NamedTuple
from hierdata.engines.jit import jit

class Pair(NamedTuple):
    first: int
    second: int

@jit
def added(pair):
    return pair.first + pair.second

answer = added(Pair(2, 3))
"""
    module = write(tmp_path, "plugin.kernel", kernel)
    (tmp_path / "run.py").write_text("from plugin.kernel import answer\nprint(answer)")
    assert run_alone(tmp_path) == "5"
    module.write_text(kernel.replace("Pair", "Couple"))
    assert run_alone(tmp_path) == "5"


def test_settings_of_kernels_compare_as_the_compiler_compares_its_own() -> None:
    """Set, set to the default, or not set; the compiler looks code up by them."""
    own = []
    theirs: Any = Flags
    for values in (
        {},
        {"nrt": True},
        {"nrt": False},
        {"release_gil": False},
        {"nrt": True, "forceinline": False},
    ):
        flags = theirs()
        for name, value in values.items():
            setattr(flags, name, value)
        own.append(flags)
    answers = set()
    for one, other in product(own, own):
        ours: Any = KernelSettings
        answers.add(one == other)
        assert (ours(one) == ours(other)) is (ours(one) == other) is (one == ours(other)) is (one == other)
        assert hash(ours(one)) == hash(one)
    assert answers == {True, False}
