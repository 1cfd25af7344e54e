"""References between resources beside those that nest them: which a policy publishes, and when that is sound.

Under models of classes a reference is published closed: it leads to a published resource of the same record.
Ids and references share a domain of pseudonyms, which are written as new ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.policy.problems import Problem
from hierdata.policy.shaped_tables import shaped_tables
from hierdata.records.keyed import all_places
from hierdata.records.row_links import NO_LINKS, RowLink, RowLinks
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy

REFERENCE = "reference"
"""The element of FHIR that names another resource."""
_UNLINKED = (
    "a reference would tell which facts belong together, and {kind} takes the facts of a record as unlinked: "
    "drop it, copy what is needed by a `lookup`, or take models of classes, such as k-anonymity"
)
_UNCLOSED = (
    "a reference to another resource may lead to what is not published: drop it, copy what is needed by a "
    "`lookup`, or give it the action pseudonym in one domain with the id that it refers to, such as "
    "$.Encounter[*].id with `identity: true`"
)
_PLAIN = "it is written as a new id: state `domain` alone, and `identity: true` for the id"
_APART = "the domain {domain} has ids of {table} and references to them: no other field can share it"


def closed_references(policy: Policy) -> RowLinks:
    """Return the ids and references of resources that a policy publishes; none without a standard."""
    if policy.standard is None:
        return NO_LINKS
    kept = {table.name: table.key for table in policy.joined_tables if table.keeps_key}
    rows = {keys: _split_at_row(policy, keys) for keys in policy.pseudonyms}
    ids = {
        keys: rows[keys][0]
        for keys, spec in policy.pseudonyms.items()
        if spec.is_identity and rows[keys][1] == (kept.get(rows[keys][0]),)
    }
    types = {policy.pseudonyms[keys].domain: table for keys, table in ids.items()}
    references = [
        keys
        for keys, spec in policy.pseudonyms.items()
        if keys[-1] == REFERENCE and not spec.is_identity and spec.domain in types
    ]
    return RowLinks(
        tuple(_close(policy, keys, table, 0) for keys, table in ids.items()),
        tuple(
            _close(policy, keys, types[policy.pseudonyms[keys].domain], _count_made(policy, keys))
            for keys in references
        ),
    )


def _close(policy: Policy, keys: Keys, table: str, made: int) -> RowLink:
    spec, shown = policy.pseudonyms[keys], policy.rules_by_keys[keys][0].document_keys
    return RowLink(keys, shown, table, *_split_at_row(policy, keys), spec.domain, spec.length, made)


def _count_made(policy: Policy, keys: Keys) -> int:
    """Return how many keys of a missing reference are made: those below its vertex, none if exempt."""
    if policy.rules_by_keys[keys][1].exempt is not None:
        return 0
    return len(keys) - max((end for end in range(len(keys)) if keys[:end] in policy.vertices), default=0)


def _split_at_row(policy: Policy, keys: Keys) -> tuple[str, Keys]:
    """Return the table of the rows that have a field, and the field's keys in them."""
    shown = policy.rules_by_keys[keys][0].document_keys
    tables = {table.name for table in policy.joined_tables}
    end = max((end for end, key in enumerate(shown, 1) if key in tables), default=0)
    return shown[end - 1] if end else policy.joined_tables[0].name, shown[end:]


def check_references(policy: Policy) -> Iterator[Problem]:
    """Yield the references between resources that a policy under a standard cannot publish."""
    links = closed_references(policy)
    closed = {field.keys: field for field in (*links.ids, *links.references)}
    for keys, (path, rule) in policy.rules_by_keys.items():
        if keys[-1:] != (REFERENCE,) or not (rule.is_published or rule.derived is not None):
            continue
        if policy.knowledge is not None:
            yield ("fields", str(path)), _UNLINKED.format(kind=policy.knowledge.kind)
        elif keys not in closed:
            yield ("fields", str(path)), _UNCLOSED
    types = {field.domain: field.table for field in links.ids}
    for keys, spec in policy.pseudonyms.items():
        if spec.domain not in types:
            continue
        where = ("fields", policy.spell_path(keys), "action", "pseudonym")
        if keys not in closed or closed[keys].table != types[spec.domain]:
            yield where, _APART.format(domain=spec.domain, table=types[spec.domain])
        elif spec.links is not None or spec.keeps_form or spec.keeps_references:
            yield where, _PLAIN
    yield from _check_places(policy, {field.shown for field in links.ids})


def _check_places(policy: Policy, stated: set[Keys]) -> Iterator[Problem]:
    """Yield the types whose ids have a rule at some of the places of their resources only."""
    tables = [shaped.table for shaped in shaped_tables(policy)]
    places_of = all_places(tables)
    for table in tables:
        for keys in places_of[table.name] if table.keeps_key else ():
            dropped = any(keys[:end] in policy.forbidden_fields for end in range(1, len(keys) + 1))
            if not dropped and (*keys, table.key) not in stated:
                path = "".join(f".{key}[*]" for key in keys)
                yield ("fields",), f"others refer to {table.name}: state ${path}.id with `identity: true` too"
