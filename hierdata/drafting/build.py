"""Draft a policy from one pass over a collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hierdata.documents.document import Document
from hierdata.drafting.draft import Draft, Drafted
from hierdata.drafting.fields import Field, Notation, fields, vertex_types
from hierdata.drafting.profile import Profile, profile
from hierdata.drafting.promises import K, promises, propose_model
from hierdata.drafting.proposal import propose
from hierdata.drafting.risk import PairRisk, alone, together
from hierdata.drafting.structure import stated_fields
from hierdata.records.survey import Keys


def build_draft(
    documents: Iterable[Document],
    notation: Notation,
    stated: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
) -> Draft:
    """Read documents once and propose a policy.

    ``stated`` are keys of the policy that are already known, ``schema`` is the schema stated by a server. Of
    the notation's namespaces the draft states those that its paths use.
    """
    found = profile(
        documents,
        lambda seen: _to_pair(seen, notation),
        stated_fields(schema),
        may_have_maps=not notation.place,
    )
    rows, guards = [], []
    for one in fields(found, notation):
        proposal, promise = propose_model(one, propose(one, found.records, notation.textual))
        risk = None if one.attribute is None else alone(one.attribute, found.records, K)
        rows.append(Drafted(one, proposal, risk))
        if promise is not None:
            guards.append((one.path, promise))
    if namespaces := notation.used_in(row.path for row in rows):
        stated = {**stated, "namespaces": namespaces}
    return Draft(
        found.records,
        tuple(vertex_types(found, notation)),
        tuple(rows),
        tuple(promises(guards)),
        tuple(pair for pair in together(found, K) if _is_published(pair, rows)),
        stated,
        tuple(line for one in rows for line in _values(one.field)),
    )


def _to_pair(found: Profile, notation: Notation) -> list[Keys]:
    """Return the fields with several values that a draft would publish, by the profile so far."""
    return [
        one.keys
        for one in fields(found, notation)
        if propose(one, found.records, notation.textual).is_published
        and one.attribute is not None
        and one.attribute.values.distinct > 1
    ]


def _is_published(pair: PairRisk, drafted: Sequence[Drafted]) -> bool:
    published = {one.field.keys for one in drafted if one.proposal.is_published}
    return pair.first in published and pair.second in published


def _values(one: Field) -> list[str]:
    """Return a line for each category of a field with its frequency, the most frequent first."""
    if one.attribute is None or one.attribute.categories is None:
        return []
    return [f"{one.path}\t{value}\t{times}" for value, times in one.attribute.categories.most_common()]
