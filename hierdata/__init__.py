"""Anonymize collections of hierarchical records with a stated, verified privacy promise.

Names are imported when they are first used, so that ``import hierdata`` costs nothing.

>>> import hierdata
>>> hierdata.InputError("not UTF-8", record=3).exit_code
5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hierdata.errors import (
        GateError,
        HierdataError,
        InputError,
        PolicyError,
        PromiseError,
        TargetError,
        VerificationError,
    )
    from hierdata.executors import WorkerError
    from hierdata.judge import Verdict
    from hierdata.measurement import Measurement, measure
    from hierdata.pipeline import anonymize, measure_release, verify
    from hierdata.policy import Policy
    from hierdata.policy import load as load_policy
    from hierdata.profiling.draft import Draft
    from hierdata.rebuilt.measuring import ReleaseMeasurement
    from hierdata.release import Release
    from hierdata.run.drafting import init
    from hierdata.run.spread import Resources
    from hierdata.stores.postgresql import Rows

__version__ = "0.1.0"

__all__ = [
    "Draft",
    "GateError",
    "HierdataError",
    "InputError",
    "Measurement",
    "Policy",
    "PolicyError",
    "PromiseError",
    "Release",
    "ReleaseMeasurement",
    "Resources",
    "Rows",
    "TargetError",
    "Verdict",
    "VerificationError",
    "WorkerError",
    "__version__",
    "anonymize",
    "init",
    "load_policy",
    "measure",
    "measure_release",
    "verify",
]

_HOMES = {
    "Draft": "profiling.draft",
    "GateError": "errors",
    "HierdataError": "errors",
    "InputError": "errors",
    "Measurement": "measurement",
    "Policy": "policy",
    "PolicyError": "errors",
    "PromiseError": "errors",
    "Release": "release",
    "ReleaseMeasurement": "rebuilt.measuring",
    "Resources": "run.spread",
    "Rows": "stores.postgresql",
    "TargetError": "errors",
    "Verdict": "judge",
    "VerificationError": "errors",
    "WorkerError": "executors",
    "anonymize": "pipeline",
    "init": "run.drafting",
    "load_policy": "policy",
    "measure": "measurement",
    "measure_release": "pipeline",
    "verify": "pipeline",
}
_NAMES = {"load_policy": "load"}
"""Names that their home calls differently."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"hierdata.{_HOMES[name]}"), _NAMES.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
