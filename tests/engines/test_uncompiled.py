"""Kernels as Python functions find what compiled ones find, and small collections never meet the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.engines import jit
from hierdata.engines.compiler import plain as plain_kernels
from hierdata.engines.compiler.plain import SMALL as SMALL_COLLECTION
from hierdata.engines.compiler.plain import is_plain, run_small, without_compiler
from hierdata.privacy import MODELS
from tests.contracts.test_engines import PARAMETERS, SETTINGS, inputs, stepped, suits
from tests.promises import bind

SMALL = """
import hierdata
from hierdata.engines.compiler import plain
from hierdata.engines.jit import KERNELS, Kernel

plain.BUDGET = 600.0

def refuse(kernel, signature):
    raise AssertionError(kernel.__name__)

Kernel.compile = refuse
people = [
    {"age": 30 + at, "ill": "abcd"[at % 4], "visits": at % 3 * [{"ward": "vw"[at % 2], "why": "xyz"[at % 3]}]}
    for at in range(COUNT)
]
policy = {
    "version": 1,
    "models": MODELS,
    "fields": {"$.age": {"role": "quasi", "interval": {"steps": [1, 5, 20]}}, "$.ill": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True}, "$.visits[*].why": {"role": "sensitive"}},
}
release = hierdata.anonymize(people, policy)
assert release.report.passed and KERNELS
"""


QUICK = ("mondrian", "spread")
"""Engines that take little time as Python functions."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.full) for name in SETTINGS]
)
def test_both_ways_find_the_same(name: str) -> None:
    compared = 0
    for setting in SETTINGS[name]:
        for number, (kind, cases) in enumerate(PARAMETERS.items()):
            model = MODELS[kind](**cases[number % len(cases)])
            if not suits(name, model):
                continue
            built = inputs(name)[number % len(inputs(name))]
            constraints = bind(built, model)
            compiled = stepped(name, setting, built.forest, constraints, number)
            with without_compiler():
                plain = stepped(name, setting, built.forest, constraints, number)
            assert (plain.equivalence_class == compiled.equivalence_class).all()
            assert (plain.representative == compiled.representative).all()
            assert plain.costs == compiled.costs
            assert plain.reason == compiled.reason
            compared += 1
    assert compared


def test_the_choice_ends_with_its_context() -> None:
    @jit.jit
    def twice(number: int) -> int:
        return 2 * number if number < 2**62 else number + number

    with without_compiler():
        assert is_plain()
        assert twice(21) == 42
        assert type(twice(21)) is int
        assert twice(2**62) == -(2**63)  # as compiled code: it wraps
        with pytest.raises(TypeError):
            twice("a")
    assert not is_plain()
    with without_compiler(False):
        assert not is_plain()
    assert not twice.signatures  # type: ignore[attr-defined]


@pytest.mark.full
@pytest.mark.parametrize("models", [[{"kind": "k-anonymity", "k": 2}], [{"kind": "t-closeness", "t": "0.9"}]])
def test_few_records_never_meet_the_compiler(models: list[dict[str, Any]], tmp_path: Path) -> None:
    program = SMALL.replace("COUNT", "30").replace("MODELS", repr(models))
    run(program, tmp_path)


def run(program: str, folder: Path) -> str:
    """What a program prints in a process of its own, whose compiled code is in the folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, env=environment, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


KERNELS = """
from typing import NamedTuple
import numpy as np
from hierdata.engines.jit import address_of, announcing_compilation, call_of, jit, lean, signature_of
from hierdata.engines.compiler.plain import always_compiled, is_plain, run_small

compiled = []

@lean
def add(number, other):
    return number + other

SIGNATURE = signature_of(0, 0, 0)
call = call_of(SIGNATURE)

@jit
def total(address, numbers):
    found = 0
    for number in numbers:
        found = call(address, (found, number))
    return found

def search():
    return total(address_of(add, SIGNATURE), np.arange(10))
"""
TRIED = """
from kernels import *
with announcing_compilation(lambda: compiled.append(1)):
    print(run_small(10, search), len(compiled), len(total.overloads), len(add.overloads))
"""


@pytest.mark.full
def test_code_that_is_on_disk_is_taken(tmp_path: Path) -> None:
    """Each kernel by itself: one that is called by its address is never called by code that cannot."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    assert run(TRIED, tmp_path) == "45 0 0 0"
    assert run("from kernels import *\nwith always_compiled(): run_small(10, search)", tmp_path) == ""
    assert run(TRIED, tmp_path) == "45 0 1 1"
    cache = tmp_path / "cache"
    for missing, found in (("total", "45 0 0 1"), ("add", "45 0 0 0")):
        files = [file for file in cache.rglob("*.nb[ic]") if f".{missing}-" in file.name]
        assert files
        kept = {file: file.read_bytes() for file in files}
        for file in files:
            file.unlink()
        assert run(TRIED, tmp_path) == found
        for file, content in kept.items():
            file.write_bytes(content)
    assert run(TRIED, tmp_path) == "45 0 1 1"


@jit.lean
def step(number: int) -> int:
    return number + 1


@jit.lean
def count(numbers: Any) -> int:
    total = 0
    for _ in range(numbers[0]):
        total = step(total)
    numbers[0] = 0
    return total


@pytest.fixture(name="nothing_compiled")
def _nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.Kernel, "is_compiled_for", lambda *_: False)
    monkeypatch.setattr(plain_kernels, "_budget", plain_kernels._Budget())


@pytest.mark.usefixtures("nothing_compiled")
def test_a_search_beyond_the_budget_starts_again_with_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels change arrays, so what was begun is dropped; afterwards nothing runs without the compiler."""
    monkeypatch.setattr(plain_kernels, "BUDGET", 0.02)
    ways = []

    def search(most: int) -> int:
        ways.append(is_plain())
        return count(np.array([most]))

    assert run_small(SMALL_COLLECTION, lambda: search(10)) == 10
    assert ways == [True]
    assert run_small(SMALL_COLLECTION, lambda: search(10**6)) == 10**6
    assert ways == [True, True, False]
    assert run_small(SMALL_COLLECTION, lambda: search(10)) == 10
    assert ways == [True, True, False, False]
    assert 0.02 <= plain_kernels._budget.spent < 1.0


@pytest.mark.usefixtures("nothing_compiled")
def test_large_collections_and_warmup_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_kernels, "BUDGET", 2.0)
    assert run_small(SMALL_COLLECTION, is_plain)
    assert not run_small(SMALL_COLLECTION + 1, is_plain)
    with plain_kernels.always_compiled():
        assert not run_small(SMALL_COLLECTION, is_plain)


@pytest.mark.usefixtures("nothing_compiled")
def test_progress_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that starts again reports what a search with the compiler reports."""
    people = [{"age": 20 + at % 31, "ill": "abc"[at % 3]} for at in range(60)]
    fields = {"$.age": {"role": "quasi", "interval": {"steps": [1, 10]}}, "$.ill": {"role": "sensitive"}}
    models = [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}]
    policy = {"version": 1, "models": models, "fields": fields}
    reports: dict[float, list[Any]] = {}
    for budget in (0.0, 0.005):
        monkeypatch.setattr(plain_kernels, "BUDGET", budget)
        reports[budget] = []
        hierdata.anonymize(people, policy, progress=lambda *one, to=reports[budget]: to.append(one))
    assert plain_kernels._budget.remaining < 0
    assert reports[0.0] == reports[0.005]
