"""What comes in: a file or Python objects as documents that can be read as often as a run needs them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hierdata.document import Document
from hierdata.errors import InputError, PolicyError, TargetError
from hierdata.formats import FORMATS, Format, Layout, detect
from hierdata.formats.objects import from_python
from hierdata.formats.source import PathSource, Source, write_stream
from hierdata.policy import Policy

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DEFAULT_ROOT = "records"
"""The root element of a release whose records came as lxml elements."""


class Form(ABC):
    """How the documents of a collection lie in files; a release has the form of its input."""

    format: Format

    @abstractmethod
    def name(self, part: str) -> str:
        """The name of the file (or folder) of a part of a release, such as ``records``."""

    @abstractmethod
    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write documents; ``element`` names a document where the input's own name does not fit."""

    @abstractmethod
    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """The documents of a written file; ``alone`` refuses what lies beside them (see Layout)."""


@dataclass(frozen=True)
class FileForm(Form):
    """One file of a format; ``suffix`` is what its name ends in."""

    format: Format
    layout: Layout
    suffix: str

    def name(self, part: str) -> str:
        """The part's name with the suffix."""
        return part + self.suffix

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write one file (see Form.write)."""
        with write_stream(path) as stream:
            self.format.write(documents, stream, self._layout(element))

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Read one file (see Form.read)."""
        return read_file(PathSource(path), self.format, replace(self._layout(element), alone=alone))

    def _layout(self, element: str | None) -> Layout:
        if element is None or self.format.name != "xml":
            return self.layout
        return replace(self.layout, records=(self.layout.records[0], element))


@dataclass(frozen=True)
class Collection:
    """A collection that can be read again and again (DECISIONS 27).

    ``documents`` starts anew at every call. What could be read only once lies in a private file, which goes
    with the collection.
    """

    form: Form
    documents: Callable[[], Iterator[Document]]


def collect(source: object, policy: Policy) -> Collection:
    """A collection from a path, a Source, an lxml tree, or an iterable of dicts or lxml elements.

    Raises TargetError for a file that cannot be read, InputError for one without records, PolicyError when
    the format cannot be told or something else was given.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return (
            _piped(path, policy)
            if path.is_fifo() or path.is_char_device()
            else _file(PathSource(path), policy)
        )
    if isinstance(source, Source):
        return _file(source, policy)
    if hasattr(source, "getroot"):
        source = _elements(source.getroot(), policy)
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        return _objects(source, policy)
    raise PolicyError(
        "the input must be a path, or an iterable of dicts or lxml elements; "
        f"it has the type {type(source).__name__}"
    )


def format_of(name: str, policy: Policy) -> Format:
    """The format that the policy states, else the one that the file's name tells."""
    return FORMATS[policy.format]() if policy.format else detect(name)


def read_file(source: Source, format: Format, layout: Layout) -> Iterator[Document]:
    """The documents of a file; the file is closed with the last of them."""
    try:
        with source.open() as stream:
            yield from format.read(stream, layout)
    except OSError as error:
        raise TargetError(f"cannot read {source.name}: {error.strerror}") from None


def form_of(path: Path, policy: Policy, element: str | None = None) -> Form:
    """The form of a published file, told by its name; with ``element`` its documents are no records."""
    format = format_of(path.name, policy)
    place = () if element is not None and format.name == "xml" else policy.place
    return FileForm(format, open_layout(PathSource(path), format, place), path.suffix)


def open_layout(source: Source, format: Format, place: tuple[str, ...]) -> Layout:
    """Where the records lie in a file."""
    try:
        with source.open() as stream:
            return format.layout(stream, place)
    except OSError as error:
        raise TargetError(f"cannot read {source.name}: {error.strerror}") from None


def _file(source: Source, policy: Policy) -> Collection:
    format = format_of(source.name, policy)
    layout = open_layout(source, format, policy.place)
    packed = ".gz" if source.name.lower().endswith(".gz") else ""
    form = FileForm(format, layout, format.extension + packed)
    return Collection(form, lambda: read_file(source, format, layout))


def _elements(root: Any, policy: Policy) -> list[object]:
    """The records of an lxml tree: the root's children of the name that the policy or the first one gives."""
    children = [child for child in root if isinstance(child.tag, str)]
    name = policy.place[-1] if policy.place else next((child.tag for child in children), None)
    return [child for child in children if child.tag == name]


def _objects(items: Iterable[object], policy: Policy) -> Collection:
    """Objects in memory; what can be iterated only once is spilled to a private file first."""
    iterator = iter(items)
    first = next(iterator, None)
    if first is None:
        raise InputError("the collection is empty: there is nothing to anonymize")
    if hasattr(first, "nsmap"):
        from hierdata.formats.xml import from_element

        convert: Callable[..., Document] = from_element
        place = policy.place or (DEFAULT_ROOT, str(first.tag))  # type: ignore[attr-defined]
        format: Format = FORMATS["xml"]()
        namespaces = {prefix or "": uri for prefix, uri in first.nsmap.items()}
        layout = Layout(place, namespaces)
    else:
        convert, format, layout = from_python, FORMATS["json"](), Layout(policy.place)

    def converted(source: Iterable[object]) -> Iterator[Document]:
        for ordinal, item in enumerate(source, 1):
            yield convert(item, record=ordinal)

    if iterator is not items:
        return Collection(FileForm(format, layout, format.extension), lambda: converted(items))
    return _spilled(converted(_chain(first, iterator)), format, layout)


def _spilled(documents: Iterator[Document], format: Format, layout: Layout) -> Collection:
    """Documents that can be read only once, written to a private file that goes with the collection."""

    def written(folder: Path) -> Collection:
        source = PathSource(folder / f"spill{format.extension}")
        with write_stream(source.path) as stream:
            format.write(documents, stream, layout)
        form = FileForm(format, layout, format.extension)
        return Collection(form, lambda: read_file(source, format, layout))

    return _beside_a_folder(written)


def _piped(path: Path, policy: Policy) -> Collection:
    """A pipe can be read only once: copied as it is to a private file that goes with the collection."""

    def copied(folder: Path) -> Collection:
        source = PathSource(folder / path.name)
        try:
            with path.open("rb") as pipe, source.path.open("xb") as copy:
                shutil.copyfileobj(pipe, copy)
        except OSError as error:
            raise TargetError(f"cannot read {path}: {error.strerror}") from None
        return _file(source, policy)

    return _beside_a_folder(copied)


def _beside_a_folder(fill: Callable[[Path], Collection]) -> Collection:
    """The collection whose files ``fill`` puts into a private folder, which goes with the collection."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="hierdata-"))
    except OSError as error:
        raise TargetError(f"cannot keep the records for a second reading ({error.strerror})") from None
    try:
        collection = fill(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(collection, shutil.rmtree, folder, ignore_errors=True)
    return collection


def _chain(first: object, rest: Iterator[object]) -> Iterator[object]:
    yield first
    yield from rest


def checked(documents: Iterable[Document], schema: Path) -> Iterator[Document]:
    """Pass documents on that satisfy a JSON Schema; InputError for the first that does not.

    Only the place in the record and in the schema is told: the validator's own message would quote the value.
    """
    from referencing.exceptions import Unresolvable  # what jsonschema itself resolves references with

    validator = _validator(schema)
    for ordinal, document in enumerate(documents, 1):
        try:
            error = next(validator.iter_errors(cast("Any", document)), None)
        except Unresolvable:
            raise PolicyError(
                f"{schema.name} refers to a schema that it does not hold, and no other is fetched"
            ) from None
        except RecursionError:
            raise PolicyError(f"{schema.name} refers to itself without end") from None
        if error is not None:
            rule = "/".join(map(str, error.absolute_schema_path))
            raise InputError(
                f"the record does not satisfy the JSON Schema (rule {rule} of {schema.name})", record=ordinal
            )
        yield document


def _validator(schema: Path) -> Validator:
    import json

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    try:
        stated = json.loads(schema.read_text(encoding="utf-8"), parse_float=Decimal)
        kind = validator_for(stated, default=Draft202012Validator)
        kind.check_schema(stated)
    except OSError as error:
        raise PolicyError(f"the JSON Schema {schema.name} cannot be read ({error.strerror})") from None
    except (ValueError, SchemaError) as error:
        raise PolicyError(f"{schema.name} is no JSON Schema ({type(error).__name__})") from None
    if kind.TYPE_CHECKER.is_type(1.0, "integer"):  # not so before draft 6
        types = kind.TYPE_CHECKER.redefine("integer", _is_integer)
        kind = cast("type[Validator]", extend(kind, type_checker=types))  # type: ignore[no-untyped-call]
    # The default registry would fetch what the schema refers to from the network or from other files.
    return kind(stated, registry=Registry())


def _is_integer(_: object, value: object) -> bool:
    """JSON Schema goes by the value: 1.0 is an integer."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)
