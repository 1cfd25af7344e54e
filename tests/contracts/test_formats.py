"""What every format must keep: what it writes it reads back, always the same bytes, one record at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from hierdata.documents.document import Document, Numeral, Siblings
from hierdata.documents.formats import FORMATS, Layout, detect
from hierdata.documents.formats.source import PathSource, write_stream
from hierdata.documents.scalars import Decimal128, Double, Int64
from hierdata.ground.errors import InputError
from hierdata.testing import check_format

ROOT = Path(__file__).parents[2]
each_format = pytest.mark.parametrize("name", FORMATS)


# The schema of Parquet stands at the end of the file, and its types are known when all rows are.
each_stream = pytest.mark.parametrize("name", [name for name in FORMATS if name != "parquet"])

BUNDLED = {name: f"students{FORMATS[name].extension}" for name in ("json", "jsonl", "xml")}
BUNDLED["csv"] = "tables/courses.csv"
BUNDLED["extended-json"] = "mongodb/canonical.ejson"
BUNDLED["bson"] = "mongodb/university/students.bson"


def layout_of(name: str) -> Layout:
    if name in ("csv", "parquet"):
        return Layout(columns=("id", "a", "odd name"))
    return Layout(("records", "record") if name == "xml" else ())


def records(name: str) -> list[Document]:
    """Names that need quoting, text that needs escaping, one child and several, deep and empty ones."""
    texts = ["", " spaced ", "<&>\"'", "ünï — 日本 🎓", "line\nline", "1", "*", "[1, 2]"]
    if name == "xml":
        return [
            {"@id": str(at), "a": Siblings([text]), "b": Siblings(["x", text])}
            for at, text in enumerate(texts)
        ]
    if name in ("csv", "parquet"):
        # In CSV all is text, and an empty cell a missing value.
        return [
            {"id": str(at) if name == "csv" else at, "a": text, "odd name": f"{text}, {'long enough' * 9}"}
            for at, text in enumerate(texts)
            if text
        ]
    numbers = [0, -1, 10**30, Decimal("0.1"), Numeral("1e2"), Numeral("1.50"), True, None]
    if name == "bson":  # it spells no numbers, and has no integers of this size
        numbers[2], numbers[4:6] = Int64(2**62), [Double("100.0"), Decimal128("1.50")]
    return [
        {"id": at, "a": text, "b": [text, {"c": number}, []], "odd name": {"d": {}}}
        for at, (text, number) in enumerate(zip(texts, numbers, strict=True))
    ]


@each_format
def test_a_format_is_known_by_its_name_and_its_suffix(name: str) -> None:
    assert FORMATS[name].name == name
    assert type(detect(f"some{FORMATS[name].extension}")) is FORMATS[name]
    assert type(detect(f"SOME{FORMATS[name].extension}.GZ".upper())) is FORMATS[name]


@each_format
def test_a_format_keeps_the_contract(name: str) -> None:
    check_format(FORMATS[name](), records(name), layout_of(name))


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("packed", ["", pytest.param(".gz", marks=pytest.mark.full)])
def test_the_bundled_students_survive(name: str, packed: str, tmp_path: Path) -> None:
    source = ROOT / "fixtures/students" / BUNDLED[name]
    chosen = FORMATS[name]()
    with source.open("rb") as stream:
        layout = chosen.layout(stream, ())
    with source.open("rb") as stream:
        students = list(chosen.read(stream, layout))
    target = tmp_path / f"again{chosen.extension}{packed}"
    with write_stream(target) as stream:
        chosen.write(students, stream, layout)
    with PathSource(target).open() as stream:
        assert list(chosen.read(stream, layout)) == students
    if not packed:
        assert target.read_bytes().split() == source.read_bytes().split()


@cache
def written_long(name: str) -> tuple[bytes, int]:
    """A long file, and how much of it was written when its last record was asked for."""
    stream = io.BytesIO()
    before = 0

    def given() -> Iterator[Document]:
        nonlocal before
        for document in records(name) * 5000:
            before = stream.tell()
            yield document

    FORMATS[name]().write(given(), stream, layout_of(name))
    return stream.getvalue(), before


@each_stream
def test_a_reader_holds_one_record_and_not_the_text(name: str) -> None:
    """Most of a long file has not been read when its first record is there."""
    stream = io.BytesIO(written_long(name)[0])
    next(FORMATS[name]().read(stream, layout_of(name)))
    assert stream.tell() < len(stream.getvalue()) / 10


@each_stream
def test_a_writer_writes_while_it_is_given_records(name: str) -> None:
    written, before = written_long(name)
    assert before > len(written) / 2


@each_stream
def test_the_layout_is_found_at_the_beginning(name: str) -> None:
    stream = io.BytesIO(written_long(name)[0])
    assert FORMATS[name]().layout(stream, ()).records == layout_of(name).records
    assert stream.tell() < len(stream.getvalue()) / 10


@each_stream
def test_errors_say_which_record_and_nothing_of_it(name: str) -> None:
    stream = io.BytesIO()
    FORMATS[name]().write(iter(records(name)), stream, layout_of(name))
    cut = stream.getvalue()[:-40]
    with pytest.raises(InputError) as caught:
        list(FORMATS[name]().read(io.BytesIO(cut), layout_of(name)))
    assert caught.value.record is not None
    assert not any(text in str(caught.value) for text in ("odd name", "[1, 2]", "1.50"))
