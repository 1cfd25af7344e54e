"""Collections in many files: a folder, or the files that a pattern such as ``ccda/*.xml`` names.

Names of files may be names of people, so none is told: messages count the files in the order of their names,
and published files are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import Format, Layout, Order
from hierdata.documents.formats.source import PathSource, write_stream
from hierdata.errors import HierdataError, InputError, PolicyError, TargetError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.sources.columns import format_of
from hierdata.sources.form import Collection, FileForm, Form, open_layout, stated
from hierdata.sources.splits import SIZE, InputSplit, read_file

RECORDS = "records"
"""The part of a release that is a folder with a file for each record."""
ROOT = "records"
"""The root element of what does not lie in a file for each record."""


@dataclass(frozen=True)
class FilesSplit(InputSplit):
    """Some of the files of a collection.

    ``first`` is the number of files before them; where a file may hold several records, ``earlier`` has them.
    """

    files: tuple[PathSource, ...]
    format: Format
    layout: Layout
    first: int = 0
    earlier: tuple[PathSource, ...] | None = None

    def documents(self) -> Iterator[Document]:
        """The records of one file after the other (see InputSplit.documents)."""
        count = 0
        for number, file in enumerate(self.files, self.first + 1):
            try:
                for document in read_file(file, self.format, self.layout):
                    yield document
                    count += 1
                continue
            except HierdataError as error:
                found = error
            raise self._told(found, number, count - (found.record or 1) + 1, str(file.path))

    def _told(self, error: HierdataError, number: int, before: int, name: str) -> HierdataError:
        """The error with the record's number in the collection, or else that of the file."""
        where = f"file {number} in the order of names"
        if isinstance(error, TargetError):
            return TargetError(f"cannot read {where}")
        if not isinstance(error, InputError):
            return error
        revealed = (*error.revealed, name)
        if self.earlier is None:
            return InputError(error.message, record=number, path=error.path, revealed=revealed)
        if error.record is None:
            return InputError(f"{where}: {error.message}", path=error.path, revealed=revealed)
        before += sum(1 for file in self.earlier for _ in read_file(file, self.format, self.layout))
        return InputError(error.message, record=before + error.record, path=error.path, revealed=revealed)


@dataclass(frozen=True)
class FilesForm(Form):
    """A folder with one file for each record, numbered in the order of publication.

    Other parts are one file each. ``layout`` names the record's element alone.
    """

    format: Format
    layout: Layout

    def arranged(self, order: Order) -> Form:
        """The form with this order of elements (see Form.arranged)."""
        return replace(self, layout=replace(self.layout, order=order))

    def name(self, part: str) -> str:
        """The folder of the records; any other part is a file."""
        return part if part == RECORDS else part + self.format.extension

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write a file for each record (see Form.write)."""
        if path.name != RECORDS:
            self._beside.write(documents, path, element)
            return
        try:
            path.mkdir()
        except OSError as error:
            raise TargetError(f"cannot write {path}: {error.strerror}") from None
        for number, document in enumerate(documents, 1):
            with write_stream(path / self._numbered(number)) as stream:
                self.format.write([document], stream, self.layout)

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Read all files of a folder (see Form.read)."""
        if not path.is_dir():
            yield from self._beside.read(path, element, alone=alone)
            return
        for split in self.splits(path, alone=alone):
            yield from split.documents()

    def splits(
        self, path: Path, element: str | None = None, *, alone: bool = False, size: int = SIZE
    ) -> Sequence[InputSplit]:
        """Some files each (see Form.splits). VerificationError for names that are no numbers."""
        if not path.is_dir():
            return self._beside.splits(path, element, alone=alone, size=size)
        names = sorted(file.name for file in path.iterdir())
        if alone and names != [self._numbered(number) for number in range(1, len(names) + 1)]:
            raise VerificationError(
                f"files of records are named {self._numbered(1)} and so on; other names could tell whose "
                "they are",
                path=str(path),
            )
        files = tuple(PathSource(path.absolute() / name) for name in names)
        return _splits(files, self.format, replace(self.layout, alone=alone), True, size)

    def _numbered(self, number: int) -> str:
        return f"{number:09}{self.format.extension}"

    @property
    def _beside(self) -> FileForm:
        layout = replace(self.layout, records=_below_a_root(self.layout))
        return FileForm(self.format, layout, self.format.extension)


def is_pattern(path: Path) -> bool:
    """Whether a path names files by a pattern: it has one of ``*?[``, and there is no such file."""
    return has_magic(str(path)) and not path.exists()


def many_files(place: Path, policy: Policy) -> Collection:
    """The records of all files in a folder, or of those that a pattern names, in the order of their names.

    Raises InputError where there is none, PolicyError where they are not all of one format.
    """
    files = tuple(PathSource(path) for path in _found(place))
    format = _format(files, policy)
    try:
        layout = stated(open_layout(files[0], format, policy.place), policy)
    except InputError as error:
        message = f"file 1 in the order of names: {error.message}"
    else:
        form = files_form(format, layout, policy)
        cut = partial(_splits, files, format, layout, policy.depth == 1)
        return Collection(form, partial(_all, cut), cut)
    raise InputError(message)


def files_form(format: Format, layout: Layout, policy: Policy) -> Form:
    """The form of the release of records that each are the root of a file; of others, one file."""
    if policy.depth == 1 and not policy.recoding_traits.publishes_classes:
        return FilesForm(format, layout)
    records = _below_a_root(layout) if policy.depth == 1 else layout.records
    return FileForm(format, replace(layout, records=records), format.extension)


def _below_a_root(layout: Layout) -> tuple[str, str]:
    """The place of records below a root of their own namespace: an XSD describes one."""
    (record,) = layout.records
    namespace, closed, _ = record.rpartition("}")
    return namespace + closed + ROOT, record


def published_files_form(folder: Path, policy: Policy) -> Form:
    """The form of a published folder with a file for each record."""
    first = next((file for file in sorted(folder.iterdir())), None)
    if first is None:
        raise InputError("the folder is empty: there are no records", path=str(folder))
    format = format_of(first.name, policy)
    return FilesForm(format, stated(open_layout(PathSource(first), format, policy.place), policy))


def _found(place: Path) -> list[Path]:
    """The files, in the order of their names. Hidden ones are left out."""
    if place.is_dir():
        found = [path for path in place.iterdir() if not path.name.startswith(".")]
    else:
        found = [Path(name) for name in glob(str(place), recursive=True)]  # noqa: PTH207  (absolute ones too)
    try:
        strangers = sum(not path.is_file() for path in found)
    except OSError as error:
        raise TargetError(f"the files cannot be read ({error.strerror})", path=str(place)) from None
    if strangers:
        raise PolicyError(
            f"{strangers} of what lies there are no files: name those meant by a pattern, 'folder/*.xml'",
            path=str(place),
        )
    if not found:
        raise InputError("there are no files to read", path=str(place))
    return sorted(path.absolute() for path in found)


def _format(files: Sequence[PathSource], policy: Policy) -> Format:
    """The one format of all files."""
    formats = {}
    for file in files:
        try:
            format = format_of(file.name, policy)
        except PolicyError as error:
            why = str(error)
            break
        formats[format.name] = format
    else:
        if len(formats) == 1 and not format.is_tabular:
            return format
        why = f"they are {' and '.join(sorted(formats))}"
    raise PolicyError(
        "the files of a collection have one format that holds records within records: name those that are "
        f"meant by a pattern such as 'folder/*.xml' ({why})"
    )


def _splits(
    files: tuple[PathSource, ...], format: Format, layout: Layout, one_a_file: bool, size: int = SIZE
) -> tuple[InputSplit, ...]:
    """Files one after the other, of about ``size`` bytes together."""
    found: list[InputSplit] = []
    start = weight = 0
    for end, file in enumerate(files, 1):
        try:
            weight += file.path.stat().st_size
        except OSError as error:
            raise TargetError(f"cannot read file {end} in the order of names: {error.strerror}") from None
        if weight >= size or end == len(files):
            earlier = None if one_a_file else files[:start]
            found.append(FilesSplit(files[start:end], format, layout, start, earlier))
            start, weight = end, 0
    return tuple(found)


def _all(cut: partial[tuple[InputSplit, ...]]) -> Iterator[Document]:
    for split in cut():
        yield from split.documents()
