"""Collections in one file, and private files for inputs that can be read only once."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import Format, Layout
from hierdata.documents.formats.source import PathSource, Source, write_stream
from hierdata.ground.errors import PolicyError, TargetError, file_error
from hierdata.ground.private_folder import PrivateFolder
from hierdata.policy.policy import Policy
from hierdata.sources.columns import TableForm, check_columns, format_of, input_format, published_form
from hierdata.sources.form import (
    Collection,
    FileForm,
    Form,
    file_in,
    open_input,
    open_layout,
    shorten_place,
    state_layout,
)

SECOND_READING = "a second reading of the records"
"""The purpose of a private folder that contains records."""


def file_collection(source: Source, policy: Policy) -> Collection:
    """Return a collection in one file. Raises TargetError if there is none."""
    _require_file(source, policy)
    source, format = input_format(source, policy)
    layout = open_input(source, format, policy.place, entries=policy.has_entries)
    if format.has_elements:
        layout = state_layout(layout, policy)
    suffix = format.extension + (".gz" if source.name.lower().endswith(".gz") else "")
    written = shorten_place(layout) if format.has_elements else replace(layout, entries=False)
    form: Form = FileForm(format, written, suffix)
    if format.is_tabular:
        check_columns(layout, policy)
        form = TableForm(format, layout, suffix)
    return file_in(source, format, layout, form)


def _require_file(source: Source, policy: Policy) -> None:
    """Raise an error for a path that is no file, before its suffix is looked at."""
    if not isinstance(source, PathSource):
        return
    if str(source.path) == "-":
        raise PolicyError("records are not read from stdin: write them to a file, and name it")
    if not source.path.exists():
        raise TargetError("there is no such file", path=str(source.path))
    if policy.format is None and source.path.suffix.lower() in _SPREADSHEETS:
        raise PolicyError("the file is a spreadsheet: export the sheet as CSV", path=source.name)


_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")


def find_dump(folder: Path) -> Path:
    """Return the only collection in a folder written by mongodump; any other folder unchanged."""
    files = [file for end in ("bson", "bson.gz") for file in folder.glob(f"*.{end}")]
    dumps = [file for file in files if not file.name.startswith("system.")]
    if len(dumps) == 1:
        return dumps[0]
    if dumps:
        raise PolicyError(
            f"the folder is a dump of {len(dumps)} collections: name the file of one, such as {min(dumps)}"
        )
    if any(folder.glob("*/*.bson")) or any(folder.glob("*/*.bson.gz")):
        raise PolicyError("the folder is a dump of databases: name the folder of one, or one file")
    return folder


def file_form(path: Path, policy: Policy, element: str | None = None) -> Form:
    """Return the form of a published file by its name; with ``element`` its documents are not records."""
    format = format_of(path.name, policy)
    source = PathSource(path)
    if format.is_tabular:
        return published_form(source, format, path.suffix, policy)
    if not format.has_elements:
        return FileForm(format, open_layout(source, format, policy.place), path.suffix)
    place = () if element is not None else shorten_place(Layout(policy.place)).records
    return FileForm(format, state_layout(open_layout(source, format, place), policy), path.suffix)


def spill_documents(
    documents: Iterator[Document], format: Format, layout: Layout, form: Form, beside: Path | None
) -> Collection:
    """Write documents to a private file, which is removed with the collection, so they can be read again."""
    with _private(f"spill{format.extension}", beside) as source:
        with write_stream(source.path) as stream:
            format.write(documents, stream, layout)
        return file_in(source, format, layout, form)


def copy_pipe(path: Path, policy: Policy, beside: Path | None) -> Collection:
    """Copy a pipe to a private file, which is removed with the collection, so it can be read again."""
    with _private(path.name, beside) as source:
        try:
            with path.open("rb") as pipe, source.path.open("xb") as copy:
                shutil.copyfileobj(pipe, copy)
        except OSError as error:
            raise file_error(error, f"cannot read {path}: {error.strerror}") from None
        return file_collection(source, policy)


@contextmanager
def _private(name: str, beside: Path | None) -> Iterator[PathSource]:
    """Yield a path in a private folder, which is removed when the source is no longer referenced."""
    folder = PrivateFolder(beside, SECOND_READING)
    source = PathSource(folder.path / name)
    weakref.finalize(source, folder.remove)
    try:
        yield source
    except BaseException:
        folder.remove()
        raise
