"""What is proposed for which fields, and that a draft says what lint, the search and the judge accept."""

from __future__ import annotations

import csv
import json
import re
import tracemalloc
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import hierdata
from hierdata.drafting.draft import Draft
from hierdata.drafting.profile import profile
from hierdata.drafting.promises import choose_by_loss
from hierdata.ground.errors import InputError, PolicyError, TargetError
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data, load
from hierdata.policy.load.yaml import read
from hierdata.synth import students
from tests.cases import examples, first_few

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEED = b"a seed of sixteen bytes"
BUNDLED = [
    *sorted((FIXTURES / "students").glob("students.*")),
    *sorted((FIXTURES / "students" / "mongodb").iterdir()),
    FIXTURES / "patients" / "patients.jsonl",
    *sorted((FIXTURES / "students" / "tables").glob("*.csv")),
]
DRAFTED = ("university", "patients.jsonl", "courses.csv")
"""Those that the fast tier publishes by their draft; the others hold the same records in another format."""


def errors(draft: Draft, source: object) -> list[str]:
    """What lint finds wrong with the confirmed draft for the collection that it is of."""
    policy = from_data(draft.confirmed())
    survey, hints = survey_collection(source, policy)
    return [str(finding) for finding in lint(policy, survey, hints) if finding.severity == "error"]


def rule(values: Sequence[Any], name: str = "x") -> dict[str, Any]:
    """The rule for one field with these values."""
    records = [{name: value} for value in values]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    (one,) = draft.fields
    return {**one.proposal.rule, "confirm": bool(one.proposal.confirm)}


def shown(draft: Draft, tmp_path: Path) -> dict[str, Any]:
    """The file as our reader reads it."""
    path = tmp_path / "draft.yaml"
    path.write_text(str(draft), "utf-8")
    found: dict[str, Any] = read(path)
    return found


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(path, id=path.name, marks=[] if path.name in DRAFTED else pytest.mark.full)
        for path in BUNDLED
    ],
)
def test_drafts_of_the_bundled_collections_lint_clean_and_publish(source: Path, tmp_path: Path) -> None:
    draft = hierdata.init(source)
    assert errors(draft, source) == []
    release = hierdata.anonymize(source, {**draft.confirmed(), "effort": 0}, seed=SEED)
    assert release.report.counts.records.published > 0


def first_students(suffix: str, count: int, folder: Path) -> Path:
    """The first of the bundled students, in one of their formats."""
    text, file = (FIXTURES / "students" / f"students.{suffix}").read_bytes(), folder / f"students.{suffix}"
    if suffix == "json":
        file.write_text(json.dumps(json.loads(text)[:count]), "utf-8")
    elif suffix == "jsonl":
        file.write_bytes(b"".join(text.splitlines(keepends=True)[:count]))
    else:
        root = etree.fromstring(text)
        root[count:] = []
        file.write_bytes(etree.tostring(root))
    return file


def test_drafts_of_equal_students_are_alike_in_all_formats(tmp_path: Path) -> None:
    drafts = [hierdata.init(first_students(suffix, 200, tmp_path)) for suffix in ("json", "jsonl", "xml")]
    plain = [
        {one.field.keys[-1].removeprefix("@"): (one.proposal.role, one.risk) for one in draft.fields}
        for draft in drafts
    ]
    assert plain[0] == plain[1] == plain[2]


@pytest.mark.parametrize("depth", first_few(1, [2, 3]))
def test_drafts_of_generated_collections_publish(depth: int) -> None:
    records = list(students(150, depth=depth, seed=4, correlation=0.8, skew=0.5))
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    hierdata.anonymize(records, {**draft.confirmed(), "effort": 0}, seed=SEED)


def test_the_file_says_what_the_draft_says_and_is_refused_at_first(
    tmp_path: Path,
) -> None:
    draft = hierdata.init(first_students("json", 200, tmp_path))
    path = tmp_path / "policy.yaml"
    draft.save(path)
    with pytest.raises(PolicyError, match="this policy is a draft: look at every field"):
        load(path)
    stated = shown(draft, tmp_path)
    assert stated.pop("draft")
    assert from_data(stated) == from_data(draft.confirmed())
    text = path.read_text("utf-8")
    assert text.count("CONFIRM:") == sum(bool(one.proposal.confirm) for one in draft.fields)
    with pytest.raises(TargetError, match="already there"):
        draft.save(path)
    with pytest.raises(PolicyError, match="is a draft"):
        from_data({**draft.confirmed(), "draft": False})


def test_a_draft_begins_with_the_schema_for_editors() -> None:
    first = str(hierdata.init([{"age": 1}, {"age": 2}])).splitlines()[0]
    assert first == "# yaml-language-server: $schema=policy.schema.json"


def numbered(count: int, form: str) -> list[str]:
    return [form.format(ordinal) for ordinal in range(count)]


def test_wide_records_are_drafted_with_bounded_knowledge_and_both_figures() -> None:
    rng = Random(3)

    def record(width: int) -> dict[str, Any]:
        tags = [{"kind": rng.choice("abcdef"), "place": rng.choice("uvwxyz")} for _ in range(width)]
        return {"sex": rng.choice("mf"), "tags": tags, "diagnosis": rng.choice("pqr")}

    records = [record(rng.randint(8, 20)) for _ in range(60)]
    draft = hierdata.init(iter(records))
    first, second = draft.promises
    assert (first.model["kind"], second.model["kind"]) == ("bounded-knowledge", "frequency-l-diversity")
    told = str(draft).replace("\n  # ", " ")
    shown = r"in a search of 60 of them this keeps (\d+)%, m: \d [^,]+, and classes .* keep (\d+)%"
    found = re.search(shown, told)
    assert found is not None
    facts, trees = map(int, found.groups())
    assert "marked CONFIRM" in told
    policy = draft.confirmed()
    release = hierdata.anonymize(records, policy, seed=SEED)
    of_trees = {**policy, "models": [{"kind": "k-anonymity", "k": 5}, second.model]}
    for kept, own in ((facts, release), (trees, hierdata.anonymize(records, of_trees, seed=SEED))):
        assert own.report.kept is not None
        assert abs(kept / 100 - float(own.report.kept.total.kept.value)) < 0.05
    narrow = hierdata.init([record(3) for _ in range(60)])
    assert narrow.promises[0].model["kind"] == "k-anonymity"


@pytest.mark.parametrize(
    ("trees", "kept", "m"),
    [
        (0.2, {2: 0.7, 3: 0.66}, 3),  # about as much
        (0.2, {2: 0.7, 3: 0.6}, 2),
        (0.2, {2: 0.7, 3: None}, 2),
        (0.2, {2: 0.33, 3: 0.29}, 2),  # three keep not clearly more than whole trees
        (0.5, {2: 0.55, 1: 0.8}, 1),
        (None, {2: None, 1: 0.4}, 1),
        (0.5, {2: 0.55, 1: 0.58}, None),
        (0.5, {2: None, 1: None}, None),
    ],
)
def test_as_many_facts_are_taken_as_known_as_the_records_allow(
    trees: float | None, kept: dict[int, float | None], m: int | None
) -> None:
    chosen = choose_by_loss(trees, kept.__getitem__, 60)
    assert (chosen and chosen.model["m"]) == m
    if chosen is not None:
        assert all(f"{share:.0%}" in chosen.why for share in (trees, *kept.values()) if share is not None)
        assert chosen.why.count("nothing") == [trees, *kept.values()].count(None)


def test_direct_identifiers_are_dropped() -> None:
    for values in (
        numbered(9, "someone{}@example.org"),
        numbered(9, "507f1f77bcf86cd79943901{}"),
        numbered(9, "+49 89 1234{:03}"),
        numbered(9, "192.168.0.{}"),
    ):
        assert rule(values) == {"role": "identifier", "confirm": False}
    assert rule(["a", "a", "b"] * 2, "lastName") == {"role": "identifier", "confirm": False}
    assert rule(numbered(30, "north of {}"), "x") == {"role": "identifier", "confirm": True}
    assert rule(range(1, 40), "patient_id") == {"role": "identifier", "confirm": False}
    assert rule([*range(1, 60), *range(1, 60)], "patient_id") == {"role": "identifier", "confirm": False}


def test_names_around_a_field_speak_where_its_own_does_not() -> None:
    records = [
        {
            "address": {"line": f"{n % 9} x", "city": "ab"[n % 2]},
            "name": {"first": "ab"[n % 2]},
            "tests": [{"value": n % 7, "kind": "ab"[n % 2]}],
            "plain": {"x": n % 3},
        }
        for n in range(40)
    ]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    assert {one.path: (one.proposal.role, bool(one.proposal.confirm)) for one in draft.fields} == {
        "$.address.line": ("identifier", False),
        "$.address.city": ("quasi", False),
        "$.name.first": ("identifier", False),
        "$.tests[*].value": ("sensitive", True),
        "$.tests[*].kind": ("sensitive", True),
        "$.plain.x": ("quasi", True),
    }


def test_a_field_that_hardly_any_record_has_is_to_be_looked_at() -> None:
    records = [{"sex": "mf"[n % 2], **({"odd": n % 2} if n < 4 else {})} for n in range(40)]
    draft = hierdata.init(records)
    assert "its name may be data" in draft.fields[1].proposal.confirm
    assert draft.fields[0].proposal.confirm == ""


def test_ids_of_things_are_categories_and_ids_of_people_are_not() -> None:
    assert rule([n % 8 for n in range(40)], "ward_id")["flat"] is True
    assert rule([n % 8 for n in range(40)], "studentId") == {"role": "identifier", "confirm": False}


def test_a_name_that_repeats_is_no_identifier() -> None:
    assert rule(["north", "south"] * 9, "name")["role"] == "quasi"


def test_long_texts_are_dropped() -> None:
    texts = numbered(20, "the patient came on day {} and was seen by the doctor")
    assert rule(texts) == {"role": "free_text", "confirm": False}
    assert rule(numbered(60, "seen {} twice"), "remarks") == {"role": "free_text", "confirm": False}


def test_quasi_identifiers_get_domains_that_cover_them() -> None:
    assert rule(["2001-03-04", "2001-05-01"] * 3) == {
        "role": "quasi",
        "date": {"steps": ["day", "month", "year", "decade"]},
        "confirm": False,
    }
    assert rule(["04.03.2001", "2001-05-01"] * 9)["flat"] is True
    assert rule([1930 + year % 70 for year in range(140)], "born") == {
        "role": "quasi",
        "interval": {"steps": [1, 5, 10]},
        "confirm": False,
    }
    assert rule([Decimal(tenths) / 10 for tenths in range(40)] * 3)["interval"] == {
        "steps": [Decimal("0.05"), Decimal("0.1"), Decimal("0.5"), Decimal("1")]
    }
    assert rule(numbered(40, "481{:02}") * 2, "zip")["prefix"] == {"keep": [4, 3, 2, 1]}
    assert rule([48100 + place for place in range(40)] * 2, "zip")["prefix"] == {"keep": [4, 3, 2, 1]}
    assert rule(numbered(40, "0{:02}") * 2)["prefix"] == {"keep": [2, 1]}
    assert rule([True, False] * 3)["flat"] is True
    assert rule(["m", "f"] * 3, "sex") == {"role": "quasi", "flat": True, "confirm": False}
    assert rule(["m", "f"] * 3, "x")["confirm"] is True
    assert rule(["a"] * 6) == {"role": "quasi", "flat": True, "confirm": False}


def test_spellings_of_missing_become_part_of_the_rule() -> None:
    found = rule([*range(30), *range(30), "?", "", None], "age")
    assert found["missing"] == ["", "?"]
    assert "interval" in found


def test_what_no_policy_can_publish_is_dropped() -> None:
    records: list[dict[str, Any]] = [
        {
            "nested": [[1]],
            "mixed": 1,
            "half": {"a": 1},
            "null": None,
            "none": [],
            "empty": {},
            "star": "*",
            "a": "x",
        },
        {
            "nested": [[2]],
            "mixed": [1],
            "half": 1,
            "null": None,
            "none": [],
            "empty": {},
            "star": "y",
            "a": "y",
        },
    ] * 5
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    roles = {one.path: one.proposal.role for one in draft.fields}
    assert roles.pop("$.a") == "quasi"
    assert roles.pop("$.mixed[*]") == "quasi"
    assert {roles.pop("$.half"), roles.pop("$.half.a")} == {"quasi"}, "a rule for each"
    assert draft.stated == {"shape": [{"listed": "$.mixed"}]}
    assert set(roles.values()) == {"drop"}
    assert list(roles) == ["$.nested", "$.null", "$.none", "$.empty", "$.star"]


def test_objects_whose_keys_are_dates_are_maps() -> None:
    records = [
        {
            "sex": "mf"[day % 2],
            "at": {f"2001-01-{day:02}": {"dose": day, "ward": "w"}},
            "doses": {f"d{day:04}": day},
            "lists": {f"{day:05}": [day, 1]},
        }
        for day in range(1, 29)
    ]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    date = {"role": "quasi", "date": {"steps": ["day", "month", "year", "decade"]}}
    rules = {one.path: one.proposal.rule for one in draft.fields}
    assert {path: rules[path] for path in ("$.at", "$.at[*]~", "$.doses")} == {
        "$.at": {"map": True},
        "$.at[*]~": date,
        "$.doses": {"map": True},
    }
    assert list(rules) == [
        "$.sex",
        *("$.at", "$.at[*]~", "$.at[*].dose", "$.at[*].ward"),
        *("$.doses", "$.doses[*]~", "$.doses[*]", "$.lists", "$.lists[*]~", "$.lists[*][*]"),
    ]
    for mark in ("2001", "d0007", "00007"):
        assert mark not in str(draft)
    hierdata.anonymize(records, draft.confirmed())


def test_a_map_in_a_map_is_left_out() -> None:
    records = [{"sex": "mf"[n % 2], "at": {f"2001-01-{n:02}": {f"{n:06}": 1}}} for n in range(1, 29)]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    assert [(one.path, one.proposal.role) for one in draft.fields][1:] == [
        ("$.at", "map"),
        ("$.at[*]~", "quasi"),
        ("$.at[*]", "drop"),
    ]


def test_keys_that_turn_out_to_be_data_late_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.drafting.profile._TOGETHER", 1)
    monkeypatch.setattr("hierdata.records.values.VALUES", 16)
    records = [
        {"sex": "mf"[n % 2], "at": {"dose": n} if n < 30 else {f"2001-01-{n:02}": n}} for n in range(1, 90)
    ]
    draft = hierdata.init(records)
    assert [(one.path, one.proposal.role) for one in draft.fields][1:] == [("$.at", "drop")]


def test_names_that_all_records_have_are_fields_whatever_they_look_like() -> None:
    records = [{"of": {"2001": n % 3, "2002": n % 4, "2003": n % 5}} for n in range(20)]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    assert [one.path for one in draft.fields] == ["$.of['2001']", "$.of['2002']", "$.of['2003']"]


def test_records_whose_own_keys_are_data_are_refused() -> None:
    with pytest.raises(InputError, match="more than 2,000 different fields"):
        hierdata.init({"".join("abcdefghij"[int(digit)] for digit in f"{n:05}"): 1} for n in range(3000))
    with pytest.raises(InputError, match="empty"):
        hierdata.init([])


@pytest.mark.parametrize(
    "name", ["odd name", "it's", 'a"b', "a\nb", "a: b", "#", "a.b", "\u2028", "\U0001f600", "é"]
)
def test_any_name_of_a_field_is_written_so_that_it_is_read(name: str, tmp_path: Path) -> None:
    records = [{name: place % 3, "of": {name: [place % 2]}} for place in range(9)]
    draft = hierdata.init(records)
    assert errors(draft, records) == []
    stated = shown(draft, tmp_path)
    stated.pop("draft")
    assert from_data(stated) == from_data(draft.confirmed())


def test_models_go_with_the_shares_of_values() -> None:
    """Even values: l-diversity. One common value: no l is kept, and levels by frequency protect the rare."""
    even = [{"sex": "mf"[n % 2], "diagnosis": "abcde"[n % 5]} for n in range(100)]
    draft = hierdata.init(even)
    assert [promise.model["kind"] for promise in draft.promises] == ["k-anonymity", "frequency-l-diversity"]
    rare = [{"sex": "mf"[n % 2], "diagnosis": "a" if n % 10 else "b"} for n in range(100)]
    draft = hierdata.init(rare)
    assert draft.promises[1].model == {
        "kind": "level-alpha-k",
        "k": 5,
        "alpha": [1, Decimal("0.6"), Decimal("0.4"), Decimal("0.2"), Decimal("0.2")],
        "on": ["$.diagnosis"],
    }
    assert errors(draft, rare) == []
    hierdata.anonymize(rare, draft.confirmed())
    assert "no field is proposed as sensitive" in str(hierdata.init([{"sex": "m"}] * 9))


def test_risks_are_those_of_a_plain_count() -> None:
    records = [{"a": n % 7, "b": n % 11 if n % 3 else None, "c": [n % 4, n % 5]} for n in range(120)]
    draft = hierdata.init(records)

    def plain(*names: str) -> tuple[float, float]:
        rows = [tuple(str(sorted(r[n])) if n == "c" else str(r[n]) for n in names) for r in records]
        counts = [rows.count(row) for row in rows]
        return sum(c == 1 for c in counts) / 120, sum(c < 5 for c in counts) / 120

    assert {one.path: (one.risk.unique, one.risk.small) for one in draft.fields if one.risk} == {
        "$.a": plain("a"),
        "$.b": plain("b"),
        "$.c[*]": plain("c"),
    }
    paths = {one.field.keys: one.path for one in draft.fields}
    found = {
        (paths[pair.first][2], paths[pair.second][2]): (pair.risk.unique, pair.risk.small)
        for pair in draft.pairs
    }
    assert found == {pair: plain(*pair) for pair in [("a", "b"), ("a", "c"), ("b", "c")]}


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=9)
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@examples(60)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), VALUE, max_size=3), min_size=1, max_size=8))
def test_whatever_the_records_are_the_confirmed_draft_fits_them(records: list[dict[str, Any]]) -> None:
    try:
        draft = hierdata.init(records)
    except InputError:
        return  # a number or a text beyond what any reader takes
    if not draft.fields:
        return
    found = [error for error in errors(draft, records) if "a class needs at least" not in error]
    assert found == []


MARKS = ("".join(("Zq", "x7", "319")), "".join(("73", "19", "0042")))


def test_no_value_stands_in_a_draft(tmp_path: Path) -> None:
    """Marked values in every field and in keys of maps: the file, the figures and the errors show none."""
    text, number = MARKS[0], int(MARKS[1])
    people = [
        {
            "id": f"{text}{n}",
            "note": f"{text} came to see us on day {n}",
            "age": number + n % 9,
            "sex": text,
            "town": (text, "north")[n % 2],
            "code": f"A{number + n % 30}",
            "diagnosis": (text, "flu", "cold")[n % 3],
            "salary": number,
            "visits": [{"ward": text, "at": {f"{text}{n}": text}}],
        }
        for n in range(60)
    ]
    draft = hierdata.init(people)
    for mark in MARKS:
        assert mark not in str(draft)
        assert mark not in repr(draft)
        assert mark not in json.dumps([one.proposal.reason for one in draft.fields])
    assert any(text in line for line in draft.reveals)
    table = tmp_path / "people.csv"
    with table.open("w", newline="") as file:
        rows = [{key: value for key, value in one.items() if key != "visits"} for one in people]
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert not [mark for mark in MARKS if mark in str(hierdata.init(table))]


def test_xml_names_keep_their_namespaces(tmp_path: Path) -> None:
    root = etree.fromstring(
        '<p xmlns="urn:a" xmlns:x="urn:b">'
        + "".join(
            f'<r x:age="{n % 5}"><x:town size="{n % 2}">t{n % 3}</x:town><plain xmlns="">u{n % 2}</plain></r>'
            for n in range(20)
        )
        + "</p>"
    )
    path = tmp_path / "people.xml"
    path.write_bytes(etree.tostring(root))
    draft = hierdata.init(path)
    assert [one.path for one in draft.fields] == [
        "/p/r/@x:age",
        "/p/r/x:town/@size",
        "/p/r/x:town/text()",
        "/p/r/{}plain",
    ]
    assert errors(draft, path) == []


@pytest.mark.parametrize("many", [False, True])
def test_a_place_in_the_namespace_of_the_root_needs_no_prefix(tmp_path: Path, many: bool) -> None:
    people = [f'<person age="{n % 5}"><town>t{n % 3}</town></person>' for n in range(12)]
    if many:
        for n, one in enumerate(people):
            (tmp_path / f"{n}.xml").write_text(one.replace("<person", '<person xmlns="urn:a"'))
    else:
        (tmp_path / "people.xml").write_text(f'<people xmlns="urn:a">{"".join(people)}</people>')
    source = tmp_path if many else tmp_path / "people.xml"
    draft = hierdata.init(source, records="/person" if many else "/people/person")
    start = "/person" if many else "/people/person"
    assert [one.path for one in draft.fields] == [f"{start}/@age", f"{start}/town"]
    assert errors(draft, source) == []


def test_whatever_holds_records_gives_one_draft() -> None:
    rows = [{"age": 20 + n % 9, "town": "ab"[n % 2], "seen": f"2001-03-{1 + n % 9:02}"} for n in range(40)]
    frame = pd.DataFrame(rows)
    sources = [rows, (row for row in rows), frame, pa.Table.from_pandas(frame)]
    drafts = [hierdata.init(source) for source in sources]
    assert len({str(draft) for draft in drafts}) == 1
    elements = [etree.fromstring(f'<r age="{row["age"]}"><town>{row["town"]}</town></r>') for row in rows]
    assert [one.path for one in hierdata.init(elements).fields] == ["/records/r/@age", "/records/r/town"]
    with pytest.raises(PolicyError, match="has the type int"):
        hierdata.init(7)


def test_an_envelope_is_drafted_where_it_has_records_at_one_place(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    people = [{"sex": "mf"[n % 2]} for n in range(9)]
    path.write_text(json.dumps({"export": {"people": people, "places": people}}))
    with pytest.raises(InputError, match=r"state with `records` .*\(\$.export.people, \$.export.places\)"):
        hierdata.init(path)
    draft = hierdata.init(path, records="$.export.people")
    assert draft.confirmed()["records"] == "$.export.people"
    by_key = {f"p{number}": person for number, person in enumerate(people)}
    for data, place in (
        ({"export": {"people": people, "tags": ["x"]}}, "$.export.people"),
        ({"version": 3, "events": by_key}, "$.events.*"),
        (by_key, "$.*"),
    ):
        path.write_text(json.dumps(data))
        draft = hierdata.init(path)
        stated = draft.confirmed()
        assert (draft.records, stated["records"]) == (9, place)
        assert errors(draft, path) == []
        assert ("$['@key']" in stated["fields"]) is place.endswith(".*")
    assert stated["fields"]["$['@key']"]["role"] == "identifier"


def test_records_deep_in_xml_are_found(tmp_path: Path) -> None:
    """Below one element of the root, or beside others; several lists are several choices, as in JSON."""
    people = "".join(f"<p><sex>{'mf'[n % 2]}</sex></p>" for n in range(9))
    for text, place in (
        (f"<odm><data>{people}</data></odm>", "/odm/data/p"),
        (f"<gpx><metadata><time>1</time></metadata>{people}</gpx>", "/gpx/p"),
        (f'<a xmlns="urn:a"><b><c>{people}</c></b></a>', "/a/b/c/p"),
        (f"<all>{people}</all>", None),
    ):
        (tmp_path / "in.xml").write_text(text)
        draft = hierdata.init(tmp_path / "in.xml")
        assert (draft.records, draft.stated.get("records")) == (9, place)
        assert errors(draft, tmp_path / "in.xml") == []
    (tmp_path / "in.xml").write_text(f"<all><x>{people}</x><y>{people}</y></all>")
    with pytest.raises(InputError, match="different names: state with `records`"):
        hierdata.init(tmp_path / "in.xml")
    stray = "".join(f'<{name} id="{n}"><sex>m</sex></{name}>' for n, name in enumerate("ppqp"))
    (tmp_path / "in.xml").write_text(f"<all><data>{stray}</data></all>")
    draft = hierdata.init(tmp_path / "in.xml")
    assert (draft.records, "records" in draft.stated) == (1, False)


def test_tables_of_tabs_are_drafted(tmp_path: Path) -> None:
    rows = "".join(f"{20 + n % 9}\t{'mf'[n % 2]}\n" for n in range(30))
    (tmp_path / "people.tsv").write_text(f"age\tsex\n{rows}")
    draft = hierdata.init(tmp_path / "people.tsv")
    assert [one.path for one in draft.fields] == ["$.age", "$.sex"]
    release = hierdata.anonymize(tmp_path / "people.tsv", draft.confirmed(), seed=SEED)
    assert release.report.counts.records.published == 30


@pytest.mark.long
def test_memory_does_not_follow_the_number_of_records() -> None:
    """Every value is another one, in texts, numbers, lists and keys of a map: caps hold."""

    def peak(records: int) -> int:
        def people() -> Iterator[dict[str, Any]]:
            for n in range(records):
                yield {
                    "a": f"text {n}",
                    "b": n,
                    "c": [f"{n}", n % 7],
                    "d": {f"{n:09}": n},
                    "e": n % 1000,
                    "f": f"{n % 5000:05}",
                }

        tracemalloc.start()
        try:
            profile(people(), lambda seen: list(seen.attributes))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    small, large = peak(20_000), peak(60_000)
    assert large < 1.15 * small + 1_000_000


def test_a_field_of_what_some_records_lack_is_not_said_to_be_always_there() -> None:
    records = [{"age": at, "home": {"city": "P"} if at % 3 else None} for at in range(12)]
    text = str(hierdata.init(records))
    assert "# numbers, always present; 12 different values." in text
    assert "# texts, in all of its parents; 1 value." in text
