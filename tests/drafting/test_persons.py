"""Drafts of collections of persons: nobody's name or key is published, and rows of one person are united."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PolicyError
from tests.cases import for_each
from tests.drafting.made_up_exports import EXPORTS, XML, write_xml
from tests.drafting.made_up_people import COLLECTIONS, FAMILY, GIVEN, UNITED, name
from tests.drafting.made_up_sectors import MORE, bare

SEED = b"a seed of sixteen bytes"
RECORDS = 60
NAMES = {name(n) for n in range(300)} | set(GIVEN) | set(FAMILY)
MARKED = re.compile(r"@example|\+49 30|DE\d{20}|\d{3}-\d\d-\d{4}|rue de|Via Roma|Patient/|P0\d{3}|\d{8}[A-Z]")


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for below in value.values() if isinstance(value, dict) else value:
            yield from texts(below)
    else:
        yield str(value)


def roles(records: list[dict[str, Any]]) -> dict[str, str]:
    return {one.path: one.proposal.role for one in hierdata.init(records).fields}


def test_drafts_that_are_followed_blindly_publish_no_direct_identifier() -> None:
    for title, make in COLLECTIONS.items():
        records = make(RECORDS)
        policy = {**hierdata.init(records).confirmed(), "effort": 0}
        release = hierdata.anonymize(make(RECORDS), policy, seed=SEED)
        shown = set(texts(list(release.records())))
        assert not [text for text in shown if text in NAMES or MARKED.search(text)], title
        assert release.report.counts.records.published > 0, title
        assert any(text not in ("*", "None") for text in shown), title


@for_each("title", [*MORE, *EXPORTS, *XML], few=5)
def test_drafts_of_many_sectors_and_languages_may_be_followed_blindly(title: str, tmp_path: Path) -> None:
    hidden = set[str]()
    records = [bare((MORE | EXPORTS | XML)[title](n), hidden) for n in range(RECORDS)]
    source: Any = records
    if title in XML:
        source = tmp_path / f"{title}.xml"
        source.write_text(f"<all>{''.join(write_xml(one, title) for one in records)}</all>")
    found = hierdata.init(source)
    for one in found.fields:
        if one.proposal.role == "sensitive" and _is_nearly_unique([*values_at(records, one.field.keys)]):
            assert one.proposal.confirm, one.path
    release = hierdata.anonymize(source, {**found.confirmed(), "effort": 0}, seed=SEED)
    shown = set(texts([bare(one, set()) for one in release.records()]))
    names = {own for own in hidden if " " in own and len(own) > 8}
    assert not {text for text in shown if text in hidden or any(own in text for own in names)}
    assert release.report.counts.records.published > 0
    assert shown - {"*", "None"}


def values_at(value: Any, keys: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, list):
        for below in value:
            yield from values_at(below, keys)
    elif keys and isinstance(value, dict):
        yield from values_at(value.get(keys[0]), keys[1:])
    elif not keys and value is not None:
        yield str(value)


def _is_nearly_unique(values: list[str]) -> bool:
    return len(set(values)) >= 10 and 2 * [values.count(own) for own in values].count(1) > len(values)


def test_there_are_at_least_forty_collections() -> None:
    assert len(MORE) + len(EXPORTS) + len(XML) + len(COLLECTIONS) >= 80


def test_rows_of_one_person_are_united_by_a_key_rather_than_a_name() -> None:
    for title, make in COLLECTIONS.items():
        found = hierdata.init(make(RECORDS))
        individual = found.stated.get("individual", {})
        assert individual.get("by") == UNITED.get(title), title
        assert ("would count records" in str(found).replace("\n# ", " ")) == (title in UNITED), title


def test_a_name_unites_rows_where_there_is_no_key_and_the_draft_asks() -> None:
    records = [{"patient_name": name(n // 3), "age": 20 + n // 3, "ward": "abc"[n % 3]} for n in range(60)]
    draft = hierdata.init(records)
    assert draft.stated["individual"] == {"by": "$.patient_name", "nest": "$.entries", "own": ["$.age"]}
    text = str(draft).replace("\n# ", " ")
    assert "60 records are of 20 persons" in text
    assert "two spellings counts as two" in text
    assert "the presets MBF, anatomy-l" in text
    coded = [{**one, "nr": f"K{n // 3}"} for n, one in enumerate(records)]
    assert hierdata.init(coded).stated["individual"]["by"] == "$.nr"


def test_first_and_last_name_together_unite_rows_that_have_no_key() -> None:
    records = [
        {"first": GIVEN[n // 3 % 4], "last": FAMILY[n // 12 % 5], "sex": "mf"[n // 3 % 2], "ward": n % 4}
        for n in range(60)
    ]
    draft = hierdata.init(records)
    by = ["$.first", "$.last", "$.sex"]
    assert draft.stated["individual"] == {"by": by, "nest": "$.entries"}
    assert "60 records are of 20 persons" in str(draft).replace("\n# ", " ")
    assert hierdata.anonymize(records, draft.confirmed(), seed=SEED).report.counts.records.input == 20
    seldom = [{**one, "first": GIVEN[n % 16], "last": FAMILY[n // 4 % 14]} for n, one in enumerate(records)]
    assert "individual" not in hierdata.init(seldom).stated


def test_a_field_without_a_telling_name_is_a_key_if_it_determines_facts_of_persons() -> None:
    records = [
        {"ref7": f"x{n // 3}", "sex": "mf"[n // 3 % 2], "born": 1950 + n // 3, "seen": n % 7, "zip": n // 3}
        for n in range(60)
    ]
    assert hierdata.init(records).stated["individual"]["by"] == "$.ref7"
    places = [{"town": f"t{n % 9}", "region": f"r{n % 3}", "sex": "mf"[n // 9 % 2]} for n in range(60)]
    assert "individual" not in hierdata.init(places).stated


def test_a_key_that_never_repeats_says_that_each_record_is_a_person() -> None:
    records = [{"patient_id": n, "patient_name": name(n % 50), "sex": "mf"[n % 2]} for n in range(60)]
    draft = hierdata.init(records)
    assert "individual" not in draft.stated
    hierdata.anonymize(records, draft.confirmed(), seed=SEED)


def test_names_of_things_stay_and_the_draft_says_why() -> None:
    records = [
        {
            "name": name(n),
            "age": 20 + n % 30,
            "course": {"name": ("Linear Algebra", "Modern History")[n % 2]},
            "city_name": ("New York", "San Jose")[n % 2],
            "products": [{"name": ("Blue Chair", "Red Chair")[n % 2]}],
        }
        for n in range(60)
    ]
    found = {one.path: one.proposal for one in hierdata.init(records).fields}
    assert found["$.name"].role == "identifier"
    for path, thing in {
        "$.course.name": "course",
        "$.city_name": "city",
        "$.products[*].name": "product",
    }.items():
        assert found[path].role == "quasi"
        assert thing in found[path].reason
    only = [{"name": ("north", "south")[n % 2]} for n in range(60)]
    (one,) = hierdata.init(only).fields
    assert one.proposal.reason == "a name, but its values do not look like names of persons"


def test_values_may_contradict_the_name_of_a_field() -> None:
    records = [
        {
            "address": "UR"[n % 2],
            "contact": ("cellular", "telephone")[n % 2],
            "guardian": ("mother", "father", "other")[n % 3],
            "phone": n % 2 == 0,
            "last_login": f"2024-01-0{1 + n % 9}",
            "system": {"url": f"http://terms.example/{n % 2}"},
        }
        for n in range(60)
    ]
    assert set(roles(records).values()) == {"quasi"}


def test_values_in_lists_that_belong_to_one_record_are_identifiers() -> None:
    records = [
        {"sex": "mf"[n % 2], "parts": [{"x": f"q{n}x{k}", "kind": f"k{k}"} for k in range(3)]}
        for n in range(60)
    ]
    found = {one.path: one.proposal for one in hierdata.init(records).fields}
    assert found["$.parts[*].x"].role == "identifier"
    assert found["$.parts[*].kind"].role == "quasi"


FIELDS = {"$.sex": {"role": "quasi", "flat": True}, "$.ward": {"role": "quasi", "flat": True}}
WARDS = [{"sex": "mf"[n // 3 % 2], "ward": "ab"[n % 2]} for n in range(60)]


@pytest.mark.parametrize("role", [{"role": "quasi", "flat": True}, {"role": "identifier"}])
@pytest.mark.parametrize("field", ["patient_name", "customer", "Kundennummer", "ssn"])
def test_a_subject_that_repeats_must_be_stated(field: str, role: dict[str, Any]) -> None:
    records = [{field: f"{name(n // 3)} {n // 3}", **one} for n, one in enumerate(WARDS)]
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "fields": {**FIELDS, f"$.{field}": role},
    }
    with pytest.raises(PolicyError, match=r"20 values repeat.*individual: \{none: REASON\}"):
        hierdata.anonymize(records, policy, seed=SEED)
    reason = "each row is another person of the same household"
    release = hierdata.anonymize(records, {**policy, "individual": {"none": reason}}, seed=SEED)
    assert any(reason in line for line in release.report.limitations)
    once = [{**one, field: f"{field}{n}"} for n, one in enumerate(records)]
    assert hierdata.anonymize(once, policy, seed=SEED).report.limitations


def test_other_persons_may_repeat_and_fields_that_no_rule_names_count() -> None:
    records = [{"manager": name(n // 3), "ship_to": name(n % 7), **one} for n, one in enumerate(WARDS)]
    policy = {"version": 1, "unlisted": "drop", "models": [{"kind": "k-anonymity", "k": 3}], "fields": FIELDS}
    hierdata.anonymize(records, policy, seed=SEED)
    with pytest.raises(PolicyError, match=r"^\$\.<key>: 20 values"):
        hierdata.anonymize([{"student_nr": n // 3, **one} for n, one in enumerate(WARDS)], policy, seed=SEED)


def test_persons_of_one_name_who_differ_in_sex_or_day_of_birth_are_two() -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {**FIELDS, "$.name": {"role": "identifier"}},
    }
    records = [{"name": name(n // 2), "sex": "mf"[n % 2], "ward": "a"} for n in range(60)]
    hierdata.anonymize(records, policy, seed=SEED)
    with pytest.raises(PolicyError, match="30 values repeat"):
        hierdata.anonymize([{**one, "sex": "m"} for one in records], policy, seed=SEED)


def test_first_and_last_alone_are_names_if_their_values_are() -> None:
    names = [{"FIRST": GIVEN[n % 16], "LAST": FAMILY[n % 14], "MAIDEN": FAMILY[n % 5]} for n in range(60)]
    assert set(roles(names).values()) == {"identifier"}
    others = [{"first": n % 7, "last": f"2024-01-0{1 + n % 9}", "given": n % 2 == 0} for n in range(60)]
    assert set(roles(others).values()) == {"quasi"}


def test_keyed_tables_and_elements_are_united_too(tmp_path: Path) -> None:
    visits = [f"{n},P{n // 3},{'mf'[n // 3 % 2]},w{n % 4}" for n in range(60)]
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "visits.csv").write_text("\n".join(["visit,patient_id,sex,ward", *visits]))
    drugs = [f"{n % 60},d{n % 3}" for n in range(120)]
    (tmp_path / "tables" / "drugs.csv").write_text("\n".join(["visit,drug", *drugs]))
    file = tmp_path / "visits.xml"
    rows = [f"<visit><patient><id>P{n // 3}</id></patient><ward>w{n % 4}</ward></visit>" for n in range(60)]
    file.write_text(f"<visits>{''.join(rows)}</visits>")
    for source, by in ((tmp_path / "tables", "$.patient_id"), (file, "/visits/visit/patient/id")):
        draft = hierdata.init(source)
        assert draft.stated["individual"]["by"] == by
        release = hierdata.anonymize(source, {**draft.confirmed(), "effort": 0}, seed=SEED)
        assert release.report.counts.records.input == 20
