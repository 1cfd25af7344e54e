"""Actions on identifiers, free text and dates, by their key in a policy."""

from __future__ import annotations

from hierdata.records.identifiers.actions import Drop, Pseudonym, Redact
from hierdata.records.identifiers.base import Action, DateShift, PseudonymSpec
from hierdata.records.identifiers.shift import Shift

ACTIONS: dict[str, type[Action]] = {
    "drop": Drop,
    "redact": Redact,
    "pseudonym": Pseudonym,
    "shift": Shift,
}

__all__ = ["ACTIONS", "Action", "DateShift", "Drop", "Pseudonym", "PseudonymSpec", "Redact", "Shift"]
