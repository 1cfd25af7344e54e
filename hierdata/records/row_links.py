"""References between the rows of one record: each leads to a row of the same record, or to nothing.

Before references become pseudonyms, each spelling of one becomes that of its row's own id. What leads to no
row of the record, and what is missing, becomes NOTHING, which no row is called: the references of a class
that do not all lead somewhere are dropped together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hierdata.documents.document import Document, Value
from hierdata.records.keyed import read_key
from hierdata.records.survey import Keys

NOTHING = "#"
"""What a reference to no row of the record becomes; no name of a row is this."""


@dataclass(frozen=True)
class RowLink:
    """A field with the ids of the rows of ``table``, or with references to them, of a domain of pseudonyms.

    ``shown`` are its keys in published records; ``row`` is the table of the rows that have it, and ``inner``
    are its keys in them. The last ``made`` of its keys are made where a reference is missing.
    """

    keys: Keys
    shown: Keys
    table: str
    row: str
    inner: Keys
    domain: str
    length: int
    made: int = 0


@dataclass(frozen=True)
class RowLinks:
    """The fields with ids of rows, and those with references to them."""

    ids: tuple[RowLink, ...] = ()
    references: tuple[RowLink, ...] = ()

    def close(self, document: Document) -> None:
        """Give ids and references of a record one spelling, in place; a row of another record is nothing."""
        known: set[tuple[str, str]] = set()
        for field in self.ids:
            for holder, key in find_holders(document, field.keys):
                if (name := _name_row(holder.get(key), field.table)) is not None:
                    holder[key] = name
                    known.add((field.domain, name))
        for field in self.references:
            for holder, key in find_holders(document, field.keys, field.made):
                name = _name_row(holder.get(key), field.table, strict=True)
                if name is not None and (field.domain, name) in known:
                    holder[key] = name
                elif field.made or key in holder:
                    holder[key] = NOTHING


NO_LINKS = RowLinks()
"""No references between rows."""


def _name_row(value: Value, table: str, *, strict: bool = False) -> str | None:
    """Return the name of the row that an id, or with ``strict`` a reference, means; None if it means none."""
    if value is None or isinstance(value, list | dict):
        return None
    key = read_key(value, table, strict=strict)
    return None if key is None else f"{table}/{key}"


def find_holders(value: Value, keys: Keys, made: int = 0) -> Iterator[tuple[Document, str]]:
    """Yield the objects that have a field, or could have it, with its last key.

    Where one of the last ``made`` keys is missing, the object that could have the field is made.
    """
    if isinstance(value, list):
        for item in value:
            yield from find_holders(item, keys, made)
    elif isinstance(value, dict):
        if len(keys) == 1:
            yield value, keys[0]
            return
        if value.get(keys[0]) is None and len(keys) <= made:
            value[keys[0]] = {}
        yield from find_holders(value.get(keys[0]), keys[1:], made)
