"""Open a collection that has no policy yet, and draft a policy from one pass over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.documents.scalars import NOT_FINITE
from hierdata.drafting.dependences import relate_fields
from hierdata.drafting.draft import Draft, Drafted
from hierdata.drafting.fields import Field, Notation, fields, listed_paths, vertex_types
from hierdata.drafting.identifiers import propose_surnames
from hierdata.drafting.mixed import stated_mixed
from hierdata.drafting.persons import Persons, choose_related, find_persons
from hierdata.drafting.profile import Profile, profile
from hierdata.drafting.promises import PairRisk, alone, promises, propose_model, together
from hierdata.drafting.proposal import propose
from hierdata.drafting.seen import K
from hierdata.drafting.structure import stated_fields
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.records.path import Path
from hierdata.records.survey import Keys


def build_draft(
    documents: Iterable[Document],
    notation: Notation,
    stated: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    persons: Persons | None = None,
    paths: Sequence[Path] | None = None,
) -> Draft:
    """Read documents once and propose a policy.

    ``stated`` are keys of the policy that are already known, ``schema`` is the schema stated by a server. Of
    the notation's namespaces the draft states those that its paths use. ``persons`` says how the documents
    were united; without it the draft says what would unite them. ``paths`` are those of a policy, whose
    filters are used.
    """
    profiled = profile(
        documents,
        lambda so_far: _to_pair(so_far, notation),
        stated_fields(schema),
        may_have_maps=not notation.place,
        mixed=None if paths is None else stated_mixed(paths),
        choose_related=choose_related if persons is None else None,
    )
    rows, guards = [], []
    every = list(fields(profiled, notation))
    proposed = {field.keys: propose(field, profiled.records, notation.textual) for field in every}
    proposed |= propose_surnames(every, proposed)
    related = relate_fields(every, proposed, profiled.sample)
    for field in every:
        proposal, promise = propose_model(field, related[field.keys])
        risk = None if field.attribute is None else alone(field.attribute, profiled.records, K)
        rows.append(Drafted(field, proposal, risk))
        if promise is not None:
            guards.append((field.path, promise))
    if namespaces := notation.used_in(row.path for row in rows):
        stated = {**stated, "namespaces": namespaces}
    if listed := list(listed_paths(profiled, notation)):
        stated = {**stated, "shape": [{"listed": path} for path in listed]}
    return Draft(
        profiled.records,
        tuple(vertex_types(profiled, notation)),
        tuple(rows),
        tuple(promises(guards)),
        tuple(pair for pair in together(profiled, K) if _is_published(pair, rows)),
        stated,
        tuple(line for row in rows for line in _values(row.field)),
        persons if persons is not None else find_persons(profiled, notation),
    )


def _to_pair(profiled: Profile, notation: Notation) -> list[Keys]:
    """Return the fields with several values that a draft would publish, by the profile so far."""
    return [
        field.keys
        for field in fields(profiled, notation)
        if propose(field, profiled.records, notation.textual).is_published
        and field.attribute is not None
        and field.attribute.values.distinct > 1
    ]


def _is_published(pair: PairRisk, drafted: Sequence[Drafted]) -> bool:
    published = {row.field.keys for row in drafted if row.proposal.is_published}
    return pair.first in published and pair.second in published


def _values(field: Field) -> list[str]:
    """Return a line for each category of a field with its frequency, the most frequent first."""
    if field.attribute is None or field.attribute.categories is None:
        return []
    return [f"{field.path}\t{value}\t{times}" for value, times in field.attribute.categories.most_common()]


def input_keys(
    format: str | None, records: str | None, delimiter: str | None, encoding: str | None = None
) -> dict[str, Any]:
    """Return the keys of a policy that describe the input. Raises PolicyError for an unknown format."""
    if format is not None and format not in FORMATS:
        raise PolicyError(f"the format must be one of {', '.join(FORMATS)}")
    keys: dict[str, Any] = {"format": format, "encoding": encoding, "records": records}
    keys["csv"] = None if delimiter is None else {"delimiter": delimiter}
    return {key: value for key, value in keys.items() if value is not None}


def ruleless_policy(stated: dict[str, Any]) -> Policy:
    """Return a policy that gives the path of the records, and no rules for their fields.

    It reads NaN and infinity, which a draft says are missing.
    """
    place = stated.get("records", "$")
    rules: dict[str, Any] = {}
    individual, nest = stated.get("individual"), None
    if individual is not None:
        by = individual if isinstance(individual, str) else individual["by"]
        nest = None if isinstance(individual, str) else individual.get("nest")
        rules[by if isinstance(by, str) else by[0]] = {"action": "drop", "optional": True}
    if (nest or place).startswith("/"):
        nothing = f"{nest or place}/hierdata"
    else:
        nothing = f"{nest}[*].hierdata" if nest else "$.hierdata"
    rules[nothing] = {"role": "sensitive", "optional": True, "missing": list(NOT_FINITE)}
    return from_data(
        {
            "version": 1,
            "unlisted": "drop",
            "models": [{"kind": "k-anonymity", "k": 1}],
            "fields": rules,
            **stated,
        }
    )


def notation_of(format: Format, layout: Layout | None) -> Notation:
    """Return the notation for the paths of a collection.

    Prefixes are those of the root, unless the root is a record: what one record declares could name a person.
    """
    if not format.has_elements or layout is None:
        return Notation(textual=format.is_textual)
    is_single = len(layout.records) == 1
    prefixes = {prefix: uri for prefix, uri in layout.declared.items() if not prefix or not is_single}
    return Notation(layout.records, prefixes, True)
