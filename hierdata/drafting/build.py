"""A collection looked at once, and the draft of a policy that comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hierdata.documents.document import Document
from hierdata.drafting.draft import Draft, Drafted
from hierdata.drafting.fields import Field, Notation, fields, vertex_types
from hierdata.drafting.profile import Profile, profile
from hierdata.drafting.promises import K, guarded, promises
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
    """Look at documents once and propose a policy.

    ``stated`` are keys of it that are known already, ``schema`` is what a server says of its records.
    """
    found = profile(
        documents,
        lambda seen: _to_pair(seen, notation),
        stated_fields(schema),
        may_have_maps=not notation.place,
    )
    rows, guards = [], []
    for one in fields(found, notation):
        proposal, promise = guarded(one, propose(one, found.records, notation.textual))
        risk = None if one.attribute is None else alone(one.attribute, found.records, K)
        rows.append(Drafted(one, proposal, risk))
        if promise is not None:
            guards.append((one.path, promise))
    return Draft(
        found.records,
        tuple(vertex_types(found, notation)),
        tuple(rows),
        tuple(promises(guards)),
        tuple(pair for pair in together(found, K) if _published(pair, rows)),
        stated,
        tuple(line for one in rows for line in _values(one.field)),
    )


def _to_pair(found: Profile, notation: Notation) -> list[Keys]:
    """The fields that a draft would publish, by what is seen so far."""
    return [
        one.keys
        for one in fields(found, notation)
        if propose(one, found.records, notation.textual).published
        and one.attribute is not None
        and one.attribute.values.distinct > 1
    ]


def _published(pair: PairRisk, drafted: Sequence[Drafted]) -> bool:
    published = {one.field.keys for one in drafted if one.proposal.published}
    return pair.first in published and pair.second in published


def _values(one: Field) -> list[str]:
    """The categories of a field with how often each occurs, one a line, the most frequent first."""
    if one.attribute is None or one.attribute.categories is None:
        return []
    return [f"{one.path}\t{value}\t{times}" for value, times in one.attribute.categories.most_common()]
