"""Sets of sensitive values: what a reader learns about a person, not about a value.

The reader knows which published records could be hers, and looks up how many of them show one value. The
shares are computed here from the published documents alone, with code that shares nothing with the package.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PolicyError, PromiseError, VerificationError

SEED = b"sixteen bytes or"
Record = dict[str, Any]
Place = tuple[Any, ...]
ICD = "$.visits[*].diagnoses[*].icd"
ILLS = "$.ills[*]"
HIV = [{"zip": "11111", "ills": ["HIV", f"a{who}", f"b{who}", f"c{who}"]} for who in range(8)]
ALPHA = {"kind": "alpha-k", "k": 5, "alpha": "1/4"}
FREQUENCY = {"kind": "frequency-l-diversity", "l": 3}


def flat_policy(*models: Record, **sensitive: Any) -> Record:
    fields = {
        "$.zip": {"role": "quasi", "prefix": {"keep": [5, 3]}},
        ILLS: {"role": "sensitive", **sensitive},
    }
    return {"version": 1, "models": list(models), "fields": fields}


def visits_policy(*models: Record, **sensitive: Any) -> Record:
    fields = {
        "$.zip": {"role": "quasi", "prefix": {"keep": [5, 3]}},
        "$.visits[*].year": {"role": "quasi", "interval": {"steps": [1, 4]}},
        ICD: {"role": "sensitive", **sensitive},
    }
    return {"version": 1, "models": list(models), "fields": fields}


def people(rng: Random, count: int = 60) -> list[Record]:
    """Patients with one or two visits, each with up to three of twelve diagnoses."""
    ills = [f"ill{at}" for at in range(12)]
    weights = [5, 4, 3, *[2] * 9]
    return [
        {
            "zip": rng.choice(("11111", "11112", "22221")),
            "visits": [
                {
                    "year": rng.randrange(2000, 2008),
                    "diagnoses": [{"icd": ill} for ill in rng.choices(ills, weights, k=rng.randrange(4))],
                }
                for _ in range(rng.choice((1, 1, 2)))
            ],
        }
        for _ in range(count)
    ]


def form(value: Any) -> Any:
    """What a reader who knows no diagnosis sees of an object."""
    if isinstance(value, dict):
        return tuple(sorted((key, form(inner)) for key, inner in value.items() if key != "icd"))
    if isinstance(value, list):
        return tuple(sorted(map(form, value), key=repr))
    return value


def diagnoses(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """The diagnoses below an object, each with the forms of the objects that lead to it."""
    for key, inner in value.items():
        if key == "icd":
            yield place, inner
        for item in inner if isinstance(inner, list) else ():
            yield from diagnoses(item, (*place, (key, form(item))))


def shares(records: list[Record], *, at_places: bool) -> list[Fraction]:
    """For each class and place, the largest share of the persons with a diagnosis there who show one."""
    classes = defaultdict(list)
    for record in records:
        classes[form(record)].append(record)
    found = []
    for own in classes.values():
        places: defaultdict[Place, list[set[str]]] = defaultdict(list)
        for record in own:
            sets = defaultdict(set)
            for place, ill in diagnoses(record):
                sets[place if at_places else ()].add(ill)
            for place, shown in sets.items():
                places[place].append(shown)
        for sets_there in places.values():
            counted = Counter(ill for shown in sets_there for ill in shown)
            found.append(Fraction(max(counted.values()), len(sets_there)))
    return found


@pytest.mark.parametrize("model", [ALPHA, FREQUENCY], ids=["alpha-k", "frequency-l"])
def test_eight_people_who_all_have_hiv_are_not_published_with_it(model: Record) -> None:
    """By value each of four diagnoses has a quarter; every one of the eight people has HIV."""
    release = hierdata.anonymize(HIV, flat_policy(model), seed=SEED)
    shown = Counter(ill for record in release.records() for ill in set(record.get("ills", ())))
    assert max(shown.values(), default=0) <= 2
    by_value = hierdata.anonymize(HIV, flat_policy(model, asks="value"), seed=SEED)
    assert sum("HIV" in record["ills"] for record in by_value.records()) > 4
    assert by_value.report.worst_guess[ILLS].fraction > Fraction(1, 2)
    (promise,) = by_value.report.promises
    assert "not of the person. All people of one group may have one value in common" in promise.statement


@pytest.mark.parametrize("model", [ALPHA, FREQUENCY], ids=["alpha-k", "frequency-l"])
def test_the_judge_refuses_them_in_any_file(model: Record) -> None:
    assert not hierdata.verify(HIV, flat_policy(model)).passed
    assert not hierdata.verify(HIV, flat_policy(model, within="record")).passed
    told = hierdata.verify(HIV, flat_policy(model, asks="value"))
    assert told.passed
    assert told.worst_guess == {ILLS: 1}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("l", ["2", "3"])
def test_random_lists_show_no_value_of_more_than_one_in_l(seed: int, l: str) -> None:  # noqa: E741
    model = {"kind": "frequency-l-diversity", "l": l}
    persons = people(Random(seed))
    release = hierdata.anonymize(persons, visits_policy(model), seed=SEED)
    records = [*release.records()]
    found = shares(records, at_places=True)
    assert found, "something is published"
    assert max(found) <= Fraction(1) / Fraction(l)
    (promise,) = release.report.promises
    assert promise.achieved["l"].fraction == 1 / max(found)
    assert release.report.worst_guess[ICD].fraction == worst_guess(records)


@pytest.mark.parametrize("seed", range(4))
def test_within_records_all_places_count_together(seed: int) -> None:
    model = {"kind": "alpha-k", "k": 3, "alpha": "1/2"}
    release = hierdata.anonymize(people(Random(seed)), visits_policy(model, within="record"), seed=SEED)
    found = shares([*release.records()], at_places=False)
    assert found
    assert max(found) <= Fraction(1, 2)
    (promise,) = release.report.promises
    assert promise.achieved["alpha"].fraction == max(found)
    assert "show a value anywhere, at most 50 %" in promise.statement


def worst_guess(records: list[Record]) -> Fraction:
    classes = defaultdict(list)
    for record in records:
        classes[form(record)].append({ill for _, ill in diagnoses(record)})
    return max(
        Fraction(max(Counter(ill for shown in own for ill in shown).values(), default=0), len(own))
        for own in classes.values()
    )


@pytest.mark.parametrize("seed", range(4))
def test_by_value_these_shares_are_larger_than_promised(seed: int) -> None:
    """What the default was: the sentence about a person would be false, and the worst guess tells."""
    policy = visits_policy({"kind": "frequency-l-diversity", "l": 3}, asks="value")
    release = hierdata.anonymize(people(Random(seed)), policy, seed=SEED)
    records = [*release.records()]
    assert max(shares(records, at_places=True)) > Fraction(1, 3)
    assert release.report.worst_guess[ICD].fraction == worst_guess(records) > Fraction(1, 3)


@pytest.mark.parametrize("seed", range(3))
def test_representatives_could_be_tied_in_no_way_that_breaks_it(seed: int) -> None:
    """Of m persons as many could show a value as it has occurrences, and at most m."""
    policy = {**visits_policy({"kind": "frequency-l-diversity", "l": 2}), "recoding": "representatives"}
    release = hierdata.anonymize(people(Random(seed)), policy, seed=SEED)
    assert release.report.passed
    occurring = 0
    for known in release.records():
        places: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        for visit in known["representative"].get("visits", ()):
            for item in visit.get("diagnoses", ()):
                there = {key: value for key, value in visit.items() if key != "diagnoses"}
                places[form(there), len(visit["diagnoses"])].update(map(str, item.get("icd", ())))
        for counted in places.values():
            occurring += 1
            assert max(counted.values(), default=0) * 2 <= known["records"]
    assert occurring


def test_a_class_tells_more_of_fewer_people_once_others_show_nothing(tmp_path: Path) -> None:
    """Whoever shows no value at a place does not count there: the share is of those who do."""
    persons = [{"zip": "1", "ills": [ill]} for ill in "aabbcc"]
    policy = flat_policy({"kind": "frequency-l-diversity", "l": 3})
    assert hierdata.verify(persons, policy).passed
    nothing: list[Record] = [{"zip": "1", "ills": [None]} for _ in range(2)]
    assert not hierdata.verify([*persons[:4], *nothing], policy).passed


@pytest.mark.parametrize("change", ["asks", "within"])
def test_a_forged_reading_is_refused(change: str, tmp_path: Path) -> None:
    persons = people(Random(0))
    policy = visits_policy({"kind": "frequency-l-diversity", "l": 2}, asks="presence", within="place")
    folder = hierdata.anonymize(persons, policy, seed=SEED).save(tmp_path / "release")
    file = folder / "steward" / "verification.json"
    facts = json.loads(file.read_text("utf-8"))
    facts["sensitive"][ICD][change] = {"asks": "value", "within": "record"}[change]
    file.write_text(json.dumps(facts), "utf-8")
    with pytest.raises(VerificationError, match="frozen reading"):
        hierdata.verify(folder, policy)


def test_a_reading_by_default_is_frozen_and_compared_with_the_original(tmp_path: Path) -> None:
    persons = people(Random(0))
    policy = visits_policy({"kind": "frequency-l-diversity", "l": 2})
    folder = hierdata.anonymize(persons, policy, seed=SEED).save(tmp_path / "release")
    assert hierdata.verify(folder, policy, original=persons).passed
    file = folder / "steward" / "verification.json"
    facts = json.loads(file.read_text("utf-8"))
    assert facts["sensitive"][ICD]["asks"] == "presence"
    facts["sensitive"][ICD]["asks"] = "value"
    file.write_text(json.dumps(facts), "utf-8")
    with pytest.raises(VerificationError):
        hierdata.verify(folder, policy, original=persons)


def test_a_worst_guess_that_is_made_smaller_is_refused(tmp_path: Path) -> None:
    policy = visits_policy({"kind": "frequency-l-diversity", "l": 2})
    folder = hierdata.anonymize(people(Random(0)), policy, seed=SEED).save(tmp_path / "release")
    file = folder / "public" / "release.json"
    release = json.loads(file.read_text("utf-8"))
    assert release["worst_guess"][ICD]["value"] > 0
    release["worst_guess"][ICD] = {"exact": "1/100", "value": 0.01}
    file.write_text(json.dumps(release), "utf-8")
    with pytest.raises(VerificationError, match="its claims differ"):
        hierdata.verify(folder, policy)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            flat_policy({"kind": "distinct-l-diversity", "l": 2}, asks="presence"),
            "asks: presence needs a model",
        ),
        (flat_policy({"kind": "k-anonymity", "k": 2}, asks="presence"), "asks: presence needs a model"),
        (flat_policy({"kind": "level-alpha-k", "k": 2}, asks="presence"), "with its alpha written out"),
        (
            flat_policy(FREQUENCY, within="record") | {"recoding": "anatomy"},
            "within: record needs each value",
        ),
        (
            flat_policy(FREQUENCY, within="record") | {"recoding": "slicing"},
            "within: record needs each value",
        ),
        (flat_policy(FREQUENCY, asks="value", within="place"), "within belongs to asks: presence"),
        (
            flat_policy(FREQUENCY, asks="presence") | {"engine": {"preset": "ClusTree"}},
            "preset ClusTree judges",
        ),
    ],
)
def test_a_reading_that_nothing_can_judge_is_refused(policy: Record, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as refused:
        hierdata.anonymize(HIV, policy, seed=SEED)
    assert "HIV" not in str(refused.value)


def test_models_without_presence_say_that_all_may_share_a_value() -> None:
    """Eight people, all with HIV, and three different values: the sentence must not deny it."""
    policy = flat_policy({"kind": "distinct-l-diversity", "l": 3})
    release = hierdata.anonymize(HIV, policy, seed=SEED)
    (promise,) = release.report.promises
    assert promise.held
    assert "all people of one group may have one of them in common" in promise.statement
    told = hierdata.verify(HIV, policy)
    assert told.passed
    assert told.worst_guess == {ILLS: 1}


@pytest.mark.parametrize("recoding", ["representatives", "slicing", "anatomy"])
def test_persons_who_show_nothing_hide_nobody(recoding: str) -> None:
    """Three of twelve have HIV and the others no diagnosis: everybody who shows one would have HIV."""
    fields = {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "$.visits[*].ill": {"role": "sensitive", "asks": "presence"},
    }
    policy = {"version": 1, "models": [ALPHA | {"k": 2}], "fields": fields, "recoding": recoding}

    def find_hiv(others: Any) -> bool:
        records = [{"age": 30, "visits": [{"ill": others(who) if who > 2 else "HIV"}]} for who in range(12)]
        try:
            release = hierdata.anonymize(records, policy, seed=SEED)
        except PromiseError:
            return False
        files = [
            *(release.folder / "public").glob("sensitive*"),
            *(release.folder / "public").glob("records*"),
        ]
        assert files
        return any("HIV" in file.read_text("utf-8") for file in files)

    assert not find_hiv(lambda _: None)
    assert find_hiv("flu {}".format)
