"""What is told to those who write programs and plug-ins: wrong arguments, packages that are not there."""

from __future__ import annotations

import io
import struct
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hierdata.documents.formats import bson
from hierdata.documents.formats.arrow_tables import frame_of
from hierdata.engines.compiler.cache import ship_code
from hierdata.engines.compiler.kernels import KERNELS
from hierdata.engines.specialize import kernel_patterns  # noqa: F401  kernels are listed when they are imported
from hierdata.engines.specialize.facts import bits_of
from hierdata.executors.application import start_context
from hierdata.executors.spill import _HEAD, _read
from hierdata.forest.forest import Forest
from hierdata.ground import plugins
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.recodings import traits_of
from hierdata.judge.knowledge.patterns import _cut_by_label
from hierdata.release.charts.rows import MOST_SHADES, RowChart
from hierdata.reproduction.exhibit import Grid
from tests.provoked import provoke
from tests.provoked.test_policies import state


class Wrong:
    """A recoding that does not say what it is."""

    traits = "none"


def test_arguments_of_a_program() -> None:
    cut = _HEAD.pack(0, 1) + struct.pack("Q", 20 << 1)
    inner = next(one for one in KERNELS if one.targetoptions["no_cpython_wrapper"] and not one.is_shared)
    provoke(TypeError, ("is called by other kernels only", inner.require_own_code))
    provoke(EOFError, ("a file with intermediate results is truncated", lambda: _read(io.BytesIO(cut))))
    provoke(
        ValueError,
        ("compiled with NUMBA_CPU_NAME=generic", lambda: ship_code("hierdata")),
        ("a row has at most", lambda: RowChart("x", "x", (), ("part",) * (MOST_SHADES + 1)).svg("x")),
        ("each row of a grid has one cell a column", lambda: Grid(("a", "b"), (("1",),))),
    )


def test_numbers_that_do_not_fit_into_words() -> None:
    group: Any = SimpleNamespace(first_holder=range(2**30), path=np.empty((0, 3)))
    heavy: Any = SimpleNamespace(
        sought=object(), heaviest=SimpleNamespace(weight=2**61, children=9), weight=np.array([1]),
        roots=np.array([0]), child_count=np.array([1]), _common_scale=1,
    )  # fmt: skip
    facts: Any = SimpleNamespace(width=[2**40], trees=SimpleNamespace(depth=9))
    scale: Any = Forest.scale
    provoke(
        InputError,
        ("1073741824 different values below the root at 3 depths", lambda: bits_of(group)),
        ("state rounder weights, or divide the records", lambda: scale.func(heavy)),
    )
    provoke(
        PolicyError,
        ("generalize more, or take a smaller m", lambda: next(_cut_by_label(facts, 0, 1, 0, 4, 1))),
    )


def test_packages_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [1]})
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "hierdata.documents.formats.bson_codec", None)
    monkeypatch.delattr("hierdata.documents.formats.bson_codec", raising=False)
    provoke(
        PolicyError,
        ("DataFrames need pandas; install it with", lambda: frame_of(table)),
        ("BSON needs pymongo; install it with", bson._codec),
    )


def test_java_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = pytest.importorskip("pyspark.errors")

    def fail(**_: object) -> None:
        raise errors.PySparkRuntimeError("x", {})

    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr("pyspark.SparkContext", fail)
    provoke(PolicyError, ("version 17 or newer is needed", lambda: start_context({})))


def test_plugins_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> object:
        raise ImportError("no module named none")

    def entry(name: str, load: Any = lambda: Wrong) -> Any:
        dist = SimpleNamespace(name=name, version="1")
        return SimpleNamespace(name=name, value=f"{name}:x", load=load, dist=dist)

    found = {"twice": [entry("one"), entry("other")], "none": [entry("none", fail)]}
    found["wrong"] = [entry("wrong")]
    monkeypatch.setattr(plugins, "_entry_points_of", lambda family: found)
    twice = "two distributions declare twice in hierdata.metrics, one and other: uninstall one"
    provoke(
        PolicyError,
        (twice, lambda: plugins.find("metrics", "twice")),
        ("none (metrics) of none 1 cannot be imported (", lambda: plugins.load("metrics", "none", object)),
        ("wrong (metrics) of wrong 1 is not a subclass", lambda: plugins.load("metrics", "wrong", int)),
        ("must state `traits`, with a judged_as of", lambda: traits_of("wrong")),
        ("did you mean wrong?", state(models=[{"kind": "wrang"}])),
    )
