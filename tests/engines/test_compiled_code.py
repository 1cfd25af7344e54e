"""The compiler's cache on disk: code is taken from it until a file that it was compiled from has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hierdata

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

    def run(**variables: str) -> str:
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        return subprocess.run(
            [sys.executable, "run.py"],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    assert run() == "41 compiled"
    assert run() == "41 cached"
    callee.write_text(callee.read_text().replace("+ 1", "+ 2"))
    assert run() == "42 compiled"
    constants.write_text("FACTOR = 20\n")
    assert run() == "82 compiled"
    assert run() == "82 cached"
    assert run(NUMBA_OPT="1") == "82 compiled"
    assert run(NUMBA_OPT="1") == "82 cached"
