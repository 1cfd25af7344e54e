"""Contradictions between the keyed tables of a policy, and between them and its other parts.

Also references between resources beside those that nest them. Under models of classes a reference is
published closed: it leads to a published resource of the same record. Ids and references share a domain of
pseudonyms, which are written as new ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hierdata.documents.formats import format_named
from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.shaped_tables import find_joined, shaped_tables
from hierdata.policy.spec.tables import TableRule
from hierdata.policy.spec.values import Keep
from hierdata.records.keyed import all_places
from hierdata.records.row_links import NO_LINKS, RowLink, RowLinks
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def check_tables(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the tables of a policy, and what cannot be combined with them."""
    if policy.tables is None:
        if policy.standard is not None:
            yield ("standard",), "it is for `tables`: name the types of resources there"
        return
    wrong = [(("tables", *keys), reason) for keys, reason in _check_parents(policy)]
    yield from wrong
    if policy.place:
        where = "fields" if policy.records is None else "records"
        yield (where,), "the tables already locate the records: write paths like $.a"
    if policy.csv is not None and policy.csv.columns is not None:
        yield ("csv", "columns"), "each table has columns of its own: state them under `tables`"
    if policy.recoding_traits.publishes_classes:
        yield ("recoding",), "a class holds lists, which a table row cannot: use generalization or anatomy"
    stated = None if policy.standard is not None else policy.format
    if stated is not None and not format_named(stated).table_suffixes:
        yield ("format",), "tables must be CSV, Parquet or JSON Lines"
    if not wrong:
        with suppress(PolicyError):  # mistakes of the shape are reported where it is checked
            yield from ((("fields", path), reason) for path, reason in find_joined(policy))
        if policy.standard is not None:
            yield from _check_standard(policy)


def _check_parents(policy: Policy) -> Iterator[Problem]:
    """Yield what keeps the tables from forming trees of rows."""
    stated = policy.tables or {}
    rules = {name: rule for name, rule in stated.items() if rule.lookup is None}
    roots = [name for name, rule in rules.items() if rule.parent is None]
    if len(roots) != 1:
        having = f"{' and '.join(roots)} have none" if roots else "all have one"
        yield (), f"exactly one table, that of the records, has no parent; here {having}"
    parents = {parent for rule in rules.values() for parent in rule.parents}
    keyed = policy.standard is not None
    for name, rule in rules.items():
        yield from (((name, *keys), reason) for keys, reason in _check_links(name, rule, rules, bool(roots)))
        if rule.key is None and name in parents and not keyed:
            yield (name,), "a key is needed: other tables have this one as their parent"
    for name, rule in stated.items():
        if rule.lookup is not None:
            yield from (((name, *keys), reason) for keys, reason in _check_lookup(policy, rule, rules))


def _check_links(
    name: str, rule: TableRule, rules: Mapping[str, TableRule], rooted: bool
) -> Iterator[Problem]:
    """Yield what is wrong with how the rows of a table refer to others."""
    strangers = [parent for parent in rule.parents if parent not in rules]
    for parent in strangers:
        yield ("parent",), f"{parent} is not a table{nearest(parent, rules)}"
    if not strangers and rooted and _is_cyclic(name, rules):
        yield ("parent",), "the table is its own ancestor"
    if (rule.parent is None) != (rule.on is None):
        due = "is needed with parent" if rule.on is None else "has no meaning without parent"
        yield (), f"on {due}: the column that holds the key of the parent's row"
    elif len(rule.parents) != len(rule.columns_on):
        yield ("on",), "state a column for each parent, in the same order"
    if rule.key is not None and rule.key in rule.columns_on:
        yield (), "key and on must differ: key identifies a row, on refers to its parent"


def _check_lookup(policy: Policy, rule: TableRule, rules: Mapping[str, TableRule]) -> Iterator[Problem]:
    """Yield what is wrong with a table of rows that belong to nobody."""
    if rule.parent is not None or rule.on is not None:
        yield ("lookup",), "the rows of a lookup belong to nobody: leave `parent` and `on` out"
    if rule.key is None and policy.standard is None:
        yield (), "a key is needed: other tables refer to this one"
    for path in rule.lookup or {}:
        table, _, column = path.partition(".")
        if table not in rules:
            yield ("lookup", path), f"{table} is not a table with records{nearest(table, rules)}"
        elif not column:
            yield ("lookup", path), f"name the column with the reference: {table}.column"


def _is_cyclic(name: str, rules: Mapping[str, TableRule]) -> bool:
    """Return whether a table is reached from one of its parents."""
    ancestors: set[str] = set()
    above = [*rules[name].parents]
    while above:
        parent = above.pop()
        if parent in rules and parent not in ancestors:
            ancestors.add(parent)
            above += rules[parent].parents
    return name in ancestors


def _check_standard(policy: Policy) -> Iterator[Problem]:
    """Yield what resources cannot be combined with."""
    from hierdata.policy.checks.standard import check_types

    with suppress(PolicyError):  # paths that cannot be read are reported elsewhere
        yield from check_types(policy)
        yield from check_references(policy)
    if isinstance(policy.unlisted, Keep):
        yield ("unlisted",), "types of resources without a rule cannot be joined: error or drop them"
    individual = policy.individual_rule
    if individual is not None:
        yield ("individual",), f"each {policy.joined_tables[0].name} is an individual already: leave it out"


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
