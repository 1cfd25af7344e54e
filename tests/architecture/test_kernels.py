"""Kernels have short parameter lists: arrays that belong together are passed as one NamedTuple."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from hierdata import engines
from hierdata.engines.jit import KERNELS

MOST = 12
EXEMPT: dict[str, str] = {}
"""Kernels that may have more parameters, as ``module.name``, each with the reason and its measurement."""


def kernels() -> dict[str, Any]:
    """All kernels of the package, by module and name."""
    for module in walk_packages(engines.__path__, "hierdata.engines."):
        import_module(module.name)
    functions = [kernel.py_func for kernel in KERNELS]
    own = [function for function in functions if function.__module__.startswith("hierdata.")]
    return {f"{function.__module__}.{function.__name__}": function for function in own}


def test_no_kernel_has_many_parameters() -> None:
    counts = {name: len(inspect.signature(function).parameters) for name, function in kernels().items()}
    assert counts
    assert {name: count for name, count in counts.items() if count > MOST}.keys() == EXEMPT.keys()
