"""The discrimination rates of any flat table, without a policy (DR sections 4 to 6)."""

from __future__ import annotations

from hierdata.measurement.table.figures import KeyRates, Measurement, notes
from hierdata.measurement.table.goal import Goal, load_goal
from hierdata.measurement.table.measuring import check_names, measure_table

__all__ = ["Goal", "KeyRates", "Measurement", "check_names", "load_goal", "measure_table", "notes"]
