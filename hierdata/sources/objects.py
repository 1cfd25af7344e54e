"""Collections in memory: dicts, lxml elements, DataFrames and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.documents.formats.frames import from_frame
from hierdata.documents.formats.objects import from_python
from hierdata.documents.formats.parquet import Parquet, documents, table_layout
from hierdata.errors import InputError
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
    children = [child for child in root if isinstance(child.tag, str)]
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

        convert: Callable[..., Document] = partial(from_element, asides=asides_of(policy))
        place = policy.place or (ROOT, str(first.tag))  # type: ignore[attr-defined]
        format: Format = FORMATS["xml"]()
        own = first.nsmap.get(None)
        layout = state_layout(Layout(place, declared={"": own} if own else {}), policy)
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
        return Collection(form, lambda: convert_items(items))
    return spill_documents(convert_items(_chain(first, iterator)), format, together, form, beside)


def is_table(source: object) -> bool:
    """Return whether something is a DataFrame or an Arrow table, by the name of its type, without imports."""
    kind = type(source)
    home = kind.__module__.partition(".")[0]
    return (home, kind.__name__) in {("pandas", "DataFrame"), ("pyarrow", "Table")}


def table_collection(source: Any, policy: Policy, base: Keys = (), joins: tuple[str, ...] = ()) -> Collection:
    """Return a DataFrame or an Arrow table as a collection. Its release is Parquet, which keeps column types.

    The index of a DataFrame is ignored.
    """
    format = cast(Parquet, fit_format(Parquet(), policy, base))
    table = source if type(source).__name__ == "Table" else from_frame(source)
    layout = table_layout(table.schema, format.paths)
    check_columns(layout, policy, base, joins)
    form = TableForm(format, layout, format.extension, base=base, joins=joins)
    return Collection(form, lambda: documents(table.to_batches()))


def _chain(first: object, rest: Iterator[object]) -> Iterator[object]:
    yield first
    yield from rest
