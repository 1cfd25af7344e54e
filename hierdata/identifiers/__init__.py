"""Actions on identifiers, free text and dates: the members, by the key that a policy gives them."""

from __future__ import annotations

from hierdata.identifiers.base import Action
from hierdata.identifiers.drop import Drop
from hierdata.identifiers.pseudonym import Pseudonym
from hierdata.identifiers.redact import Redact
from hierdata.identifiers.shift import Shift

ACTIONS: dict[str, type[Action]] = {
    "drop": Drop,
    "redact": Redact,
    "pseudonym": Pseudonym,
    "shift": Shift,
}

__all__ = ["ACTIONS", "Action", "Drop", "Pseudonym", "Redact", "Shift"]
