"""No order in a release tells anything: not that of records, of siblings, of the members of a class."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEED = b"a seed of sixteen bytes"


def students() -> list[dict[str, Any]]:
    """The bundled students, each with a GPA of its own that says where in the input it stood."""
    text = (FIXTURES / "students" / "students.jsonl").read_text("utf-8")
    found = [json.loads(line, parse_float=Decimal) for line in text.splitlines()]
    for ordinal, student in enumerate(found):
        student["gpa"] = Decimal(ordinal) / 1000
    return found


def policy(recoding: str = "generalization") -> Policy:
    stated = hierdata.load_policy(FIXTURES / "policies" / "students-multilevel.yaml")
    fields = {
        path: rule.model_dump(exclude_unset=True, by_alias=True) for path, rule in stated.fields.items()
    }
    return from_data(
        {
            "version": 1,
            "models": [{"kind": "k-anonymity", "k": 5}],
            "fields": {**fields, "$.gpa": {"role": "sensitive", "number": True}},
            "engine": {"steps": [{"kind": "clustree", "pairing": "greedy"}]},
            "recoding": recoding,
        },
        stated.folder,
    )


def ordinals(release: hierdata.Release) -> list[int]:
    """The place in the input of each published record, in the order of publication."""
    return [int(record["gpa"] * 1000) for record in release.records()]


def assert_unrelated(one: Any, other: Any) -> None:
    """No rank correlation beyond what chance gives to independent orders of this length."""
    assert len(one) > 30
    ranks = [np.argsort(np.argsort(values)) for values in (list(one), list(other))]
    correlation = np.corrcoef(*ranks)[0, 1]
    assert abs(correlation) < 4 / np.sqrt(len(one) - 1)


@pytest.fixture(scope="module")
def release() -> hierdata.Release:
    return hierdata.anonymize(students(), policy(), seed=SEED)


def test_the_order_of_records_does_not_follow_the_input(release: hierdata.Release) -> None:
    found = ordinals(release)
    assert len(set(found)) == len(found) > 500
    assert_unrelated(range(len(found)), found)
    neighbours = np.abs(np.diff(found))
    expected = (max(found) - min(found)) / 3  # of two independent places
    assert 0.85 < neighbours.mean() / expected < 1.15


def test_another_seed_gives_another_order(release: hierdata.Release) -> None:
    other = hierdata.anonymize(students(), policy(), seed=b"another seed of bytes")
    here = {ordinal: place for place, ordinal in enumerate(ordinals(release))}
    there = {ordinal: place for place, ordinal in enumerate(ordinals(other))}
    both = sorted(here.keys() & there.keys())
    assert_unrelated([here[ordinal] for ordinal in both], [there[ordinal] for ordinal in both])


def test_the_order_of_records_does_not_follow_a_turned_input() -> None:
    turned = hierdata.anonymize(students()[::-1], policy(), seed=SEED)
    found = ordinals(turned)
    assert_unrelated(range(len(found)), found)


def test_classes_are_not_written_together(release: hierdata.Release) -> None:
    """Members of a class are strewn: who is next to whom says nothing of who was first or last to join."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(release.records()):
        form = {key: value for key, value in record.items() if key not in ("gpa", "courses")}
        codes = sorted(course["code"] for course in record.get("courses", []))
        places[repr((form, codes))].append(place)
    gaps = [after - before for own in places.values() for before, after in pairwise(own)]
    assert np.median(gaps) > 10


def test_the_order_of_classes_does_not_follow_the_input() -> None:
    found = hierdata.anonymize(students(), policy("representatives"), seed=SEED)
    first = [min(int(gpa * 1000) for gpa in one["representative"]["gpa"]) for one in found.records()]
    last = [max(int(gpa * 1000) for gpa in one["representative"]["gpa"]) for one in found.records()]
    assert_unrelated(range(len(first)), first)
    assert_unrelated(range(len(last)), last)


def test_values_of_a_multiset_stand_in_their_own_order() -> None:
    found = hierdata.anonymize(students(), policy("representatives"), seed=SEED)
    for one in found.records():
        gpas = one["representative"]["gpa"]
        assert gpas == sorted(gpas, key=str)


# Siblings. Each course says in its grade where in the record it stood.


def courses(rng: Random, count: int) -> list[dict[str, Any]]:
    """Records whose items have codes in random order, and a sensitive value that tells the place."""
    return [
        {"q": "x", "items": [{"code": rng.choice("abcd"), "mark": place} for place in range(4)]}
        for _ in range(count)
    ]


SIBLINGS = {
    "$.q": {"role": "quasi", "flat": True},
    "$.items[*].code": {
        "role": "quasi",
        "taxonomy": {"tree": {"*": {"ab": {"a": {}, "b": {}}, "cd": {"c": {}, "d": {}}}}},
    },
    "$.items[*].mark": {"role": "sensitive"},
}


@pytest.mark.parametrize("pairing", ["greedy", "benefit", "optimal"])
def test_siblings_of_a_class_do_not_tell_their_original_order(pairing: str) -> None:
    asked = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "fields": SIBLINGS,
        "engine": {"steps": [{"kind": "clustree", "pairing": pairing}]},
    }
    release = hierdata.anonymize(courses(Random(3), 300), asked, seed=SEED)
    orders: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    equal_siblings = []
    for record in release.records():
        codes = tuple(item["code"] for item in record["items"])
        orders[repr(sorted(codes))].add(codes)
        marks = [item["mark"] for item in record["items"]]
        equal_siblings += [
            (marks[at], marks[at + 1]) for at in range(len(codes) - 1) if codes[at] == codes[at + 1]
        ]
    assert all(len(found) == 1 for found in orders.values()), "one order for all of a class"
    # Siblings that look alike stand by what they hold, so their order is known without the release.
    assert len(equal_siblings) > 50
    assert all(before <= after for before, after in equal_siblings)


def test_turning_the_siblings_of_the_input_turns_nothing_in_the_release(order_by_seed: None) -> None:
    """Where classes are given by equal records, the release is the same for every order of siblings."""
    asked = {"version": 1, "models": [{"kind": "k-anonymity", "k": 4}], "fields": SIBLINGS}
    records = [
        {"q": name, "items": [{"code": code, "mark": f"{name}{code}{at}"} for code in "abcd"]}
        for name in "uvw"
        for at in range(4)
    ]
    turned = [{**record, "items": record["items"][::-1]} for record in records]
    one, other = (list(hierdata.anonymize(way, asked, seed=SEED).records()) for way in (records, turned))
    assert one == other
    assert len(one) == len(records)
