"""Collections in one file, and what can be read only once as a private file."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import Format, Layout
from hierdata.documents.formats.source import PathSource, Source, write_stream
from hierdata.documents.private_folder import PrivateFolder
from hierdata.errors import PolicyError, TargetError
from hierdata.policy.policy import Policy
from hierdata.sources.columns import check_columns, format_of, published_form, table_form
from hierdata.sources.form import Collection, FileForm, Form, file_in, open_layout, stated

SECOND_READING = "a second reading of the records"
"""What a private folder is for that holds them."""


def file_collection(source: Source, policy: Policy) -> Collection:
    """A collection in one file."""
    format = format_of(source.name, policy)
    layout = open_layout(source, format, policy.place)
    if format.has_elements:
        layout = stated(layout, policy)
    suffix = format.extension + (".gz" if source.name.lower().endswith(".gz") else "")
    form: Form = FileForm(format, layout, suffix)
    if format.is_tabular:
        check_columns(layout, policy)
        form = table_form(format, layout, suffix, policy)
    return file_in(source, format, layout, form)


def dumped(folder: Path) -> Path:
    """The one collection in a folder that mongodump made of a database; any other folder as it is."""
    files = [file for end in ("bson", "bson.gz") for file in folder.glob(f"*.{end}")]
    own = [file for file in files if not file.name.startswith("system.")]
    if len(own) == 1:
        return own[0]
    if own:
        raise PolicyError(
            f"the folder is a dump of {len(own)} collections: name the file of one, such as {sorted(own)[0]}"
        )
    if any(folder.glob("*/*.bson")) or any(folder.glob("*/*.bson.gz")):
        raise PolicyError("the folder is a dump of databases: name the folder of one, or one file")
    return folder


def file_form(path: Path, policy: Policy, element: str | None = None) -> Form:
    """The form of a published file, told by its name; with ``element`` its documents are no records."""
    format = format_of(path.name, policy)
    source = PathSource(path)
    if format.is_tabular:
        return published_form(source, format, path.suffix, policy)
    place = () if element is not None and format.has_elements else policy.place
    layout = open_layout(source, format, place)
    return FileForm(format, stated(layout, policy) if format.has_elements else layout, path.suffix)


def spilled(
    documents: Iterator[Document], format: Format, layout: Layout, form: Form, beside: Path | None
) -> Collection:
    """Documents that can be read only once, written to a private file that goes with the collection."""
    with _private(f"spill{format.extension}", beside) as source:
        with write_stream(source.path) as stream:
            format.write(documents, stream, layout)
        return file_in(source, format, layout, form)


def piped(path: Path, policy: Policy, beside: Path | None) -> Collection:
    """A pipe can be read only once: copied as it is to a private file that goes with the collection."""
    with _private(path.name, beside) as source:
        try:
            with path.open("rb") as pipe, source.path.open("xb") as copy:
                shutil.copyfileobj(pipe, copy)
        except OSError as error:
            raise TargetError(f"cannot read {path}: {error.strerror}") from None
        return file_collection(source, policy)


@contextmanager
def _private(name: str, beside: Path | None) -> Iterator[PathSource]:
    """A file to be written in a folder of its own, which goes when nobody holds the source any more."""
    folder = PrivateFolder(beside, SECOND_READING)
    source = PathSource(folder.path / name)
    weakref.finalize(source, folder.remove)
    try:
        yield source
    except BaseException:
        folder.remove()
        raise
