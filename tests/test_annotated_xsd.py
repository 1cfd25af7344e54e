"""Policies written into an XSD: the same policy as in YAML, and every mistake told."""

from __future__ import annotations

from pathlib import Path

import pytest

import hierdata
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import load

SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:p="urn:hierdata:policy:1"
    xmlns:c="urn:clinic" targetNamespace="urn:clinic" elementFormDefault="qualified" {root}>
  {appinfo}
  <xs:element name="clinic"><xs:complexType><xs:sequence>
    <xs:element name="patient" type="c:patient" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="patient">
    <xs:sequence>
      <xs:element name="sex" type="xs:string" p:role="quasi" p:flat="true"/>
      <xs:element name="visit" type="c:visit" maxOccurs="unbounded"/>
    </xs:sequence>
    <xs:attribute name="id" type="xs:string" p:role="identifier"/>
    <xs:attribute name="born" type="xs:integer" p:role="quasi" p:interval="{{steps: [1, 5, 10]}}"/>
  </xs:complexType>
  <xs:complexType name="visit"><xs:simpleContent>
    <xs:extension base="xs:string" p:role="sensitive">
      <xs:attribute name="ward" type="xs:string">
        <xs:annotation><xs:appinfo source="urn:hierdata:policy:1">{{role: quasi, flat: true}}</xs:appinfo>
        </xs:annotation>
      </xs:attribute>
    </xs:extension>
  </xs:simpleContent></xs:complexType>
  {more}
</xs:schema>"""
ROOT = 'p:version="1" p:records="/c:clinic/c:patient" p:models="[{kind: k-anonymity, k: 2}]"'


def xsd(tmp_path: Path, root: str = ROOT, appinfo: str = "", more: str = "") -> Path:
    file = tmp_path / "clinic.xsd"
    file.write_text(SCHEMA.format(root=root, appinfo=appinfo, more=more))
    return file


def test_it_is_the_policy_that_it_would_be_in_yaml(tmp_path: Path) -> None:
    plain = tmp_path / "policy.yaml"
    plain.write_text(
        """
version: 1
records: /c:clinic/c:patient
schema: clinic.xsd
namespaces: {c: "urn:clinic", p: "urn:hierdata:policy:1"}
models: [{kind: k-anonymity, k: 2}]
fields:
  /c:clinic/c:patient/@id: {role: identifier}
  /c:clinic/c:patient/@born: {role: quasi, interval: {steps: [1, 5, 10]}}
  /c:clinic/c:patient/c:sex: {role: quasi, flat: true}
  /c:clinic/c:patient/c:visit/text(): {role: sensitive}
  /c:clinic/c:patient/c:visit/@ward: {role: quasi, flat: true}
"""
    )
    noted, stated = load(xsd(tmp_path)), load(plain)
    assert {path.keys: rule for path, rule in noted.rules_by_keys.values()} == {
        path.keys: rule for path, rule in stated.rules_by_keys.values()
    }
    assert noted.place == stated.place
    assert noted.models == stated.models
    assert noted.record_schema == "clinic.xsd"


def test_a_collection_is_released_under_it(tmp_path: Path) -> None:
    people = "".join(
        f'<c:patient id="p{at}" born="{1980 + at}"><c:sex>f</c:sex>'
        '<c:visit ward="w">flu</c:visit></c:patient>'
        for at in range(4)
    )
    data = tmp_path / "clinic.xml"
    data.write_text(f'<c:clinic xmlns:c="urn:clinic">{people}</c:clinic>')
    out = tmp_path / "out"
    hierdata.anonymize(data, xsd(tmp_path)).save(out)
    assert hierdata.verify(out, xsd(tmp_path), original=data).passed
    text = (out / "public" / "records.xml").read_text()
    assert text.count('<c:visit ward="w">flu</c:visit>') == 4
    assert 'base="xs:string"' in (out / "public" / "records.xsd").read_text()


def test_the_policy_s_own_keys_may_stand_in_appinfo(tmp_path: Path) -> None:
    appinfo = (
        '<xs:annotation><xs:appinfo source="urn:hierdata:policy:1">\nversion: 1\n'
        "records: /c:clinic/c:patient\n"
        "models:\n  - {kind: k-anonymity, k: 3}\n</xs:appinfo>"
        '<xs:appinfo source="urn:other">role: [</xs:appinfo></xs:annotation>'
    )
    assert load(xsd(tmp_path, "", appinfo)).models[0].model_dump()["k"] == 3


@pytest.mark.parametrize(
    ("root", "more", "words"),
    [
        ("", "", "state the path of the records at xs:schema"),
        (ROOT.replace("/c:clinic/c:patient", "/c:clinic/c:person"), "", "no record element"),
        (
            ROOT,
            '<xs:element name="x" type="xs:string" p:role="quasi"/>',
            "line 23: no path of the records leads",
        ),
        (ROOT + ' p:dataset="[1"', "", "xs:schema, dataset"),
        (ROOT + ' p:fields="{/c:clinic/c:patient/{urn:clinic}sex: {}}"', "", "xs:schema, fields"),
        (ROOT + ' p:colour="red"', "", "unknown key 'colour'"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, root: str, more: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        load(xsd(tmp_path, root, more=more))


def test_nothing_outside_the_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "secret.xsd").write_text("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>")
    include = '<xs:include schemaLocation="secret.xsd"/><xs:element name="y" type="c:elsewhere"/>'
    assert load(xsd(tmp_path, more=include)).paths
    file = xsd(tmp_path)
    file.write_text('<!DOCTYPE x [<!ENTITY e SYSTEM "secret.xsd">]>' + file.read_text())
    with pytest.raises(PolicyError, match="DOCTYPE"):
        load(file)


def test_types_inside_themselves_end(tmp_path: Path) -> None:
    looped = SCHEMA.replace(
        '<xs:element name="sex"', '<xs:element name="in" type="c:patient"/><xs:element name="sex"'
    )
    file = tmp_path / "loop.xsd"
    file.write_text(looped.format(root=ROOT, appinfo="", more=""))
    assert len(load(file).paths) < 50
