"""Whatever a format writes, it reads back equal, exact numbers included; gzipped or not."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hierdata.documents.document import Document, Numeral, Siblings
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.documents.formats.objects import dumps_exact, from_python
from hierdata.documents.formats.source import PathSource, write_stream
from tests.bytes_source import BytesSource

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
digits = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20}([eE][+-]?[0-9]{1,2})?|[eE][+-]?[0-9]{1,2})", fullmatch=True
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.integers(10**30, 10**31) | digits.map(Numeral) | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_records = st.lists(st.dictionaries(texts, values, max_size=4), max_size=5)

xml_texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r &<>\"']"),
    max_size=8,
)
xml_names = st.sampled_from(
    ["a", "b", "Ünï-1", "{urn:x}a", "{urn:y}b", "{http://www.w3.org/XML/1998/namespace}lang"]
)
xml_attributes = st.dictionaries(xml_names.map("@".__add__), xml_texts, max_size=3)
xml_own_text = xml_texts.filter(lambda text: text.strip(" \t\r\n")).map(lambda text: {"#text": text})


def xml_objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    children = st.dictionaries(xml_names, st.lists(inner, min_size=1, max_size=3).map(Siblings), max_size=3)
    # An element without attributes and children is a string.
    return st.builds(
        lambda one, two, three: one | two | three, xml_attributes, children, xml_own_text | st.just({})
    ).filter(lambda found: any(key != "#text" for key in found))


xml_values = st.recursive(xml_texts, xml_objects, max_leaves=8)
xml_records = st.lists(xml_objects(xml_values) | st.just({}), max_size=4)
namespaces = st.sampled_from(
    [{}, {"x": "urn:x"}, {"": "urn:x"}, {"": "urn:y", "ns0": "urn:x"}, {"": "urn:x", "x": "urn:x"}]
)
xml_places = st.tuples(xml_names, xml_names)


def written(chosen: Format, documents: list[Document], layout: Layout) -> bytes:
    stream = io.BytesIO()
    chosen.write(iter(documents), stream, layout)
    return stream.getvalue()


def same(one: object, two: object) -> bool:
    """Equal with types and spellings: 1, 1.0, 1.00 and true differ, list and Siblings too."""
    if type(one) is not type(two):
        # The reader makes a Numeral only where the spelling asks for it.
        return isinstance(one, Decimal) and isinstance(two, Decimal) and dumps_exact(one) == dumps_exact(two)
    if isinstance(one, dict) and isinstance(two, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    return dumps_exact(one) == dumps_exact(two)  # type: ignore[arg-type]


@given(json_records, st.lists(texts, max_size=3))
def test_json(records: list[Document], place: list[str]) -> None:
    chosen, layout = FORMATS["json"](), Layout(tuple(place))
    data = written(chosen, records, layout)
    found = chosen.layout(io.BytesIO(data), layout.records)
    assert same(list(chosen.read(io.BytesIO(data), found)), records)


@given(json_records)
def test_json_lines(records: list[Document]) -> None:
    chosen = FORMATS["jsonl"]()
    data = written(chosen, records, Layout())
    assert data.count(b"\n") == len(records)
    assert same(list(chosen.read(io.BytesIO(data), chosen.layout(io.BytesIO(data)))), records)


@given(xml_records, xml_places, namespaces)
def test_xml(records: list[Document], place: tuple[str, str], prefixes: dict[str, str]) -> None:
    chosen = FORMATS["xml"]()
    data = written(chosen, records, Layout(place, prefixes))
    found = chosen.layout(io.BytesIO(data), () if records else place)
    assert found.records == place
    elements = list(etree.fromstring(data).iter())
    names = [etree.QName(name) for one in elements for name in (one.tag, *one.attrib)]
    used = {name.namespace for name in names} - {"http://www.w3.org/XML/1998/namespace", None}
    assert {uri for one in elements for uri in one.nsmap.values() if uri} == used
    # The order of attributes, text and children is the writer's; equal objects are enough here.
    back = list(chosen.read(io.BytesIO(data), found))
    assert back == records
    assert written(chosen, back, Layout(place, prefixes)) == data


@given(values)
def test_python_objects_pass_unchanged(value: object) -> None:
    assert same(from_python({"a": value}), {"a": value})


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "parquet"])  # is packed inside
def test_gzip_is_read_and_written_the_same_on_every_run(name: str, tmp_path: Path) -> None:
    chosen = FORMATS[name]()
    layout = Layout(("list", "item") if name == "xml" else (), columns=("a",) if name == "csv" else ())
    kinds: dict[str, Any] = {"xml": lambda number: Siblings([str(number)]), "csv": str}
    records: list[Document] = [{"a": kinds.get(name, int)(number)} for number in range(5000)]
    targets = [tmp_path / f"one{chosen.extension}.gz", tmp_path / f"two{chosen.extension}.gz"]
    for target in targets:
        with write_stream(target) as stream:
            chosen.write(records, stream, layout)
    one, two = (target.read_bytes() for target in targets)
    assert one == two
    assert one[:2] == b"\x1f\x8b"
    for source in (PathSource(targets[0]), BytesSource(one, "data")):
        for _ in range(2):
            with source.open() as stream:
                assert list(chosen.read(stream, layout)) == records


def test_a_name_without_gz_is_written_plain(tmp_path: Path) -> None:
    with write_stream(tmp_path / "records.jsonl") as stream:
        FORMATS["jsonl"]().write([{"a": 1}], stream, Layout())
    assert (tmp_path / "records.jsonl").read_bytes() == b'{"a":1}\n'
