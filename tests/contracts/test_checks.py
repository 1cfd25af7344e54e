"""hierdata.testing: every built-in member passes the check of its family."""

from __future__ import annotations

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


@pytest.mark.parametrize("kind", MODELS)
def test_built_in_models_pass(kind: str) -> None:
    check_model(LAST[kind], OWN_DOMAIN.get(kind, DOMAIN))


# The engine of bounded knowledge serves no model of the contract: tests/engines/test_specialize.py.
@pytest.mark.parametrize("name", [name for name, engine in ENGINES.items() if not engine.bounds_knowledge])
def test_built_in_engines_pass(name: str) -> None:
    near = (MODELS["delta-l-diversity"].model_validate({"delta": "1/2", "l": 2}),)
    check_engine(ENGINES[name](**SETTINGS[name][0]), near if name == "spread" else ASKED)


@pytest.mark.parametrize("name", METRICS)
def test_built_in_metrics_pass(name: str) -> None:
    check_metric(METRICS[name])
