"""The discrimination rates of any flat table, without a policy (DR sections 4 to 6)."""

from __future__ import annotations

from hierdata.measurement.figures import KeyRates, Measurement
from hierdata.measurement.goal import Goal
from hierdata.measurement.measuring import measure

__all__ = ["Goal", "KeyRates", "Measurement", "measure"]
