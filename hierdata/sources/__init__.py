"""Inputs: files or Python objects as documents that can be read as often as a run needs them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import has_magic
from pathlib import Path

from hierdata.documents.formats.arrow_tables import is_table
from hierdata.documents.formats.source import PathSource, Source
from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.sources.bundles import bundles_form, given_resources, resource_collection
from hierdata.sources.files import copy_pipe, file_collection, file_form, find_dump
from hierdata.sources.folders import FilesForm, many_files, published_files_form
from hierdata.sources.form import Collection, FileForm, Form
from hierdata.sources.json_schema.check import check_documents
from hierdata.sources.objects import elements, objects, table_collection
from hierdata.sources.splits import InputSplit
from hierdata.sources.tables import folder_collection, given_tables, nest_rows, tables_form

__all__ = [
    "Collection",
    "FileForm",
    "FilesForm",
    "Form",
    "InputSplit",
    "check_documents",
    "collect",
    "form_of",
]


def collect(source: object, policy: Policy, beside: Path | None = None) -> Collection:
    """Return a collection from a path, a Source, an lxml tree, a table in memory, or dicts or elements.

    A folder is either the output of mongodump for a database with one collection, or means all its files, as
    a pattern such as ``ccda/*.xml`` does. If the policy has ``tables``, a folder contains their files, and a
    dict maps names to tables. An input that can be read only once is copied to a private folder in ``beside``
    (by default the folder for temporary files). Raises TargetError for a file that cannot be read, InputError
    for one without records, PolicyError if the format cannot be determined or the source has another type.
    """
    if policy.tables is not None:
        return _read_keyed(source, policy)
    return nest_rows(_collect(source, policy, beside), policy)


def _collect(source: object, policy: Policy, beside: Path | None) -> Collection:
    """Return a collection of whole documents, or of the rows of one table."""
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
        raise PolicyError("a dict of tables needs `tables` in the policy; put a single record in a list")
    raise PolicyError(
        "the input must be a path, a table in memory, or an iterable of dicts or lxml elements; "
        f"it has the type {type(source).__name__}"
    )


def _at(path: Path, policy: Policy, beside: Path | None) -> Collection:
    """Return a collection in files."""
    if path.is_dir() and policy.depth != 1:
        path = find_dump(path)
    is_pattern = has_magic(str(path)) and not path.exists()
    if path.is_dir() or is_pattern or policy.depth == 1:
        return many_files(path, policy)
    if path.is_fifo() or path.is_char_device():
        return copy_pipe(path, policy, beside)
    return file_collection(PathSource(path), policy)


def form_of(path: Path, policy: Policy, element: str | None = None) -> Form:
    """Return the form of a published file or folder; with ``element`` its documents are not records."""
    if path.is_dir():
        return published_files_form(path, policy) if policy.depth == 1 else tables_form(path, policy)
    if policy.standard is not None and element is None:
        return bundles_form(path, policy)
    return file_form(path, policy, element)


def _read_keyed(source: object, policy: Policy) -> Collection:
    if policy.standard is not None:
        return _read_resources(source, policy)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.exists() and not path.is_dir():
            raise PolicyError(
                "the input is a file, but `tables` joins the tables of a folder: name the folder"
            )
        return folder_collection(path, policy)
    if isinstance(source, dict):
        return given_tables(source, policy)
    raise PolicyError(
        "under `tables` the input is a folder, or a dict of tables by name; "
        f"it has the type {type(source).__name__}"
    )


def _read_resources(source: object, policy: Policy) -> Collection:
    if isinstance(source, str | os.PathLike):
        return resource_collection(Path(source), policy)
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        return given_resources(source, policy)
    raise PolicyError(
        "under `standard` the input is a folder, a file or an iterable of resources or Bundles; "
        f"it has the type {type(source).__name__}"
    )
