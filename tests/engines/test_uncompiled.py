"""Kernels as Python functions find what compiled ones find, and small collections never meet the compiler."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from hierdata.engines import ENGINES, jit
from hierdata.engines.uncompiled import is_plain, without_compiler
from hierdata.privacy import MODELS
from tests.contracts.test_engines import PARAMETERS, SETTINGS, inputs, stepped, suits
from tests.promises import bind

SMALL = """
import hierdata
from hierdata.engines.jit import KERNELS, Kernel

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


@pytest.mark.parametrize("name", SETTINGS)
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


@pytest.mark.parametrize("models", [[{"kind": "k-anonymity", "k": 2}], [{"kind": "t-closeness", "t": "0.9"}]])
def test_few_records_never_meet_the_compiler(models: list[dict[str, Any]]) -> None:
    program = SMALL.replace("COUNT", "30").replace("MODELS", repr(models))
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_bound_of_work_decides() -> None:
    """Work grows with the rows, and engines that state no bound are compiled."""
    for name, engine in ENGINES.items():
        few, many = (engine(kind=name).estimate_plain_work(rows, 2 * rows, []) for rows in (5, 100))
        if engine.bounds_knowledge:  # how many patterns there are is not known before the search
            assert few == many == np.inf, name
        else:
            assert 0 < few < many < np.inf, name
    assert ENGINES["swarm"](particles=1000, rounds=10_000).estimate_plain_work(5, 5, []) > 1e7
