"""Which tables of a folder hang together, and by which columns: told from names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hierdata.drafting.hints import words_of
from hierdata.drafting.profile import Attribute, Profile
from hierdata.errors import PolicyError

_GENERAL = {"id", "key", "no", "nr", "number", "code", "name", "index", "row", "rowid"}
"""Words that many columns have in their names: alone they tie no tables."""
_ENOUGH = 20
"""So many different texts, all among the keys of another table, are there by no accident."""


@dataclass(frozen=True, order=True)
class _Link:
    """Rows of ``child`` belong to those of ``parent``; the greater ``strength``, the likelier."""

    strength: int
    child: str
    on: str
    parent: str
    key: str


def related(tables: Mapping[str, Profile]) -> dict[str, dict[str, Any]]:
    """The key ``tables`` of a policy, the table of the records first.

    A column ties a table to another if all of its values are among those of a column of the other that tells
    its rows apart, and the names agree: the columns' own, or the column's with the table's. Many texts need
    no names. Raises PolicyError where that does not make one tree of all tables.
    """
    links = sorted(_links(tables), reverse=True)
    above: dict[str, _Link] = {}
    for link in links:
        if link.child not in above and link.child not in _ancestors(link.parent, above):
            above[link.child] = link
    roots = [name for name in tables if name not in above]
    if len(roots) > 1:
        raise PolicyError(
            f"the tables {', '.join(roots)} hang together with no table above them, and one of all must hold "
            "the records: take out of the folder what does not belong there, or write `tables` in a policy "
            "of yours"
        )
    keys = {link.parent: link.key for link in above.values()}
    clashing = next((link for link in above.values() if keys[link.parent] != link.key), None)
    if clashing is not None:
        raise PolicyError(
            f"the table {clashing.parent} has two columns by which other tables refer to it: "
            "write `tables` in a policy of yours"
        )
    return {name: _rule(name, keys, above) for name in _in_order(roots[0], above)}


def _links(tables: Mapping[str, Profile]) -> Iterator[_Link]:
    for parent, above in tables.items():
        keys = {keys[0]: own for keys, own in above.attributes.items() if _is_key(own, above.records)}
        for child, below in tables.items():
            if child == parent:
                continue
            for (on, *_), column in below.attributes.items():
                for key, own in keys.items():
                    strength = _strength(parent, key, on, column)
                    if strength and column.holders == below.records and column.records.within(own.records):
                        # Where both sides tell rows apart, the larger table is above.
                        bonus = above.records > below.records or not _is_key(column, below.records)
                        yield _Link(2 * strength + bonus, child, on, parent, key)


def _is_key(column: Attribute, rows: int) -> bool:
    """Whether every row has a value, and another one."""
    return column.holders == rows and column.records.largest == 1


def _strength(parent: str, key: str, on: str, column: Attribute) -> int:
    """How far names and values speak for a tie; 0: not at all."""
    own, of_table = {*map(_singular, words_of(on))}, {*map(_singular, words_of(parent))}
    if on == key and not set(words_of(on)) <= _GENERAL:
        return 3
    if own & of_table - _GENERAL:
        return 2
    return int(not column.looks.numeric and column.values.distinct >= _ENOUGH)


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _ancestors(name: str, above: Mapping[str, _Link]) -> list[str]:
    found = [name]
    while found[-1] in above:
        found.append(above[found[-1]].parent)
    return found


def _in_order(root: str, above: Mapping[str, _Link]) -> Iterator[str]:
    yield root
    for child in sorted(link.child for link in above.values() if link.parent == root):
        yield from _in_order(child, above)


def _rule(name: str, keys: Mapping[str, str], above: Mapping[str, _Link]) -> dict[str, Any]:
    link = above.get(name)
    belongs = {} if link is None else {"parent": link.parent, "on": link.on}
    return {**belongs, **({"key": keys[name]} if name in keys else {})}
