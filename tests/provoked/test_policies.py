"""What is refused when a policy is read, before any record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data, load
from tests.provoked import Act, provoke

K = {"kind": "k-anonymity", "k": 2}
QUASI = {"role": "quasi", "flat": True}


def state(**changes: Any) -> Any:
    """Return the act of reading a policy with these keys."""
    stated = {"version": 1, "models": [K], "fields": {"$.a": QUASI, "$.s": {"role": "sensitive"}}} | changes
    return lambda: from_data(stated)


def describe(**rule: Any) -> Any:
    """Return the act of reading a policy with this rule for a field."""
    return state(fields={"$.a": QUASI, "$.s": {"role": "sensitive"}, "$.d": rule})


def test_keys_that_say_nothing_that_can_be_done() -> None:
    gate = {"metric": 3, "operator": "<=", "value": 1}
    provoke(
        PolicyError,
        ("two of them have the same name", state(csv={"columns": ["a", "b", "a"]})),
        ("fields[$.d].domain: must be a mapping with the kind", describe(role="quasi", domain={"size": 3})),
        (
            "interval is built in: write it as a key of its own, `interval: ...`",
            describe(role="quasi", domain={"kind": "interval", "steps": [5]}),
        ),
        ("no installed distribution declares 'nobody_made_this'", state(metrics=["nobody_made_this"])),
        ("lm_cost is measured for every release: leave it out", state(metrics=["lm_cost"])),
        ("gates[0].metric: 3 is not one of 'lm_cost'", state(gates=[gate])),
        (
            "at least one format must name a day: a year or month alone",
            describe(action={"shift": {"days": 30, "format": ["%Y", "%m/%Y"]}}),
        ),
        (
            "a field is carried twice",
            state(shape=[{"lift": {"from": "$.a[*].b[*]", "to": "$.c[*]", "carry": ["x", "x"]}}]),
        ),
        (
            "the edges must increase",
            state(shape=[{"count": {"path": "$.a[*]", "to": "$.n", "bins": [5, 1]}}]),
        ),
    )


XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:p="urn:hierdata:policy:1"
    p:version="1" p:records="/all/one" p:models="[{{kind: k-anonymity, k: 2}}]">
<xs:element name="all"><xs:complexType><xs:sequence>
  <xs:element name="one" type="t0" maxOccurs="unbounded"/>
</xs:sequence></xs:complexType></xs:element>
{types}</xs:schema>"""


def nest(depth: int, elements: str) -> str:
    """Return types each of which has these elements of the next one's type."""
    types = (
        f'<xs:complexType name="t{at}"><xs:sequence>{elements.format(at + 1)}</xs:sequence></xs:complexType>'
        for at in range(depth)
    )
    return "".join(types) + f'<xs:complexType name="t{depth}"/>'


def test_policies_inside_an_xsd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.policy.load.xsd._MOST", 100)

    def read(types: str) -> Act:
        def act() -> object:
            (tmp_path / "all.xsd").write_text(XSD.format(types=types))
            return load(tmp_path / "all.xsd")

        return act

    def extend() -> object:
        os.truncate(tmp_path / "all.xsd", 17 * 2**20)
        return load(tmp_path / "all.xsd")

    noted = (
        '<xs:complexType name="t0"><xs:sequence><xs:element name="a" type="xs:string" p:role="quasi">'
        '<xs:annotation><xs:appinfo source="urn:hierdata:policy:1">{}</xs:appinfo></xs:annotation>'
        "</xs:element></xs:sequence></xs:complexType>"
    )
    foreign = (
        '<xs:complexType name="t0"><xs:sequence><xs:element ref="xs:all"/></xs:sequence></xs:complexType>'
    )
    two = '<xs:element name="a" type="t{0}"/><xs:element name="b" type="t{0}"/>'
    provoke(
        PolicyError,
        ("leads to more than 100 elements: state the policy in", read(nest(7, two))),
        ("the XSD nests too deeply", read(nest(70, '<xs:element name="a" type="t{}"/>'))),
        ("/all/one/a: appinfo must hold a mapping", read(noted.format("quasi"))),
        ("/all/one/a: role is stated twice", read(noted.format("role: quasi"))),
        ("refers to an element of XML Schema itself", read(foreign)),
        ("the XSD all.xsd: it is larger than 16 MiB", extend),
    )
