"""No kernel is compiled twice, whatever the engine, its settings, the model and the records.

What is inlined is a part of the kernels that call it, and short: those of two engines may hand it arrays of
two types.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierdata.engines import jit
from hierdata.engines.blocking import Sizes, grow_cut
from hierdata.privacy import MODELS
from tests.contracts.test_engines import PARAMETERS, SETTINGS, inputs, stepped, suits
from tests.promises import bind

MORE_SETTINGS: dict[str, list[dict[str, Any]]] = {"k-member": [{"stride": 3}]}
"""Those that change what kernels are handed."""


@pytest.mark.full
def test_every_kernel_has_at_most_one_signature() -> None:
    """In a process of its own: other tests call kernels with other types."""
    subprocess.run([sys.executable, "-m", __name__], check=True, cwd=Path(__file__).parents[2])


def run_all_engines() -> None:
    """Every engine in every setting under every model, and a cut into blocks."""
    for name, settings in SETTINGS.items():
        for setting in settings + MORE_SETTINGS.get(name, []):
            for number, (kind, (parameters, *_)) in enumerate(PARAMETERS.items()):
                model = MODELS[kind](**parameters)
                if suits(name, model):
                    built = inputs(name)[number % len(inputs(name))]
                    stepped(name, setting, built.forest, bind(built, model), 0)
    counts = np.random.default_rng(0).integers(0, 9, (200, 4)).astype(np.uint8)
    ordinals = np.arange(len(counts))
    grow_cut(counts, np.ones(4, np.int64), ordinals, Sizes(len(counts), 20, 10, 1)).block_of(counts, ordinals)


def most_signatures(kernel: jit.Kernel) -> int:
    """Return how many types of arguments a kernel may be called with."""
    return 2 if kernel.targetoptions.get("forceinline") else 1


def signatures(kernel: jit.Kernel) -> set[Any]:
    """Those compiled or read by this process, and those on disk: a callee of what was read is not read."""
    return {*kernel.signatures, *(key[0] for key in kernel.compiled_code._cache_file._load_index())}


if __name__ == "__main__":
    run_all_engines()
    compiled = {kernel: signatures(kernel) for kernel in jit.KERNELS}
    twice = [kernel for kernel, own in compiled.items() if len(own) > most_signatures(kernel)]
    for kernel in twice:
        print(kernel.__module__, kernel.__qualname__, *compiled[kernel], sep="\n  ", file=sys.stderr)
    sys.exit(bool(twice))
