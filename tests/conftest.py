"""Settings of all tests. Reproducible by default; ``pytest --hypothesis-profile=search`` looks elsewhere."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.load_profile("reproducible")
