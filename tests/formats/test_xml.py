"""XML: elements to documents, the layout, namespaces, streaming, what cannot be written."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from lxml import etree

from hierdata.documents.document import Document, Numeral, Siblings
from hierdata.documents.formats import FORMATS, MAX_DEPTH, Layout
from hierdata.documents.formats.xml import _Reader
from hierdata.documents.formats.xmltree import from_element
from hierdata.ground.errors import InputError, VerificationError
from tests.cases import first_few

XML = FORMATS["xml"]()
STUDENTS = Path(__file__).parents[2] / "fixtures" / "students" / "students.xml"
PLACE = ("students", "student")


def read(text: str, records: tuple[str, ...] = (), *, alone: bool = False) -> list[Document]:
    layout = replace(XML.layout(io.BytesIO(text.encode()), records), alone=alone)
    return list(XML.read(io.BytesIO(text.encode()), layout))


def write(document: Document, namespaces: dict[str, str] | None = None) -> str:
    stream = io.BytesIO()
    XML.write([document], stream, Layout(PLACE, namespaces or {}))
    return stream.getvalue().decode().splitlines()[2]


def test_elements_become_strings_or_objects() -> None:
    [record] = read(
        '<students><student id="1">\n <name>A &amp; <![CDATA[<B>]]></name> <note/>\n'
        ' <course code="CS201"><grade>A</grade></course><course code="CS305"/>'
        '<p lang="en">one <b>two</b> three</p><blank> </blank></student></students>'
    )
    assert record == {
        "@id": "1",
        "name": ["A & <B>"],
        "note": [""],
        "course": [{"@code": "CS201", "grade": ["A"]}, {"@code": "CS305"}],
        "p": [{"@lang": "en", "b": ["two"], "#text": "one  three"}],
        "blank": [" "],
    }
    assert all(isinstance(record[key], Siblings) for key in record if key != "@id")


def test_names_are_in_clark_notation_and_prefixes_are_those_of_the_layout() -> None:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<students xmlns="urn:s">\n'
        '<student xmlns:x="urn:x" x:id="1" xml:lang="en"><x:a>1</x:a><b/></student>\n</students>\n'
    )
    given = (
        text.replace(' xmlns:x="urn:x"', "")
        .replace(" x:", " y:")
        .replace("<x:", "<y:")
        .replace("</x:", "</y:")
    )
    given = given.replace('"urn:s"', '"urn:s" xmlns:y="urn:x"')
    layout = XML.layout(io.BytesIO(given.encode()))
    declared = {"": "urn:s", "y": "urn:x"}
    assert layout == Layout(("{urn:s}students", "{urn:s}student"), declared=declared)
    records = list(XML.read(io.BytesIO(text.encode()), layout))
    assert records == [
        {
            "@{urn:x}id": "1",
            "@{http://www.w3.org/XML/1998/namespace}lang": "en",
            "{urn:x}a": ["1"],
            "{urn:s}b": [""],
        }
    ]
    stream = io.BytesIO()
    XML.write(records, stream, replace(layout, namespaces={"": "urn:s", "x": "urn:x"}))
    assert stream.getvalue().decode() == text


def test_bundled_students_come_back_byte_for_byte() -> None:
    data = STUDENTS.read_bytes()
    layout = XML.layout(io.BytesIO(data))
    assert layout.records == PLACE
    stream = io.BytesIO()
    XML.write(XML.read(io.BytesIO(data), layout), stream, layout)
    assert stream.getvalue() == data


def test_a_stated_place_drops_other_children_and_keeps_nested_namesakes() -> None:
    meta = "<meta><student>no</student></meta>"
    text = f"<students>x{meta}<student><student>in</student></student>y<meta/></students>"
    assert read(text, PLACE) == [{"student": ["in"]}]
    with pytest.raises(InputError, match="root element"):
        read(text, ("people", "student"))
    with pytest.raises(InputError, match=r"another XML namespace .* `namespaces`"):
        read(text, ("{urn:example:school}students", "{urn:example:school}student"))
    assert read(text, ("students", "meta", "student")) == [{"#text": "no"}]
    assert read(text, ("students", "student", "course")) == []


@pytest.mark.parametrize("stated", first_few(1, [False, True]))
def test_the_reader_holds_the_records_of_one_chunk(stated: bool) -> None:
    given = 0

    def chunks() -> Iterator[bytes]:
        nonlocal given
        yield b"<students>"
        for _ in range(100):
            given += 1
            yield b"<student><a>1</a></student>" * 1000 + b"<other/>" * 1000 * stated
        yield b"</students>"
        yield b""

    reader = _Reader(Layout(PLACE, stated=stated))
    for number, record in enumerate(reader.read(chunks())):
        assert record == {"a": ["1"]}
        assert given == number // 1000 + 1
        assert reader._root is not None
        assert len(reader._root) <= 2001
    assert number == 99_999


def test_elements_given_in_python_read_as_in_a_file() -> None:
    text = '<student id="1"><!-- aside --><a>x<?target data?>y<!-- aside --></a> <b><c/></b>tail</student>'
    assert from_element(etree.fromstring(text)) == read(f"<students>{text}</students>")[0]
    root = etree.fromstring(text)
    from_element(root)
    assert etree.tostring(root).decode() == text
    with pytest.raises(InputError, match=r"record 2: .*64 deep"):
        from_element(etree.fromstring("<a>" * (MAX_DEPTH + 2) + "</a>" * (MAX_DEPTH + 2)), record=2)
    parser = etree.XMLParser(resolve_entities=False)
    with pytest.raises(InputError, match="entity"):
        from_element(etree.fromstring('<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', parser))


def test_scalars_of_other_formats_are_written_by_their_spelling() -> None:
    document: Document = {
        "@id": 7,
        "gpa": Numeral("1e2"),
        "flag": True,
        "none": None,
        "grade": ["A", None, Decimal("1.0")],
        "course": {"#text": False, "@code": 'a"<\n'},
        "empty": [],
    }
    assert write(document) == (
        '<student id="7"><gpa>1e2</gpa><flag>true</flag><grade>A</grade><grade>1.0</grade>'
        '<course code="a&quot;&lt;&#10;">false</course></student>'
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"a": "7319\x00"}, "character"),
        ({"@a": "7319\x1f"}, "character"),
        ({"7319": "x"}, "name"),
        ({"": "x"}, "name"),
        ({"a b": "x"}, "name"),
        ({"{urn:x": "x"}, "name"),
        ({"@xmlns": "x"}, "name"),
        ({"@a": ["7319"]}, "one value"),
        ({"a": [["7319"]]}, "one value"),
    ],
)
def test_what_xml_cannot_hold_is_refused_without_its_data(document: Document, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        write(document)
    assert "7319" not in str(caught.value)


def test_a_long_prolog_is_read_and_an_endless_one_is_not() -> None:
    comment = "<!-- " + "x" * 200_000 + " -->"
    assert read(f"\ufeff{comment}<students><student>a</student></students>") == [{"#text": "a"}]
    with pytest.raises(InputError, match="first MiB"):
        read(comment * 8)
    with pytest.raises(InputError, match="DOCTYPE"):
        read(f"{comment}<!DOCTYPE students []><students><student/></students>")


RECORDS = "<students><student>a</student></students>"


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE students>",
        '<!DOCTYPE students SYSTEM "x.dtd">',
        "<!DOCTYPE students SYSTEM 'http://localhost:1/[>x.dtd' >",
        '<!DOCTYPE\nstudents\tPUBLIC "-//W3C//DTD>"\n"x.dtd"\n>',
        '<!DOCTYPE students SYSTEM "' + "x" * 200_000 + '">',
    ],
    ids=lambda text: text[:40],
)
def test_a_doctype_that_only_names_a_dtd_is_ignored(
    doctype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is loaded: a DTD beside the file declares an entity, which stays undefined."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.dtd").write_text('<!ENTITY nbsp "7319"><!ATTLIST student note CDATA "7319">')
    head = f'<?xml version="1.0"?>\n<!-- a -->{doctype}\n<!-- b -->'
    assert read(head + RECORDS) == [{"#text": "a"}]
    with pytest.raises(InputError, match="uses an entity"):
        read(head + RECORDS.replace("a", "&nbsp;"))
    with pytest.raises(VerificationError, match="besides the records"):
        read(head + RECORDS, alone=True)
    with pytest.raises(InputError, match=r"not well-formed XML \(line"):
        read(head + RECORDS.replace("</student>", ""))


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE students [<!ENTITY e "x">]>',
        '<!DOCTYPE students SYSTEM "x.dtd" []>',
        '<!DOCTYPE students SYSTEM "x.dtd"',
        "<!DOCTYPE students><!DOCTYPE students>",
        '<!DOCTYPE students PUBLIC "x">',
        "<!DOCTYPE>",
        '<!DOCTYPE students SYSTEM "a""b">',
    ],
)
def test_any_other_doctype_is_refused(doctype: str) -> None:
    for end in (RECORDS, ""):
        with pytest.raises(InputError, match="DOCTYPE"):
            read(doctype + end)


def test_an_error_that_the_parser_passes_over_is_blamed_on_no_record() -> None:
    with pytest.raises(InputError, match="line 1, column 24") as caught:
        list(
            XML.read(
                io.BytesIO(b"<students><student><u:a/></student><student>" + b"<b>" * 30_000), Layout(PLACE)
            )
        )
    assert caught.value.record is None


def test_comments_and_instructions_come_where_they_are_listed_and_go_back() -> None:
    text = (
        "<students><!-- 1 --><student><?keep a b?><!-- 2 --><a>x<!-- 3 -->y<?drop?></a> "
        "<b><!--4--><c>z</c></b></student></students>"
    )
    listed = Layout(PLACE, stated=True, asides=frozenset({("?keep",), ("b", "#comment")}))
    [record] = XML.read(io.BytesIO(text.encode()), listed)
    assert record == {"?keep": ["a b"], "a": ["xy"], "b": [{"#comment": ["4"], "c": ["z"]}]}
    assert list(XML.read(io.BytesIO(text.encode()), Layout(PLACE, stated=True))) == [
        {"a": ["xy"], "b": [{"c": ["z"]}]}
    ]
    stream = io.BytesIO()
    XML.write([record], stream, listed)
    line = stream.getvalue().decode().splitlines()[2]
    assert line == "<student><?keep a b?><a>xy</a><b><!--4--><c>z</c></b></student>"
    judged = replace(listed, alone=True)
    assert list(XML.read(io.BytesIO(stream.getvalue()), judged)) == [record]
    for beside in (text, line.replace("<a>", "<!-- 7319 --><a>"), "<?s?>" + line):
        whole = beside if "students" in beside else f"<students>{beside}</students>"
        with pytest.raises(VerificationError):
            list(XML.read(io.BytesIO(whole.encode()), judged))
    for key, bad in (("#comment", "a--b"), ("#comment", "-"), ("?keep", "?>"), ("?1", "x")):
        with pytest.raises(InputError):
            XML.write([{key: Siblings([bad])}], io.BytesIO(), listed)


def test_a_prefix_is_declared_by_the_records_that_use_it() -> None:
    text = (
        '<r><s><x:a xmlns:x="urn:x" x:k="1"/></s><s><y:a xmlns:y="urn:x"/><x:b xmlns:x="urn:z" x:c=""/></s>'
        '<s xmlns:u="urn:u"/><s><b xmlns:v="urn:v" xmlns:w="urn:w" w:e="" v:d="" w:f=""/></s></r>'
    )
    layout = XML.layout(io.BytesIO(text.encode()))
    stream = io.BytesIO()
    stated = replace(layout, namespaces={"ns0": "urn:x", "u": "urn:u", "w": "urn:w"})
    XML.write(XML.read(io.BytesIO(text.encode()), layout), stream, stated)
    assert stream.getvalue().decode().splitlines()[1:] == [
        "<r>",
        '<s xmlns:ns0="urn:x"><ns0:a ns0:k="1"/></s>',
        '<s xmlns:ns0="urn:x" xmlns:ns1="urn:z"><ns0:a/><b xmlns="urn:z" ns1:c=""/></s>',
        "<s/>",
        '<s xmlns:ns1="urn:v" xmlns:w="urn:w"><b w:e="" ns1:d="" w:f=""/></s>',
        "</r>",
    ]


def test_what_the_root_declares_is_not_declared_again() -> None:
    document: Document = {"{urn:x}a": Siblings(["1"]), "@{urn:y}b": "2"}
    stream = io.BytesIO()
    XML.write([document], stream, Layout(("{urn:x}r", "s"), {"x": "urn:x", "y": "urn:y"}))
    assert stream.getvalue().decode().splitlines()[1:] == [
        '<x:r xmlns:x="urn:x">',
        '<s xmlns:y="urn:y" y:b="2"><x:a>1</x:a></s>',
        "</x:r>",
    ]
    stream = io.BytesIO()
    XML.write([document], stream, Layout(("{urn:x}r",), {"x": "urn:x", "y": "urn:y", "z": "urn:z"}))
    assert stream.getvalue().decode().splitlines()[1:] == [
        '<x:r xmlns:x="urn:x" xmlns:y="urn:y" y:b="2"><x:a>1</x:a></x:r>'
    ]


FLOODS = {
    "attributes": "<s " + " ".join(f'a{at}="1"' for at in range(20_000)) + "/>",
    "namespaces": "<s " + " ".join(f'xmlns:n{at}="urn:{at}"' for at in range(5_000)) + "/>",
    "instructions": "<s>" + "<?p x?>" * 50_000 + "</s>",
    "comments": "<s>" + "<!--x-->" * 50_000 + "</s>",
    "names": "<s>" + "".join(f"<n{at}/>" for at in range(30_000)) + "</s>",
    "tails": "<s>" + "<b/>t" * 50_000 + "</s>",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_floods_are_read_in_bounded_time(flood: str) -> None:
    text = f"<r>{FLOODS[flood]}<s/></r>".encode()
    start = time.process_time()
    for asides in (frozenset[tuple[str, ...]](), frozenset({("?q",)})):
        layout = replace(XML.layout(io.BytesIO(text), ("r", "s")), asides=asides)
        assert sum(1 for _ in XML.read(io.BytesIO(text), layout)) == 2
    assert time.process_time() - start < 5


def test_inclusions_are_elements_and_include_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<secret>7319</secret>")
    where = (tmp_path / "secret.xml").as_uri()
    text = f'<r><s><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{where}"/></s></r>'
    [record] = read(text, ("r", "s"))
    assert record == {"{http://www.w3.org/2001/XInclude}include": [{"@href": where}]}
