"""Open a collection that has no policy yet."""

from __future__ import annotations

from typing import Any

from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.drafting.fields import Notation
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy


def input_keys(format: str | None, records: str | None, delimiter: str | None) -> dict[str, Any]:
    """Return the keys of a policy that describe the input. Raises PolicyError for an unknown format."""
    if format is not None and format not in FORMATS:
        raise PolicyError(f"the format must be one of {', '.join(FORMATS)}")
    keys: dict[str, Any] = {"format": format, "records": records}
    keys["csv"] = None if delimiter is None else {"delimiter": delimiter}
    return {key: value for key, value in keys.items() if value is not None}


def policy(stated: dict[str, Any]) -> Policy:
    """Return a policy that gives the path of the records, and no rules for their fields."""
    place = stated.get("records", "$")
    nothing = f"{place}/hierdata" if place.startswith("/") else "$.hierdata"
    return from_data(
        {
            "version": 1,
            "unlisted": "drop",
            "models": [{"kind": "k-anonymity", "k": 1}],
            "fields": {nothing: {"action": "drop", "optional": True}},
            **stated,
        }
    )


def notation(format: Format, layout: Layout | None) -> Notation:
    """Return the notation for the paths of a collection.

    Prefixes are those of the root, unless the root is a record: what one record declares could name a person.
    """
    if not format.has_elements or layout is None:
        return Notation(textual=format.is_textual)
    own = len(layout.records) == 1
    prefixes = {prefix: uri for prefix, uri in layout.declared.items() if not prefix or not own}
    return Notation(layout.records, prefixes, True)
