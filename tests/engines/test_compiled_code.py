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
from hierdata.engines.machine_code import KernelSettings

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
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    ran = subprocess.run(
        [sys.executable, "run.py"], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


@pytest.mark.parametrize("package", [f"{KERNELS}.copied", "plugin"])
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
