"""Collections in many files: a folder, or the files that match a pattern such as ``ccda/*.xml``.

File names may contain names of people, so no message contains one: messages number the files in the order of
their names, and published files are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import Format, Layout, Order
from hierdata.documents.formats.source import PathSource, write_stream
from hierdata.ground.errors import (
    HierdataError,
    InputError,
    PolicyError,
    TargetError,
    VerificationError,
    file_error,
)
from hierdata.policy.policy import Policy
from hierdata.sources.columns import format_of, input_format
from hierdata.sources.form import (
    Collection,
    FileForm,
    Form,
    make_folder,
    open_input,
    open_layout,
    shorten_place,
    state_layout,
)
from hierdata.sources.splits import SIZE, InputSplit, documents_of, open_source, read_file

RECORDS = "records"
"""The part of a release that is a folder with a file for each record."""
ROOT = "records"
"""The root element of a file that contains several records."""


@dataclass(frozen=True)
class FilesSplit(InputSplit):
    """Some of the files of a collection.

    ``first`` is the number of files before them; ``earlier`` has these files if a file may hold several
    records.
    """

    files: tuple[PathSource, ...]
    format: Format
    layout: Layout
    first: int = 0
    earlier: tuple[PathSource, ...] | None = None

    def documents(self) -> Iterator[Document]:
        """Yield the records of the files in order (see InputSplit.documents)."""
        count = 0
        for number, file in enumerate(self.files, self.first + 1):
            try:
                for document in read_file(file, self.format, self.layout):
                    yield document
                    count += 1
                continue
            except HierdataError as error:
                raised = error
            raise self._renumber_error(raised, number, count - (raised.record or 1) + 1, str(file.path))

    def _renumber_error(self, error: HierdataError, number: int, before: int, name: str) -> HierdataError:
        """Return the error with the number of the record in the collection, or else of the file."""
        where = f"file {number} in the order of names"
        if isinstance(error, TargetError):
            return type(error)(f"cannot read {where}")
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

    def fit(self, policy: Policy, order: Order) -> Form:
        """Return the form with this order of elements (see Form.fit)."""
        return replace(self, layout=replace(self.layout, order=order))

    def name(self, part: str) -> str:
        """Return the folder of the records; any other part is a file."""
        return part if part == RECORDS else part + self.format.extension

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write a file for each record (see Form.write)."""
        if path.name != RECORDS:
            self._beside_form.write(documents, path, element)
            return
        make_folder(path)
        for number, document in enumerate(documents, 1):
            with write_stream(path / self._numbered_name(number)) as stream:
                self.format.write([document], stream, self.layout)

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Read all files of a folder (see Form.read)."""
        if not path.is_dir():
            yield from self._beside_form.read(path, element, alone=alone)
            return
        yield from documents_of(self.splits(path, alone=alone))

    def splits(
        self, path: Path, element: str | None = None, *, alone: bool = False, size: int = SIZE
    ) -> Sequence[InputSplit]:
        """Return groups of files (see Form.splits). Raises VerificationError if a name is not a number."""
        if not path.is_dir():
            return self._beside_form.splits(path, element, alone=alone, size=size)
        names = sorted(file.name for file in path.iterdir())
        if alone and names != [self._numbered_name(number) for number in range(1, len(names) + 1)]:
            raise VerificationError(
                f"files of records must be named {self._numbered_name(1)} and so on; other names could "
                "reveal people",
                path=str(path),
            )
        files = tuple(PathSource(path.absolute() / name) for name in names)
        return split_files(files, self.format, replace(self.layout, alone=alone), True, size)

    def _numbered_name(self, number: int) -> str:
        return f"{number:09}{self.format.extension}"

    @property
    def _beside_form(self) -> FileForm:
        layout = replace(self.layout, records=_below_a_root(self.layout))
        return FileForm(self.format, layout, self.format.extension)


def many_files(source: Path, policy: Policy) -> Collection:
    """Return the records of the files in a folder or of a pattern, in the order of the file names.

    JSON files that are one object each are one record each, and published in one array. Raises InputError if
    there are no files, PolicyError if they do not all have one format.
    """
    if policy.has_entries:
        raise PolicyError("`records` ends in .*, which is for one JSON file, but this is a folder")
    files, format = _decode_all([PathSource(path) for path in _find_files(source)], policy)
    try:
        with open_source(files[0]) as stream:
            layout = None if policy.place else format.layout_of_record(stream)
        one_a_file = layout is not None or policy.depth == 1
        if layout is not None:
            form: Form = FileForm(format, Layout(), format.extension)
        else:
            layout = state_layout(open_input(files[0], format, policy.place), policy)
            form = files_form(format, layout, policy)
    except InputError as error:
        message = f"file 1 in the order of names: {error.message}"
    else:
        cut = partial(split_files, files, format, layout, one_a_file)
        return Collection(form, lambda: documents_of(cut()), cut)
    raise InputError(message)


def files_form(format: Format, layout: Layout, policy: Policy) -> Form:
    """Return the form of the release: a file for each record if the input has that, otherwise one file."""
    if policy.depth == 1 and not policy.recoding_traits.publishes_classes:
        return FilesForm(format, layout)
    records = _below_a_root(layout) if policy.depth == 1 else shorten_place(layout).records
    return FileForm(format, replace(layout, records=records), format.extension)


def _below_a_root(layout: Layout) -> tuple[str, str]:
    """Return the path of records below a root in their namespace, since an XSD describes one namespace."""
    (record,) = layout.records
    namespace, closed, _ = record.rpartition("}")
    return namespace + closed + ROOT, record


def published_files_form(folder: Path, policy: Policy) -> Form:
    """Return the form of a published folder with a file for each record."""
    first = next((file for file in sorted(folder.iterdir())), None)
    if first is None:
        raise InputError("the folder is empty: there are no records", path=str(folder))
    format = format_of(first.name, policy)
    return FilesForm(format, state_layout(open_layout(PathSource(first), format, policy.place), policy))


def _find_files(source: Path) -> list[Path]:
    """Return the files, in the order of their names. Hidden ones are left out."""
    try:
        if source.is_dir():
            paths = [path for path in source.iterdir() if not path.name.startswith(".")]
        else:
            paths = [Path(name) for name in glob(str(source), recursive=True)]  # noqa: PTH207  (absolute ones too)
        strangers = sum(not path.is_file() for path in paths)
    except OSError as error:
        raise file_error(error, f"the files cannot be read ({error.strerror})", path=str(source)) from None
    if strangers:
        raise PolicyError(
            f"not all entries are files ({strangers} are not): select the files by a pattern, 'folder/*.xml'",
            path=str(source),
        )
    if not paths:
        raise InputError("there are no files to read", path=str(source))
    return sorted(path.absolute() for path in paths)


def _decode_all(files: Sequence[PathSource], policy: Policy) -> tuple[tuple[PathSource, ...], Format]:
    """Return the files as UTF-8, and the one format of all."""
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
            _, common = input_format(files[0], policy)
            if format.is_binary and policy.encoding is None:
                return tuple(files), common
            return tuple(_decode(number, file, policy) for number, file in enumerate(files, 1)), common
        why = f"they are {' and '.join(sorted(formats))}"
    raise PolicyError(
        "the files of a collection must all have one format, which is not a table format: select the files "
        f"by a pattern such as 'folder/*.xml' ({why}); keyed tables need `tables` in the policy"
    )


def _decode(number: int, file: PathSource, policy: Policy) -> PathSource:
    try:
        return file.decode_as(policy.encoding)
    except InputError as error:
        raise InputError(f"file {number} in the order of names: {error.message}") from None


def split_files(
    files: tuple[PathSource, ...], format: Format, layout: Layout, one_a_file: bool, size: int = SIZE
) -> tuple[FilesSplit, ...]:
    """Group the files, in order, into splits of about ``size`` bytes."""
    splits: list[FilesSplit] = []
    start = weight = 0
    for end, file in enumerate(files, 1):
        try:
            weight += file.path.stat().st_size
        except OSError as error:
            raise file_error(
                error, f"cannot read file {end} in the order of names: {error.strerror}"
            ) from None
        if weight >= size or end == len(files):
            earlier = None if one_a_file else files[:start]
            splits.append(FilesSplit(files[start:end], format, layout, start, earlier))
            start, weight = end, 0
    return tuple(splits)
