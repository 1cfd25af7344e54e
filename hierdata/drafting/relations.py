"""Find out how the tables of a folder are linked, and by which columns, from names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hierdata.drafting.profile import FieldProfile, Profile
from hierdata.ground.errors import PolicyError
from hierdata.records.recognition.words import words_of

_GENERAL = {"id", "key", "no", "nr", "number", "code", "name", "index", "row", "rowid"}
"""Words that occur in many column names: they alone do not link tables."""
_ENOUGH = 20
"""Minimum number of distinct texts that are all keys of another table, for a link without matching names."""


@dataclass(frozen=True, order=True)
class _Link:
    """A possible link of ``child`` to ``parent``; a greater ``strength`` means a likelier link."""

    strength: int
    child: str
    on: str
    parent: str
    key: str


def relate_tables(tables: Mapping[str, Profile]) -> dict[str, dict[str, Any]]:
    """Return the key ``tables`` of a policy, the table of the records first.

    A column links a table to another if all its values are among those of a unique column of the other, and
    the names agree: those of the columns, or of the column and the table. For a column with many texts the
    names need not agree. Raises PolicyError if the links do not form one tree of all tables.
    """
    links = sorted(_links(tables), reverse=True)
    above: dict[str, _Link] = {}
    for link in links:
        if link.child not in above and link.child not in _ancestors(link.parent, above):
            above[link.child] = link
    roots = [name for name in tables if name not in above]
    if len(roots) > 1:
        raise PolicyError(
            f"the tables {', '.join(roots)} have no parent, but only the table of the records may have none: "
            "remove files that do not belong in the folder, or write `tables` in a policy"
        )
    keys = {link.parent: link.key for link in above.values()}
    clashing = next((link for link in above.values() if keys[link.parent] != link.key), None)
    if clashing is not None:
        raise PolicyError(
            f"the table {clashing.parent} has two columns by which other tables refer to it: "
            "write `tables` in a policy"
        )
    return {name: _rule(name, keys, above) for name in _order_tables(roots[0], above)}


def _links(tables: Mapping[str, Profile]) -> Iterator[_Link]:
    for parent, above in tables.items():
        keys = {keys[0]: known for keys, known in above.attributes.items() if _is_key(known, above.records)}
        for child, below in tables.items():
            if child == parent:
                continue
            for (on, *_), column in below.attributes.items():
                for key, known in keys.items():
                    strength = _strength(parent, key, on, column)
                    if strength and column.holders == below.records and column.records.within(known.records):
                        # If the columns of both tables are unique, the larger table is the parent.
                        bonus = above.records > below.records or not _is_key(column, below.records)
                        yield _Link(2 * strength + bonus, child, on, parent, key)


def _is_key(column: FieldProfile, rows: int) -> bool:
    """Return whether every row has a value, and no two rows have the same."""
    return column.holders == rows and column.records.largest == 1


def _strength(parent: str, key: str, on: str, column: FieldProfile) -> int:
    """Return how strongly names and values indicate a link; 0: not at all."""
    of_column, of_table = {*map(_singular, words_of(on))}, {*map(_singular, words_of(parent))}
    if on == key and not set(words_of(on)) <= _GENERAL:
        return 3
    if of_column & of_table - _GENERAL:
        return 2
    return int(not column.looks.numeric and column.values.distinct >= _ENOUGH)


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _ancestors(name: str, above: Mapping[str, _Link]) -> list[str]:
    line = [name]
    while line[-1] in above:
        line.append(above[line[-1]].parent)
    return line


def _order_tables(root: str, above: Mapping[str, _Link]) -> Iterator[str]:
    yield root
    for child in sorted(link.child for link in above.values() if link.parent == root):
        yield from _order_tables(child, above)


def _rule(name: str, keys: Mapping[str, str], above: Mapping[str, _Link]) -> dict[str, Any]:
    link = above.get(name)
    belongs = {} if link is None else {"parent": link.parent, "on": link.on}
    return {**belongs, **({"key": keys[name]} if name in keys else {})}
