"""The discrimination rates of any flat table, without a policy (DR sections 4 to 6)."""

from __future__ import annotations

from hierdata.measurement.table.goal import Goal, load_goal
from hierdata.measurement.table.measuring import KeyRates, Measurement, check_names, measure_table, notes
from hierdata.metrics.rates import ValueRate

__all__ = [
    "Goal",
    "KeyRates",
    "Measurement",
    "ValueRate",
    "check_names",
    "load_goal",
    "measure_table",
    "notes",
]
