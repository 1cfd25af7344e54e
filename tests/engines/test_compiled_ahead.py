"""Kernels of a later step are compiled by a second process, which does no harm whatever becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.engines.compiler import ahead, plain
from hierdata.engines.compiler.kernels import types_of
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.engines.specialize.engine import Specialize
from hierdata.forest.forest import Scope
from hierdata.privacy import BoundedKnowledge, LevelAlphaK, TCloseness
from tests.promises import bind
from tests.random_collections import collection

PACKAGE = Path(hierdata.__file__).parents[1]
KERNEL = """
from hierdata.engines.jit import jit

@jit
def twice(number):
    return 2 * number
"""
RUN = """
import os, signal, sys, time
from hierdata.engines.compiler import ahead
from hierdata.engines.jit import announcing_compilation
from kernel import twice

compiled = []
start = ahead._start
def remember(missing):
    global second
    second = start(missing)
    return second
ahead._start = remember
with announcing_compilation(lambda: compiled.append(1)):
    with ahead.compiling_ahead(lambda: [ahead.KernelCall(twice, (1,))], 2):
        print(second.pid, flush=True)
        {meanwhile}
    assert second.returncode is not None
    answer = twice(21)
print(answer, "compiled" if compiled else "loaded")
"""
WAIT = "second.wait(60)"
KILL = "second.kill()"
LEAVE = "pass"
HANG = "time.sleep(60)"


def start(folder: Path, meanwhile: str) -> subprocess.Popen[str]:
    (folder / "kernel.py").write_text(KERNEL, "utf-8")
    own = {"PYTHONPATH": f"{folder}{os.pathsep}{PACKAGE}", "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", RUN.replace("{meanwhile}", meanwhile)],
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_gone(process: int) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("meanwhile", "how"),
    [
        (WAIT, "loaded"),
        pytest.param(KILL, "compiled", marks=pytest.mark.full),
        pytest.param(LEAVE, "compiled", marks=pytest.mark.full),
    ],
    ids=["it ends", "it is killed", "it is late"],
)
def test_what_the_second_process_compiled_is_loaded(tmp_path: Path, meanwhile: str, how: str) -> None:
    """If it is killed, or has not begun when it is no longer waited for, this process compiles."""
    output, errors = start(tmp_path, meanwhile).communicate(timeout=120)
    assert errors == ""
    second, answer = output.splitlines()
    assert answer == f"42 {how}"
    assert is_gone(int(second))


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_the_first_process(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, f"ahead._START = ''; {HANG}")
    assert process.stdout is not None
    second = int(process.stdout.readline())
    process.send_signal(number)
    process.communicate(timeout=30)
    assert is_gone(second)


def test_there_is_none_where_it_would_be_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        py_func = staticmethod(is_gone)

        def is_compiled_for(self, arguments: tuple[Any, ...]) -> bool:
            return bool(arguments[0])

    started: list[Any] = []
    monkeypatch.setattr(ahead, "_start", started.append)

    def compile_ahead(processors: int = 2, compiled: int = 0) -> int:
        started.clear()
        with ahead.compiling_ahead(lambda: [ahead.KernelCall(Missing(), (compiled,))], processors):  # type: ignore[arg-type]
            return len(started)

    monkeypatch.setattr(ahead, "is_kept", lambda: True)
    assert compile_ahead() == 1
    assert compile_ahead(processors=1) == 0
    assert compile_ahead(compiled=1) == 0
    with plain.without_compiler():
        assert compile_ahead() == 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/usr/bin/application")
        assert compile_ahead() == 0
    monkeypatch.setattr(ahead, "is_kept", lambda: False)
    assert compile_ahead() == 0


def test_a_process_that_cannot_be_started_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert ahead._start([]) is None


@pytest.mark.parametrize("model", [LevelAlphaK(k=2), TCloseness(t="1/3")], ids=["level alpha", "closeness"])
def test_local_search_states_the_types_of_its_kernels(model: Any) -> None:
    """Each has one signature (test_one_signature), so these are those of any search."""
    built = collection(1, 12, 2)
    constraints, rng = bind(built, model), np.random.default_rng(0)
    scope = Scope.of(built.forest)
    first = CluStree(pairing="greedy", window=6).find_classes(
        StepInput(built.forest, scope, constraints, None, rng)
    )
    LocalSearch().find_classes(StepInput(built.forest, scope, constraints, first, rng))
    calls = LocalSearch().calls(built.forest, constraints)
    assert [call.kernel.__name__ for call in calls] == ["seek", "enter", "gather"]
    for kernel, arguments in calls:
        known: Any = kernel
        if known.overloads:  # gather is needed only where records are suppressed
            assert list(known.overloads) == [types_of(arguments)]
    assert LocalSearch(passes=0).calls(built.forest, constraints) == []
    assert CluStree().calls(built.forest, constraints) == []


def test_specialize_states_the_types_of_its_kernels() -> None:
    built = collection(1, 60, 3)
    constraints, rng = bind(built, BoundedKnowledge(k=4, m=2)), np.random.default_rng(0)
    given = StepInput(built.forest, Scope.of(built.forest), constraints, None, rng)
    assert Specialize().find_classes(given).class_count
    calls = Specialize().calls(built.forest, constraints)
    names = ["mend_marked", "relabel_records", "restore_group", "bounds_to", "count_values"]
    assert [call.kernel.__name__ for call in calls] == names
    for kernel, arguments in calls:
        known: Any = kernel
        assert list(known.overloads) == [types_of(arguments)]


@pytest.mark.full
def test_the_first_command_leaves_local_search_to_the_second_process(tmp_path: Path) -> None:
    program = """
import sys
from numba.core import event
from hierdata.cli import main

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__module__)
    def on_end(self, event):
        pass

with event.install_listener("numba:compile", Compiled()):
    code = main(sys.argv[1:])
print(*sorted(set(Compiled.names)), file=sys.stderr)
sys.exit(code)
"""
    students = PACKAGE / "fixtures" / "students" / "students.json"
    policy = PACKAGE / "fixtures" / "policies" / "students-multilevel.yaml"
    arguments = ["anonymize", students, "--policy", policy, "--out", tmp_path / "release", "--quiet"]
    own = {"PYTHONPATH": str(PACKAGE), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    compiled = ran.stderr.split()
    assert "hierdata.engines.k_member.kernel" in compiled
    assert "hierdata.engines.local_search.kernel_closeness" not in compiled
    if len(os.sched_getaffinity(0)) > 1:
        assert "hierdata.engines.local_search.kernel_moves" not in compiled
    assert list((tmp_path / "cache").rglob("*kernel_moves.seek*.nbc"))
    assert not list((tmp_path / "cache").rglob("*kernel_closeness*.nbc"))
