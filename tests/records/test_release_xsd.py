"""The XSD of a release: whatever was written satisfies it, and its types are no wider than they must be."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hierdata.documents.document import Document, Siblings
from hierdata.documents.formats import FORMATS, Layout
from hierdata.records.published_xsd import Types, outline_records, release_xsd
from tests.cases import examples

XML = FORMATS["xml"]()
XSI = "http://www.w3.org/2001/XMLSchema-instance"
NAMES = st.sampled_from(["a", "b", "{urn:t}a", "{urn:o}c", "{urn:p}d"])
ATTRIBUTES = st.sampled_from(
    [
        *("@k", "@{urn:t}k", "@{urn:o}k", "@{http://www.w3.org/XML/1998/namespace}lang"),
        f"@{{{XSI}}}type",
    ]
)
TEXTS = st.sampled_from(["", "x", "1", " y "])


def element(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    parts = st.dictionaries(NAMES, st.lists(inner, min_size=1, max_size=3).map(Siblings), max_size=3)
    attributes = st.dictionaries(ATTRIBUTES, TEXTS, max_size=2)
    text = st.one_of(st.just({}), st.just({"#text": "t"}), st.just({"#comment": Siblings(["c"])}))
    return st.builds(lambda *each: each[0] | each[1] | each[2], attributes, parts, text)


ELEMENTS = st.recursive(TEXTS | element(TEXTS), element, max_leaves=8)
ROOTS = [("r", "s"), ("{urn:t}r", "{urn:t}s"), ("{urn:t}r", "s"), ("r", "{urn:t}s"), ("s",), ("{urn:t}s",)]


@examples(150)
@given(st.lists(element(ELEMENTS), min_size=1, max_size=4), st.sampled_from(ROOTS))
def test_what_was_written_satisfies_it(documents: list[Document], place: tuple[str, ...]) -> None:
    layout = Layout(place, {"t": "urn:t", "o": "urn:o"})
    if len(place) == 1:  # validators take xsi:type at a root as an order, whatever the XSD says of it
        documents = [{key: item for key, item in one.items() if XSI not in key} for one in documents]
    files = [documents] if len(place) == 2 else [[document] for document in documents]
    written = []
    for own in files:
        stream = io.BytesIO()
        XML.write(own, stream, layout)
        written.append(stream.getvalue())
    read = [document for data in written for document in XML.read(io.BytesIO(data), layout)]
    xsd = release_xsd(place, {place[-1]: outline_records(read)}, {}, Types())
    assert xsd == release_xsd(place, {place[-1]: outline_records(read)}, {}, Types())
    schema = etree.XMLSchema(etree.fromstring(xsd))
    for data in written:
        schema.assertValid(etree.fromstring(data))


def described(documents: list[Document]) -> etree.XMLSchema:
    return etree.XMLSchema(
        etree.fromstring(release_xsd(("r", "s"), {"s": outline_records(documents)}, {}, Types()))
    )


def test_it_says_what_there_is_and_in_which_order() -> None:
    schema = described([{"@k": "1", "a": ["x"], "c": ["z"]}, {"b": ["y", "y"], "c": ["z"]}])
    valid = ["<r/>", "<r><s/></r>", "<r><s k='2'><a/><b/><b/><c/></s><s/></r>"]
    invalid = [
        "<x/>",
        "<r><t/></r>",
        "<r k=''/>",
        "<r><s><c/><a/></s></r>",
        "<r><s><a/><a/></s></r>",
        "<r>t</r>",
    ]
    assert [schema.validate(etree.fromstring(text)) for text in valid + invalid] == [True] * 3 + [False] * 6


def test_types_of_the_xsd_stay_where_all_values_have_them() -> None:
    simple = etree.fromstring(
        '<xs:simpleType xmlns:xs="http://www.w3.org/2001/XMLSchema" name="grade">'
        '<xs:restriction base="xs:string"><xs:enumeration value="A"/></xs:restriction></xs:simpleType>'
    )
    of: dict[tuple[str, ...], etree._Element | str] = {
        ("@n",): "xs:integer",
        ("@m",): "xs:integer",
        ("g",): "grade",
        ("h",): "grade",
    }
    types = Types([simple], {"xs": "http://www.w3.org/2001/XMLSchema"}, of, [("@m",)])
    documents: list[Document] = [
        {"@n": "1", "@m": "[1, 4]", "g": ["A"], "h": ["B"]},
        {"@n": "2", "@m": "7", "g": ["A"]},
    ]
    text = release_xsd(("r", "s"), {"s": outline_records(documents, of)}, {}, types)
    schema = etree.XMLSchema(etree.fromstring(text))
    kinds = {
        node.get("name"): node.get("type")
        for node in etree.fromstring(text).iter("{*}element", "{*}attribute")
        if node.get("name") not in ("r", "s")
    }
    assert kinds == {"n": "xs:integer", "m": None, "g": "grade", "h": "xs:string"}

    def valid(record: str) -> bool:
        return bool(schema.validate(etree.fromstring(f"<r>{record}</r>")))

    assert valid("<s n='3' m='*'><g>A</g><h>C</h></s>")
    assert not valid("<s n='x'/>")
    assert not valid("<s m='x'/>")
    assert not valid("<s><g>B</g></s>")
