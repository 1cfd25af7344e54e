"""Settings of all tests. Reproducible by default; ``pytest --hypothesis-profile=search`` looks elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.orders import order_by_seed

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.load_profile("reproducible")

pytest_plugins = ["tests.seconds"]


@pytest.fixture(name="order_by_seed")
def _order_by_seed() -> Iterator[None]:
    """See tests.orders."""
    with order_by_seed():
        yield
