"""The tables of which a release of keyed tables consists, whatever the shape made of those of the input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from hierdata.policy.policy import Policy
from hierdata.records.keyed import Table, all_places
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.shape.tables import ShapedTable, ShapedTables, nest_tables


def shaped_tables(policy: Policy) -> ShapedTables:
    """Return the tables of a release; empty where a row of one table is all there is of a record.

    Raises PolicyError where the shape makes records that tables cannot hold.
    """
    notation = ShapeNotation(policy.namespaces, policy.depth)
    first = nested_tables(policy)
    steps = policy.shape if first else ()
    return reduce(lambda tables, spec: spec.step.change_tables(tables, notation), steps, first)


def may_be_tables(policy: Policy) -> bool:
    """Return whether a release may be a folder of tables, if its records are tabular."""
    individual = policy.individual_rule
    nests = individual is not None and individual.nest is not None and not policy.place
    return nests or policy.tables is not None


def nested_tables(policy: Policy) -> ShapedTables:
    """Return the tables before the steps of the shape, with one of individuals if the policy nests records.

    Raises PolicyError for a list whose name no table can have.
    """
    tables = tuple(ShapedTable(table, table.name) for table in policy.joined_tables)
    individual = policy.individual_rule
    if individual is None or individual.nest is None or not may_be_tables(policy):
        return tables
    nested = policy.path(individual.nest).keys[-1]
    return nest_tables(
        tables or (ShapedTable(Table(nested), ""),), nested, policy.path(individual.fields[0]).keys[-1]
    )


def find_joined(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the path of each rule on a column that joins tables, and why it has none.

    The column that says whose record it is may have a rule that does not publish it. Raises PolicyError
    as ``shaped_tables`` does.
    """
    tables = [shaped.table for shaped in shaped_tables(policy)]
    dropped = policy.identity or ()
    places_of = all_places(tables)
    for table in tables:
        columns = [(*column.split("."),) for column in table.joins]
        joins = [*columns, *((column,) for column in table.joins if "." in column)]
        for keys in ((*base, *column) for base in places_of[table.name] for column in joins):
            path, rule = policy.rules_by_keys.get(keys, (None, None))
            if path is None or rule is None or (table.keeps_key and keys[-1] == table.key):
                continue
            if keys not in dropped:
                yield str(path), "the column joins tables and is renumbered: it takes no rule"
            elif rule.is_published:
                yield str(path), "the column joins tables and is renumbered: it can only be dropped"
