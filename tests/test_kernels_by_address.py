"""Kernels that are called by their address: right answers, errors, and nothing is compiled twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hierdata.engines.alignment.kernels import anonytree
from hierdata.engines.alignment.kernels.assignment import gain_factor
from hierdata.engines.jit import address_of, signature_of

MODULE = """
from typing import NamedTuple
import numpy as np
from hierdata.engines.jit import address_of, announcing_compilation, call_of, jit, lean, signature_of

class Pair(NamedTuple):
    numbers: np.ndarray
    factor: int

PAIR = Pair(np.arange(6), 2)
SIGNATURE = signature_of(0, PAIR, 0)
call = call_of(SIGNATURE)

@lean
def kernel(pair, divisor):
    total = 0
    for number in pair.numbers:
        total += number
    return total * pair.factor // divisor

@jit
def caller(address, pair, divisor):
    return call(address, (pair, divisor)) + 1
"""
RUN = """
import numpy as np
from by_address import PAIR, SIGNATURE, address_of, announcing_compilation, caller, kernel

compiled = []
with announcing_compilation(lambda: compiled.append(1)):
    where = address_of(kernel, SIGNATURE)
    assert caller(where, PAIR, 3) == 11
    assert caller(where, PAIR, np.int32(5)) == 7
    try:
        caller(where, PAIR, 0)
    except ZeroDivisionError:
        print(len(compiled))
"""


def test_a_kernel_is_called_by_its_address_and_read_from_disk(tmp_path: Path) -> None:
    """A second process gets the same answers and errors without compiling."""
    (tmp_path / "by_address.py").write_text(MODULE)
    (tmp_path / "run.py").write_text(RUN)

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> str:
        command = [sys.executable, "run.py"]
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    assert run() == "1"
    assert run() == "0"


def test_an_answer_of_another_type_is_refused() -> None:
    """A kernel whose answer would be read as something else is not called."""
    arguments = (0, np.int64(0))
    with pytest.raises(TypeError, match="returns"):
        address_of(gain_factor, signature_of(0.5, *arguments))


@pytest.mark.parametrize("pairing", [anonytree.GREEDY, anonytree.OPTIMAL])
def test_the_address_stays_the_same(pairing: int) -> None:
    assert anonytree.aligner(pairing) == anonytree.aligner(pairing) != 0
