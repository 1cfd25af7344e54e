"""The bundled students through the whole pipeline: three formats, packed or not, files and objects."""

from __future__ import annotations

import gzip
import json
import random
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.documents.formats import FORMATS, Layout
from hierdata.policy.load import from_data
from hierdata.release.release import Release
from tests.end_to_end.conftest import (
    POLICIES,
    SEED,
    STUDENTS,
    all_plain,
    policy_for,
    public_bytes,
    published,
)
from tests.naive_knowledge import pairs_of

FILES = ("students.json", "students.jsonl", "students.xml")

QUICKLY = from_data(
    {
        **hierdata.load_policy(POLICIES / "students-multilevel.yaml").model_dump(
            by_alias=True, exclude_unset=True
        ),
        "engine": {"steps": [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]},
    },
    POLICIES,
)
"""The policy of the students, by an engine that takes little time."""


def of(name: str) -> Release:
    return published(STUDENTS / name, policy_for(STUDENTS / name))


@pytest.fixture(scope="module")
def objects() -> list[dict[str, Any]]:
    text = (STUDENTS / "students.json").read_text("utf-8")
    return json.loads(text, parse_float=Decimal)  # type: ignore[no-any-return]


def test_a_release_of_the_students_keeps_its_promise(students: Release) -> None:
    counts = students.report.counts
    assert students.report.passed
    assert counts.records.input == 600
    assert counts.records.published == sum(1 for _ in students.records()) > 300
    assert counts.smallest_class >= 5
    assert counts.k_raw == counts.smallest_class
    (promise,) = students.report.promises
    assert promise.held
    assert students.report.metrics["lm_cost"].exact["total"] != "0"


def measured(release: Release) -> dict[str, list[float]]:
    """The figures by metric, without their names: some bear a path, which each format spells its way."""
    return {name: [*measure.figures.values()] for name, measure in release.report.metrics.items()}


@pytest.mark.parametrize("name", [pytest.param("students.jsonl", marks=pytest.mark.full), "students.xml"])
def test_every_format_gives_the_same_classes_and_records(students: Release, name: str) -> None:
    other = of(name)
    assert measured(other) == measured(students)
    assert other.report.counts.records == students.report.counts.records
    assert other.report.counts.classes == students.report.counts.classes
    assert [*other.report.counts.vertices.values()] == [*students.report.counts.vertices.values()]
    assert all_plain(other.records()) == all_plain(students.records())


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "students.jsonl" else pytest.mark.full) for name in FILES]
)
def test_a_packed_file_gives_the_same_release_packed(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.gz"
    source.write_bytes(gzip.compress((STUDENTS / name).read_bytes()))
    release = hierdata.anonymize(source, policy_for(source), seed=SEED)
    ending = name.partition(".")[2]
    (file,) = (release.folder / "public").glob(f"records.{ending}*")
    assert file.name == f"records.{ending}.gz"
    plain_file = of(name).folder / "public" / f"records.{ending}"
    assert gzip.decompress(file.read_bytes()) == plain_file.read_bytes()


def test_the_papers_policy_shows_sensitive_values_that_few_have_together(students: Release) -> None:
    """The tutorial's figure: 95 of 100 students have two such values that fewer than five share."""
    quasi = ("major", "birth_year", "code", "instructor", "title")
    rare = share_with_rare_pairs([pairs_of(one, ("id", *quasi)) for one in students.records()])
    assert Fraction(95, 100) <= rare < Fraction(96, 100)


def share_with_rare_pairs(shown: list[set[tuple[tuple[str, str], ...]]]) -> Fraction:
    count = Counter(chain.from_iterable(shown))
    return Fraction(sum(any(count[two] < 5 for two in one) for one in shown), len(shown))


@pytest.mark.full
def test_a_list_and_a_generator_of_dicts_are_like_the_file(
    students: Release, objects: list[dict[str, Any]]
) -> None:
    expected = public_bytes(students)
    assert (
        public_bytes(hierdata.anonymize(objects, POLICIES / "students-multilevel.yaml", seed=SEED))
        == expected
    )
    once = (student for student in objects)
    assert (
        public_bytes(hierdata.anonymize(once, POLICIES / "students-multilevel.yaml", seed=SEED)) == expected
    )
    with_floats = json.loads((STUDENTS / "students.json").read_text("utf-8"))
    release = hierdata.anonymize(with_floats, POLICIES / "students-multilevel.yaml", seed=SEED)
    assert release.report.metrics == students.report.metrics  # a float says 3.7 where the file says 3.70


def test_what_can_be_read_once_leaves_no_copy(
    objects: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[Path] = []

    def look(stage: str, done: int, total: int | None) -> None:
        seen.extend(tmp_path.rglob("spill.jsonl"))
        assert all(stat.S_IMODE(path.parent.stat().st_mode) == 0o700 for path in seen[-1:] if path.exists())

    release = hierdata.anonymize(iter(objects), QUICKLY, progress=look)
    assert seen
    assert list(tmp_path.iterdir()) == [release.folder]

    def breaks_off() -> Iterator[dict[str, Any]]:
        yield objects[0]
        raise LookupError

    with pytest.raises(LookupError):
        hierdata.anonymize(breaks_off(), QUICKLY)
    assert list(tmp_path.iterdir()) == [release.folder]


@pytest.mark.full
def test_lxml_elements_are_like_the_file() -> None:
    elements = list(etree.parse(STUDENTS / "students.xml").getroot())
    release = hierdata.anonymize(elements, POLICIES / "students-xml.yaml", seed=SEED)
    assert public_bytes(release) == public_bytes(of("students.xml"))
    stream = iter(elements)
    release = hierdata.anonymize(stream, POLICIES / "students-xml.yaml", seed=SEED)
    assert public_bytes(release) == public_bytes(of("students.xml"))


@pytest.mark.full
def test_a_policy_may_be_given_in_any_form(students: Release) -> None:
    import yaml

    path = POLICIES / "students-multilevel.yaml"
    loaded = hierdata.load_policy(path)
    expected = public_bytes(students)["records.json"]
    for policy in (str(path), loaded, POLICIES.parents[1] / "schemas" / "student.schema.json"):
        release = hierdata.anonymize(STUDENTS / "students.json", policy, seed=SEED)
        assert public_bytes(release)["records.json"] == expected
    stated = yaml.safe_load(path.read_text("utf-8"))
    for rule in stated["fields"].values():
        if "taxonomy" in rule:
            rule["taxonomy"] = str((path.parent / rule["taxonomy"]).resolve())
    release = hierdata.anonymize(STUDENTS / "students.json", stated, seed=SEED)
    assert public_bytes(release)["records.json"] == expected


@pytest.mark.full
def test_the_seed_decides_every_byte(students: Release) -> None:
    source, policy = STUDENTS / "students.json", POLICIES / "students-multilevel.yaml"
    again = hierdata.anonymize(source, policy, seed=SEED)
    assert public_bytes(again) == public_bytes(students)
    other = hierdata.anonymize(source, policy, seed=b"another seed of bytes")
    assert public_bytes(other)["records.json"] != public_bytes(students)["records.json"]
    unseeded = [hierdata.anonymize(source, policy) for _ in range(2)]
    assert public_bytes(unseeded[0])["records.json"] != public_bytes(unseeded[1])["records.json"]


def test_verify_needs_neither_order(students: Release, tmp_path: Path) -> None:
    verdict = hierdata.verify(students.folder, POLICIES / "students-multilevel.yaml")
    assert verdict.passed
    rng = random.Random(7)

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            items = [(key, turned(inner)) for key, inner in value.items()]
            return dict(rng.sample(items, len(items)))
        return rng.sample([turned(item) for item in value], len(value)) if isinstance(value, list) else value

    target = tmp_path / "shuffled.jsonl"
    with target.open("wb") as stream:
        FORMATS["jsonl"]().write(turned(list(students.records())), stream, Layout())
    assert target.read_bytes() != public_bytes(students)["records.json"]
    again = hierdata.verify(target, POLICIES / "students-multilevel.yaml")
    assert replace(again, k_raw=verdict.k_raw) == verdict


@pytest.mark.parametrize("name", FILES)
def test_verify_with_the_original_agrees(name: str) -> None:
    release, policy = of(name), policy_for(STUDENTS / name)
    with_original = hierdata.verify(release.folder, policy, original=STUDENTS / name)
    assert with_original == hierdata.verify(release.folder, policy)
    assert with_original.passed


def test_a_release_that_was_tampered_with_fails(students: Release, tmp_path: Path) -> None:
    records = list(students.records())
    policy = POLICIES / "students-multilevel.yaml"

    def verdict_on(changed: list[dict[str, Any]]) -> hierdata.Verdict:
        target = tmp_path / "changed.json"
        with target.open("wb") as stream:
            FORMATS["json"]().write(changed, stream, Layout())
        return hierdata.verify(target, policy)

    assert verdict_on(records).passed
    alone = verdict_on([{**records[0], "major": "Computer Science", "birth_year": 1990}, *records[1:]])
    assert (alone.passed, alone.k) == (False, 1)
    named = verdict_on([{**records[0], "id": "S000001"}, *records[1:]])
    assert (named.passed, sum(named.forbidden.values())) == (False, 1)
    uniform = verdict_on([{**record, "gpa": Decimal("0.1")} for record in records])
    assert not uniform.passed
    assert {judgement.path for judgement in uniform.judgements if judgement.held is False} == {"$.gpa"}


def test_raw_students_are_not_anonymous(tmp_path: Path) -> None:
    verdict = hierdata.verify(STUDENTS / "students.json", POLICIES / "students-multilevel.yaml")
    assert not verdict.passed
    assert verdict.k == 1
    assert sum(verdict.forbidden.values()) == 600


def test_fewer_records_than_a_class_holds_cannot_be_published(objects: list[dict[str, Any]]) -> None:
    with pytest.raises(hierdata.PromiseError, match="collection has 4"):
        hierdata.anonymize(objects[:4], POLICIES / "students-multilevel.yaml")
    with pytest.raises(hierdata.InputError):
        hierdata.anonymize([], POLICIES / "students-multilevel.yaml")


@pytest.mark.full
@pytest.mark.parametrize("preset", ["MLevCluTree", "ClusTree"])
def test_presets_publish_what_they_promise(preset: str) -> None:
    policy = POLICIES / f"students-{preset.lower()}.yaml"
    release = published(STUDENTS / "students.jsonl", policy)
    assert hierdata.load_policy(policy).preset == preset
    assert release.report.passed
    assert all(promise.held for promise in release.report.promises)
    assert hierdata.verify(release.folder, policy, original=STUDENTS / "students.jsonl").passed


@pytest.mark.full
@pytest.mark.parametrize("name", ["students.json", "students.xml"])
def test_representatives_say_the_same_in_every_format(name: str) -> None:
    policy = hierdata.load_policy(policy_for(STUDENTS / name))
    steps = {"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}
    # By steps the search minimizes what is not kept: it is LM if sensitive values are worth nothing.
    plain = policy.model_dump(by_alias=True, exclude_unset=True, mode="python")
    by_preset = from_data({**plain, "engine": {"preset": "MLevCluTree"}}, policy.folder)
    generalized = hierdata.anonymize(STUDENTS / name, by_preset, seed=SEED)
    stated = {**plain}
    stated |= {"recoding": "representatives", "engine": {"steps": [steps]}, "suppressed": "as_published"}
    for rule in stated["fields"].values():
        rule |= {"weight": 0} if rule["role"] == "sensitive" else {}
    asked = from_data(stated, policy.folder)
    release = hierdata.anonymize(STUDENTS / name, asked, seed=SEED)
    assert {**release.report.metrics, "kept": None} == {**generalized.report.metrics, "kept": None}
    assert release.report.counts.classes == generalized.report.counts.classes
    classes = list(release.records())
    sizes = [
        int(str(one["records"][0] if isinstance(one["records"], list) else one["records"])) for one in classes
    ]
    assert sum(sizes) == generalized.report.counts.records.published
    assert hierdata.verify(release.folder, asked, original=STUDENTS / name).passed
    assert values_under(classes, "grade") == values_under(list(generalized.records()), "grade")
    assert values_under(classes, "score") == values_under(list(generalized.records()), "score")


def values_under(value: Any, name: str) -> Counter[str]:
    """All values of a field, wherever it stands."""
    found: Counter[str] = Counter()
    if isinstance(value, list):
        for item in value:
            found += values_under(item, name)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key.removeprefix("@") == name:
                found.update(map(str, inner if isinstance(inner, list) else [inner]))
            else:
                found += values_under(inner, name)
    return found


def test_levels_by_frequency_run_from_end_to_end() -> None:
    source, policy = POLICIES.parent / "patients" / "patients.jsonl", POLICIES / "patients.yaml"
    release = published(source, policy)
    assert release.report.passed
    assert release.report.counts.smallest_class >= 10
    (table,) = release.report.levels.values()
    assert [row.level for row in table.levels] == [1, 2, 3, 4, 5]
    assert all(row.count for row in table.levels)
    diagnoses = values_under(list(release.records()), "diagnosis")
    assert 0 < diagnoses["HIV"] < diagnoses["flu"]
    assert hierdata.verify(release.folder, policy, original=source).passed
    # Without the frozen counts nobody can say which diagnosis is rare.
    alone = hierdata.verify(release.folder / "public" / "records.jsonl", policy)
    assert not alone.passed
    assert alone.judgements[0].held is None


def scale_of(facts: dict[str, Any]) -> dict[str, Any]:
    (sensitive,) = facts["sensitive"].values()
    scale: dict[str, Any] = sensitive["scale"]
    return scale


def forge_counts(facts: dict[str, Any]) -> None:
    scale_of(facts)["texts"]["HIV"] = 400


def forge_direction(facts: dict[str, Any]) -> None:
    scale_of(facts)["sensitive"] = "common"


def forge_kind(facts: dict[str, Any]) -> None:
    (sensitive,) = facts["sensitive"].values()
    sensitive["scale"] = {"kind": "map", "by": dict.fromkeys(scale_of(facts)["texts"], 1)}


def forge_vertices(facts: dict[str, Any]) -> None:
    facts["vertices"] = []


def forge_domain(facts: dict[str, Any]) -> None:
    facts["quasi"].popitem()


@pytest.mark.parametrize(
    "forge",
    [forge_counts, forge_direction, forge_kind, forge_vertices, forge_domain],
    ids=lambda f: f.__name__,
)
def test_forged_facts_fail_against_the_original(forge: Any, tmp_path: Path) -> None:
    source, policy = POLICIES.parent / "patients" / "patients.jsonl", POLICIES / "patients.yaml"
    release = published(source, policy)
    facts = json.loads((release.folder / "steward" / "verification.json").read_text("utf-8"))
    forge(facts)
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(hierdata.VerificationError) as caught:
        hierdata.verify(release.folder, policy, original=source, facts=forged)
    assert "HIV" not in str(caught.value)


def test_forged_facts_never_overrule_the_policy(students: Release, tmp_path: Path) -> None:
    """Levels that the policy states in full are the policy's, with or without the original."""
    facts = json.loads((students.folder / "steward" / "verification.json").read_text("utf-8"))
    facts["sensitive"]["$.gpa"]["scale"]["sensitive"] = "high"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(hierdata.VerificationError, match="differ from the policy"):
        hierdata.verify(students.folder, POLICIES / "students-multilevel.yaml", facts=forged)


def test_a_release_is_saved_whole_and_once(students: Release, tmp_path: Path) -> None:
    release = hierdata.anonymize(STUDENTS / "students.json", QUICKLY, seed=SEED)
    expected = all_plain(release.records())
    target = release.save(tmp_path / "release")
    assert {path.name for path in target.iterdir()} == {"public", "steward"}
    assert all_plain(release.records()) == expected
    assert hierdata.verify(target, QUICKLY).passed
    with pytest.raises(hierdata.TargetError):
        students.save(target)


def test_an_unsaved_release_leaves_nothing_behind(tmp_path: Path) -> None:
    release = hierdata.anonymize(STUDENTS / "students.json", QUICKLY, staging=tmp_path)
    assert list(tmp_path.iterdir()) == [release.folder]
    del release
    assert list(tmp_path.iterdir()) == []
