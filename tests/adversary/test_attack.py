"""The adversary agrees with its twin, finds what is there to be found, and never breaks a promise."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.ground.errors import HierdataError, InputError, PolicyError, PromiseError, VerificationError
from hierdata.measurement.adversary.attack import Adversary
from hierdata.measurement.adversary.forms import Forms
from hierdata.measurement.adversary.knowledge import PRESENT, Curiosity, Knowledge
from hierdata.pipeline.read_release import read_release
from hierdata.pipeline.resources import Resources
from tests import naive_adversary as naive
from tests.cases import with_worlds

SEED = b"a seed of sixteen bytes"
TREES: dict[str, dict[str, Any]] = {
    "town": {"*": {"north": ["a", "b"], "south": ["c", "d"]}},
    "code": {"*": {"heart": ["h1", "h2"], "lung": ["l1", "l2", "l3"]}},
    "drug": {"*": ["x", "y"]},
}
SHAPE = naive.Shape(
    quasi={"": ["town"], "visits": ["code"], "drugs": ["drug"], "notes": []},
    sensitive={"": ["income"], "visits": ["ill"], "drugs": [], "notes": ["mood"]},
    lists={"": ["visits", "notes"], "visits": ["drugs"], "drugs": [], "notes": []},
)
PATHS = {"$.income": ("", 0), "$.visits[*].ill": ("visits", 0), "$.notes[*].mood": ("notes", 0)}
naive.KINDS_BELOW.update(
    {
        "": {"", "visits", "drugs", "notes"},
        "visits": {"visits", "drugs"},
        "drugs": {"drugs"},
        "notes": {"notes"},
    }
)


def parents() -> dict[str, str]:
    found: dict[str, str] = {}

    def walk(label: str, below: Any) -> None:
        for child in below:
            found[child] = label
            if isinstance(below, dict):
                walk(child, below[child])

    for tree in TREES.values():
        walk("*", tree["*"])
    return found


PARENTS = parents()


def policy(**more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 2}],
        "fields": {
            "$.town": {"role": "quasi", "taxonomy": {"tree": TREES["town"]}},
            "$.income": {"role": "sensitive", "asks": "value"},
            "$.visits[*].code": {"role": "quasi", "taxonomy": {"tree": TREES["code"]}, "optional": True},
            "$.visits[*].ill": {"role": "sensitive", "asks": "value", "optional": True},
            "$.visits[*].drugs[*].drug": {
                "role": "quasi",
                "taxonomy": {"tree": TREES["drug"]},
                "optional": True,
            },
            "$.notes[*].mood": {"role": "sensitive", "asks": "value", "optional": True},
        },
        "suppressed": "as_published",
        **more,
    }


def people(number: int, count: int = 12) -> list[dict[str, Any]]:
    draw = Random(number)

    def drug() -> dict[str, Any]:
        return {"drug": draw.choice("xy")}

    def visit() -> dict[str, Any]:
        own: dict[str, Any] = {"code": draw.choice(["h1", "h2", "l1", "l2", "l3"])}
        if draw.random() < 0.9:
            own["ill"] = draw.choice(["flu", "cold", "gout"])
        own["drugs"] = [drug() for _ in range(draw.randrange(3))]
        return own

    return [
        {
            "town": draw.choice("abcd"),
            "income": draw.randrange(3),
            "visits": [visit() for _ in range(draw.randrange(4))],
            "notes": [{"mood": draw.choice(["glad", "sad"])} for _ in range(draw.randrange(3))],
        }
        for _ in range(count)
    ]


def published(records: list[dict[str, Any]], stated: dict[str, Any]) -> list[dict[str, Any]]:
    return list(hierdata.anonymize(records, stated, seed=SEED).records())


@with_worlds(2, 18)
def test_candidates_and_guesses_are_those_of_the_twin(worlds: int) -> None:
    compared = 0
    for number in range(worlds):
        records = people(number)
        # Even numbers attack a release, odd ones records of which little was generalized.
        shown = copy.deepcopy(records)
        draw = Random(number)
        if number % 2:
            for one in shown:
                one["town"] = draw.choice([one["town"], PARENTS[one["town"]], "*"])
                for visit in one["visits"]:
                    visit["code"] = draw.choice([visit["code"], PARENTS[visit["code"]]])
                one["visits"] = [visit for visit in one["visits"] if draw.random() < 0.8]
        else:
            try:
                shown = published(records, policy())
            except PromiseError:
                continue
        compared += compare(records, shown, number)
    assert compared > 25 * worlds


def compare(records: list[dict[str, Any]], shown: list[dict[str, Any]], number: int) -> int:
    """Attack everybody; return the number of guesses that were compared."""
    read = read_release(shown, policy(), original=records)
    adversary = Adversary(
        read.original, Forms.of(read.rebuilt.forest, read.rebuilt.publication, read.rebuilt.form)
    )
    rng = np.random.default_rng(number)
    trees = [SHAPE.tree(one) for one in shown]
    compared = 0
    for record, document in enumerate(records):
        known = Curiosity(3).learn(read.original, record, rng)
        own = SHAPE.tree(document)
        found = adversary.attack([known], 3).summarize(2)
        for count in range(4):
            victim = as_naive(
                replace(known, facts=known.facts[:count]), own, int(read.original.roots[record])
            )
            expected = naive.candidates(victim, trees, PARENTS)
            told = found.candidates[count]
            assert (told.smallest if told.none == 0 else 0) == len(expected)
            for guess in found.guesses:
                kind, position = PATHS[guess.path]
                if guess.facts == count and guess.asked:
                    shares = naive.guess(victim, expected, trees, kind, position)
                    assert guess.sure == pytest.approx(float(max(shares.values(), default=0)))
                    compared += 1
    return compared


def as_naive(known: Knowledge, own: naive.Node, root: int) -> naive.Known:
    vertices = own.all()
    return naive.Known(
        own,
        [
            (vertices[fact.vertex - root], None if fact.position == PRESENT else fact.position)
            for fact in known.facts
        ],
    )


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"recoding": "representatives"},
        {"recoding": "full_domain"},
        {"recoding": "anatomy", "engine": {"steps": [{"kind": "mbf"}]}},
        {"recoding": "sets_and_ranges"},
    ],
    ids=lambda form: form.get("recoding", "generalization"),
)
@with_worlds(1, 18)
def test_no_attack_succeeds_within_what_is_promised(form: dict[str, Any], worlds: int) -> None:
    attacked = 0
    for number in range(worlds):
        records = people(number, 24)
        stated = policy(**form)
        if form:
            stated["fields"] = {path: stated["fields"][path] for path in ("$.town", "$.income")}
            records = [{name: one[name] for name in ("town", "income")} for one in records]
        try:
            release = hierdata.anonymize(records, stated, seed=SEED)
        except PromiseError:
            continue
        for curiosity in ({}, {"counts": True}, {"negative": True}):
            found = hierdata.attack(
                release.folder, stated, original=records, facts=4, victims=100, **curiosity
            )
            attacked += 1
            assert found.victims == len(records)
            for guess in found.release.guesses:
                assert guess.surest <= 1 / 2 + 1e-9, (form, guess)
            if form.get("recoding") != "anatomy":  # which publishes quasi-identifiers as they are
                assert all(one.below == one.unique == 0 for one in found.release.candidates)
    assert attacked >= 3 * worlds // 2


def test_dropping_identifiers_alone_is_found_out() -> None:
    records = people(1, 40)
    found = hierdata.attack(records, policy(), original=records, facts=4, victims=40, counts=True)
    assert found.release == found.identifiers_dropped
    last = found.release.candidates[-1]
    assert last.unique > 1 / 2
    assert last.none == 0
    ill = [one for one in found.release.guesses if one.path == "$.visits[*].ill"]
    assert ill[-1].right > ill[0].prior
    assert ill[-1].surest == 1
    sizes = [one.median for one in found.release.candidates]
    assert sizes == sorted(sizes, reverse=True)


def test_more_knowledge_finds_fewer_where_nothing_is_suppressed() -> None:
    records = people(3, 60)
    plain = hierdata.attack(records, policy(), original=records, facts=2, victims=60)
    more = hierdata.attack(
        records, policy(), original=records, facts=2, victims=60, counts=True, negative=True
    )
    for own, other in zip(plain.release.candidates, more.release.candidates, strict=True):
        assert other.median <= own.median
        assert other.unique >= own.unique
    assert hierdata.attack(records, policy(), original=records, facts=2, victims=9, draw=2) != (
        hierdata.attack(records, policy(), original=records, facts=2, victims=9, draw=3)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"facts": 0}, "facts must be a number from 1 to 8"),
        ({"facts": 9}, "facts must be a number from 1 to 8"),
        ({"victims": 0}, "victims must be a number from 1 to 1,000,000"),
        ({"draw": -1}, "draw must be a number from 0"),
    ],
)
def test_numbers_out_of_range_are_refused(change: dict[str, int], message: str) -> None:
    records = people(1)
    with pytest.raises(PolicyError, match=message):
        hierdata.attack(records, policy(), original=records, **{"facts": 1, **change})


def test_a_release_of_something_else_is_refused() -> None:
    records = people(1)
    strangers = [one | {"income": 77} for one in records]
    with pytest.raises(VerificationError, match="does not occur in the original") as refused:
        hierdata.attack(strangers, policy(), original=records, facts=1)
    assert "77" not in str(refused.value)
    assert isinstance(refused.value, HierdataError)


def test_nothing_that_is_told_is_a_value(tmp_path: Path) -> None:
    records = people(2)
    text = json.dumps(hierdata.attack(records, policy(), original=records, facts=3).as_dict())
    values = {"flu", "cold", "gout", "glad", "h1", "heart", "north"}
    assert not any(f'"{value}"' in text for value in values)


@pytest.mark.full
def test_findings_do_not_depend_on_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.pipeline.attack._TOGETHER", 7)
    records = people(3, 40)
    found = [
        hierdata.attack(records, policy(), original=records, facts=2, victims=30, resources=resources)
        for resources in (Resources("serial"), Resources("processes", workers=2))
    ]
    assert found[0] == found[1]
    monkeypatch.undo()
    assert hierdata.attack(records, policy(), original=records, facts=2, victims=30) == found[0]


def test_persons_are_counted_where_the_policy_counts_records(tmp_path: Path) -> None:
    """Classes of three records, each of one person: whoever knows a record finds one person."""
    rows = [{"patient": f"P{n // 3}", "age": 20 + 10 * (n // 3), "ill": "abc"[n % 3]} for n in range(30)]
    stated = {
        "version": 1,
        "individual": {"none": "records are meant"},
        "models": [{"kind": "k-anonymity", "k": 3}],
        "fields": {
            "$.patient": {"role": "identifier"},
            "$.age": {"role": "quasi", "interval": {"steps": [1, 500]}},
            "$.ill": {"role": "sensitive"},
        },
    }
    out = tmp_path / "release"
    release = hierdata.anonymize(rows, stated, seed=SEED, out=out)
    records = hierdata.attack(out, stated, original=rows, facts=1)
    persons = hierdata.attack(out, stated, original=rows, facts=1, person="$.patient")
    assert (records.persons, persons.persons, persons.victims) == (None, 10, 10)
    assert [one.release.candidates[0].smallest for one in (records, persons)] == [3, 1]
    assert [one.release.candidates[0].unique for one in (records, persons)] == [0, 1]
    dropped = (records.identifiers_dropped, persons.identifiers_dropped)
    assert [one.candidates[0].smallest for one in dropped] == [3, 1]
    wrong: list[tuple[object, dict[str, Any], str, type[HierdataError], str]] = [
        (out, stated, "$.nothing", InputError, "record 1, .*: no value says whose this record is"),
        (out, {**stated, "individual": "$.patient"}, "$.patient", PolicyError, "each record is a person"),
        (list(release.records()), stated, "$.patient", PolicyError, "give the folder of a release"),
    ]
    for source, policy, path, kind, message in wrong:
        with pytest.raises(kind, match=message):
            hierdata.attack(source, policy, original=rows, facts=1, person=path)
