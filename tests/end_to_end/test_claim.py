"""What ML claims over ClusTree: that one publishes classes of one sensitivity level, and this one never."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

import hierdata
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.release import Release
from tests.end_to_end.conftest import POLICIES, STUDENTS, published

SENSITIVE = ("gpa", "grade", "score")


def form(vertex: dict[str, Any]) -> str:
    """A published vertex without sensitive values, its children in no order."""
    parts = [
        (key, sorted(map(form, value)) if isinstance(value, list) else repr(value))
        for key, value in vertex.items()
        if key not in SENSITIVE
    ]
    return repr(sorted(parts))


def values_at(vertex: dict[str, Any], above: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """The sensitive values of a record, each with its vertex: the forms from the root down."""
    here = (*above, form(vertex))
    own = [((*here, name), vertex[name]) for name in SENSITIVE if name in vertex]
    below = [child for value in vertex.values() if isinstance(value, list) for child in value]
    return own + [pair for child in below for pair in values_at(child, here)]


def single_level_vertices(release: Release, policy: Policy) -> int:
    """Vertices of class representatives at which at least two values are all of one level."""
    scales = {keys[-1]: rule.scale({}, policy.folder) for keys, rule in policy.sensitive.items()}
    levels: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for record in release.records():
        for place, value in values_at(record, ()):
            scale = scales[place[-1]]
            assert scale is not None
            levels[place].append(scale.level(value))
    return sum(len(found) > 1 and len(set(found)) == 1 for found in levels.values())


def students() -> list[dict[str, Any]]:
    """Four majors of three; those of a major differ in their grades, but not in the level of any."""
    good = (("4", "A+"), ("3.9", "A"), ("3.8", "A-"))
    fair = (("3", "B+"), ("2.9", "B"), ("2.8", "B-"))
    return [
        {"major": major, "gpa": Decimal(gpa), "courses": [{"code": "Introduction", "grade": grade}]}
        for major, marks in (("Physics", good), ("Biology", fair), ("Music", good), ("Law", fair))
        for gpa, grade in marks
    ]


MAJORS = {"*": {"Science": {"Physics": {}, "Biology": {}}, "Arts": {"Music": {}, "Law": {}}}}


def policy(preset: str, model: dict[str, Any]) -> Policy:
    fields = {
        "$.major": {"role": "quasi", "taxonomy": {"tree": MAJORS}},
        "$.gpa": {"role": "sensitive", "levels": {"domain": [0, 4], "sensitive": "low"}},
        "$.courses[*].code": {"role": "quasi", "flat": True},
        "$.courses[*].grade": {
            "role": "sensitive",
            "levels": {"by": {"A+": 1, "A": 1, "A-": 1, "B+": 2, "B": 2, "B-": 2, "C": 3, "D": 4, "E": 5}},
        },
    }
    return from_data({"version": 1, "fields": fields, "models": [model], "engine": {"preset": preset}})


CLUSTREE = policy("ClusTree", {"kind": "frequency-l-diversity", "l": 3})
MLEVCLUTREE = policy("MLevCluTree", {"kind": "level-alpha-k", "k": 3})


@pytest.mark.parametrize("number", range(5))
def test_three_diverse_classes_of_one_level_are_published_by_clustree_alone(number: int) -> None:
    seed = bytes([number]) * 16
    by_diversity = hierdata.anonymize(students(), CLUSTREE, seed=seed)
    by_levels = hierdata.anonymize(students(), MLEVCLUTREE, seed=seed)
    assert by_diversity.report.passed
    assert single_level_vertices(by_diversity, CLUSTREE) > 0
    assert by_levels.report.passed
    assert by_levels.report.counts.records.published >= 3
    assert single_level_vertices(by_levels, MLEVCLUTREE) == 0


def test_so_it_is_with_the_bundled_students() -> None:
    path = POLICIES / "students-clustree.yaml"
    asked = hierdata.load_policy(path)
    assert single_level_vertices(published(STUDENTS / "students.jsonl", path), asked) > 0
    path = POLICIES / "students-mlevclutree.yaml"
    assert single_level_vertices(published(STUDENTS / "students.json", path), hierdata.load_policy(path)) == 0


def test_the_judge_says_so_too() -> None:
    """What ClusTree publishes is no release for the promise by levels."""
    release = hierdata.anonymize(students(), CLUSTREE, seed=bytes(16))
    verdict = hierdata.verify(release.folder / "public" / "records.json", MLEVCLUTREE)
    assert not verdict.passed
    assert {one.path for one in verdict.judgements if one.held is False} == {"$.gpa", "$.courses[*].grade"}
