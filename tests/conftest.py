"""Settings of all tests, by tier. Reproducible; ``pytest --hypothesis-profile=search`` looks elsewhere."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from hierdata.engines.compiler import plain
from tests.cases import FAST, in_full
from tests.orders import order_by_seed

# Tests run kernels compiled, but for those of the other way (tests/engines/test_uncompiled.py).
plain.BUDGET = 0.0

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile(
    "full",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=in_full(100),
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=4)
settings.register_profile(
    "search", settings.get_profile("full"), derandomize=False, print_blob=True, max_examples=100
)
settings.load_profile("fast")

# Examples are drawn without the constants of all modules that happen to be imported: they would depend on the
# tests that ran before, and reading a thousand modules takes each process four seconds.
providers._get_local_constants = Constants

pytest_plugins = ["tests.seconds", "tests.kept_workers", "tests.messages"]


def pytest_configure(config: pytest.Config) -> None:
    """Let property tests try more examples in the full tier; test modules are imported later."""
    if _is_full(config) and not config.getoption("--hypothesis-profile"):
        settings.load_profile("full")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage among the modules and tests, which stay to the end: it takes 10 % of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Property tests belong to both tiers, unless they take too long for them."""
    if _is_full(config):
        for item in items:
            is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
            if is_property and item.get_closest_marker("long") is None:
                item.add_marker(pytest.mark.full)


def _is_full(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") != FAST)


@pytest.fixture(name="order_by_seed")
def _order_by_seed() -> Iterator[None]:
    """See tests.orders."""
    with order_by_seed():
        yield
