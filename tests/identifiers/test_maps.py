"""Maps in releases: every recoding, values of every kind, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.ground.errors import InputError, PolicyError, PromiseError
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data
from hierdata.policy.load.json_schema import policy_of
from tests.cases import examples

SEED = b"a seed of sixteen bytes"
Document = dict[str, Any]
FLAT: Document = {"role": "quasi", "flat": True}
DATE: Document = {"role": "quasi", "date": {"steps": ["day", "month", "year"]}}
RECODINGS = ["generalization", "sets_and_ranges", "representatives", "anatomy", "slicing"]
SENSITIVE: Document = {"role": "sensitive"}


def published(source: Any, stated: Document) -> list[Any]:
    return list(hierdata.anonymize(source, stated, seed=SEED).records())


def policy(fields: Document, **more: Any) -> Document:
    models = [{"kind": "k-anonymity", "k": 3}]
    return {"version": 1, "models": models, "fields": {"$.sex": FLAT, **fields}, **more}


STAYS: Document = {
    "$.stays": {"map": True},
    "$.stays[*]~": DATE,
    "$.stays[*].ward": SENSITIVE,
    "$.stays[*].days": {"role": "quasi", "interval": {"steps": [1, 5], "domain": [0, 20]}},
}


def patients(count: int = 12) -> list[Document]:
    return [
        {
            "sex": "fm"[number % 2],
            "stays": {
                f"2021-0{1 + stay}-0{1 + (number + stay) % 6}": {
                    "ward": "abc"[(number + stay) % 3],
                    "days": number % 4,
                }
                for stay in range(1 + number % 2)
            },
        }
        for number in range(count)
    ]


def entries(records: list[Document]) -> list[Document]:
    return [entry for record in records for entry in record.get("stays", [])]


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_entries_are_vertices_whose_keys_have_a_role(recoding: str, form: str, tmp_path: Path) -> None:
    source = tmp_path / f"in.{form}"
    lines = map(json.dumps, patients())
    source.write_text("\n".join(lines) if form == "jsonl" else json.dumps(patients()))
    stated = policy(STAYS, recoding=recoding)
    hierdata.anonymize(source, stated, seed=SEED).save(tmp_path / "release")
    verdict = hierdata.verify(tmp_path / "release", stated, original=source)
    assert verdict.passed
    assert verdict.k >= 3


def test_generalized_keys_coincide_and_nothing_is_lost() -> None:
    stated = policy({**STAYS, "$.stays[*]~": {"role": "quasi", "date": {"steps": ["day", "year"]}}})
    records = published(patients(), stated)
    found = entries(records)
    assert {entry["key"][:4] for entry in found} == {"2021"}
    assert any(
        [entry["key"] for entry in record["stays"]] == ["2021"] * 2
        for record in records
        if len(record["stays"]) == 2
    )
    wards = sorted(stay["ward"] for one in patients() for stay in one["stays"].values())
    assert sorted(entry["value"]["ward"] for entry in found) == wards


def test_values_may_be_single_arrays_or_maps() -> None:
    records: list[Document] = [
        {
            "sex": "f",
            "scores": {"x1": number % 3},
            "lists": {"2021-01-01": [{"of": "a"}, {"of": "b"}]},
            "tags": {"2021-01-01": ["t", "u"]},
            "grades": {"2020": {"c1": number % 2, "c2": 1}},
            "terms": [{"of": {"100": number % 3}}],
        }
        for number in range(6)
    ]
    fields = {
        **{"$.scores": {"map": True}, "$.scores[*]~": FLAT, "$.scores[*]": SENSITIVE},
        **{"$.lists": {"map": True}, "$.lists[*]~": DATE, "$.lists[*][*].of": FLAT},
        **{"$.tags": {"map": True}, "$.tags[*]~": DATE, "$.tags[*][*]": FLAT},
        **{"$.grades": {"map": True}, "$.grades[*]~": FLAT, "$.grades[*]": {"map": True}},
        **{"$.grades[*][*]~": FLAT, "$.grades[*][*]": SENSITIVE},
        **{"$.terms[*].of": {"map": True}, "$.terms[*].of[*]~": FLAT, "$.terms[*].of[*]": SENSITIVE},
    }
    stated = policy(fields, models=[{"kind": "k-anonymity", "k": 2}])
    found = published(records, stated)
    assert hierdata.verify(found, stated).passed
    first = found[0]
    assert first["lists"] == [{"key": "2021-01-01", "value": [{"of": "a"}, {"of": "b"}]}]
    assert first["tags"] == [{"key": "2021-01-01", "value": ["t", "u"]}]
    assert [entry["key"] for entry in first["grades"][0]["value"]] == ["c1", "c2"]
    assert first["terms"][0]["of"][0]["key"] == "100"
    originals = sorted(json.dumps(one["scores"]["x1"]) for one in records)
    assert sorted(json.dumps(one["scores"][0]["value"]) for one in found) == originals


def test_dotted_paths_lead_to_the_same_place(order_by_seed: None) -> None:
    dotted = {
        "stays": {"map": True},
        "$.stays[*]~": DATE,
        "stays.ward": SENSITIVE,
        "stays.days": STAYS["$.stays[*].days"],
    }
    one, other = (
        list(hierdata.anonymize(patients(), policy(fields), seed=SEED).records())
        for fields in (STAYS, dotted)
    )
    assert one == other


def test_what_is_kept_unlisted_below_a_map_stays_where_it_is() -> None:
    fields = {path: rule for path, rule in STAYS.items() if "days" not in path}
    stated = policy(fields, unlisted={"keep": "checked by hand"})
    records = published(patients(), stated)
    assert hierdata.verify(records, stated).passed
    assert {key for entry in entries(records) for key in entry["value"]} == {"ward", "days"}


@pytest.mark.full
def test_bytes_do_not_depend_on_who_does_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.sources.form.SIZE", 400)
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, patients())))
    found = []
    for resources in (Resources("serial"), Resources("processes", 2)):
        release = hierdata.anonymize(source, policy(STAYS), seed=SEED, resources=resources)
        found.append(json.dumps(list(release.records()), default=str))
    assert found[0] == found[1]


def test_attackers_models_and_sensitive_tables_name_entries() -> None:
    stated = policy(
        STAYS,
        models=[
            {"kind": "k-anonymity", "k": 3},
            {"kind": "distinct-l-diversity", "l": 2, "on": ["$.stays[*].ward"]},
        ],
        recoding="slicing",
        sensitive_tables=[["$.stays[*].ward"]],
        attackers={"doctor": {"keys": ["$.stays[*]~"], "on": "$.stays[*].ward"}},
    )
    report = hierdata.anonymize(patients(24), stated, seed=SEED).report
    assert report.attackers["doctor"]


# What is refused


DYNAMIC = r"\$\.stays: the names of the fields here look like data"


def test_keys_that_are_data_are_refused_until_the_policy_says_what_they_are() -> None:
    with pytest.raises(PolicyError, match=DYNAMIC) as refused:
        hierdata.anonymize(patients(), policy({"$.stays.x": {**SENSITIVE, "optional": True}}))
    assert "2021" not in str(refused.value)
    with pytest.raises(PolicyError, match="look like data") as refused:
        hierdata.anonymize(patients(), policy({}, unlisted={"keep": "why not"}))
    assert "2021" not in str(refused.value)
    for fields in ({"$.stays": {"role": "identifier"}}, {}):
        records = hierdata.anonymize(patients(), policy(fields, unlisted="drop"), seed=SEED).records()
        assert "stays" not in next(iter(records))


def test_an_endless_number_of_names_is_refused_even_where_they_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hierdata.records.survey.MOST_KEYS", 40)
    many = [{"sex": "f", "a": {f"name{number}": 1, "b": 2}} for number in range(50)]
    with pytest.raises(PolicyError, match="look like data"):
        hierdata.anonymize(many, policy({"$.a.b": FLAT}, unlisted="drop"))


@pytest.mark.parametrize("value", ["text", 5, True, [], [{"key": "2021-01-01", "value": {"ward": "a"}}]])
def test_what_is_no_object_is_refused_with_its_record(value: object) -> None:
    wrong = patients()
    wrong[7]["stays"] = value
    with pytest.raises(InputError, match=r"record 8, \$\.stays: the policy says that this is a map"):
        hierdata.anonymize(wrong, policy(STAYS))


def test_null_and_empty_maps_have_no_entries() -> None:
    some = patients()
    for number, value in ((0, None), (1, {}), (2, {})):
        some[number]["stays"] = value
    del some[3]["stays"]
    stated = policy({**STAYS, "$.sex": {"role": "identifier"}})
    release = hierdata.anonymize(some, stated, seed=SEED)
    assert hierdata.verify(release.records(), stated).passed


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"$.a": {"map": True}, "$.a[*]": SENSITIVE}, r"give them a rule, \$\.a\[\*\]~"),
        ({"$.a[*]": {"map": True}}, "named without"),
        ({"$.a[*]~": FLAT}, "states no map"),
        ({"$.a[*][*]": FLAT}, "arrays directly inside arrays"),
        ({"$.a": {"map": True, "role": "quasi"}}, "a map takes no role"),
        ({"$.a": {"map": True}, "$.a[*]~": FLAT, "$.a[*]": {"map": True}, "$.a[*].b": FLAT}, "is a map"),
    ],
)
def test_rules_that_do_not_go_together_are_refused(fields: Document, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        hierdata.anonymize([{"sex": "f"}], policy(fields))


def test_a_json_schema_tells_keys_and_values_of_maps_apart() -> None:
    def stated(rule: Document, **more: Any) -> Document:
        return {"x-hierdata": rule, **more}

    stay = {"properties": {"ward": stated(SENSITIVE)}}
    inner = stated({"map": True}, propertyNames=stated(FLAT), additionalProperties=stated(SENSITIVE))
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-hierdata": {"version": 1, "models": [{"kind": "k-anonymity", "k": 3}]},
        "properties": {
            "sex": stated(FLAT),
            "stays": stated({"map": True}, propertyNames=stated(DATE), additionalProperties=stay),
            "grades": stated({"map": True}, propertyNames=stated(FLAT), additionalProperties=inner),
        },
    }
    grades = {"$.grades": {"map": True}, "$.grades[*]~": FLAT, "$.grades[*]": {"map": True}}
    inside = {"$.grades[*][*]~": FLAT, "$.grades[*][*]": SENSITIVE}
    stays = {path: rule for path, rule in STAYS.items() if "days" not in path}
    assert policy_of(schema)[0]["fields"] == {"$.sex": FLAT, **stays, **grades, **inside}
    assert from_data(policy_of(schema)[0]) == from_data(policy({**stays, **grades, **inside}))


def test_xml_has_no_maps() -> None:
    place = "/r/p/"
    fields = {f"{place}a": {"map": True}, f"{place}sex": FLAT}
    stated = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    with pytest.raises(PolicyError, match="XML has none"):
        hierdata.anonymize([], stated)


# A forged release


def test_an_object_in_the_place_of_its_entries_fails(tmp_path: Path) -> None:
    """The names of its fields would be what nobody judged."""
    stated = policy(STAYS)
    hierdata.anonymize(patients(), stated, seed=SEED).save(tmp_path / "release")
    path = tmp_path / "release" / "public" / "records.json"
    records = json.loads(path.read_text())
    for record in records:
        record["stays"] = {entry["key"]: entry["value"] for entry in record["stays"]}
    path.write_text(json.dumps(records))
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert not verdict.passed
    assert verdict.forbidden["<key>"]


KEYS = st.text(max_size=3)


@examples(40)
@given(
    st.lists(st.dictionaries(KEYS, st.integers(0, 2), max_size=3), min_size=4, max_size=9),
    st.sampled_from(RECODINGS),
)
def test_any_keys_come_through_and_are_judged(maps: list[dict[str, int]], recoding: str) -> None:
    records = [{"sex": "f", "m": own} for own in maps]
    fields = {"$.m": {"map": True}, "$.m[*]~": {**FLAT, "missing": ["*"], "optional": True}}
    fields["$.m[*]"] = {**SENSITIVE, "optional": True}
    stated = policy(fields, models=[{"kind": "k-anonymity", "k": 2}], recoding=recoding)
    try:
        release = hierdata.anonymize(records, stated, seed=SEED)
    except PromiseError:
        return  # too few entries for a group
    if recoding in ("anatomy", "slicing"):
        return  # judged by the run, with the parts beside the records
    verdict = hierdata.verify(release.records(), stated)
    assert verdict.passed
    assert verdict.k >= 2
