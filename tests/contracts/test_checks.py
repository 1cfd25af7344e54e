"""hierdata.testing: every built-in member passes the check of its family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from hierdata.engines import ENGINES
from hierdata.metrics import METRICS
from hierdata.privacy import MODELS
from hierdata.testing import check_engine, check_metric, check_model
from hierdata.testing.engines import MODELS as ASKED
from tests.contracts.test_engines import SETTINGS
from tests.privacy.models import CASES, DOMAIN, OWN_DOMAIN

LAST = {model.kind: model for model, _ in CASES}
"""One case of each kind of model."""


def some(names: Iterable[str], turn: int) -> list[Any]:
    """Names as parameters, every third of them in the fast tier: tests of each family ask the same of all."""
    return [
        pytest.param(name, marks=[] if number % 3 == turn else pytest.mark.full)
        for number, name in enumerate(names)
    ]


@pytest.mark.parametrize("kind", some(MODELS, 0))
def test_built_in_models_pass(kind: str) -> None:
    check_model(LAST[kind], OWN_DOMAIN.get(kind, DOMAIN))


# The engine of bounded knowledge serves no model of the contract: tests/engines/test_specialize.py.
@pytest.mark.parametrize(
    "name", some([name for name, engine in ENGINES.items() if not engine.bounds_knowledge], 1)
)
def test_built_in_engines_pass(name: str) -> None:
    near = (MODELS["delta-l-diversity"].model_validate({"delta": "1/2", "l": 2}),)
    check_engine(ENGINES[name](**SETTINGS[name][0]), near if name == "spread" else ASKED)


@pytest.mark.parametrize("name", some(METRICS, 2))
def test_built_in_metrics_pass(name: str) -> None:
    check_metric(METRICS[name])
