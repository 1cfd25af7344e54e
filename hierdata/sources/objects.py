"""Collections in memory: dicts, lxml elements, and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.documents.formats.arrow_tables import to_table
from hierdata.documents.formats.kinds import Kinds
from hierdata.documents.formats.objects import as_record, from_python
from hierdata.documents.formats.parquet import Parquet, column_kinds, documents, table_layout
from hierdata.ground.errors import InputError
from hierdata.policy.policy import Policy
from hierdata.records.survey import Keys
from hierdata.sources.columns import TableForm, check_columns, fit_format
from hierdata.sources.files import spill_documents
from hierdata.sources.folders import ROOT, files_form
from hierdata.sources.form import Collection, FileForm, Form, asides_of, state_layout


def elements(root: Any, policy: Policy) -> list[object]:
    """Return the records of an lxml tree: the root's children with the policy's or the first child's name."""
    if policy.depth == 1:
        return [root]
    for inner in policy.place[1:-1]:
        root = [below for above in root for below in above] if isinstance(root, list) else root
        root = [child for child in root if child.tag == inner]
    children = [below for above in root for below in above] if isinstance(root, list) else [*root]
    children = [child for child in children if isinstance(child.tag, str)]
    name = policy.place[-1] if policy.place else next((child.tag for child in children), None)
    return [child for child in children if child.tag == name]


def objects(items: Iterable[object], policy: Policy, beside: Path | None = None) -> Collection:
    """Return dicts or elements as a collection; an iterator is copied to a private file in ``beside``."""
    iterator = iter(items)
    first = next(iterator, None)
    if first is None:
        raise InputError("the collection is empty: there is nothing to anonymize")
    if hasattr(first, "nsmap"):
        from hierdata.documents.formats.xmltree import from_element

        element: Any = first
        convert: Callable[..., Document] = partial(
            from_element, asides=asides_of(policy), trim=policy.spelling is None
        )
        place = policy.place or (ROOT, str(element.tag))
        format: Format = FORMATS["xml"]()
        namespace = element.nsmap.get(None)
        layout = state_layout(Layout(place, declared={"": namespace} if namespace else {}), policy)
        form: Form = files_form(format, layout, policy)
        together = replace(layout, records=(ROOT, place[-1]))
    else:
        # JSON Lines can represent everything that JSON can, and can be read in parts.
        convert, format, together = from_python, FORMATS["jsonl"](), Layout()
        form = FileForm(FORMATS["json"](), Layout(policy.place), ".json")

    def convert_items(source: Iterable[object]) -> Iterator[Document]:
        for ordinal, item in enumerate(source, 1):
            yield convert(item, record=ordinal)

    if iterator is not items:
        return Collection(form, lambda: convert_items(items), kinds=partial(Kinds.of, items))
    kinds = Kinds()
    once = convert_items(_note_types(chain((first,), iterator), kinds))
    return replace(spill_documents(once, format, together, form, beside), kinds=lambda: kinds)


def read_objects(items: Iterable[object]) -> Iterator[Document]:
    """Return the documents of Python objects. Raises InputError, with its number, for one that is none."""
    return (from_python(item, record=ordinal) for ordinal, item in enumerate(items, 1))


def table_collection(source: Any, policy: Policy, base: Keys = (), joins: tuple[str, ...] = ()) -> Collection:
    """Return a table in memory as a collection. Its release is Parquet, which keeps column types.

    The index of a DataFrame is ignored.
    """
    format = cast("Parquet", fit_format(Parquet(), policy, base))
    table = to_table(source)
    layout = table_layout(table.schema, format.paths)
    check_columns(layout, policy, base, joins)
    form = TableForm(format, layout, format.extension, base=base, joins=joins)
    return Collection(form, lambda: documents(table.to_batches()), kinds=lambda: column_kinds(table.schema))


def _note_types(items: Iterable[object], kinds: Kinds) -> Iterator[object]:
    for item in items:
        yield item  # what no record can contain is refused before its types are noted
        kinds.note(as_record(item))
