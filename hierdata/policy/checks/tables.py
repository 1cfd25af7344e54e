"""Checks of the keyed tables that make up a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hierdata.documents.formats import format_named
from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.shaped_tables import find_joined
from hierdata.policy.spec.tables import TableRule

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the tables of a policy, and what cannot be combined with them."""
    if policy.tables is None:
        return
    wrong = [(("tables", *keys), reason) for keys, reason in _shape_problems(policy.tables)]
    yield from wrong
    if policy.place:
        where = "fields" if policy.records is None else "records"
        yield (where,), "the tables already locate the records: write paths like $.a"
    if policy.csv is not None and policy.csv.columns is not None:
        yield ("csv", "columns"), "each table has columns of its own: state them under `tables`"
    if policy.recoding_traits.publishes_classes:
        yield ("recoding",), "a class holds lists, which a table row cannot: use generalization or anatomy"
    if policy.format is not None and not format_named(policy.format).is_tabular:
        yield ("format",), "tables must be CSV or Parquet"
    if not wrong:
        with suppress(PolicyError):  # what is wrong with the shape is told where it is checked
            yield from ((("fields", path), reason) for path, reason in find_joined(policy))


def _shape_problems(rules: Mapping[str, TableRule]) -> Iterator[Problem]:
    """Yield what keeps the tables from forming trees of rows."""
    roots = [name for name, rule in rules.items() if rule.parent is None]
    if len(roots) != 1:
        found = f"{' and '.join(roots)} have none" if roots else "all have one"
        yield (), f"exactly one table, that of the records, has no parent; here {found}"
    parents = {rule.parent for rule in rules.values()}
    for name, rule in rules.items():
        if rule.parent is not None and rule.parent not in rules:
            yield (name, "parent"), f"{rule.parent} is not a table{nearest(rule.parent, rules)}"
        elif roots and _is_cyclic(name, rules):
            yield (name, "parent"), "the table is its own ancestor"
        if (rule.parent is None) != (rule.on is None):
            due = "is needed with parent" if rule.on is None else "has no meaning without parent"
            yield (name,), f"on {due}: the column that holds the key of the parent's row"
        if rule.key is None and name in parents:
            yield (name,), "a key is needed: other tables have this one as their parent"
        if rule.key is not None and rule.key == rule.on:
            yield (name,), "key and on must differ: key identifies a row, on refers to its parent"


def _is_cyclic(name: str, rules: Mapping[str, TableRule]) -> bool:
    seen: set[str] = set()
    above = rules[name].parent
    while above is not None and above in rules and above not in seen:
        seen.add(above)
        above = rules[above].parent
    return name in seen
