"""Contradictions between the keyed tables of a policy, and between them and its other parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hierdata.documents.formats import format_named
from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.shaped_tables import find_joined
from hierdata.policy.spec.tables import TableRule
from hierdata.policy.spec.values import Keep

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
    from hierdata.policy.checks.references import check_references
    from hierdata.policy.checks.standard import check_types

    with suppress(PolicyError):  # paths that cannot be read are reported elsewhere
        yield from check_types(policy)
        yield from check_references(policy)
    if isinstance(policy.unlisted, Keep):
        yield ("unlisted",), "types of resources without a rule cannot be joined: error or drop them"
    individual = policy.individual_rule
    if individual is not None:
        yield ("individual",), f"each {policy.joined_tables[0].name} is an individual already: leave it out"
