"""What a policy says of tables: how CSV is spelled, and which keyed tables make up a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hierdata.documents.formats import format_named
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.spec.tables import TableRule
from hierdata.records.flatten import places

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """What is wrong with the tables of a policy, and what does not go with them."""
    if policy.tables is None:
        return
    wrong = [(("tables", *keys), reason) for keys, reason in _shape_problems(policy.tables)]
    yield from wrong
    if policy.place:
        where = "fields" if policy.records is None else "records"
        yield (where,), "the tables say where the records lie: write paths like $.a"
    if policy.recoding_traits.publishes_classes:
        yield ("recoding",), "a class with lists in it is no row of a table: take generalization or anatomy"
    if policy.format is not None and not format_named(policy.format).is_tabular:
        yield ("format",), "tables are CSV or Parquet"
    for table in () if wrong else policy.joined:
        for column in table.joins:
            keys = (*places(policy.joined)[table.name], column)
            if keys in policy.by_keys:
                path = str(policy.by_keys[keys][0])
                yield ("fields", path), "the column joins tables and gets fresh numbers: it takes no rule"


def _shape_problems(rules: Mapping[str, TableRule]) -> Iterator[Problem]:
    """What keeps the tables from being trees of rows."""
    roots = [name for name, rule in rules.items() if rule.parent is None]
    if len(roots) != 1:
        found = f"{' and '.join(roots)} have none" if roots else "all have one"
        yield (), f"one table holds the records and has no parent; here {found}"
    parents = {rule.parent for rule in rules.values()}
    for name, rule in rules.items():
        if rule.parent is not None and rule.parent not in rules:
            yield (name, "parent"), f"{rule.parent} is no table{nearest(rule.parent, rules)}"
        elif roots and _is_cyclic(name, rules):
            yield (name, "parent"), "the table is above itself"
        if (rule.parent is None) != (rule.on is None):
            due = "is needed with parent" if rule.on is None else "has no meaning without parent"
            yield (name,), f"on {due}: the column that holds the key of the parent's row"
        if rule.key is None and name in parents:
            yield (name,), "a key is needed: other tables have this one as their parent"
        if rule.key is not None and rule.key == rule.on:
            yield (name,), "key and on are two columns: one tells rows apart, one says where they belong"


def _is_cyclic(name: str, rules: Mapping[str, TableRule]) -> bool:
    seen: set[str] = set()
    above = rules[name].parent
    while above is not None and above in rules and above not in seen:
        seen.add(above)
        above = rules[above].parent
    return name in seen
