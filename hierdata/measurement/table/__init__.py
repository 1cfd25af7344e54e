"""The discrimination rates of any flat table, without a policy (DR sections 4 to 6)."""

from __future__ import annotations

from hierdata.measurement.table.figures import KeyRates, Measurement
from hierdata.measurement.table.goal import Goal
from hierdata.measurement.table.measuring import measure

__all__ = ["Goal", "KeyRates", "Measurement", "measure"]
