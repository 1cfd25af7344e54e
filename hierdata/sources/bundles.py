"""Collections of FHIR resources: files of NDJSON, or of Bundles; the form of a release of Bundles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hierdata.documents.document import Document, Value
from hierdata.documents.fhir.elements import is_resource
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.documents.formats.base import BESIDE
from hierdata.documents.formats.source import PathSource
from hierdata.ground.errors import HierdataError, InputError, PolicyError, TargetError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.records.flatten import split
from hierdata.records.joining import JoinTally, join_rows
from hierdata.records.keyed import Table, find_at, read_row
from hierdata.sources.closed_ids import is_row_number
from hierdata.sources.columns import TableForm, input_format
from hierdata.sources.files import file_form
from hierdata.sources.folders import split_files
from hierdata.sources.form import Collection, FileForm, Form, open_input, open_layout
from hierdata.sources.objects import read_objects
from hierdata.sources.resources import BUNDLE, CAPABILITIES, TYPE, ResourceSpelling, ResourceTypes
from hierdata.sources.rows import KeyedRows, RowPart, RowReading
from hierdata.sources.splits import (
    SIZE,
    InputSplit,
    WholeSplit,
    file_splits,
    measure_split,
    open_source,
    read_file,
)
from hierdata.sources.tables import TablesForm, published_tables

_NAMED = re.compile(
    r"(?:[0-9]{1,9}[._-])?([A-Z][A-Za-z]{1,60})(?:[._-][0-9]{1,18})?\.(?:ndjson|jsonl)(?:\.gz)?"
)
"""The name of a file in a bulk export, with the type of its resources."""
_TEXT = (FORMATS["json"].name, FORMATS["jsonl"].name)


@dataclass(frozen=True)
class BundlesForm(Form):
    """A file of Bundles, one for each record; ids are numbers from 1, by type."""

    inner: FileForm
    tables: tuple[Table, ...]
    resources: ResourceSpelling

    @property
    def format(self) -> Format:  # type: ignore[override]
        """The format of the file."""
        return self.inner.format

    def name(self, part: str) -> str:
        """Return the part's name with the suffix."""
        return self.inner.name(part)

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write a Bundle for each record (see Form.write)."""
        self.inner.write(self._bundle(documents), path, element)

    def _bundle(self, documents: Iterable[Document]) -> Iterator[Document]:
        names = [table.name for table in self.tables]
        rows = split(self.tables, self.resources.to_rows(documents), names)
        entries: list[Value] = []
        for name, row in self.resources.tag(rows):
            if name == names[0] and entries:
                yield _bundle_of(entries)
                entries = []
            entries.append({"resource": row})
        if entries:
            yield _bundle_of(entries)

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Join the resources of each Bundle (see Form.read)."""
        return self.open_bundles(self.inner.read(path, element, alone=alone), True)

    def read_for_store(self, path: Path, element: str | None = None) -> Iterator[Document]:
        """Return the Bundles (see Form.read_for_store)."""
        return self.inner.read(path, element, alone=True)

    def splits(
        self, path: Path, element: str | None = None, *, alone: bool = False, size: int = SIZE
    ) -> Sequence[InputSplit]:
        """Return the parts of the file (see Form.splits)."""
        parts = self.inner.splits(path, element, alone=alone, size=size)
        return [BundleSplit(self, inner, number == 0) for number, inner in enumerate(parts)]

    def open_bundles(self, bundles: Iterable[Document], is_first: bool) -> Iterator[Document]:
        """Yield the record of each published Bundle. Raises VerificationError for what no release has.

        Ids are numbers that ascend by one, by type; ``is_first`` says that they begin with 1.
        """
        last = dict.fromkeys((table.name for table in self.tables), 0) if is_first else {}
        return self.resources.from_rows(self._join(bundle, last) for bundle in bundles)

    def _join(self, bundle: Document, last: dict[str, int]) -> Document:
        tables = {table.name: table for table in self.tables}
        rows = []
        for number, resource in enumerate(_published_entries(bundle), 1):
            name = resource.get(TYPE)
            if not isinstance(name, str) or name not in tables:
                raise VerificationError("a Bundle has a resource of a type that the policy does not publish")
            last[name] = _check_id(tables[name], resource, last.get(name))
            row = {key: value for key, value in resource.items() if key != TYPE}
            rows.append(read_row(tables[name], (0, number), number, row))
        tally = JoinTally()
        joined = join_rows(self.tables, rows, tally)
        tally.check(self.tables, lambda _, place: f"entry {place[1]} of a Bundle")
        if len(joined) != 1:
            raise VerificationError(f"a Bundle has {len(joined)} resources of the type {self.tables[0].name}")
        return joined[0].document


@dataclass(frozen=True)
class BundleSplit(InputSplit):
    """A part of a file of published Bundles."""

    form: BundlesForm
    inner: InputSplit
    is_first: bool

    def documents(self) -> Iterator[Document]:
        """Return the record of each Bundle (see InputSplit.documents)."""
        return self.form.open_bundles(self.inner.documents(), self.is_first)


def _bundle_of(entries: list[Value]) -> Document:
    return {TYPE: BUNDLE, "type": "collection", "entry": entries}


def _check_id(table: Table, resource: Document, last: int | None) -> int:
    """Return the number that is a resource's key. Raises VerificationError for one that does not follow."""
    assert table.key is not None, "a standard has a key for each type"
    stated = find_at(resource, table.key)
    if not isinstance(stated, str) or not is_row_number(stated) or last not in (None, int(stated) - 1):
        raise VerificationError(
            f"the type {table.name}: its ids must be the numbers of its resources; others could name people"
        )
    return int(stated)


def _published_entries(bundle: Document) -> Iterator[Document]:
    """Yield the resources of a published Bundle. Raises VerificationError for anything else in it."""
    entries = bundle.get("entry")
    if bundle != {TYPE: BUNDLE, "type": "collection", "entry": entries} or not isinstance(entries, list):
        raise VerificationError(BESIDE)
    for entry in entries:
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if not isinstance(resource, dict) or entry != {"resource": resource}:
            raise VerificationError(BESIDE)
        yield resource


def bundles_form(path: Path, policy: Policy) -> Form:
    """Return the form of a published file of Bundles."""
    inner = file_form(path, policy)
    assert isinstance(inner, FileForm), "a file has the form of a file"
    return BundlesForm(inner, published_tables(policy), ResourceSpelling.by(policy))


def resource_collection(source: Path, policy: Policy) -> Collection:
    """Return the collection in a file or a folder of resources or Bundles.

    Raises TargetError if there is none, InputError for a file without documents.
    """
    parts, first = _find_parts(source, policy, ResourceTypes.by(policy).reads)
    if first is None:
        raise InputError("there are no resources to read", path=str(source))
    return _collect_parts(parts, first, policy)


def read_documents(source: Path, policy: Policy) -> Iterator[Document]:
    """Yield all resources and Bundles in a file or a folder, whatever their types, as they are.

    ``policy`` says their format and encoding. Raises as ``resource_collection``.
    """
    parts, _ = _find_parts(source, policy, lambda table: True)
    for part in parts:
        yield from part.split.documents()


def holds_resources(source: Path, policy: Policy) -> bool:
    """Return whether each file of a folder, or the only file, begins with a resource of FHIR."""
    try:
        files = [input_format(PathSource(path.absolute()), policy) for path in _list_files(source)]
        if not files or any(format.name not in _TEXT for _, format in files):
            return False
        return all(_begins_with_resource(part) for part in _find_parts(source, policy, lambda table: True)[0])
    except HierdataError:
        return False


def _begins_with_resource(part: RowPart) -> bool:
    document = next(iter(part.split.documents()), {})
    kind = document.get(TYPE)
    return isinstance(kind, str) and is_resource(kind)


def _find_parts(
    source: Path, policy: Policy, reads: Callable[[str], bool]
) -> tuple[list[RowPart], tuple[str | None, Format, str] | None]:
    """Return the parts of files, and the type, format and suffix of the first resource.

    Files whose name says a type are left out unless ``reads`` it.
    """
    parts: list[RowPart] = []
    singles: list[tuple[PathSource, Format]] = []
    first: tuple[str | None, Format, str] | None = None
    for number, path in enumerate(_list_files(source), 1):
        named = _NAMED.fullmatch(path.name)
        table = named[1] if named is not None and is_resource(named[1]) else None
        called = path.name if table is not None else f"file {number} in the order of names"
        file, format = _open_named(path, called, policy)
        if format.name == FORMATS["json"].name:
            singles.append((file, format))
            continue
        layout = open_layout(file, format, ())
        if table == CAPABILITIES:
            table = None  # it says of which version the resources are
        elif table is not None and not reads(table):
            continue
        parts += [
            RowPart(table, called, split, measure_split(split, path))
            for split in file_splits(file, format, layout)
        ]
        first = first or _look(file, format, layout)
    if singles:
        more, of_singles = _read_singles(singles)
        parts += more
        first = first or of_singles
    if first is not None and not all(part.is_packed for part in parts):
        first = (*first[:2], first[2].removesuffix(".gz"))
    return parts, first


def _open_named(path: Path, called: str, policy: Policy) -> tuple[PathSource, Format]:
    """Open a file; an error in its beginning, such as gzip that is cut off, has its name."""
    try:
        file, format = input_format(PathSource(path.absolute()), policy)
    except InputError as error:
        raise InputError(f"{called}: {error.message}") from None
    assert isinstance(file, PathSource), "a file stays one"
    return file, format


def given_resources(items: Iterable[object], policy: Policy) -> Collection:
    """Return the collection in resources or Bundles as Python objects."""
    held = list(items)
    part = RowPart(None, "the resources given", WholeSplit(partial(read_objects, held)))
    kind = next((item.get(TYPE) for item in held if isinstance(item, dict)), None)
    format = FORMATS["jsonl"]()
    return _collect_parts([part], (kind if isinstance(kind, str) else None, format, ".ndjson"), policy)


def _collect_parts(
    parts: Sequence[RowPart], first: tuple[str | None, Format, str], policy: Policy
) -> Collection:
    reading = RowReading(policy.joined_tables, policy.lookups, ResourceTypes.by(policy))
    rows = KeyedRows.of(reading, parts)
    kind, format, suffix = first
    return Collection(_form_of(kind, format, suffix, policy), rows.documents, rows=rows)


def _form_of(kind: str | None, format: Format, suffix: str, policy: Policy) -> Form:
    """Return the form of the release of files whose first document is of a type."""
    tables, resources = published_tables(policy), ResourceSpelling.by(policy)
    if kind == BUNDLE:
        return BundlesForm(FileForm(format, Layout(), suffix), tables, resources)
    if format.name != FORMATS["jsonl"].name:
        format, suffix = FORMATS["jsonl"](), ".ndjson"
    forms = {table.name: TableForm(format, Layout(), suffix) for table in tables}
    return TablesForm(format, tables, forms, resources)


def _list_files(source: Path) -> list[Path]:
    """Return the files in the order of their names, without hidden and empty ones."""
    if not source.exists():
        raise TargetError("there is no such file or folder", path=str(source))
    if not source.is_dir():
        return [source]
    paths = sorted(path for path in source.iterdir() if not path.name.startswith("."))
    if any(not path.is_file() for path in paths):
        raise PolicyError("the folder has other folders in it: give a folder of files", path=str(source))
    return [path for path in paths if path.stat().st_size]


def _look(file: PathSource, format: Format, layout: Layout) -> tuple[str | None, Format, str] | None:
    """Return the type of the first resource of a file, with the format and the suffix of its release."""
    document = next(read_file(file, format, layout), None)
    if document is None or document.get(TYPE) == CAPABILITIES:
        return None
    kind = document.get(TYPE)
    packed = ".gz" if file.name.lower().endswith(".gz") else ""
    suffix = ".ndjson" if format.name == FORMATS["jsonl"].name else format.extension
    return kind if isinstance(kind, str) else None, format, suffix + packed


def _read_singles(
    files: Sequence[tuple[PathSource, Format]],
) -> tuple[list[RowPart], tuple[str | None, Format, str] | None]:
    """Return the parts of files of JSON, which are one document each or an array."""
    file, format = files[0]
    with open_source(file) as stream:
        layout = format.layout_of_record(stream) or open_input(file, format, ())
    splits = split_files(tuple(file for file, _ in files), format, layout, one_a_file=layout.whole)
    parts, before = [], 0
    for group in splits:
        size = sum(file.path.stat().st_size for file in group.files)
        parts.append(RowPart(None, "the files of JSON", group, size, before if layout.whole else 0))
        before += len(group.files)
    lines = FORMATS["jsonl"]()
    for file, format in files:
        if (first := _look(file, format, layout)) is not None:
            return parts, (first[0], lines, ".ndjson")
    return parts, None
