"""Draft a policy for any source: a store, a folder or dict of tables, a file, objects in memory."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS
from hierdata.documents.formats.csv_dialect import find_dialect
from hierdata.documents.formats.source import PathSource
from hierdata.drafting.build import build_draft, input_keys, notation_of, ruleless_policy
from hierdata.drafting.draft import Draft
from hierdata.drafting.fields import Notation
from hierdata.drafting.profile import profile
from hierdata.drafting.promises import USUAL, ModelProposal, choose_by_loss, knowledge, relax
from hierdata.drafting.relations import relate_tables
from hierdata.drafting.safe_harbor import to_safe_harbor
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.draft_standards import this_year
from hierdata.pipeline.look_over import open_shaped, shape_collection
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.sources import Collection, collect
from hierdata.sources.columns import format_of, input_format
from hierdata.sources.stores import open_store
from hierdata.sources.stores.base import Store

_TABLES = tuple(suffix for kind in FORMATS.values() if kind.is_tabular for suffix in kind.table_suffixes)


def init(
    source: object,
    *,
    format: str | None = None,
    records: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    safe_harbor: bool = False,
    progress: Progress | None = None,
) -> Draft:
    """Read a collection once, and propose a policy for it, with reasons.

    ``source`` is as for ``anonymize``. For a store its own schema is read too; tables are read a second time,
    to find how they are related. ``format``, ``encoding``, ``records`` (the path of the records) and
    ``delimiter`` (of CSV) replace the policy's keys of these names. What else a policy must state of CSV is
    found, and so are the records of a JSON file that is an object with one array of objects, or one object of
    objects that are alike. Memory does not grow with the number of records, unless tables are joined.

    With ``safe_harbor`` the draft names the fields that hold the 18 identifiers of HIPAA's Safe Harbor, and
    leaves nothing of them but years and ages up to 89.

    The draft is refused as a policy until a person confirms it, by ``Draft.confirmed`` or by removing the
    line ``draft`` from the file. Raises InputError, TargetError, and PolicyError if the kind of input cannot
    be determined.
    """
    stated = input_keys(format, records, delimiter, encoding)
    with open_store(source) as store:
        if store is None:
            return _of_files(source, stated, safe_harbor, progress or silent)
        if stated:
            raise PolicyError(f"{', '.join(stated)}: applies to files only, but the records are on a server")
        documents = count_items(store.documents(), "reading", None, progress or silent)
        draft = build_draft(documents, Notation(), {}, store.structure())
        if draft.persons is not None and draft.persons.rule is not None:
            stated = {"individual": draft.persons.rule}
            with open_shaped(store, ruleless_policy(stated)) as (united, _):
                draft = build_draft(united, Notation(), stated, store.structure(), draft.persons)
        draft = to_safe_harbor(draft, this_year()) if safe_harbor else draft
        return _weigh_models(draft, lambda policy: _open_store(store, policy))


def _of_files(source: object, stated: dict[str, Any], safe_harbor: bool, progress: Progress) -> Draft:
    tables = _tables(source)
    if tables is not None:
        if "records" in stated:
            raise PolicyError("records: applies to a single file only, but the records are in several tables")
        stated = {**stated, "tables": _joins(tables, stated, progress)}
    stated = _add_place(source, _add_dialect(source, stated))
    collection = collect(source, ruleless_policy(stated))
    notation = _notation(collection, stated)
    if "records" in stated and "" in notation.namespaces and not _is_pipe(source):
        # Names without prefix are in the root's own namespace, which is known only now.
        known = {**stated, "namespaces": dict(notation.namespaces)}
        collection = collect(source, ruleless_policy(known))
        notation = _notation(collection, known)
    draft = _build(collection, notation, stated, progress)
    draft = to_safe_harbor(draft, this_year()) if safe_harbor else draft
    return _weigh_models(draft, lambda policy: shape_collection(collection, policy))


@contextmanager
def _open_store(store: Store, policy: Policy) -> Iterator[Iterator[Document]]:
    with open_shaped(store, policy) as (documents, _):
        yield documents


def _weigh_models(
    draft: Draft, read: Callable[[Policy], AbstractContextManager[Iterator[Document]]]
) -> Draft:
    """Return the draft with bounded knowledge where records are wide and it keeps more of a sample."""
    if not draft.is_wide:
        return draft
    from hierdata.pipeline.foresee import foresee_kept, take_few

    try:
        policy = from_data(draft.confirmed())
        with read(policy) as documents:
            sample = take_few(documents, draft.records)
    except HierdataError:
        return draft

    def kept_of(others: Sequence[ModelProposal]) -> Callable[[int], float | None]:
        """Return what the sample keeps by bounded knowledge of m facts beside other models."""

        @cache
        def foresee(m: int) -> float | None:
            promises = (ModelProposal(knowledge(m), ""), *others)
            changed = from_data(replace(draft, promises=promises).confirmed())
            return foresee_kept(sample, changed, draft.records)

        return foresee

    others = draft.promises[1:]
    try:
        facts = kept_of(others)
        if facts(USUAL) is None:
            others = tuple(relax(others))
            facts = kept_of(others)
        chosen = choose_by_loss(foresee_kept(sample, policy, draft.records), facts, len(sample))
    except HierdataError:
        return draft
    return draft if chosen is None else replace(draft, promises=(chosen, *others))


def _build(collection: Collection, notation: Notation, stated: dict[str, Any], progress: Progress) -> Draft:
    """Draft a policy; where records repeat persons, for the united records of each, which are read again."""
    draft = build_draft(_documents(collection, progress), notation, stated)
    rule = None if draft.persons is None else draft.persons.rule
    if rule is None or ("tables" in stated and isinstance(rule, str)):
        return draft
    named = {key: draft.stated[key] for key in ("namespaces",) if key in draft.stated}
    stated = {**stated, **named, "individual": rule}
    with shape_collection(collection, ruleless_policy(stated)) as united:
        documents = count_items(united, "reading", None, progress)
        return build_draft(documents, notation, stated, None, draft.persons)


def _add_dialect(source: object, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the keys with what a policy must state of a CSV file, found in the file."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        return stated
    file = PathSource(Path(source))
    if not format_of(file.name, ruleless_policy(stated)).is_delimited:
        return stated
    options = stated.get("csv", {})
    with file.decode_as(stated.get("encoding")).open() as stream:
        dialect = find_dialect(stream, options.get("delimiter"))
    return {**stated, "csv": {**options, **dialect}} if dialect else stated


def _add_place(source: object, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the keys with the path of the records, where a file has them at one place below its top."""
    if "records" in stated or not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        return stated
    file, format = input_format(PathSource(Path(source)), ruleless_policy(stated))
    with file.open() as stream:
        paths = format.find_records(stream)
    return {**stated, "records": paths[0]} if len(paths) == 1 else stated


def _notation(collection: Collection, stated: dict[str, Any]) -> Notation:
    notation = notation_of(collection.form.format, getattr(collection.form, "layout", None))
    place = ruleless_policy(stated).place
    return replace(notation, place=place) if len(place) > 2 else notation  # a release has no deep records


def _is_pipe(source: object) -> bool:
    """Return whether the source can be opened only once."""
    return isinstance(source, str | os.PathLike) and (Path(source).is_fifo() or Path(source).is_char_device())


def _tables(source: object) -> dict[str, object] | None:
    """Return the tables by name; None if the source is not several tables."""
    if isinstance(source, dict):
        return source
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return None
    tables: dict[str, object] = {}
    for file in sorted(Path(source).iterdir()):
        suffix = next((suffix for suffix in _TABLES if file.name.endswith(suffix)), None)
        if suffix is None:
            continue
        name = file.name.removesuffix(suffix)
        if name in tables:
            raise InputError(f"the table {name}: the folder has several files of it")
        tables[name] = file
    return tables or None


def _joins(
    tables: Mapping[str, object], stated: Mapping[str, Any], progress: Progress
) -> dict[str, dict[str, Any]]:
    """Find how tables are related. Their values are hashed with one key, so that they can be compared."""
    key = secrets.token_bytes(16)
    profiles = {}
    for name, table in tables.items():
        try:
            documents = _documents(collect(table, ruleless_policy(dict(stated))), progress)
            profiles[name] = profile(documents, lambda profiled: (), key=key, may_have_maps=False)
        except HierdataError as error:
            raise type(error)(f"the table {name}: {line}" for line in str(error).split("\n")) from None
    return relate_tables(profiles)


def _documents(collection: Collection, progress: Progress) -> Iterator[Document]:
    return count_items(collection.documents(), "reading", None, progress)
