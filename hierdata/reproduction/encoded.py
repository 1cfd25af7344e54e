"""Records as an engine gets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hierdata.documents.document import Document
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.policy import Policy
from hierdata.records.binding import bind
from hierdata.records.survey import survey


@dataclass(frozen=True)
class EncodedRecords:
    """A collection ready for the search: the policy applied to it, and its records as arrays."""

    prepared: Prepared
    forest: Forest


def encode_records(documents: Iterable[Mapping[str, Any]], policy: Policy) -> EncodedRecords:
    """Run the steps before the search on records in memory. Raises PolicyError and InputError."""
    records: list[Document] = [dict(own) for own in documents]
    prepared = prepare(policy, survey(records, policy.declared_fields()))
    forest = encode(bind(records, prepared.binding), prepared.schema, prepared.hierarchies, prepared.domains)
    return EncodedRecords(prepared, forest)
