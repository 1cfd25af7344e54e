"""A draft for whatever holds records: a store, a folder or dict of tables, a file, objects in memory."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS
from hierdata.drafting import format as opening
from hierdata.drafting.build import build_draft
from hierdata.drafting.draft import Draft
from hierdata.drafting.fields import Notation
from hierdata.drafting.profile import profile
from hierdata.drafting.relations import related
from hierdata.errors import HierdataError, InputError, PolicyError
from hierdata.progress import Progress, counted, silent
from hierdata.sources import Collection, collect
from hierdata.sources.stores import store_of

_TABLES = tuple(suffix for kind in FORMATS.values() if kind.is_tabular for suffix in kind.table_suffixes)


def init(
    source: object,
    *,
    format: str | None = None,
    records: str | None = None,
    delimiter: str | None = None,
    progress: Progress | None = None,
) -> Draft:
    """Look at a collection once, and propose a policy for it, with reasons.

    ``source`` is what ``anonymize`` takes. Of a store its own schema is read too; tables are read once more,
    to find how they hang together. ``format``, ``records`` (where the records lie) and ``delimiter`` (of CSV)
    stand for the keys of a policy that say so. Memory does not grow with the number of records, except where
    tables are joined.

    The draft is refused as a policy until somebody has confirmed it: ``Draft.confirmed``, or without the line
    ``draft`` in the file. Raises InputError, TargetError, and PolicyError where the input does not tell what
    it is.
    """
    stated = opening.stated(format, records, delimiter)
    store = store_of(source)
    if store is None:
        return _of_files(source, stated, progress or silent)
    try:
        if stated:
            raise PolicyError(f"{', '.join(stated)}: this is about files, and the records are on a server")
        documents = counted(store.documents(), "reading", None, progress or silent)
        return build_draft(documents, Notation(), {}, store.structure())
    finally:
        if store is not source:
            store.close()


def _of_files(source: object, stated: dict[str, Any], progress: Progress) -> Draft:
    tables = _tables(source)
    if tables is not None:
        if "records" in stated:
            raise PolicyError("records: this is about one file, and the records are in several tables")
        stated = {**stated, "tables": _joins(tables, stated, progress)}
    collection = collect(source, opening.policy(stated))
    notation = _notation(collection)
    if notation.namespaces:
        stated = {**stated, "namespaces": dict(notation.namespaces)}
        if "records" in stated and "" in notation.namespaces and not _is_pipe(source):
            # Plain names in it are those of the root's own namespace, which was not known before.
            collection = collect(source, opening.policy(stated))
            notation = _notation(collection)
    return build_draft(_documents(collection, progress), notation, stated)


def _notation(collection: Collection) -> Notation:
    return opening.notation(collection.form.format, getattr(collection.form, "layout", None))


def _is_pipe(source: object) -> bool:
    """Whether it can be opened once only."""
    return isinstance(source, str | os.PathLike) and (Path(source).is_fifo() or Path(source).is_char_device())


def _tables(source: object) -> dict[str, object] | None:
    """The tables by name, where the source is several of them."""
    if isinstance(source, dict):
        return source
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return None
    found: dict[str, object] = {}
    for file in sorted(Path(source).iterdir()):
        suffix = next((suffix for suffix in _TABLES if file.name.endswith(suffix)), None)
        if suffix is None:
            continue
        name = file.name.removesuffix(suffix)
        if name in found:
            raise InputError(f"the table {name}: there are several files of it in the folder")
        found[name] = file
    return found or None


def _joins(
    tables: Mapping[str, object], stated: Mapping[str, Any], progress: Progress
) -> dict[str, dict[str, Any]]:
    """How tables hang together. Their values are hashed by one key, so that they can be compared."""
    key = secrets.token_bytes(16)
    found = {}
    for name, table in tables.items():
        try:
            documents = _documents(collect(table, opening.policy(dict(stated))), progress)
            found[name] = profile(documents, lambda seen: (), key=key, may_have_maps=False)
        except HierdataError as error:
            raise type(error)(f"the table {name}: {error}") from None
    return related(found)


def _documents(collection: Collection, progress: Progress) -> Iterator[Document]:
    return counted(collection.documents(), "reading", None, progress)
