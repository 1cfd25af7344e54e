"""Anonymize collections of hierarchical records with a stated, verified privacy promise.

Names are imported when they are first used, so that ``import hierdata`` costs nothing.

>>> import hierdata
>>> hierdata.InputError("not UTF-8", record=3).exit_code
5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hierdata.ground.version import __version__

if TYPE_CHECKING:
    from hierdata.comparison.compare import compare
    from hierdata.comparison.comparison import PolicyComparison
    from hierdata.drafting.draft import Draft
    from hierdata.executors import WorkerError
    from hierdata.ground.errors import (
        GateError,
        HierdataError,
        InputError,
        PolicyError,
        PromiseError,
        TargetError,
        UnavailableError,
        VerificationError,
    )
    from hierdata.judge import Verdict
    from hierdata.measurement.release.measuring import ReleaseMeasurement
    from hierdata.measurement.table import Measurement
    from hierdata.pipeline.anonymize import anonymize
    from hierdata.pipeline.attack import Attack, attack
    from hierdata.pipeline.draft import init
    from hierdata.pipeline.measure import measure, measure_release
    from hierdata.pipeline.resources import Resources
    from hierdata.pipeline.trees import AlignedPair, mlev_anonytree, show_tree
    from hierdata.pipeline.verify import verify
    from hierdata.policy.load import load as load_policy
    from hierdata.policy.policy import Policy
    from hierdata.release.release import Release
    from hierdata.sources.stores.postgresql import Rows

__all__ = [
    "AlignedPair",
    "Attack",
    "Draft",
    "GateError",
    "HierdataError",
    "InputError",
    "Measurement",
    "Policy",
    "PolicyComparison",
    "PolicyError",
    "PromiseError",
    "Release",
    "ReleaseMeasurement",
    "Resources",
    "Rows",
    "TargetError",
    "UnavailableError",
    "Verdict",
    "VerificationError",
    "WorkerError",
    "__version__",
    "anonymize",
    "attack",
    "compare",
    "init",
    "load_policy",
    "measure",
    "measure_release",
    "mlev_anonytree",
    "show_tree",
    "verify",
]

_HOMES = {
    "AlignedPair": "pipeline.trees",
    "Attack": "pipeline.attack",
    "PolicyComparison": "comparison.comparison",
    "Draft": "drafting.draft",
    "GateError": "ground.errors",
    "HierdataError": "ground.errors",
    "InputError": "ground.errors",
    "Measurement": "measurement.table",
    "Policy": "policy.policy",
    "PolicyError": "ground.errors",
    "PromiseError": "ground.errors",
    "Release": "release.release",
    "ReleaseMeasurement": "measurement.release.measuring",
    "Resources": "pipeline.resources",
    "Rows": "sources.stores.postgresql",
    "TargetError": "ground.errors",
    "UnavailableError": "ground.errors",
    "Verdict": "judge",
    "VerificationError": "ground.errors",
    "WorkerError": "executors",
    "anonymize": "pipeline.anonymize",
    "attack": "pipeline.attack",
    "compare": "comparison.compare",
    "init": "pipeline.draft",
    "load_policy": "policy.load",
    "measure": "pipeline.measure",
    "measure_release": "pipeline.measure",
    "mlev_anonytree": "pipeline.trees",
    "show_tree": "pipeline.trees",
    "verify": "pipeline.verify",
}
_ELSEWHERE = {
    **{
        name: f"it is a preset: call hierdata.anonymize with `engine: {{preset: {name}}}` in the policy"
        for name in ("MLevCluTree", "ClusTree", "MBF", "SLOMS")
    },
    "MLevAnonytree": "call hierdata.mlev_anonytree(a, b, policy)",
    "SeDR": "call hierdata.measure(table, keys=[...], sensitive=..., partition=...), and read its rates",
    "DR": "call hierdata.measure(table, keys=[...], sensitive=...), and read its rates",
}
"""What to call for names of the papers that are no functions here."""
_NAMES = {"load_policy": "load"}
"""Public names that differ from the name in their module."""


if not TYPE_CHECKING:  # a type checker would take any misspelled name for a public one

    def __getattr__(name: str) -> Any:
        """Import a public name on first use."""
        if name not in _HOMES:
            instead = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")
        value = getattr(import_module(f"hierdata.{_HOMES[name]}"), _NAMES.get(name, name))
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
