"""Join the rows of keyed tables into one document for each row of the root."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hierdata.documents.document import Document, Scalar, Value
from hierdata.ground.errors import VerificationError
from hierdata.records.keyed import KeyedRow, Ref, Table, read_row, refuse

Place = tuple[int, int]

ORPHAN, REPEATED, STRAY, TAKEN = "orphan", "repeated", "stray", "taken"
"""What keeps a row from its place: no parent, a key that occurred, another ancestor, a taken name."""


class Misfit(NamedTuple):
    """Rows that cannot be joined: how many, and the place of the first."""

    rows: int
    first: Place


@dataclass
class JoinTally:
    """How many rows each table has, and those that cannot be joined, by table, reason and other table."""

    rows: dict[str, int] = field(default_factory=dict)
    misfits: dict[tuple[str, str, str], Misfit] = field(default_factory=dict)

    def note(self, table: str, reason: str, other: str, place: Place) -> None:
        """Count a row that cannot be joined."""
        count, first = self.misfits.get((table, reason, other), (0, place))
        self.misfits[table, reason, other] = Misfit(count + 1, min(first, place))

    def merge(self, other: JoinTally) -> None:
        """Add the counts of other rows."""
        for table, count in other.rows.items():
            self.rows[table] = self.rows.get(table, 0) + count
        for key, (count, first) in other.misfits.items():
            rows, earlier = self.misfits.get(key, (0, first))
            self.misfits[key] = Misfit(rows + count, min(earlier, first))

    def check(self, tables: Sequence[Table], locate: Callable[[str, Place], str]) -> None:
        """Raise InputError if a row cannot be joined; the outermost tables come first."""
        for table in tables:
            for (name, reason, other), misfit in sorted(self.misfits.items()):
                if name == table.name:
                    refuse(name, self._describe(table, reason, other, misfit, locate(name, misfit.first)))

    def _describe(self, table: Table, reason: str, other: str, misfit: Misfit, where: str) -> str:
        count = misfit.rows
        if reason == REPEATED:
            return f"{where} has the same key as an earlier row: `key` must identify rows"
        if reason == TAKEN:
            return (
                f"{where} has a column with the name of the table {other}: rename the table in the policy "
                "and state its `file`"
            )
        if reason == STRAY:
            return (
                f"{where} refers to another row of {other} than the row that it belongs to ({count} such "
                "rows): correct them, or leave them out"
            )
        if count == self.rows.get(table.name) and len(table.links) == 1:
            return (
                f"no row matches a row of {other}: check that `on` and `key` are the right columns, with "
                f"values of the same spelling and type, and that {other} has rows"
            )
        rows = "1 row belongs" if count == 1 else f"{count} rows belong"
        last = table.links[-1][0]
        same = f" of the same {last}" if last != other else ""
        return f"{rows} to no row of {other}{same}, the first is {where}"


class Joiner:
    """Puts rows below the rows that they belong to; the rows below a row come before it.

    ``tables`` begin with the root, parents before their children.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.tally = JoinTally()
        self._children = {
            table.name: [below.name for below in tables if table.name in dict(below.links)]
            for table in tables
        }
        self._waiting: dict[Ref, dict[str, list[KeyedRow]]] = {}
        self._seen: dict[str, set[Scalar]] = {table.name: set() for table in tables}

    def add(self, row: KeyedRow) -> None:
        """Take a row to the one that it belongs to."""
        assert row.parent is not None, "only rows of the root belong to none"
        self._waiting.setdefault(row.parent, {}).setdefault(row.table, []).append(row)

    def complete(self, row: KeyedRow) -> KeyedRow:
        """Return a row with the rows that belong to it, and with what these claim of rows further up."""
        name = row.table
        self.tally.rows[name] = self.tally.rows.get(name, 0) + 1
        if row.key is None:
            return row
        if row.key in self._seen[name]:
            self.tally.note(name, REPEATED, "", row.place)
            return row
        self._seen[name].add(row.key)
        waiting = self._waiting.pop((name, row.key), None) if self._waiting else None
        claims = dict.fromkeys(row.claims)
        for child in self._children[name]:
            if child in row.document:
                self.tally.note(name, TAKEN, child, row.place)
            elif waiting is not None and child in waiting:
                items: list[Value] = []
                for below in waiting[child]:
                    for claim in below.claims:
                        if claim[0] != name:
                            claims[claim] = None
                        elif claim[1] != row.key:
                            self.tally.note(child, STRAY, name, below.place)
                    items.append(below.document)
                row.document[child] = items
        self._check_claims(row, claims)
        return row._replace(claims=tuple(claims))

    def _check_claims(self, row: KeyedRow, claims: dict[Ref, None]) -> None:
        """Note rows below a row that claim another parent of it than it has."""
        if row.parent is None:
            return
        for claim in [claim for claim in claims if claim[0] == row.parent[0]]:
            if claim[1] != row.parent[1]:
                self.tally.note(row.table, STRAY, claim[0], row.place)
            del claims[claim]

    def note_orphans(self, table: str | None = None) -> None:
        """Note the rows that still wait for the row that they belong to, of one ``table`` or of any."""
        for ref in [ref for ref in self._waiting if table in (None, ref[0])]:
            for name, rows in self._waiting.pop(ref).items():
                for row in rows:
                    self.tally.note(name, ORPHAN, ref[0], row.place)


def nest(tables: Sequence[Table], rows: Mapping[str, Iterable[Document]]) -> Iterator[Document]:
    """Join keyed tables into one document for each row of the root; other tables are held in memory.

    ``tables`` begin with the root, parents before their children. Rows keep their order within their parent.
    A row without children has no array of them.

    Raises InputError, with the table, row numbers and counts but no value, if a key is missing, occurs twice
    or has no parent row, if rows above a row contradict each other, and if a row has a column with the name
    of a child table.

    >>> tables = [Table("people", key="id"), Table("visits", parent="people", on="person")]
    >>> rows = {"people": [{"id": "a", "age": 7}], "visits": [{"person": "a", "day": 1}]}
    >>> list(nest(tables, rows))
    [{'age': 7, 'visits': [{'day': 1}]}]
    """
    joiner = Joiner(tables)
    for table in reversed(tables):
        for number, document in enumerate(rows[table.name], 1):
            row = joiner.complete(read_row(table, (0, number), number, document))
            if joiner.tally.misfits:
                joiner.tally.check(tables, _name_row)
            if table.links:
                joiner.add(row)
            else:
                yield row.document
        joiner.note_orphans(table.name)
        joiner.tally.check(tables, _name_row)


def join_rows(tables: Sequence[Table], rows: Iterable[KeyedRow], tally: JoinTally) -> list[KeyedRow]:
    """Join rows in any order of tables; return those of the root. What cannot be joined is counted."""
    by_table: dict[str, list[KeyedRow]] = {table.name: [] for table in tables}
    for row in rows:
        by_table[row.table].append(row)
    joiner = Joiner(tables)
    roots: list[KeyedRow] = []
    for table in reversed(tables):
        for row in by_table[table.name]:
            complete = joiner.complete(row)
            if table.links:
                joiner.add(complete)
            else:
                roots.append(complete)
    joiner.note_orphans()
    tally.merge(joiner.tally)
    return roots


NOT_IN_ORDER = (
    "its rows must be in the order of the rows that they belong to, as hierdata writes them; another order "
    "could tell something"
)


def nest_in_order(tables: Sequence[Table], rows: Mapping[str, Iterable[Document]]) -> Iterator[Document]:
    """Join published tables: of each, the rows of a record follow those of the record before it.

    Only one record is in memory. Raises InputError as ``nest`` does, VerificationError for rows in another
    order.
    """
    following = {table.name: _Following(table, rows[table.name]) for table in tables}
    root = following[tables[0].name]
    while (first := root.take(None)) is not None:
        above = {(first.table, first.key)}
        rows_of_record = [first]
        for table in tables[1:]:
            reading = following[table.name]
            while (row := reading.take(above)) is not None:
                rows_of_record.append(row)
                if table.key is not None:
                    above.add((table.name, row.key))
        tally = JoinTally()
        (whole,) = join_rows(tables, rows_of_record, tally)
        if tally.misfits:
            tally.check(tables, _name_row)
        yield whole.document
    for table in tables[1:]:
        if following[table.name].take(None) is not None:
            raise VerificationError(f"the table {table.name}: {NOT_IN_ORDER}")


class _Following:
    """The rows of a published table, one after the other."""

    def __init__(self, table: Table, rows: Iterable[Document]) -> None:
        self._rows = (read_row(table, (0, number), number, row) for number, row in enumerate(rows, 1))
        self._next = next(self._rows, None)

    def take(self, above: set[Ref] | None) -> KeyedRow | None:
        """Return the next row if it belongs to one of the rows ``above``; with None, in any case."""
        row = self._next
        if row is None or (above is not None and row.parent not in above):
            return None
        self._next = next(self._rows, None)
        return row


def _name_row(table: str, place: Place) -> str:
    return f"row {place[1]}"
