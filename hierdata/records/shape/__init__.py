"""Steps that shape the lists of a record before anything else reads them, by their key in a policy."""

from __future__ import annotations

from hierdata.records.shape.base import ShapeStep
from hierdata.records.shape.lift import Lift
from hierdata.records.shape.lists import Cap, CountItems, Distinct, DropBelow, Listed
from hierdata.records.shape.take import Take

STEPS: dict[str, type[ShapeStep]] = {
    "lift": Lift,
    "take": Take,
    "cap": Cap,
    "distinct": Distinct,
    "drop_below": DropBelow,
    "count": CountItems,
    "listed": Listed,
}

__all__ = ["STEPS", "Cap", "CountItems", "Distinct", "DropBelow", "Lift", "Listed", "ShapeStep", "Take"]
