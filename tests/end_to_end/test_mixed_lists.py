"""Lists of several vertex types, strings or objects: releases by brute force, and beside separate keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from hierdata.pipeline.resources import Resources
from tests.cases import in_turns

SEED = b"a seed of sixteen bytes"
FLAT = {"role": "quasi", "flat": True}
SENSITIVE = {"role": "sensitive"}
CONDITION = "$.entry[?@.resource.type == 'C']"
CODING = f"{CONDITION}.resource.coding"
FIELDS: dict[str, Any] = {
    "$.sex": FLAT,
    f"{CONDITION}.resource.year": {"role": "quasi", "interval": {"steps": [1, 4], "domain": [2000, 2008]}},
    f"{CODING}[?@.system == 'http://icd' && @.use == 'u'].code": FLAT,
    f"{CODING}[?@.system == 'sct'].code": SENSITIVE,
    "$.entry[?@.resource.type == 'E'].resource.class": FLAT,
    "$.entry[?@.resource.type == 'E'].resource.place": SENSITIVE,
    "$.reason": FLAT,
    "$.reason.text": FLAT,
    "$.reason.by": SENSITIVE,
    "$.tags[*]": FLAT,
    "$.tags[*].name": SENSITIVE,
}
APART = {
    CODING + "[?@.system == 'http://icd' && @.use == 'u']": "$.c[*].resource.icd[*]",
    CODING + "[?@.system == 'sct']": "$.c[*].resource.sct[*]",
    CONDITION: "$.c[*]",
    "$.entry[?@.resource.type == 'E']": "$.e[*]",
    "$.reason.": "$.reason_object.",
    "$.tags[*].": "$.tag_objects[*].",
}
"""The same types with a key of their own."""


def person(random: Random) -> dict[str, Any]:
    def condition() -> dict[str, Any]:
        coding: list[dict[str, Any]] = []
        if random.random() < 0.5:
            coding.append({"use": "u", "code": random.choice("pq"), "system": "http://icd"})
        coding += [
            {"code": random.choice("abc"), "system": "sct"} for _ in range(random.choice((0, 1, 1, 2)))
        ]
        random.shuffle(coding)
        found: dict[str, Any] = {"type": "C", "coding": coding}
        if random.random() < 0.9:
            found["year"] = random.randint(2000, 2003)
        return {"resource": found}

    def encounter() -> dict[str, Any]:
        found = {"class": random.choice("AI"), "place": random.choice("xyz"), "type": "E"}
        return {
            "resource": {key: value for key, value in found.items() if random.random() < 0.9 or key == "type"}
        }

    entry = [condition() for _ in range(random.choice((0, 1, 1, 2)))]
    entry += [encounter() for _ in range(random.choice((0, 1, 1, 2)))]
    random.shuffle(entry)
    own: dict[str, Any] = {"sex": random.choice("fm"), "entry": entry}
    kind = random.random()
    if kind < 0.4:
        own["reason"] = random.choice(("fall", "cold"))
    elif kind < 0.8:
        own["reason"] = {"text": random.choice(("fall", "cold")), "by": random.choice("abcd")}
    if random.random() < 0.3:
        own["tags"] = random.sample(["t", {"name": "n"}, {"name": "o"}], random.randint(0, 3))
    return own


def people(seed: int, count: int = 40) -> list[dict[str, Any]]:
    random = Random(seed)
    return [person(random) for _ in range(count)]


def policy(k: int = 3, **more: Any) -> dict[str, Any]:
    return {"version": 1, "models": [{"kind": "k-anonymity", "k": k}], "fields": FIELDS} | more


# A reader of the published documents that knows nothing of this program.


def split_entry(record: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Conditions and encounters; the first must come before the second."""
    types = [item["resource"]["type"] for item in record.get("entry", [])]
    assert types == sorted(types), "types are in the policy's order"
    assert {*types} <= {"C", "E"}
    items = [item["resource"] for item in record.get("entry", [])]
    return [one for one in items if one["type"] == "C"], [one for one in items if one["type"] == "E"]


def without_sensitive(record: dict[str, Any]) -> dict[str, Any]:
    """The record without sensitive values, as it is written."""
    found = json.loads(json.dumps(record))
    conditions, encounters = split_entry(found)
    for condition in conditions:
        systems = [code["system"] for code in condition.get("coding", [])]
        assert systems == sorted(systems), "'http://icd' is before 'sct'"
        for code in condition.get("coding", []):
            assert (code["system"], code.get("use")) in {("sct", None), ("http://icd", "u")}
            if code["system"] == "sct":
                code.pop("code", None)
    for encounter in encounters:
        encounter.pop("place", None)
    if isinstance(found.get("reason"), dict):
        found["reason"].pop("by", None)
    for tag in found.get("tags", []):
        if isinstance(tag, dict):
            tag.pop("name", None)
    forms = [isinstance(tag, dict) for tag in found.get("tags", [])]
    assert forms == sorted(forms), "strings are before objects"
    return found


def canonical(value: Any) -> str:
    """A form that does not depend on the order of siblings."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(canonical, value))) + "]"
    return json.dumps(value)


def smallest(records: list[dict[str, Any]], form: Callable[[Any], str]) -> int:
    return min(Counter(form(without_sensitive(record)) for record in records).values(), default=3)


WORLDS = range(24)


@pytest.mark.parametrize("turn", range(2))
def test_classes_are_alike_in_what_is_published(turn: int) -> None:
    for world in in_turns(WORLDS, turn, 12):
        release = hierdata.anonymize(people(world), policy(), seed=SEED)
        records = list(release.records())
        assert smallest(records, canonical) >= 3
        assert smallest(records, json.dumps) >= 3, "as written, in this order"
        assert release.report.counts.k_raw == smallest(records, json.dumps)


def apart(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records with a key of its own for each type."""
    found = []
    for record in json.loads(json.dumps(records)):
        own = {key: value for key, value in record.items() if key not in ("entry", "reason", "tags")}
        for item in record.get("entry", []):
            kind = item["resource"].pop("type").lower()
            for code in item["resource"].pop("coding", []):
                system = code.pop("system").rpartition("/")[2]
                code.pop("use", None)
                item["resource"].setdefault(system, []).append(code)
            if not item["resource"]:
                del item["resource"]
            own.setdefault(kind, []).append(item)
        if "reason" in record:
            own["reason_object" if isinstance(record["reason"], dict) else "reason"] = record["reason"]
        for tag in record.get("tags", []):
            own.setdefault("tag_objects" if isinstance(tag, dict) else "tags", []).append(tag)
        found.append(own)
    return found


def apart_fields() -> dict[str, Any]:
    found = {}
    for path, rule in FIELDS.items():
        for mixed, separate in APART.items():
            if path.startswith(mixed):
                path = separate + path.removeprefix(mixed)
        found[path] = rule
    found["$.reason"] = {**FLAT, "vertex": True}
    return {**found, "$.reason_object": {"vertex": True}}


KNOWLEDGE = [{"kind": "bounded-knowledge", "k": 3, "m": 2}]
RARE = ("sets_and_ranges", "full_domain", "slicing")
WAYS: list[dict[str, Any]] = [
    {},
    {"models": [{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 2}]},
    {"recoding": "sets_and_ranges"},
    {"recoding": "full_domain"},
    {"recoding": "representatives"},
    {
        "recoding": "anatomy",
        "models": [{"kind": "frequency-l-diversity", "l": 2}],
        "suppressed": "as_published",
    },
    {
        "recoding": "slicing",
        "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}],
    },
    {"models": KNOWLEDGE},
    {"models": [{**KNOWLEDGE[0], "facts": "all"}]},
    {"empty": "drop"},
]


def shown(way: dict[str, Any], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["representative"] for one in records] if way.get("recoding") == "representatives" else records


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(
            way,
            id=f"{number} {way.get('recoding', 'generalization')}",
            marks=[pytest.mark.full] if way.get("recoding") in RARE or "empty" in way else [],
        )
        for number, way in enumerate(WAYS)
    ],
)
def test_a_release_is_that_of_separate_keys_put_together(way: dict[str, Any]) -> None:
    for world in in_turns(range(8), 1, 8):
        source = people(world, 36)
        stated = policy(**way)
        mixed = hierdata.anonymize(source, stated, seed=SEED)
        other = hierdata.anonymize(apart(source), {**stated, "fields": apart_fields()}, seed=SEED)
        ours, theirs = (shown(way, list(release.records())) for release in (mixed, other))
        assert sorted(map(canonical, apart(ours))) == sorted(map(canonical, theirs))
        assert mixed.report.metrics["kept"].exact == other.report.metrics["kept"].exact
        assert (
            mixed.report.counts.records.published == len(theirs) or way.get("recoding") == "representatives"
        )


def test_the_files_are_verified_with_the_original_measured_and_attacked(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in people(1, 40)))
    stated = policy()
    release = hierdata.anonymize(source, stated, seed=SEED, out=tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", stated).passed
    assert hierdata.verify(tmp_path / "out", stated, original=source).passed
    by_processes = hierdata.anonymize(source, stated, seed=SEED, resources=Resources("processes", workers=2))
    assert list(by_processes.records()) == list(release.records())
    measured = hierdata.measure_release(tmp_path / "out", stated, original=source)
    assert measured.metrics["kept"].exact == release.report.metrics["kept"].exact
    assert CONDITION in release.report.counts.vertices
    found = hierdata.attack(tmp_path / "out", stated, original=source, facts=2)
    assert found is not None


def changed(records: list[Any], change: Callable[[Any], bool]) -> Iterator[list[Any]]:
    """The records with one changed, for each that can be."""
    for number in range(len(records)):
        copies = json.loads(json.dumps(records))
        if change(copies[number]):
            yield copies


def reverse(record: Any) -> bool:
    items = record.get("entry", [])
    items.reverse()
    return len({item["resource"]["type"] for item in items}) > 1


def drop_type(record: Any) -> bool:
    return bool(record.get("entry")) and record["entry"][0]["resource"].pop("type") is not None


def other_type(record: Any) -> bool:
    for item in record.get("entry", []):
        item["resource"]["type"] = "X"
    return bool(record.get("entry"))


def add_compared(record: Any) -> bool:
    codes = [code for item in record.get("entry", []) for code in item["resource"].get("coding", [])]
    for code in codes:
        code["use"] = "v"
    return any(code["system"] == "sct" for code in codes)


def bare(record: Any) -> bool:
    if record.get("entry"):
        record["entry"] = record["entry"][0]
        return True
    return False


def name_of_filter(record: Any) -> bool:
    record["entry[?@.resource.type == 'E']"] = [{"resource": {"class": "A"}}]
    return True


def swap_tags(record: Any) -> bool:
    record.get("tags", []).reverse()
    return len({*map(type, record.get("tags", []))}) > 1


@pytest.mark.parametrize(
    "change", [reverse, drop_type, other_type, add_compared, bare, name_of_filter, swap_tags]
)
def test_the_judge_refuses_lists_that_are_not_as_the_policy_says(change: Callable[[Any], bool]) -> None:
    stated = policy(2)
    records = list(
        hierdata.anonymize(
            [{**own, "tags": ["t", {"name": "n"}]} for own in people(3, 60)], stated, seed=SEED
        ).records()
    )
    assert hierdata.verify(records, stated).passed
    tried = 0
    for wrong in changed(records, change):
        verdict = hierdata.verify(wrong, stated)
        assert not verdict.passed
        tried += 1
        if tried == 3:
            break
    assert tried


def anonymized(records: list[Any], fields: dict[str, Any], **more: Any) -> Any:
    return hierdata.anonymize(records, policy(2, fields=fields, **more), seed=SEED)


LAB = {"$.l[?@.t == 'lab'].v": FLAT}


def test_items_that_no_filter_selects_are_unlisted() -> None:
    records = [{"l": [{"t": "lab", "v": 1}, {"t": "secret", "v": 2}, {"v": 3}, "x"]}] * 4
    with pytest.raises(PolicyError, match=r"12 items of this list are selected by no filter") as refused:
        anonymized(records, LAB)
    assert "secret" not in str(refused.value)
    with pytest.raises(PolicyError, match="keeps fields, not items"):
        anonymized(records, LAB, unlisted={"keep": "because"})
    dropped = list(anonymized(records, LAB, unlisted="drop").records())
    assert dropped == [{"l": [{"t": "lab", "v": 1}]}] * 4
    kept = [{"l": [{"t": "lab", "v": 1, "w": 2}]}] * 4
    assert list(anonymized(kept, LAB, unlisted={"keep": "because"}).records()) == kept


def test_an_item_that_two_filters_select_is_an_error_with_its_record() -> None:
    fields = {**LAB, "$.l[?@.u == 'x'].v": FLAT}
    records = [{"l": [{"t": "lab", "v": 1}]}, {"l": [{"u": "x", "t": "lab", "v": 1}]}] * 2
    with pytest.raises(InputError, match="selected by this filter and by") as refused:
        anonymized(records, fields)
    assert refused.value.record == 2
    assert refused.value.path == "$.l[?@.t == 'lab']"


def test_a_filter_that_matches_nothing_is_told() -> None:
    with pytest.raises(PolicyError, match=r"== 'other'\]\.v: nothing in the records matches"):
        anonymized([{"l": [{"t": "lab", "v": 1}]}] * 2, {**LAB, "$.l[?@.t == 'other'].v": FLAT})
    release = anonymized(
        [{"l": [{"t": "lab", "v": 1}]}] * 2, {**LAB, "$.l[?@.t == 'other'].v": {**FLAT, "optional": True}}
    )
    assert len(list(release.records())) == 2


def test_a_type_may_be_dropped_or_counted_alone_and_a_rule_may_say_kind() -> None:
    records = [{"l": [{"t": "lab", "v": 1}, {"t": "note", "v": 2}, {"t": "bin", "v": 3}]}] * 2
    fields = {
        **LAB,
        "$.l[?@.t == 'lab'].t": {"role": "kind"},
        "$.l[?@.t == 'note']": {"vertex": True},
        "$.l[?@.t == 'note'].v": {"role": "identifier"},
        "$.l[?@.t == 'bin']": {"role": "identifier"},
    }
    release = anonymized(records, fields)
    assert list(release.records()) == [{"l": [{"t": "lab", "v": 1}, {"t": "note"}]}] * 2
    assert hierdata.verify(release.records(), policy(2, fields=fields)).passed


def test_equal_siblings_of_two_types_are_not_taken_for_each_other() -> None:
    records = [
        {"l": [{"t": "a", "v": 1}, {"t": "b", "v": 1}]},
        {"l": [{"t": "a", "v": 1}, {"t": "a", "v": 1}]},
    ]
    fields = {"$.l[?@.t == 'a'].v": FLAT, "$.l[?@.t == 'b'].v": FLAT}
    release = anonymized(records * 2, fields)
    assert Counter(map(canonical, release.records())) == Counter(map(canonical, records * 2))
    few = list(hierdata.anonymize(records, policy(2, fields=fields), seed=SEED).records())
    assert few == [{"l": [{"t": "a", "v": 1}]}] * 2


def test_values_of_a_map_may_be_strings_or_objects() -> None:
    records = [{"m": {"x": "v", "y": {"w": 1}}}] * 3
    fields = {"$.m": {"map": True}, "$.m[*]~": FLAT, "$.m[*]": FLAT, "$.m[*].w": FLAT}
    release = anonymized(records, fields)
    (one,) = {json.dumps(record) for record in release.records()}
    assert json.loads(one) == {"m": [{"key": "x", "value": "v"}, {"key": "y", "value": {"w": 1}}]}
    assert hierdata.verify(release.records(), policy(2, fields=fields)).passed


def test_dotted_paths_take_strings_and_objects_too() -> None:
    records = [{"r": "a"}, {"r": {"t": "b"}}, {"r": {"t": "b"}}, {"r": "a"}, {"r": ["a", {"t": "b"}]}][:4]
    fields = {"r": FLAT, "r.t": FLAT}
    assert Counter(map(canonical, anonymized(records, fields).records())) == Counter(map(canonical, records))


@pytest.mark.parametrize("recoding", ["representatives", "anatomy", "slicing"])
def test_sensitive_strings_beside_objects_are_refused_where_they_become_objects(recoding: str) -> None:
    with pytest.raises(PolicyError, match="sensitive single values become objects"):
        anonymized([{"r": "a"}], {"$.r": SENSITIVE, "$.r.t": FLAT}, recoding=recoding)
