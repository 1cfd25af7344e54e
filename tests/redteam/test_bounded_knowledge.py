"""What bounded knowledge promises is attacked by plain code; what it does not promise is shown to be learned.

Nothing here knows the engine: files are made by hand or by deleting at random, and the judge says which of
them keep the promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import hierdata
from hierdata.judge import judge
from hierdata.judge.rules import ToldApart
from hierdata.policy.policy import Policy
from hierdata.release.public import describe_limitations
from hierdata.release.verification import promises
from tests.cases import with_worlds
from tests.test_judge_knowledge import FLAT, judge_in_parts, rules_of

Visit = dict[str, Any]
FIELDS: dict[str, Any] = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.visits[*].year": FLAT}


def patient(*visits: tuple[Any, ...], town: str = "a") -> dict[str, Any]:
    names = "ward", "year"
    return {"town": town, "visits": [dict(zip(names, visit, strict=True)) for visit in visits]}


def told(records: Sequence[Any], **model: Any) -> tuple[int, dict[str, int]]:
    """The number of sampled persons, and how many each kind of knowledge tells apart."""
    verdict = judge(records, rules_of({"k": 1, "m": 1, **model}, FIELDS))
    assert verdict.told_apart is not None
    found = verdict.as_dict()["told_apart"]
    return found.pop("of"), found


def known_facts(original: Any, published: Any, random: Random, most: int) -> list[tuple[int, str, Any]]:
    """What somebody knows of a person: some facts, by the number of the visit in the original."""
    every = [(at, name, visit[name]) for at, visit in enumerate(original["visits"]) for name in visit]
    return random.sample(every, min(most, len(every)))


def agrees(record: Any, facts: Sequence[tuple[int, str, Any]]) -> bool:
    """Whether a record may be that of somebody with these facts: each is shown, or was left out.

    A fact is shown at a visit that has it, left out at one that shows nothing there, or its visit is not
    there at all. Visits stay apart and together as they are.
    """
    visits = sorted({at for at, _, _ in facts})
    places = [*range(len(record["visits"])), *([None] * len(visits))]
    for chosen in set(permutations(places, len(visits))):
        place = dict(zip(visits, chosen, strict=True))
        if all(
            place[at] is None or record["visits"][place[at]][name] in (value, "*")
            for at, name, value in facts
        ):
            return True
    return False


def delete_at_random(records: Sequence[Any], random: Random) -> list[Any]:
    published = []
    for record in records:
        visits = [
            {name: "*" if random.random() < 0.4 else value for name, value in visit.items()}
            for visit in record["visits"]
            if random.random() > 0.2
        ]
        published.append({"town": record["town"], "visits": visits})
    return published


@with_worlds(100, 800)
def test_no_known_facts_lead_to_fewer_than_k_published_records(worlds: int) -> None:
    """Values and visits are left out at random; wherever the judge accepts that, the attack fails."""
    random = Random(4)
    accepted = attacked = 0
    for _ in range(worlds):
        originals = [
            patient(*((random.choice("xy"), random.choice("12")) for _ in range(random.randrange(1, 3))))
            for _ in range(random.choice([1, 2, 3]))
        ]
        originals += [random.choice(originals) for _ in originals]
        published = delete_at_random(originals, random)
        m = random.choice([1, 2])
        vertex = random.choice(["whole", "off"])
        if not judge(published, rules_of({"k": 2, "m": m, "vertex": vertex}, FIELDS)).passed:
            continue
        accepted += 1
        for original, record in zip(originals, published, strict=True):
            facts = known_facts(original, record, random, m)
            candidates = [other for other in published if agrees(other, facts)]
            attacked += 1
            assert record in candidates
            assert len(candidates) >= 2
    assert accepted > 50 * worlds // 800
    assert attacked > 150 * worlds // 800


TREE = {"x": "A", "y": "A", "z": "B", "w": "B"}


def test_classes_of_whole_records_with_overlapping_nodes_keep_the_promise() -> None:
    """Two records a class, at values or at their parents: nodes overlap, and no attack succeeds."""
    random = Random(8)
    tree = {"tree": {"*": {"A": ["x", "y"], "B": ["z", "w"]}}}
    fields = {**FIELDS, "$.visits[*].ward": {"role": "quasi", "taxonomy": tree}}
    overlapping = 0
    for _ in range(60):
        originals, published = [], []
        for _ in range(random.choice([2, 3])):
            number = random.randrange(1, 3)
            visits = [(random.choice([*TREE]), random.choice("12")) for _ in range(number)]
            coarse = random.random() < 0.5
            for _ in range(2):
                # The second of a class may have other wards below the same parents.
                own = [
                    (
                        random.choice([one for one in TREE if TREE[one] == TREE[ward]]) if coarse else ward,
                        year,
                    )
                    for ward, year in visits
                ]
                originals.append(patient(*own))
                shown = [(TREE[ward] if coarse else ward, year) for ward, year in visits]
                published.append(patient(*shown))
        verdict = judge(published, rules_of({"k": 2, "m": 2}, fields))
        assert verdict.passed
        labels = {visit["ward"] for record in published for visit in record["visits"]}
        overlapping += any(TREE.get(label) in labels for label in labels)
        for original, record in zip(originals, published, strict=True):
            facts = known_facts(original, record, random, 2)
            candidates = [other for other in published if covers(other, facts)]
            assert record in candidates
            assert len(candidates) >= 2
    assert overlapping > 10


def covers(record: Any, facts: Sequence[tuple[int, str, Any]]) -> bool:
    """Whether a record shows all facts, as they are or by their parents, at visits that they share alike."""
    visits = sorted({at for at, _, _ in facts})
    return any(
        all(
            record["visits"][dict(zip(visits, chosen, strict=True))[at]][name] in (value, TREE.get(value))
            for at, name, value in facts
        )
        for chosen in permutations(range(len(record["visits"])), len(visits))
    )


def test_what_a_record_lacks_may_have_been_left_out() -> None:
    """Two persons with a ward x; what is published shows it for neither."""
    original = [patient(("x", "1")), patient(("x", "1"), ("y", "1"))]
    published = [patient(("*", "1")), patient(("*", "1"))]
    assert judge(published, rules_of({"k": 2, "m": 2}, FIELDS)).passed
    assert all(agrees(record, [(0, "ward", "x")]) for record in published)
    assert all(any(visit["ward"] == "x" for visit in person["visits"]) for person in original)


def test_more_facts_tell_apart_as_many_as_is_said() -> None:
    # Of one visit each, two facts are all of it: x1 and y2 are shown once, z3 twice.
    records = [patient(("x", "1")), patient(("y", "2")), patient(("z", "3")), patient(("z", "3"))]
    persons, found = told(records)
    assert persons == 4
    assert found["one fact more"] == 2
    # Each value is shown by two; only both at one visit tell a person apart.
    crossed = [patient((ward, year)) for ward in "xy" for year in "12"]
    assert told(crossed)[1]["one fact more"] == 4
    assert told(crossed * 2)[1]["one fact more"] == 0


def test_the_sample_does_not_depend_on_order_or_parts() -> None:
    random = Random(3)
    records = [
        patient(
            *((random.choice("xyz"), random.choice("123")) for _ in range(random.randrange(3))),
            town=random.choice("ab"),
        )
        for _ in range(60)
    ]
    rules = rules_of({"k": 1, "m": 1}, FIELDS)
    whole = judge(records, rules).told_apart
    assert whole is not None
    assert len(whole.persons) == 60
    for _ in range(3):
        random.shuffle(records)
        for record in records:
            random.shuffle(record["visits"])
        assert judge(records, rules).told_apart == whole
        assert judge_in_parts(records, rules, 3, 2).told_apart == whole


def test_counts_and_lacks_tell_apart_as_many_as_is_said() -> None:
    # One fact, x, is that of all; the number of visits is that of one or of two records.
    records = [patient(*[("x", "1")] * number) for number in (1, 2, 2)]
    assert told(records)[1]["counts"] == 1
    # Whoever knows that a person was at x but not at y finds the only one.
    records = [patient(("x", "1")), patient(("x", "1"), ("y", "1")), patient(("x", "1"), ("y", "1"))]
    found = told(records)[1]
    assert found["a fact that is lacking"] == 1


def test_the_order_of_two_years_tells_who_it_is() -> None:
    records = [
        patient(("x", "1"), ("y", "2")),
        patient(("x", "2"), ("y", "1")),
        patient(("x", "3"), ("y", "3")),
    ]
    records = [record for record in records for _ in range(2)]
    assert judge(records, rules_of({"k": 2, "m": 2}, FIELDS)).passed

    def x_came_first(record: Any) -> bool:
        when = {visit["ward"]: visit["year"] for visit in record["visits"]}
        return bool(when["x"] < when["y"])

    found = [record for record in records if x_came_first(record)]
    assert len({str(record) for record in found}) == 1, "two facts without years, and who it is is known"


def test_numbers_of_visits_tell_what_was_left_out() -> None:
    """Visits are numbered: where the second of three is not shown, it was left out."""
    fields = {"$.town": FLAT, "$.visits[*].number": FLAT}
    shown = [{"town": "a", "visits": [{"number": number} for number in (1, 3)]} for _ in range(2)]
    assert judge(shown, rules_of({"k": 2, "m": 2}, fields)).passed
    numbers = {visit["number"] for visit in shown[0]["visits"]}
    assert set(range(1, max(numbers) + 1)) - numbers == {2}


def test_several_patterns_together_may_exceed_alpha() -> None:
    """Of those who show ward x half have H, and of those who show none; of those who do either, more have."""
    fields = {**FIELDS, "$.ill": {"role": "sensitive", "asks": "value"}}
    wards = {"H": ["x"], "a": ["x", "*"], "h": ["*"], "b": ["y"], "c": ["y"]}
    records = [{**patient(*((ward, "1") for ward in own)), "ill": ill.upper()} for ill, own in wards.items()]
    verdict = judge(records, rules_of({"k": 2, "m": 1, "alpha": "1/2"}, fields))
    assert verdict.passed
    assert verdict.judgements[0].achieved["alpha"] == Fraction(1, 2)
    either = [record for record in records if any(visit["ward"] in "x*" for visit in record["visits"])]
    assert Counter(record["ill"] for record in either) == {"H": 2, "A": 1}


def test_other_models_speak_of_what_the_record_itself_shows() -> None:
    policy = Policy(
        version=1,
        models=[{"kind": "bounded-knowledge", "k": 2, "m": 1}, {"kind": "k-anonymity", "k": 2}],
        fields=FIELDS,
    )
    rules = rules_of({"k": 2, "m": 1}, FIELDS, {"kind": "k-anonymity", "k": 2})
    records = [patient(("x", "1")), patient(("y", "1"))] * 2
    verdict = judge(records, rules)
    bounded, anonymous = promises(policy, verdict)
    assert anonymous.statement.startswith(
        "To somebody who knows the values of the record itself and nothing below"
    )
    assert "finds at least 2 records that fit" in bounded.statement
    stated = describe_limitations(policy, verdict)
    assert any("4 sampled" in sentence or "4 persons sampled" in sentence for sentence in stated)


def test_samples_of_parts_add_up() -> None:
    one = ToldApart(tuple((mark, (True,) * 4) for mark in range(0, 900, 2)))
    other = ToldApart(tuple((mark, (False,) * 4) for mark in range(1, 900, 2)))
    both = one + other
    assert [mark for mark, _ in both.persons] == list(range(500))
    assert both.counts() == (250,) * 4


def test_an_absent_list_and_an_item_that_shows_nothing_are_two_things() -> None:
    """Each may be spelled in its own way, and each in one way only."""
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.v[*].d": {"role": "sensitive"}}
    stated = {"version": 1, "models": [{"kind": "bounded-knowledge", "k": 3, "m": 1}], "fields": fields}
    shown = [{"a": 1, "v": [{}, {"d": "x"}]}, {"a": 1, "v": [{"d": "x"}]}, {"a": 1, "v": [{"d": "y"}]}]
    for absent in ({"a": 1}, {"a": 1, "v": []}):
        records = [*shown, absent]
        assert hierdata.anonymize(records, stated).report.passed
        assert hierdata.verify(records, stated).passed
    for more in ([{"a": 1}, {"a": 1, "v": []}], [{"a": 1, "v": [None, {"d": "x"}]}]):
        assert not hierdata.verify([*shown, *more], stated).passed
