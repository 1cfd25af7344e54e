"""A release's public files are the same bytes whether kernels are compiled or run as Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.engines import jit
from hierdata.engines.compiler import plain
from hierdata.pipeline import cluster
from tests.python.small import SEED

PEOPLE: list[dict[str, Any]] = [
    {
        "age": 30 + 7 * at % 23,
        "ill": "abcd"[at % 4],
        "visits": [{"ward": "vw"[(at + of) % 2], "why": "xyz"[at % 3]} for of in range(at % 3)],
    }
    for at in range(24)
]
ROWS = [{key: person[key] for key in ("age", "ill")} | {"size": at % 5} for at, person in enumerate(PEOPLE)]
AGE = {"role": "quasi", "interval": {"steps": [1, 5, 20]}}
ILL = {"role": "sensitive"}
TREES = {
    "$.age": AGE,
    "$.ill": ILL,
    "$.visits[*].ward": {"role": "quasi", "flat": True},
    "$.visits[*].why": ILL,
}
TABLE = {"age": AGE, "ill": ILL, "size": {"role": "quasi", "interval": {"steps": [1, 2]}}}
MODELS = [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}]


@pytest.mark.parametrize(
    ("source", "rules"),
    [(PEOPLE, {"fields": TREES}), (ROWS, {"fields": TABLE, "engine": {"steps": [{"kind": "mondrian"}]}})],
    ids=["trees", "table"],
)
def test_public_files_are_the_same_bytes(
    source: list[dict[str, Any]],
    rules: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = {"version": 1, "models": MODELS, **rules}
    ways: list[bool] = []
    search = cluster.search

    def note(*arguments: Any) -> Any:
        ways.append(plain.is_plain())
        return search(*arguments)

    monkeypatch.setattr(cluster, "search", note)
    found = {}
    for way in ("plain", "over budget", "compiled"):
        monkeypatch.setattr(jit.Kernel, "is_compiled_for", lambda *_: False)
        monkeypatch.setattr(plain, "BUDGET", {"plain": 600, "over budget": 1e-3, "compiled": 0}[way])
        monkeypatch.setattr(plain, "_budget", plain._Budget())
        with plain.without_compiler(way == "plain"):
            hierdata.anonymize(source, policy, seed=SEED, out=tmp_path / way)
        public = tmp_path / way / "public"
        found[way] = {path.name: path.read_bytes() for path in sorted(public.rglob("*")) if path.is_file()}
    assert ways == [True, True, False, False]
    assert found["plain"] == found["over budget"] == found["compiled"]
    assert any(name.startswith("release") for name in found["plain"])
