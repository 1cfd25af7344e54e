"""Ids of published resources, and references to them: numbers in files, pseudonyms where records are nested.

A record is published with pseudonyms in place of ids. Written as resources, each has a new id and each
reference is that of the resource's row; what would lead nowhere is never written. Read back, they are
pseudonyms again, one for each number, so that the judge sees what leads to what.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hierdata.documents.document import Document, Value
from hierdata.ground.errors import VerificationError
from hierdata.records.row_links import RowLink, RowLinks, find_holders
from hierdata.records.survey import Keys

_HELD = "#id"
"""Where a row has its pseudonym until references to it are written; no element of FHIR is called so."""
_NUMBER = re.compile(r"[1-9][0-9]{0,14}")


def is_row_number(text: str) -> bool:
    """Return whether a text is an id as releases have them."""
    return _NUMBER.fullmatch(text) is not None


@dataclass(frozen=True)
class ClosedIds:
    """Writes and reads the ids of resources that others refer to. ``root`` is the type of records."""

    links: RowLinks
    root: str

    def name_types(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Move pseudonyms of rows out of the way of their new ids; in references add the type to them."""
        for document in documents:
            for field in _by_place(self.links.ids):
                for holder, key in find_holders(document, field.shown):
                    if key in holder:
                        holder[_HELD] = holder.pop(key)
            for field in _by_place(self.links.references):
                for holder, key in find_holders(document, field.shown):
                    if key in holder:
                        holder[key] = f"{field.table}/{holder[key]}"
            yield document

    def link_rows(self, rows: Iterable[tuple[str, Document]]) -> Iterator[tuple[str, Document]]:
        """Write references as those of rows with new ids; the rows of a record follow its root."""
        if not self.links.ids:
            yield from rows
            return
        of_record: list[tuple[str, Document]] = []
        for name, row in rows:
            if name == self.root:
                yield from self._link_record(of_record)
                of_record = []
            of_record.append((name, row))
        yield from self._link_record(of_record)

    def _link_record(self, rows: list[tuple[str, Document]]) -> list[tuple[str, Document]]:
        """Return the rows of a record. Raises VerificationError for a reference to none of them."""
        new_ids: dict[Value, str] = {}
        for name, row in rows:
            if _HELD in row:
                new_ids[f"{name}/{row.pop(_HELD)}"] = f"{name}/{row['id']}"
        for name, row in rows:
            for keys in self._references.get(name, ()):
                for holder, key in find_holders(row, keys):
                    if key not in holder:
                        continue
                    if (to := new_ids.get(str(holder[key]))) is None:
                        raise VerificationError(f"the type {name}: a reference leads to nothing published")
                    holder[key] = to
        return rows

    @cached_property
    def _references(self) -> dict[str, set[Keys]]:
        """The references by the type of the rows that have them; a type may have several places."""
        references: dict[str, set[Keys]] = {}
        for field in self.links.references:
            references.setdefault(field.row, set()).add(field.inner)
        return references

    def read(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield published records with pseudonyms; what no release has becomes none, for the judge."""
        for document in documents:
            for field in _by_place(self.links.ids):
                _read_field(document, field, "")
            for field in _by_place(self.links.references):
                _read_field(document, field, f"{field.table}/")
            yield document


def _by_place(fields: Iterable[RowLink]) -> Iterable[RowLink]:
    """Return one field for each place in published records, where those of several filters are one."""
    return {field.shown: field for field in fields}.values()


def _read_field(document: Document, field: RowLink, before: str) -> None:
    for holder, key in find_holders(document, field.shown):
        value = holder.get(key)
        if isinstance(value, str):
            number = value.removeprefix(before) if value.startswith(before) else ""
            holder[key] = number.rjust(field.length, "0") if is_row_number(number) else f"#{value}"


def point_inside(value: Value, named: dict[str, str]) -> None:
    """Write references within a Bundle by type and id, at any depth; ``named`` has those by full address."""
    if isinstance(value, list):
        for item in value:
            point_inside(item, named)
    elif isinstance(value, dict):
        for inner in value.values():
            point_inside(inner, named)
        reference = value.get("reference")
        if isinstance(reference, str) and reference in named:
            value["reference"] = named[reference]
