"""A policy may come from anybody: its files lie below one folder, and what it says costs little to refuse."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.policy.lint.partial import examine
from hierdata.policy.load import load
from hierdata.records import xsd
from tests.redteam.costs import cheap, small

K = {"kind": "k-anonymity", "k": 2}
RULES: dict[str, Any] = {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}
RECORDS = [{"q": "a", "s": "A"}, {"q": "b", "s": "B"}]
TREE = "a;*\nb;*\n"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder for policies in a folder for a project, which has a secret beside it."""
    (tmp_path / "secret.csv").write_text(TREE)
    (tmp_path / "project" / "policies").mkdir(parents=True)
    (tmp_path / "project" / "taxonomies").mkdir()
    (tmp_path / "project" / "taxonomies" / "t.csv").write_text(TREE)
    return tmp_path / "project" / "policies"


def stated(desk: Path, name: str = "p.json", **more: Any) -> Path:
    file = desk / name
    file.write_text(json.dumps({"version": 1, "models": [K], "fields": RULES, **more}), "utf-8")
    return file


def with_taxonomy(desk: Path, name: str) -> Path:
    return stated(desk, fields=RULES | {"$.q": {"role": "quasi", "taxonomy": name}})


# Files


OUTSIDE = ["../../secret.csv", "../policies/../../secret.csv", "link.csv", "folder/secret.csv", "absolute"]


@pytest.fixture(params=OUTSIDE)
def outside(request: pytest.FixtureRequest, desk: Path, tmp_path: Path) -> str:
    """Names that lead out of the project: by dots, links of files and folders, and from the top."""
    (desk / "link.csv").symlink_to(tmp_path / "secret.csv")
    (desk / "folder").symlink_to(tmp_path, target_is_directory=True)
    name: str = request.param
    return str(tmp_path / "secret.csv") if name == "absolute" else name


def naming(desk: Path, key: str, name: str) -> Path:
    if key == "taxonomy":
        return with_taxonomy(desk, name)
    if key == "sensitive taxonomy":
        return stated(desk, fields=RULES | {"$.s": {"role": "sensitive", "taxonomy": name}})
    if key == "schema":
        return stated(desk, schema=name)
    models = [K, {"kind": "k-map", "k": 2}]
    return stated(desk, models=models, population={"file": name})


@pytest.mark.parametrize("key", ["taxonomy", "sensitive taxonomy", "schema", "population"])
def test_no_file_outside_of_the_folder_is_opened(desk: Path, outside: str, key: str) -> None:
    policy = naming(desk, key, outside)
    for read in (load, examine, lambda file: hierdata.anonymize(RECORDS, file)):
        with pytest.raises(hierdata.PolicyError, match="leads out of the folder") as refused:
            read(policy)
        assert "\n" not in str(refused.value)
        assert refused.value.exit_code == 2
        assert "--root" in str(refused.value)


def test_a_wider_folder_is_stated(desk: Path, outside: str, tmp_path: Path) -> None:
    policy = load(with_taxonomy(desk, outside), root=tmp_path)
    assert hierdata.anonymize(RECORDS, policy).report.passed
    with pytest.raises(hierdata.PolicyError, match="leads out"):
        load(with_taxonomy(desk, "../taxonomies/t.csv"), root=desk)


@pytest.mark.parametrize("name", ["../taxonomies/t.csv", "beside.csv", "within", "inner.csv"])
def test_files_below_the_folder_above_are_opened(desk: Path, name: str) -> None:
    taxonomy = desk.parent / "taxonomies" / "t.csv"
    (desk / "beside.csv").write_text(TREE)
    (desk / "inner.csv").symlink_to(taxonomy)
    policy = with_taxonomy(desk, str(taxonomy) if name == "within" else name)
    assert hierdata.anonymize(RECORDS, policy).report.passed


def test_a_policy_in_the_folder_where_we_stand(
    desk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_taxonomy(desk, "../taxonomies/t.csv")
    monkeypatch.chdir(desk)
    assert load("p.json").quasi
    with_taxonomy(desk, str(tmp_path / "secret.csv"))
    with pytest.raises(hierdata.PolicyError, match="leads out"):
        load("p.json")


def test_a_linked_policy_stands_where_the_link_does(desk: Path, tmp_path: Path) -> None:
    with_taxonomy(desk, "../taxonomies/t.csv")
    linked = tmp_path / "project" / "taxonomies" / "linked.json"
    linked.symlink_to(desk / "p.json")
    assert load(linked).folder == linked.parent
    assert load(linked).quasi


@pytest.mark.parametrize("name", ["a\0b.csv", "x" * 5000, "loop.csv", "../taxonomies"])
def test_names_that_no_file_has(desk: Path, name: str) -> None:
    (desk / "loop.csv").symlink_to(desk / "loop.csv")
    with pytest.raises(hierdata.PolicyError) as refused:
        hierdata.anonymize(RECORDS, with_taxonomy(desk, name))
    assert len(str(refused.value)) < 300


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_taxonomy(desk: Path) -> None:
    os.mkfifo(desk / "pipe.csv")
    with pytest.raises(hierdata.PolicyError, match="is not a file"):
        load(with_taxonomy(desk, "pipe.csv"))


def test_data_of_the_program_names_what_it_likes(tmp_path: Path, desk: Path) -> None:
    (tmp_path / "t.csv").write_text(TREE)
    fields = RULES | {"$.q": {"role": "quasi", "taxonomy": str(tmp_path / "t.csv")}}
    policy = {"version": 1, "models": [K], "fields": fields}
    assert hierdata.anonymize(RECORDS, policy).report.passed


@pytest.mark.parametrize("command", ["anonymize", "lint", "verify", "measure"])
def test_the_commands_have_the_option(
    command: str, desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = with_taxonomy(desk, str(tmp_path / "secret.csv"))
    records, out = tmp_path / "records.json", tmp_path / "out"
    records.write_text(json.dumps(RECORDS))
    hierdata.anonymize(records, load(policy, root=tmp_path)).save(tmp_path / "release")
    ways = {
        "anonymize": ["anonymize", str(records), "--policy", str(policy), "--out", str(out)],
        "lint": ["lint", str(policy), "--data", str(records)],
        "verify": ["verify", str(tmp_path / "release"), "--policy", str(policy)],
        "measure": [
            "measure",
            str(tmp_path / "release"),
            "--original",
            str(records),
            "--policy",
            str(policy),
        ],
    }
    assert main(ways[command]) == 2
    assert "leads out of the folder" in " ".join("".join(capsys.readouterr()).split())  # lint wraps lines
    assert main([*ways[command], "--root", str(tmp_path)]) == 0


def test_the_file_of_a_partition_is_confined_too(desk: Path, tmp_path: Path) -> None:
    rows = [{"a": 1, "s": "a"}, {"a": 2, "s": "b"}]
    file = desk / "partition.json"
    file.write_text(json.dumps({"depth": 1, "taxonomy": str(tmp_path / "secret.csv")}))
    with pytest.raises(hierdata.PolicyError, match="leads out"):
        hierdata.measure(rows, keys=["a"], sensitive="s", partition=file)
    assert hierdata.measure(rows, keys=["a"], sensitive="s", partition=file, root=tmp_path).rows == 2


# Size


def laughs(levels: int, width: int, inner: str) -> str:
    names = [f"n{number}" for number in range(levels)]
    lines = [f"{names[0]}: &{names[0]} {inner}"]
    for before, name in pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * width)}]")
    return "\n".join(lines)


HUGE = {
    "billion laughs": laughs(9, 10, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"),
    "laughs of two": laughs(60, 2, "x"),
    "one long text a thousand times": f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]",
    "many values": "a: [" + "1," * 250_000 + "]",
    "many keys": "\n".join(f"a{number}: 1" for number in range(110_000)),
    "lists in lists": "[" * 1_000_000,
    "mappings in mappings": "{a: " * 1_000_000,
    "dashes": "- " * 1_000_000,
    "question marks": "? " * 1_000_000,
    "aliases of a parent": "a: &a {b: [*a, *a]}",
    "deep by aliases": "a: &a0 [x]\n" + "\n".join(f"a{i}: &a{i} [[*a{i - 1}]]" for i in range(1, 60)),
    "large": "# " + "x" * 5 * 2**20,
}


FULL = pytest.mark.full
HUGE_FILES = [
    *(pytest.param("p.yaml", kind, marks=FULL if kind == "many keys" else []) for kind in HUGE),
    *(pytest.param("taxonomy.yaml", kind, marks=FULL) for kind in ("billion laughs", "many values", "large")),
]


@pytest.mark.parametrize(("name", "kind"), HUGE_FILES)
def test_yaml_is_counted_before_anything_is_built_of_it(desk: Path, name: str, kind: str) -> None:
    (desk / name).write_text(HUGE[kind])
    policy = desk / name if name == "p.yaml" else with_taxonomy(desk, name)
    with cheap(), small(100), pytest.raises(hierdata.PolicyError) as refused:
        hierdata.anonymize(RECORDS, policy)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ' * 100_000,
        '{"a": ' * 500 + "1" + "}" * 500,
        "[" + "1," * 500_000 + "1]",
        "{" + ",".join(f'"a{number}": 1' for number in range(99_000)) + ', "a98999": 2}',
        '"' + "x" * 5 * 2**20 + '"',
    ],
    ids=["never ends", "deep", "many values", "a key twice at the end", "large"],
)
def test_json_too(desk: Path, text: str) -> None:
    (desk / "p.json").write_text(text)
    with cheap(), pytest.raises(hierdata.PolicyError):
        load(desk / "p.json")


@pytest.mark.parametrize(
    "more",
    [
        {f"vers{number}": 1 for number in range(40_000)},
        {"fields": {f"$.a{number}": {"role": "quas"} for number in range(10_000)}},
        {"fields": {f"$.a[{number}": {"role": "quasi"} for number in range(5_000)}},
        {"tables": {f"t{n}": {"key": "k", "parent": f"t{(n - 1) % 8000}", "on": "o"} for n in range(8000)}},
        {"models": [{"kind": "frequency-l-diversity", "l": 2, "on": [f"$.b{n}"]} for n in range(5_000)]},
        {"fields": RULES | {"$." + "a" * 1_000_000: {"role": "quasi"}}},
        {"fields": RULES | {"/a/b" + "/c:" * 500_000: {"role": "quasi"}}},
    ],
    ids=[
        "unknown keys",
        "wrong roles",
        "wrong paths",
        "tables in a circle",
        "wrong on",
        "long",
        "long xpath",
    ],
)
def test_a_policy_full_of_mistakes_is_answered_soon_and_shortly(desk: Path, more: dict[str, Any]) -> None:
    with cheap(30), pytest.raises(hierdata.PolicyError) as refused:
        load(stated(desk, **more))
    assert len(str(refused.value)) < 50_000


def test_a_label_like_an_interval_is_told_in_linear_time(desk: Path) -> None:
    label = "[" + "," * 200_000
    fields = RULES | {"$.q": {"role": "quasi", "taxonomy": {"tree": {"*": [label, "a", "b"]}}}}
    with cheap():
        assert hierdata.anonymize(RECORDS, stated(desk, fields=fields)).report.passed


# Schemas


def against(desk: Path, schema: dict[str, Any], records: list[dict[str, Any]]) -> hierdata.Release:
    (desk / "schema.json").write_text(json.dumps(schema), "utf-8")
    return hierdata.anonymize(records, stated(desk, schema="schema.json"))


EVIL = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*!", "^a*a*a*a*a*a*a*a*$", "^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.mark.parametrize("pattern", EVIL)
@pytest.mark.parametrize("way", ["pattern", "patternProperties", "additionalProperties", "propertyNames"])
def test_no_pattern_hangs(desk: Path, pattern: str, way: str) -> None:
    text = "a" * 5_000 + "\n"
    schema: dict[str, Any] = {
        "pattern": {"properties": {"q": {"pattern": pattern}}},
        "patternProperties": {"patternProperties": {pattern: {"type": "integer"}}},
        "additionalProperties": {"patternProperties": {pattern: {}}, "additionalProperties": False},
        "propertyNames": {"propertyNames": {"pattern": pattern}},
    }[way]
    records = [{"q": text, "s": "A"}, {"q": text, "s": "B"}]
    if way != "pattern":
        records = [record | {text: "x"} for record in records]
    # Where the pattern does not match the key, it is one that the policy does not list.
    with cheap(), pytest.raises(hierdata.HierdataError, match=r"rule .* of schema|not listed"):
        against(desk, schema, records)


@pytest.mark.parametrize(
    "pattern", ["^(?=a)b$", r"^(a)\1$", "(?<!x)a", "a{5000}", "(", "((a{1000}){1000}){1000}"]
)
def test_patterns_without_a_bound_are_the_policy_s_fault(desk: Path, pattern: str) -> None:
    for schema in (
        {"properties": {"q": {"pattern": pattern}}},
        {"patternProperties": {pattern: {}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "patternProperties": {pattern: {}}},
    ):
        with cheap(), pytest.raises(hierdata.PolicyError, match=r"schema\.json has a pattern that cannot"):
            against(desk, schema, RECORDS)
    (desk / "schema.json").write_text(json.dumps({"properties": {"q": {"pattern": pattern}}}), "utf-8")
    assert main(["lint", str(stated(desk, schema="schema.json"))]) == 2


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^[A-Z]{2}$", "AB", True),
        ("^[A-Z]{2}$", "AB\n", False),  # in JSON Schema $ is the very end
        ("b", "abc", True),
        (r"^\u00e9\u0041$", "éA", True),
        (r"^\\u$", "\\u", True),
        (r"^\p{L}+$", "Straße", True),
        (r"^\d{4}-\d{2}$", "2001-03", True),
        ("^[^/]+/x$", "a/b/x", False),
    ],
)
def test_patterns_mean_what_json_schema_says(desk: Path, pattern: str, text: str, matches: bool) -> None:
    records = [{"q": text, "s": "A"}, {"q": text, "s": "B"}]
    schema = {"properties": {"q": {"pattern": pattern}}}
    if matches:
        assert against(desk, schema, records).report.passed
    else:
        with pytest.raises(hierdata.InputError, match=r"rule properties/q/pattern of schema\.json"):
            against(desk, schema, records)


def test_additional_properties_are_those_that_no_name_and_no_pattern_knows(desk: Path) -> None:
    schema = {"properties": {"q": {}}, "patternProperties": {"^s$": {}}, "additionalProperties": False}
    assert against(desk, schema, RECORDS).report.passed
    for stricter in ({**schema, "properties": {}}, {**schema, "patternProperties": {}}):
        with pytest.raises(hierdata.InputError, match="rule additionalProperties of"):
            against(desk, stricter, RECORDS)
    typed = {"properties": {"q": {}}, "additionalProperties": {"type": "integer"}}
    with pytest.raises(hierdata.InputError, match="rule additionalProperties/type of"):
        against(desk, typed, RECORDS)


def bomb(below: str) -> dict[str, Any]:
    """Forty definitions with two references each: the last is reached a billion times."""
    chain = {f"x{n}": {below: [{"$ref": f"#/$defs/x{n + 1}"}] * 2} for n in range(40)}
    return {"$ref": "#/$defs/x0", "$defs": {**chain, "x40": {}}}


@pytest.mark.parametrize("below", ["allOf", "oneOf"])
def test_references_do_not_multiply(desk: Path, below: str) -> None:
    with cheap(), pytest.raises(hierdata.PolicyError, match="needs too many steps"):
        against(desk, bomb(below), RECORDS)


def test_unevaluated_properties_do_not_multiply_either(desk: Path) -> None:
    with cheap(), pytest.raises(hierdata.PolicyError, match="needs too many steps"):
        against(desk, bomb("anyOf") | {"unevaluatedProperties": False}, RECORDS)
    with pytest.raises(hierdata.PolicyError, match="cannot be checked together"):
        against(desk, {"unevaluatedProperties": False, "patternProperties": {}}, RECORDS)


@pytest.mark.full
def test_large_records_may_take_many_steps(desk: Path) -> None:
    person = {"type": "object", "properties": {"q": {"allOf": [{"type": "string"}] * 200}}}
    schema = {"properties": {"many": {"items": {"$ref": "#/$defs/person"}}}, "$defs": {"person": person}}
    fields = {"$.many[*].q": RULES["$.q"], "$.many[*].s": RULES["$.s"]}
    (desk / "schema.json").write_text(json.dumps(schema), "utf-8")
    records = [{"many": [{"q": "a", "s": str(n)} for n in range(700)]}] * 2
    policy = stated(desk, schema="schema.json", fields=fields)
    from hierdata.sources import check_documents

    assert len(list(check_documents(records, desk / "schema.json"))) == 2
    assert load(policy).record_schema == "schema.json"


def test_the_references_of_annotations_do_not_multiply(desk: Path) -> None:
    root = {"x-hierdata": {"version": 1, "models": [K]}, "properties": {"a": bomb("allOf")}}
    (desk / "p.json").write_text(json.dumps(root | {"$defs": bomb("allOf")["$defs"]}))
    with cheap(), pytest.raises(hierdata.PolicyError, match="lead to more than"):
        load(desk / "p.json")
    chain = {f"x{n}": {"$ref": f"#/$defs/x{n + 1}"} for n in range(5_000)}
    root["properties"] = {"a": {"$ref": "#/$defs/x0"}}
    (desk / "p.json").write_text(json.dumps(root | {"$defs": chain}))
    with cheap(), pytest.raises(hierdata.PolicyError, match="references in a row"):
        load(desk / "p.json")


@pytest.mark.parametrize(
    "reference", ["https://example.org/x.json", "//example.org/x", "file:///etc/passwd", "x.json"]
)
def test_annotations_refer_to_nothing_outside(
    desk: Path, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *given, **_: fetched.append(given))
    (desk / "x.json").write_text("{}")
    root = {"x-hierdata": {"version": 1, "models": [K]}, "properties": {"a": {"$ref": reference}}}
    (desk / "p.json").write_text(json.dumps(root))
    with pytest.raises(hierdata.PolicyError, match="leads nowhere in this file"):
        load(desk / "p.json")
    assert not fetched


@pytest.mark.parametrize("visits", [20_000, pytest.param(xsd._MOST_VISITS, marks=FULL)])
def test_the_types_of_an_xsd_do_not_multiply(
    desk: Path, tmp_path: Path, visits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xsd, "_MOST_VISITS", visits)
    types = "".join(
        f'<xs:complexType name="t{n}"><xs:sequence><xs:element name="a" type="t{n + 1}"/>'
        f'<xs:element name="b" type="t{n + 1}"/></xs:sequence></xs:complexType>'
        for n in range(40)
    )
    (desk / "bomb.xsd").write_text(
        f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{types}<xs:complexType name="t40"/>'
        '<xs:element name="people"><xs:complexType><xs:sequence><xs:element name="person" type="t0"/>'
        "</xs:sequence></xs:complexType></xs:element></xs:schema>"
    )
    fields = {"/people/person/q": RULES["$.q"], "/people/person/s": RULES["$.s"]}
    records = tmp_path / "people.xml"
    records.write_text("<people><person><q>a</q><s>A</s></person></people>")
    with cheap(20), pytest.raises(hierdata.PolicyError, match=r"bomb\.xsd lead to more than"):
        hierdata.anonymize(records, stated(desk, schema="bomb.xsd", fields=fields))
