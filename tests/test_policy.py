"""Policies: three ways to write one, everything wrong named at once, what the pipeline reads from it."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from hierdata.domains.codes import Flat
from hierdata.domains.taxonomy import Taxonomy
from hierdata.engines import ENGINES
from hierdata.ground.errors import PolicyError, TargetError
from hierdata.policy.load import add_unlisted, from_data, load
from hierdata.policy.policy import Policy
from hierdata.policy.schema import json_schema, text
from hierdata.privacy import MODELS
from hierdata.records.schema import Role
from hierdata.records.survey import survey
from hierdata.release.recodings import RECODINGS

ROOT = Path(__file__).parent.parent
POLICIES = ROOT / "fixtures" / "policies"

K = {"kind": "k-anonymity", "k": 2}


def minimal(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [K],
        "fields": {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
    } | changes


def problems(data: dict[str, Any]) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        from_data(data)
    return str(caught.value).splitlines()


def written(folder: Path, content: str, name: str = "policy.yaml") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def facts(policy: Policy) -> dict[str, Any]:
    """Everything a policy states; taxonomies by the file that is meant, wherever the policy lies."""
    plain = policy.model_dump()
    for rule in plain["fields"].values():
        if rule["taxonomy"] is not None:
            rule["taxonomy"]["file"] = (policy.folder / rule["taxonomy"]["file"]).resolve()
    return plain


def test_an_annotated_json_schema_states_the_policy_of_the_yaml_file() -> None:
    from_yaml, from_schema = (
        load(POLICIES / "students-multilevel.yaml"),
        load(ROOT / "schemas/student.schema.json"),
    )
    assert facts(from_schema) == facts(from_yaml)
    assert list(from_schema.fields) == list(from_yaml.fields)


def test_json_and_yaml_give_equal_policies(tmp_path: Path) -> None:
    path = POLICIES / "patients.yaml"
    plain = json.dumps(load(path).model_dump(exclude_unset=True, by_alias=True), default=str)
    plain = plain.replace('"flat": {}', '"flat": true')
    again = load(written(tmp_path, plain, "policy.json"))
    assert again.model_dump() == load(path).model_dump()


@pytest.mark.parametrize("path", sorted(POLICIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_bundled_policies_satisfy_the_published_schema(path: Path) -> None:
    plain = json.loads(json.dumps(load(path).model_dump(exclude_unset=True, by_alias=True), default=str))
    for rule in plain["fields"].values():
        if "flat" in rule:
            rule["flat"] = True
    jsonschema.Draft202012Validator(json_schema()).validate(plain)


def test_the_published_schema_is_the_generated_one_and_refuses_what_load_refuses() -> None:
    assert (ROOT / "schemas/policy.schema.json").read_text("utf-8") == text()
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(minimal())
    assert validator.is_valid(
        {"version": 1, "fields": minimal()["fields"], "engine": {"preset": "MLevCluTree"}}
    )
    for data in (
        {"version": 1, "fields": minimal()["fields"]},
        minimal(colour="red"),
        minimal(models=[{"k": 2}]),
        minimal(models=[{"kind": "k-anonymity", "k": 0}]),
        minimal(engine={"steps": [{"window": 3}]}),
        minimal(fields={"$.a": {"role": "quasi", "flat": False}}),
    ):
        assert not validator.is_valid(data)
        assert problems(data)


def test_every_member_of_the_families_can_stand_in_a_policy() -> None:
    definitions = json_schema()["$defs"]
    kinds = {part["properties"]["kind"]["const"] for part in definitions.values() if "kind" in _names(part)}
    assert kinds == MODELS.keys() | ENGINES.keys()
    recodings = Policy.model_fields["recoding"].annotation
    assert set(recodings.__args__) == set(RECODINGS)  # type: ignore[union-attr]


def _names(part: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = part.get("properties", {})
    return names


def test_a_policy_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        from_data(minimal()).dataset = "x"  # type: ignore[misc]


def test_keys_that_a_yaml_reader_took_for_booleans_are_explained() -> None:
    (line,) = problems(minimal(models=[{**K, True: ["$.s"]}]))
    assert line.startswith("models[0]: a key is true, not text; ")
    assert "quotes" in line


def test_everything_wrong_is_named_at_once_with_the_nearest_name() -> None:
    data = minimal(
        dataste="x",
        unlisted="drp",
        models=[{"kind": "level-alfa-k"}, {"kind": "alpha-k", "k": 0, "alpha": 2}],
        engine={"preset": "MLevCluTre"},
    )
    data["fields"] = {
        "$.a[": {"role": "quas"},
        "$.b": {"role": "quasi", "taxonomy": {"fil": "x"}},
        "$.c": {"role": "sensitive", "levels": {"domian": [0, 1]}},
    }
    found = problems(data)
    for start, end in {
        "unknown key 'dataste'": "did you mean dataset?",
        "unlisted: 'drp'": "did you mean drop?, or must be a mapping with keep, not 'drp'",
        "models[0]: 'level-alfa-k'": "did you mean level-alpha-k?",
        "models[1].k: ": "must be greater than or equal to 1, not 0",
        "models[1].alpha: ": "",
        "engine.preset: 'MLevCluTre'": "did you mean MLevCluTree?",
        "fields[$.a[]: the path": "",
        "fields[$.a[].role: 'quas'": "did you mean quasi?",
        "fields[$.b].taxonomy: unknown key 'fil'": "did you mean file?",
        "fields[$.c].levels: unknown key 'domian'": "did you mean domain?",
    }.items():
        assert [line for line in found if line.startswith(start) and line.endswith(end)], (start, found)
    assert len(found) == 10


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ({}, "a role is needed"),
        ({"role": "quasi"}, "needs one of taxonomy"),
        ({"role": "quasi", "flat": True, "prefix": {"keep": [1]}}, "not prefix and flat"),
        ({"role": "sensitive", "flat": True}, "flat does not belong to role sensitive"),
        ({"role": "quasi", "flat": True, "exempt": "x"}, "exempt does not belong to role quasi"),
        ({"role": "identifier", "missing": ["?"]}, "a dropped field takes no missing"),
        ({"vertex": True, "missing": ["?"]}, "missing does not belong to a rule without role"),
        ({"role": "insensitive", "exempt": ""}, "at least 1 character"),
        ({"role": "identifier", "action": "hash"}, "unknown key 'hash'; known here: drop, pseudonym"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, Any], complaint: str) -> None:
    (line,) = problems(minimal(fields={**minimal()["fields"], "$.x": rule}))
    assert line.startswith("fields[$.x]")
    assert complaint in line


def test_fields_that_contradict_each_other_are_refused() -> None:
    flat = {"role": "quasi", "flat": True}
    fields = {
        "$.a[*].b": flat,
        "$.a.c": flat,
        "$.d": flat,
        "d": flat,
        "$.e": {"action": "drop"},
        "$.e.f": flat,
    }
    found = problems(minimal(fields=fields))
    assert [line for line in found if "$.a[*]: some paths write [*]" in line]
    assert [line for line in found if "there are two rules" in line]
    assert [line for line in found if "dropped as a whole" in line]


def test_a_model_is_limited_to_sensitive_fields_that_exist() -> None:
    alpha = {"kind": "alpha-k", "k": 2, "alpha": "1/2"}
    policy = from_data(minimal(models=[K, {**alpha, "on": ["s"]}]))
    assert [scope for _, scope in policy.scoped_models] == [None, frozenset({("s",)})]
    (line,) = problems(minimal(models=[{**alpha, "on": ["$.a", "$.s"]}]))
    assert line == "models[0].on: $.a is not a sensitive field; did you mean $.s?"
    (line,) = problems(minimal(models=[alpha], fields={"$.a": {"role": "insensitive"}}))
    assert "judges sensitive fields, and there are none" in line


def test_what_the_pipeline_reads_from_a_policy() -> None:
    policy = from_data(
        minimal(
            fields={
                "$.id": {"role": "identifier"},
                "$.note": {"role": "free_text"},
                "$.colour": {"role": "insensitive", "missing": ["?", -9, False]},
                "$.unit": {"role": "insensitive", "exempt": "the same for all"},
                "$.address": {"vertex": True},
                "$.address.city": {"role": "quasi", "taxonomy": "city.csv", "optional": True},
                "$.visits[*].diagnosis": {"role": "sensitive"},
            }
        ),
        "somewhere",
    )
    assert policy.folder == Path("somewhere")
    assert {keys: type(domain) for keys, domain in policy.quasi.items()} == {
        ("colour",): Flat,
        ("address", "city"): Taxonomy,
    }
    assert list(policy.sensitive) == [("visits", "diagnosis")]
    assert policy.exempt == {("unit",): "the same for all"}
    assert policy.forbidden_fields == {("id",), ("note",)}
    assert policy.vertices == {("address",), ("visits",)}
    assert policy.declared_fields()["colour",] == {"?", "-9", "false"}
    assert policy.declared_fields(identifiers=True).keys() - policy.declared_fields().keys() == {("id",)}
    assert [rule.role for rule in policy.rules()] == [
        *(None, None, Role.QUASI, Role.CARRIED, None, Role.QUASI, Role.SENSITIVE),
    ]
    assert [rule.drops for rule in policy.rules()] == [True, True, False, False, False, False, False]
    assert [rule.optional for rule in policy.rules()].index(True) == 5
    assert policy.place == ()


def test_without_engine_the_policy_names_no_step() -> None:
    assert from_data(minimal()).steps == ()


@pytest.mark.parametrize(
    ("records", "fields", "place"),
    [
        ("$.students", ["$.a"], ("students",)),
        ("$.data.students[*]", ["$.a"], ("data", "students")),
        (None, ["/r/s/@a", "/r/s/b"], ("r", "s")),
        ("/r/s", ["/r/s/@a"], ("r", "s")),
        ("/r/s", ["$.a"], ("r", "s")),
    ],
)
def test_where_the_records_lie(records: str | None, fields: list[str], place: tuple[str, ...]) -> None:
    rules = {path: {"role": "quasi", "flat": True} for path in fields}
    assert from_data(minimal(records=records, fields=rules)).place == place


@pytest.mark.parametrize(
    ("prefix", "uri"),
    [
        ("xmlns", "urn:x"),
        ("xml", "urn:x"),
        ("x", "http://www.w3.org/XML/1998/namespace"),
        ("x", "http://www.w3.org/2000/xmlns/"),
        ("a b", "urn:x"),
        ("1", "urn:x"),
        ("a:b", "urn:x"),
        ("x", ""),
        ("x", "urn:\0"),
    ],
)
def test_prefixes_can_be_declared_in_xml(prefix: str, uri: str) -> None:
    fields = {"/r/s/a": {"role": "quasi", "flat": True}}
    (line,) = problems(minimal(namespaces={prefix: uri}, fields=fields))
    assert line.startswith("namespaces: ")
    assert "prefix" in line or "xmlns" in line


def test_xml_paths_agree_on_the_place_and_know_their_namespaces() -> None:
    flat = {"role": "quasi", "flat": True}
    assert problems(minimal(records="/r/t", fields={"/r/s/a": flat})) == [
        "records: the paths of the fields do not begin with this path"
    ]
    (line,) = problems(minimal(fields={"/r/s/x:a": flat}))
    assert "the prefix 'x' is not among the namespaces" in line
    policy = from_data(minimal(namespaces={"x": "urn:x"}, fields={"/r/s/x:a": flat}))
    assert list(policy.quasi) == [("{urn:x}a",)]


def test_unlisted_fields_that_are_kept_become_quasi_identifiers() -> None:
    records = [{"a": 1, "s": 2, "tags": ["x"], "more": {"b": 1, "c": [{"d": 1}, {"d": 2}]}}, {"s": None}]
    policy = from_data(minimal(unlisted={"keep": "harmless"}))
    shape = survey(records, holders=True).shape
    assert add_unlisted(policy, shape) is policy
    kept = add_unlisted(policy, shape, least=1)
    assert list(kept.fields) == ["$.a", "$.s", "$.more.b", "$.more.c[*].d", "$.tags[*]"]
    assert {type(domain) for domain in kept.quasi.values()} == {Flat}
    assert kept.unlisted_fields == "drop"
    assert add_unlisted(kept, shape) is kept
    assert add_unlisted(from_data(minimal()), survey(records).shape).fields.keys() == {"$.a", "$.s"}


YAML = """
version: 1
models: [{kind: level-alpha-k, k: 2, alpha: [.8, 0.1], on: [$.s]}]
fields:
  $.s: {role: sensitive, levels: {by: {1: 1, NO: 2, 2.50: 1, on: 1}}, missing: [yes, 007, ~x, 2001-03-04]}
"""


def test_yaml_is_read_by_the_rules_of_json(tmp_path: Path) -> None:
    policy = load(written(tmp_path, YAML))
    rule = policy.sensitive["s",]
    assert rule.levels is not None
    assert isinstance(rule.levels.by, dict)
    assert list(rule.levels.by) == ["1", "NO", "2.50", "on"]
    assert rule.missing == ("007", "2001-03-04", "yes", "~x")
    assert policy.models[0].alpha == (Fraction(4, 5), Fraction(1, 10))  # type: ignore[attr-defined]
    assert policy.models[0].on == ("$.s",)


def test_decimals_are_exact(tmp_path: Path) -> None:
    for name, content in (("p.yaml", YAML), ("p.json", json.dumps(minimal(models=[])))):
        content = content.replace("0.1]", "0.1000000000000000000000000000000001]").replace(
            '"models": []',
            '"models": [{"kind": "alpha-k", "k": 2, "alpha": 0.1000000000000000000000000000000001}]',
        )
        alpha = load(written(tmp_path, content, name)).models[0].alpha  # type: ignore[attr-defined]
        assert (alpha[-1] if isinstance(alpha, tuple) else alpha) == Fraction(
            Decimal("0.1000000000000000000000000000000001")
        )


LAUGHS = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("p.yaml", "version: 1\nversion: 2", "line 2, column 1: the key 'version' occurs twice"),
        ("p.yaml", "a: [1, 2", "while parsing a flow sequence"),
        ("p.yaml", "a: *b", "undefined alias"),
        ("p.yaml", "a: !!python/object/apply:os.system [x]", "the tag tag:yaml.org,2002:python"),
        ("p.yaml", "a: !!float x", "the tag"),
        ("p.yaml", "? [a]\n: 1", "a key must be a single value"),
        ("p.yaml", LAUGHS, "more than 100000 values"),
        ("p.yaml", "a: &a [*a]", "nested beyond"),
        ("p.yaml", "a: " + "[" * 100 + "]" * 100, "nested beyond"),
        ("p.yaml", "a: 1e9999999", "the key 'version' is missing"),
        ("p.yaml", "a: 1e99999", "digits"),
        ("p.yaml", "a: \x01", "characters that YAML does not allow"),
        ("p.yaml", "", "not null"),
        ("p.yaml", "a: 1\n---\nb: 2", "expected a single document"),
        ("p.json", '{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ("p.json", '{"a": 1,}', "line 1, column"),
        ("p.json", '{"a": NaN}', "NaN"),
        ("p.json", '{"a": 1e999}', "digits"),
        ("p.json", '{"a": ' + "9" * 5000 + "}", "digits"),
        ("p.json", "[" * 100_000, "nested beyond"),
        ("p.json", "[]", "not a list of 0"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(written(tmp_path, content, name))
    assert complaint in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "p.yaml").write_bytes(b"\xff")
    with pytest.raises(PolicyError, match="not UTF-8"):
        load(tmp_path / "p.yaml")


def annotated(tmp_path: Path, **schema: Any) -> Policy:
    root = {"x-hierdata": {"version": 1, "models": [K]}, **schema}
    return load(written(tmp_path, json.dumps(root), "s.json"))


FLAT = {"x-hierdata": {"role": "quasi", "flat": True}}


def test_annotations_are_found_along_references_and_alternatives(tmp_path: Path) -> None:
    policy = annotated(
        tmp_path,
        properties={
            "one": {"$ref": "#/$defs/part"},
            "many": {"type": "array", "items": {"$ref": "#/$defs/part"}},
            "maybe": {"anyOf": [{"type": "null"}, FLAT]},
            "odd name": {"type": "array", "x-hierdata": {"action": "drop"}},
        },
        allOf=[{"properties": {"more": FLAT}}],
        **{"$defs": {"part": {"properties": {"a/b": FLAT}}}},
    )
    assert list(policy.fields) == [
        *("$.one['a/b']", "$.many[*]['a/b']", "$.maybe", "$['odd name']", "$.more"),
    ]


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"properties": {"a": {"patternProperties": {"x": FLAT}}}}, "no property leads to this"),
        ({"properties": {"a": {"items": {"items": FLAT}}}}, "arrays directly inside arrays"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "leads nowhere in this file"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "is circular"),
        ({"properties": {"a": {**FLAT, "oneOf": [{"x-hierdata": {}}]}}}, "two annotations differ"),
        ({"x-hierdata": 3}, "at the root it must be a mapping"),
        (
            {"x-hierdata": {"fields": {"$.a": {}}}, "properties": {"a": FLAT}},
            "stated at the root and at the property",
        ),
    ],
)
def test_annotations_that_lead_nowhere_are_refused(
    tmp_path: Path, schema: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        annotated(tmp_path, **schema)
    assert complaint in str(caught.value)


def test_importing_the_policy_brings_nothing_heavy() -> None:
    program = (
        "import sys, hierdata.policy; "
        "print([m for m in ('numpy', 'numba', 'scipy', 'lxml', 'jsonschema') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_shown_of_a_file_that_is_no_policy(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name;illness\nAnna Secret;flu\n", "utf-8")
    with pytest.raises(PolicyError) as caught:
        load(file)
    assert str(caught.value) == (
        "people.csv, line 1, column 1: "
        "a policy must be a mapping with the keys version, models and fields, not text"
    )


def test_what_is_due_is_said_in_our_words() -> None:
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}
    models = [{"kind": "distinct-l-diversity", "l": 1.5, "on": "$.s"}, {"kind": "k-anonymity", "k": "5"}]
    found = problems({"version": 1, "models": models, "fields": fields, "engine": "mondrian"})
    assert set(found) >= {
        "models[0].l: must be a whole number, not 1.5",
        "models[0].on: must be a list, not '$.s'",
        "models[1].k: must be a whole number, not '5'",
        "engine: must be a mapping with preset or sensitive_steps or steps, not 'mondrian'",
    }


def test_contradictions_at_one_place_are_told_apart() -> None:
    fields = {"a": {"role": "quasi", "flat": True}} | {name: {"role": "sensitive"} for name in "bcd"}
    stated = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    with pytest.raises(PolicyError) as refused:
        from_data({**stated, "recoding": "slicing", "sensitive_tables": [["d"]]})
    assert str(refused.value).splitlines() == [
        f"sensitive_tables: {name} is in no table: put each sensitive field into exactly one table"
        for name in ("b", "c")
    ]
