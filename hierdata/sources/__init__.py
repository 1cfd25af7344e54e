"""What comes in: files or Python objects as documents that can be read as often as a run needs them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hierdata.documents.formats.source import PathSource, Source
from hierdata.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.sources.files import dumped, file_collection, file_form, piped
from hierdata.sources.folders import FilesForm, is_pattern, many_files, published_files_form
from hierdata.sources.form import Collection, FileForm, Form
from hierdata.sources.json_schema.check import checked
from hierdata.sources.objects import elements, is_table, objects, table_collection
from hierdata.sources.splits import InputSplit
from hierdata.sources.tables import folder_collection, given_tables, tables_form

__all__ = ["Collection", "FileForm", "FilesForm", "Form", "InputSplit", "checked", "collect", "form_of"]


def collect(source: object, policy: Policy, beside: Path | None = None) -> Collection:
    """A collection from a path, a Source, an lxml tree, a table in memory, or dicts or elements.

    A folder is what mongodump made of a database with one collection, or stands for all its files, as a
    pattern such as ``ccda/*.xml`` does. Under the policy's ``tables`` it has their files, and a dict has
    tables by name. What can be read only once is kept in a private folder in ``beside`` (by default where
    temporary files lie). Raises TargetError for a file that cannot be read, InputError for one without
    records, PolicyError when the format cannot be told or something else was given.
    """
    if policy.tables is not None:
        return _keyed(source, policy)
    if isinstance(source, str | os.PathLike):
        return _at(Path(source), policy, beside)
    if isinstance(source, Source):
        return file_collection(source, policy)
    if is_table(source):
        return table_collection(source, policy)
    if hasattr(source, "getroot"):
        source = elements(source.getroot(), policy)
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        return objects(source, policy, beside)
    if isinstance(source, dict):
        raise PolicyError("a dict of tables needs `tables` in the policy; one record alone stands in a list")
    raise PolicyError(
        "the input must be a path, a DataFrame or Arrow table, or an iterable of dicts or lxml elements; "
        f"it has the type {type(source).__name__}"
    )


def _at(path: Path, policy: Policy, beside: Path | None) -> Collection:
    """A collection in files."""
    if path.is_dir() and policy.depth != 1:
        path = dumped(path)
    if path.is_dir() or is_pattern(path) or policy.depth == 1:
        return many_files(path, policy)
    if path.is_fifo() or path.is_char_device():
        return piped(path, policy, beside)
    return file_collection(PathSource(path), policy)


def form_of(path: Path, policy: Policy, element: str | None = None) -> Form:
    """The form of a published file or folder; with ``element`` its documents are no records."""
    if path.is_dir():
        return published_files_form(path, policy) if policy.depth == 1 else tables_form(path, policy)
    return file_form(path, policy, element)


def _keyed(source: object, policy: Policy) -> Collection:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.exists() and not path.is_dir():
            raise PolicyError(
                "the input is a file, and `tables` joins tables that lie in one folder: name the folder"
            )
        return folder_collection(path, policy)
    if isinstance(source, dict):
        return given_tables(source, policy)
    raise PolicyError(
        "under `tables` the input is a folder, or a dict of tables by name; "
        f"it has the type {type(source).__name__}"
    )
