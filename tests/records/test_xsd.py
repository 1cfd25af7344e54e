from __future__ import annotations

from pathlib import Path

import pytest

from hierdata.ground.errors import PolicyError, TargetError
from hierdata.records.xsd import many_hints

SCHEMAS = Path(__file__).parents[2] / "schemas"


def xsd(tmp_path, body, attributes=""):
    file = tmp_path / "s.xsd"
    file.write_text(f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" {attributes}>{body}</xs:schema>')
    return file


def inside(record):
    return (
        '<xs:element name="r"><xs:complexType><xs:sequence>'
        '<xs:element name="s" maxOccurs="9"><xs:complexType>'
        f"{record}</xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>"
    )


def test_the_bundled_students():
    assert many_hints(SCHEMAS / "student.xsd", ("students", "student")) == {
        ("course",),
        ("course", "evaluation"),
        ("course", "book"),
    }


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ('<xs:sequence><xs:element name="a" type="xs:string"/></xs:sequence>', set()),
        ('<xs:sequence><xs:element name="a" maxOccurs="2"/></xs:sequence>', {("a",)}),
        ('<xs:sequence><xs:element name="a" maxOccurs="0"/></xs:sequence>', set()),
        (
            '<xs:sequence maxOccurs="unbounded"><xs:choice><xs:element name="a"/></xs:choice></xs:sequence>',
            {("a",)},
        ),
        ('<xs:sequence><xs:element name="a"/><xs:element name="a"/></xs:sequence>', {("a",)}),
        ('<xs:group ref="g" maxOccurs="2"/>', {("g1",), ("g1", "in")}),
        ('<xs:sequence><xs:group ref="g"/></xs:sequence>', {("g1", "in")}),
        ('<xs:sequence><xs:element ref="part"/></xs:sequence>', {("part", "part")}),
        (
            '<xs:complexContent><xs:extension base="base"><xs:sequence><xs:element name="a" maxOccurs="2"/>'
            "</xs:sequence></xs:extension></xs:complexContent>",
            {("a",), ("b",)},
        ),
        ('<xs:simpleContent><xs:extension base="short"/></xs:simpleContent>', set()),
    ],
)
def test_what_may_repeat(tmp_path, record, expected):
    components = (
        '<xs:simpleType name="short"><xs:restriction base="xs:string"/></xs:simpleType>'
        '<xs:complexType name="base"><xs:sequence>'
        '<xs:element name="b" type="short" maxOccurs="3"/></xs:sequence>'
        '</xs:complexType><xs:group name="g"><xs:sequence><xs:element name="g1"><xs:complexType><xs:sequence>'
        '<xs:element name="in" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element></xs:sequence>'
        "</xs:group>"
        '<xs:element name="part" type="part"/><xs:complexType name="part"><xs:sequence>'
        '<xs:element ref="part" minOccurs="0" maxOccurs="2"/></xs:sequence></xs:complexType>'
    )
    assert many_hints(xsd(tmp_path, components + inside(record)), ("r", "s")) == expected


def test_names_are_in_the_target_namespace_where_they_are_qualified(tmp_path):
    record = (
        '<xs:sequence><xs:element name="a" maxOccurs="2"/>'
        '<xs:element name="b" form="unqualified" maxOccurs="2"/>'
        '<xs:element ref="t:c" maxOccurs="2"/></xs:sequence>'
    )
    file = xsd(
        tmp_path,
        '<xs:element name="c"/>' + inside(record),
        'targetNamespace="urn:t" xmlns:t="urn:t" elementFormDefault="qualified"',
    )
    assert many_hints(file, ("{urn:t}r", "{urn:t}s")) == {("{urn:t}a",), ("b",), ("{urn:t}c",)}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "declares no element for the root"),
        ('<xs:element name="r"/>', "declares no record element"),
        (inside('<xs:sequence><xs:element name="a" type="far"/></xs:sequence>'), "refers to far"),
        (
            '<xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>'
            + inside('<xs:group ref="g"/>'),
            "contain themselves",
        ),
        ("<a>", r"not well-formed XML \(line 1\)"),
    ],
)
def test_an_unusable_schema_is_refused(tmp_path, body, message):
    with pytest.raises(PolicyError, match=message):
        many_hints(xsd(tmp_path, body), ("r", "s"))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(TargetError, match="cannot be read"):
        many_hints(tmp_path / "none.xsd", ("r", "s"))
    file = tmp_path / "s.xsd"
    file.write_text("<schema/>")
    with pytest.raises(PolicyError, match="is not an XML Schema"):
        many_hints(file, ("r", "s"))
    (tmp_path / "leak").write_text("leaked")
    file.write_text(f'<!DOCTYPE s [<!ENTITY e SYSTEM "{(tmp_path / "leak").as_uri()}">]><schema>&e;</schema>')
    with pytest.raises(PolicyError, match="has a DOCTYPE"):
        many_hints(file, ("r", "s"))
