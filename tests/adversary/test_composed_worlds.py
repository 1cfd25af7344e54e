"""Two releases together, in all worlds: which originals could be behind both is enumerated, one by one.

A plain program of dictionaries reads the published records. It tries each person that there could be.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from random import Random
from statistics import median
from typing import Any

import numpy as np

import hierdata
from hierdata.ground.errors import PromiseError
from hierdata.ground.progress import silent
from hierdata.measurement.risks.composition import Composition
from hierdata.pipeline.other_release import read_other
from hierdata.pipeline.read_release import read_release
from tests.adversary.test_composition import seen
from tests.cases import naming, with_worlds

Row = dict[str, Any]
SEED = bytes(16)
BEHIND = {
    "age": {"*": {0, 1, 2, 3}, "[0, 1]": {0, 1}, "[2, 3]": {2, 3}, **{age: {age} for age in range(4)}},
    "town": {"*": {*"abc"}, **{town: {town} for town in "abc"}},
}
"""The values that each label may stand for."""
PERSONS = [dict(zip(("age", "town", "ill"), own, strict=True)) for own in product(range(4), "abc", "xy")]
"""Everybody that there could be."""
FIELDS: dict[str, Any] = {
    "$.age": {"role": "quasi", "interval": {"steps": [1, 2]}},
    "$.town": {"role": "quasi", "flat": True},
    "$.ill": {"role": "sensitive"},
}
CLASSES = {"models": [{"kind": "k-anonymity", "k": 2}], "engine": {"steps": [{"kind": "mondrian"}]}}
FACTS = {"models": [{"kind": "bounded-knowledge", "k": 2, "m": 1, "root": "counted"}]}


def may_be(person: Row, shown: Row) -> bool:
    """Whether a published record may be a person's: what is missing may be anything."""
    return all(person[name] in behind.get(shown[name], ()) for name, behind in BEHIND.items()) and (
        shown.get("ill") in (None, person["ill"])
    )


def count_left(victim: Row, first: list[Row], second: list[Row]) -> int:
    """The records that could be the victim's, by both releases, in the one where fewer are left."""
    meant = [one for one in PERSONS if (one["age"], one["town"]) == (victim["age"], victim["town"])]
    pairs = {
        (mine, other)
        for (mine, shown), (other, there) in product(enumerate(first), enumerate(second))
        if any(may_be(one, shown) and may_be(one, there) for one in meant)
    }
    return min(len({pair[own] for pair in pairs}) for own in (0, 1))


def draw_people(rng: Random, count: int) -> list[Row]:
    return [dict(rng.choice(PERSONS)) for _ in range(count)]


@with_worlds(3, 200)
def test_those_are_left_whom_some_original_behind_both_could_be(worlds: int) -> None:
    """Classes and bounded knowledge of one table, and of two months, of which some persons left."""
    ended: Counter[str] = Counter()
    for number in range(worlds):
        rng = Random(number)
        records = draw_people(rng, rng.randint(6, 14))
        later = [*records[rng.randint(0, 2) :], *draw_people(rng, rng.randint(0, 2))]
        other_policy, shown = rng.choice([(FACTS, records), (FACTS, later), (CLASSES, later)])
        first, second = ({"version": 1, "fields": FIELDS, **own} for own in (CLASSES, other_policy))
        with naming(number=number):
            try:
                one = hierdata.anonymize(records, first, seed=SEED)
                two = hierdata.anonymize(shown, second, seed=SEED)
            except PromiseError:
                ended["refused"] += 1
                continue
            found = hierdata.attack(
                one.folder, first, original=records, other=two.folder, facts=1, victims=len(records)
            )
            published: list[list[Any]] = [[*one.records()], [*two.records()]]
            left = [count_left(victim, *published) for victim in records]
            alone = [count_left(victim, published[0], published[0]) for victim in records]
            there = [count for count in left if count]
            assert found.both is not None
            told = found.both[0]
            assert told.smallest == min(there, default=0)
            assert told.median == (median(there) if there else 0)
            for share, number_of in (
                (told.none, left.count(0)),
                (told.unique, left.count(1)),
                (told.below, sum(0 < count < 2 for count in left)),
            ):
                assert share == float(Fraction(number_of, len(records)))
            ended["fewer"] += sum(map(int.__lt__, left, alone))
            ended["one"] += left.count(1)
    assert ended["fewer"] > worlds
    assert ended["refused"] < worlds / 3


CODES = {"heart": ["h1", "h2"], "lung": ["l1", "l2"]}
VISIT_LABELS = {"*": {"h1", "h2", "l1", "l2"}, **{own: {*below} for own, below in CODES.items()},
                **{code: {code} for below in CODES.values() for code in below}}  # fmt: skip
VISITS = [*product(("h1", "h2", "l1", "l2"), "xy")]
PATIENTS = [
    (town, visits)
    for town in "abc"
    for count in (0, 1, 2)
    for visits in combinations_with_replacement(VISITS, count)
]
"""All persons with up to two visits."""
TREE_POLICY: dict[str, Any] = {
    "version": 1,
    **CLASSES,
    "engine": None,
    "fields": {
        "$.town": {"role": "quasi", "flat": True},
        "$.visits[*].code": {"role": "quasi", "taxonomy": {"tree": {"*": CODES}}, "optional": True},
        "$.visits[*].ill": {"role": "sensitive", "asks": "value", "optional": True},
    },
}


def is_visit(visit: tuple[str, str], shown: tuple[set[str], str]) -> bool:
    return visit[0] in shown[0] and visit[1] == shown[1]


def is_shown(patient: tuple[str, Any], shown: Row) -> bool:
    """Whether a record may be a patient's, of whom everything is published, in some order."""
    town, visits = patient
    there = [(VISIT_LABELS[own["code"]], own["ill"]) for own in shown["visits"]]
    return (
        town in BEHIND["town"][shown["town"]]
        and len(there) == len(visits)
        and any(
            all(
                code in labels and ill == own
                for (code, ill), (labels, own) in zip(visits, order, strict=True)
            )
            for order in permutations(there)
        )
    )


def blur(rng: Random, patients: list[tuple[str, Any]]) -> list[Row]:
    """The records with labels at or above their values: nothing is left out."""

    def above(code: str) -> str:
        return rng.choice([own for own, codes in VISIT_LABELS.items() if code in codes])

    return [
        {
            "town": rng.choice(["*", town]),
            "visits": [{"code": above(code), "ill": ill} for code, ill in rng.sample(visits, len(visits))],
        }
        for town, visits in patients
    ]


@with_worlds(6, 200)
def test_no_record_is_unlinked_that_some_tree_behind_both_could_be(worlds: int) -> None:
    """Records with at most one visit are linked if and only if a person could be behind both."""
    linked = plain = 0
    for number in range(worlds):
        rng = Random(number)
        sizes = rng.choices((0, 1, 1, 2), k=10)
        patients = [rng.choice([own for own in PATIENTS if len(own[1]) == size]) for size in sizes]
        records = [
            {"town": town, "visits": [{"code": code, "ill": ill} for code, ill in visits]}
            for town, visits in patients
        ]
        first, second = blur(rng, patients), blur(rng, patients)
        read = read_release(first, TREE_POLICY, original=records)
        other = read_other(second, read.prepared, read.original, silent)
        both = Composition(read.original, seen(read, read.rebuilt), seen(read, other))
        links = both.link(np.arange(len(first)))
        for at, place in enumerate(read.rebuilt.places.tolist()):
            mine = first[place]
            could = [patient for patient in PATIENTS if is_shown(patient, mine)]
            found = {int(other.places[own]) for own in links[at].tolist()}
            for theirs, shown in enumerate(second):
                if any(is_shown(patient, shown) for patient in could):
                    assert theirs in found, number
                    linked += 1
                elif len(mine["visits"]) < 2 and len(shown["visits"]) < 2:
                    assert theirs not in found, number
                    plain += 1
    assert linked > 10 * worlds
    assert plain > 10 * worlds
