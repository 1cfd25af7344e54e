"""Releases of the presets MBF and anatomy-l: tables and trees, and what is said when too much is asked."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PromiseError
from hierdata.policy.load import from_data, load
from hierdata.release.release import Release
from tests.end_to_end.conftest import POLICIES, SEED, STUDENTS

GROUPS = {"organ": ["flu", "cough"], "skin": ["rash", "itch"], "mind": ["grief", "panic"]}
TREE = {"*": GROUPS}


def released(values: list[str], preset: str, *models: dict[str, Any]) -> Release:
    fields = {
        "$.age": {"role": "quasi", "interval": {"steps": [5, 10]}},
        "$.disease": {"role": "sensitive", "taxonomy": {"tree": TREE}},
    }
    policy = {"version": 1, "fields": fields, "models": list(models), "engine": {"preset": preset}}
    documents = [{"age": 20 + at, "disease": value} for at, value in enumerate(values)]
    return hierdata.anonymize(documents, policy, seed=SEED)


def groups_of(release: Release, name: str = "sensitive.json") -> dict[int, Counter[str]]:
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in json.loads((release.folder / "public" / name).read_text("utf-8")):
        found[row["group"]][row["disease"]] += row["count"]
    return found


def test_a_table_is_published_in_groups_of_values_that_are_far_apart() -> None:
    release = released(["flu", "cough", "rash", "itch", "grief", "panic"] * 3, "MBF")
    group_of = {name: group for group, names in GROUPS.items() for name in names}
    groups = groups_of(release)
    assert len(groups) == 6
    for values in groups.values():
        assert len({group_of[value] for value in values}) == values.total() == 3
    metrics = release.report.metrics
    assert metrics["reconstruction_error"].figures["total"] == 12
    assert metrics["diversity_degree"].figures["mean_pair_distance"] == 2


def test_plain_values_may_be_near_each_other() -> None:
    release = released(["flu", "cough"] * 6, "anatomy-l", {"kind": "frequency-l-diversity", "l": 2})
    assert all(values == {"flu": 1, "cough": 1} for values in groups_of(release).values())


@pytest.mark.parametrize("preset", ["MBF", "anatomy-l"])
def test_more_than_the_data_allow_is_refused_with_the_largest_l(preset: str) -> None:
    model = {"MBF": "l-e-diversity", "anatomy-l": "frequency-l-diversity"}[preset]
    asked = {"kind": model, "l": 4} | ({"e": 1} if preset == "MBF" else {})
    with pytest.raises(PromiseError) as caught:
        released(["flu", "cough", "rash"] * 5, preset, asked)
    largest = {
        "MBF": "l can be at most 2, and k then at most 10",
        "anatomy-l": "l can be at most 3, and k then at most 15",
    }
    assert str(caught.value).endswith(largest[preset])


def test_what_is_lost_is_explained_to_the_steward() -> None:
    release = released(["flu"] * 10 + ["rash", "itch"] * 2 + ["grief"] * 4, "MBF")
    (reason,) = release.report.reasons.values()
    assert "10 of the 18 values at $.disease lie in 1 of 3 buckets" in reason
    assert "reasons" not in (release.folder / "public" / "release.json").read_text("utf-8")


def test_courses_of_one_student_never_share_a_group() -> None:
    """Trees: every vertex type is partitioned by itself; the judge counts persons."""
    stated = load(POLICIES / "students-multilevel.yaml").model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    stated |= {"engine": {"preset": "anatomy-l"}, "recoding": "anatomy"}
    stated |= {"models": [{"kind": "frequency-l-diversity", "l": 2}]}
    release = hierdata.anonymize(STUDENTS / "students.json", from_data(stated, POLICIES), seed=SEED)
    students = list(release.records())
    assert students
    for student in students:
        groups = [course["group"] for course in student.get("courses", [])]
        assert len(set(groups)) == len(groups)
    assert release.report.metrics["suppression_ratio"].figures["vertices"] < 0.25
