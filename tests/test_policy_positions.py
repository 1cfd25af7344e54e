"""Policy errors name file, line and column, in every notation and from every check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.policy.load import load
from hierdata.policy.load.yaml import json_positions, yaml_positions
from hierdata.policy.policy import Policy
from hierdata.records.path import Path as FieldPath
from tests.test_policy import written

TEXT = """\
version: 1
modles: []
models:
  - kind: k-anonymity
    k: 0
  - {kind: alpha-k, k: 2, alfa: 1/2}
fields:
  $.a: {role: quasi, flat: true}
  $.s:
    role: sensitive
    colour: red
    size: 3
"""


def lines(path: Path) -> list[str]:
    with pytest.raises(hierdata.PolicyError) as refused:
        load(path)
    return str(refused.value).splitlines()


def test_each_problem_has_its_own_position(tmp_path: Path) -> None:
    found = lines(written(tmp_path, TEXT))
    assert [line.partition(": ")[0] for line in found] == [
        "policy.yaml, line 2, column 1",  # unknown keys: the key
        "policy.yaml, line 5, column 5",  # a bad value: its key
        "policy.yaml, line 6, column 5",  # a missing key: the item that lacks it
        "policy.yaml, line 6, column 27",
        "policy.yaml, line 11, column 5",
        "policy.yaml, line 12, column 5",
    ]
    assert found[0].endswith("unknown key 'modles'; did you mean models?")
    assert "models[0].k: must be greater than or equal to 1, not 0" in found[1]
    assert "the key 'alpha' is missing" in found[2]
    assert "unknown key 'colour'" in found[4]


def test_contradictions_between_parts_have_positions_too(tmp_path: Path) -> None:
    text = TEXT.replace("modles: []\n", "").replace("k: 0", "k: 2").replace("alfa", "alpha")
    text = text.replace("colour: red", "asks: presence").replace("    size: 3\n", "")
    broken = text + 'sensitive_tables: [[$.a]]\nblocks: whole\n"effort": 2\n'
    broken += "engine: {steps: [{kind: mondrian}]}\n"
    found = lines(written(tmp_path, broken))
    starts = [line.split(": ")[:2] for line in found]
    assert ["policy.yaml, line 11, column 1", "sensitive_tables"] in starts
    assert ["policy.yaml, line 11, column 20", "sensitive_tables[0]"] in starts
    assert ["policy.yaml, line 13, column 1", "effort"] in starts
    assert load(written(tmp_path, text)).sensitive


def test_a_file_outside_of_the_folder_has_a_position(tmp_path: Path) -> None:
    tree = TEXT.partition("modles")[0] + "models: [{kind: k-anonymity, k: 2}]\n"
    tree += "fields:\n  $.a:\n    role: quasi\n"
    found = lines(written(tmp_path, tree + "    taxonomy: {file: /etc/hosts}\n"))
    assert [line.partition(": fields")[0] for line in found] == ["policy.yaml, line 6, column 5"]


def test_what_the_records_show_has_a_position(tmp_path: Path) -> None:
    policy = written(
        tmp_path,
        "version: 1\nmodels: [{kind: k-anonymity, k: 2}]\nfields:\n  $.a: {role: quasi, flat: true}\n"
        "  $['b c']: {role: quasi, flat: true}\n  $.a2: {role: identifier}\n",
    )
    with pytest.raises(hierdata.PolicyError) as refused:
        hierdata.anonymize([{"a": "7319"}] * 4, policy)
    assert str(refused.value).splitlines() == [
        "policy.yaml, line 5, column 3: $['b c']: nothing in the records matches this path",
        "policy.yaml, line 6, column 3: $.a2: nothing in the records matches this path; did you mean $.a?",
    ]


def test_json_policies_and_annotated_schemas(tmp_path: Path) -> None:
    text = '{"version": 1,\n "models": [{"kind": "k-anonymity",\n  "k": 2}],\n\t'
    text += '"fields": {"$.a": {"rol": "quasi"}}}'
    assert lines(written(tmp_path, text, "p.json"))[0].startswith(
        "p.json, line 4, column 21: fields[$.a]: unknown"
    )
    schema = (
        '{"x-hierdata": {"version": 1,\n "models": [{"kind": "k-anonymity", "k": -1}]},\n'
        '"properties": {"a": {"$ref": "#/$defs/d"}},\n"$defs": {"d": {"x-hierdata": {\n"rol": "quasi"}}}}'
    )
    assert [line.partition(": ")[0] for line in lines(written(tmp_path, schema, "s.json"))] == [
        "s.json, line 2, column 37",
        "s.json, line 5, column 1",
    ]
    xsd = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:p="urn:hierdata:policy:1"\n'
        ' p:version="1" p:records="/r/s" p:models="[{kind: k-anonymity, k: 2}]">'
        '<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="s">'
        "<xs:complexType><xs:sequence>\n"
        '<xs:element name="a" type="xs:string" p:rol="quasi"/>\n'
        "</xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>"
    )
    assert lines(written(tmp_path, xsd, "s.xsd"))[0].startswith("s.xsd, line 3: fields[/r/s/a]: unknown key")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


def places(data: Any, place: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    if not isinstance(data, dict | list):
        return set()
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    return {found for key, part in parts for found in {(*place, key)} | places(part, (*place, key))}


@given(PLAIN, st.sampled_from([None, 1, "\t"]))
def test_every_key_and_item_of_json_is_found_where_it_is(data: Any, indent: Any) -> None:
    text = json.dumps(data, indent=indent)
    found = json_positions(text)
    assert found.keys() == places(data)
    rows = text.split("\n")
    for place, (line, column) in found.items():
        rest = rows[line - 1][(column or 0) - 1 :]
        if isinstance(place[-1], str):
            assert rest.startswith(json.dumps(place[-1]) + ":")


@given(PLAIN, st.booleans())
def test_every_key_and_item_of_yaml_is_found(data: Any, flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    assert yaml_positions(text).keys() == places(data)


def test_aliases_are_found_at_their_anchor() -> None:
    found = yaml_positions("a: &x\n  b: 1\nc: *x\n")
    assert found["c", "b"] == found["a", "b"] == (2, 3)


def test_a_policy_made_of_keywords_is_refused_in_our_words() -> None:
    with pytest.raises(hierdata.PolicyError) as refused:
        Policy(version=1, models=[{"kind": "k-anonymity", "k": 0}], fields={"$.a": {"rol": "quasi"}})
    assert str(refused.value).splitlines() == [
        "models[0].k: must be greater than or equal to 1, not 0",
        "fields[$.a]: unknown key 'rol'; did you mean role?",
    ]
    with pytest.raises(hierdata.PolicyError, match="namespace"):
        Policy(
            version=1,
            models=[{"kind": "k-anonymity", "k": 2}],
            fields={"/r/s/x:a": {"role": "quasi", "flat": True}},
        )
    stated = Policy(
        version=1, models=[{"kind": "k-anonymity", "k": 2}], fields={"$.a": {"role": "free_text"}}
    )
    assert all(isinstance(path, FieldPath) for path in stated.paths)
