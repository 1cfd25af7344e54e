"""Singling out, linkability, inference and downcoding agree with a twin, and find what is there."""

from __future__ import annotations

import copy
import json
from collections import Counter
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.ground.errors import InputError, PromiseError
from hierdata.measurement.risks.columns import FactIndex, LabelColumn
from hierdata.measurement.risks.downcoding import measure_downcoding
from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.facts import PublishedFact
from hierdata.measurement.risks.linkability import measure_linkability
from hierdata.measurement.risks.rates import MeasuredRisk, estimate_rate, find_residual
from hierdata.measurement.risks.singling_out import (
    BY_EVERYTHING,
    BY_QUASI,
    BY_STRINGS,
    correct_for_size,
    draw_at_random,
    draw_predicates,
    measure_singling_out,
)
from hierdata.pipeline.read_release import read_release
from tests import naive_measured_risks as naive
from tests.adversary.test_attack import PARENTS, SEED, TREES, people, policy

QUASI = {"$.town", "$.visits[*].code", "$.visits[*].drugs[*].drug"}


def blurred(records: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Records of which some values are generalized and some visits left out."""
    draw = Random(number)
    shown = copy.deepcopy(records)
    for one in shown:
        one["town"] = draw.choice([one["town"], PARENTS[one["town"]], "*"])
        for visit in one["visits"]:
            visit["code"] = draw.choice([visit["code"], PARENTS[visit["code"]]])
        one["visits"] = [visit for visit in one["visits"] if draw.random() < 0.8]
    return shown


def evidence_of(shown: list[dict[str, Any]], records: list[dict[str, Any]]) -> Evidence:
    """What the attacks see; ``shown`` is put in the order in which it is numbered."""
    read = read_release(shown, policy(), original=records)
    rebuilt = read.rebuilt
    shown[:] = [shown[place] for place in rebuilt.places.tolist()]
    return Evidence.of(read.original, None, rebuilt.forest, rebuilt.publication, rebuilt.form)


def told(evidence: Evidence, facts: tuple[PublishedFact, ...]) -> list[naive.Told]:
    return [
        (evidence.attributes[own].path, sign, evidence.labels[own].texts[label]) for own, sign, label in facts
    ]


def test_predicates_match_the_records_of_the_twin() -> None:
    compared = singled = 0
    for number in range(6):
        records = people(number, 16)
        shown = blurred(records, number)
        evidence = evidence_of(shown, records)
        every = tuple(range(len(evidence.attributes)))
        rng = np.random.default_rng(number)
        for facts in (1, 2, 3):
            targeted = [
                *draw_predicates(evidence, every, facts, 20, rng),
                *draw_predicates(evidence, every, facts, 20, rng, by_size=True),
            ]
            singled += len(targeted)
            for predicate in targeted:
                shown_by = told(evidence, predicate)
                # In the release a label is a text: nothing is above it.
                assert evidence.is_single_published(predicate)
                assert naive.count_true(shown, shown_by, {}, set()) == 1
            for predicate in (*targeted, *draw_at_random(evidence, every, facts, 20, rng)):
                facts_told = told(evidence, predicate)
                found = len(evidence.find_true(predicate))
                assert found == naive.count_true(records, facts_told, PARENTS, QUASI), facts_told
                assert evidence.is_single_true(predicate) is (found == 1)
                as_strings = len(evidence.find_true(predicate, as_strings=True))
                if all(sign == "=" and label is not None for _, sign, label in facts_told):
                    assert as_strings == naive.count_true(records, facts_told, {}, set()), facts_told
                compared += 1
    assert compared > 500
    assert singled > 200


def test_records_of_facts_are_those_of_sets() -> None:
    """More records than bits of a word, more labels than are looked up one by one, records without any."""
    rng = np.random.default_rng(4)
    for records, labels in ((1, 1), (64, 3), (130, 90), (300, 200)):
        sizes = rng.integers(0, 4, (2, records))
        own = [[rng.integers(-1, labels, size).tolist() for size in row.tolist()] for row in sizes]
        columns = [
            LabelColumn(np.repeat(np.arange(records), row), np.array([*chain(*some)], np.int64), records)
            for row, some in zip(sizes, own, strict=True)
        ]
        sets = [np.unique(rng.integers(0, labels + 5, size)) for size in (1, 2, labels)]
        index = FactIndex(columns, lambda fact, sets=sets: sets[fact.label])  # type: ignore[misc]
        for _ in range(20):
            facts = [PublishedFact(int(at), "=", int(own)) for at, own in rng.integers(0, (2, 3), (2, 2))]
            satisfied = [
                record
                for record in range(records)
                if all({*own[at][record]} & {*sets[label].tolist()} for at, _, label in facts)
            ]
            assert index.find(facts).tolist() == satisfied
            assert index.is_single(facts) is (len(satisfied) == 1)
        for column, some in zip(columns, own, strict=True):
            shown = [sorted({*row} - {-1}) for row in some]
            assert [column.of_record(record) for record in range(records)] == shown
            having = Counter(label for row in shown for label in row)
            assert column.list_rare() == sorted(label for label, count in having.items() if count == 1)


def test_two_readers_link_as_those_of_the_twin() -> None:
    readers = (("$.town",), ("$.visits[*].code", "$.visits[*].drugs[*].drug"))
    without_clue = 0
    for number in range(3):
        records = people(number, 14)
        shown = blurred(records, number)
        evidence = evidence_of(shown, records)
        place = {own.path: at for at, own in enumerate(evidence.attributes)}
        texts = [own.texts for own in evidence.labels]

        def order(path: str, value: Any, place: Any = place, texts: Any = texts) -> tuple[int, int]:
            return place[path], texts[place[path]].index(value)

        numbers = tuple([place[path] for path in own] for own in readers)
        found = measure_linkability(evidence, (numbers[0], numbers[1]), "both", 3, 100, 7)
        linked, refused = naive.link(shown, records, readers, 3, 7, PARENTS, order)
        assert [own.n_success for own in found] == linked
        assert [own.n_refused for own in found] == refused
        without_clue += sum(refused)
        assert {own.n_attacks for own in found} == {14}
    assert without_clue


def test_finer_values_are_guessed_as_by_the_twin() -> None:
    guessed = 0
    for number in range(4):
        records = people(number, 20)
        draw, shown = Random(number), copy.deepcopy(records)
        for one in shown:
            one["town"] = draw.choice([one["town"], PARENTS[one["town"]], "*"])
            for visit in one["visits"]:
                visit["code"] = draw.choice([visit["code"], PARENTS[visit["code"]], "*"])
        whose = {id(one): own for one, own in zip(shown, records, strict=True)}
        evidence = evidence_of(shown, records)
        owners = [whose[id(one)] for one in shown]
        true: list[Any] = [None] * len(evidence.attributes)
        coarser = right = 0
        for at, (own, known) in enumerate(zip(evidence.attributes, evidence.labels, strict=True)):
            if own.path in ("$.town", "$.visits[*].code"):
                values = [value for one in owners for value in naive.values_at(one, own.path)]
                true[at] = np.array([known.texts.index(value) for value in values])
                tree = TREES[own.path.rpartition(".")[2]]["*"]
                leaves = {leaf for below in tree.values() for leaf in below}
                parents = {leaf: above for leaf, above in PARENTS.items() if leaf in leaves}
                found = naive.downcode(shown, owners, own.path, parents, known.texts.index)
                coarser, right = coarser + found[0], right + found[1]
        risk = measure_downcoding(evidence, true, 10**6, 1)
        assert (risk.n_attacks, risk.n_success) == (coarser, right)
        guessed += right
    assert guessed > 20


def test_trees_without_identifiers_single_out_nearly_everybody() -> None:
    """Three facts of the record and its visits, of any kind, are hardly ever those of two persons."""
    draw = Random(3)
    visit: dict[str, Any] = {"role": "quasi", "interval": {"steps": [1, 100]}}
    stated = {
        **TABLE,
        "fields": {
            "$.age": {"role": "quasi", "interval": {"steps": [1, 50]}},
            "$.visits[*].day": visit,
            "$.visits[*].ill": {"role": "sensitive"},
        },
    }
    del stated["attackers"], stated["engine"]
    trees = [
        {
            "age": draw.randrange(18, 90),
            "visits": [{"day": draw.randrange(700), "ill": draw.choice("abcdefghij")} for _ in range(3)],
        }
        for _ in range(120)
    ]
    read = read_release(trees, stated, original=trees, as_data=True)
    rebuilt = read.rebuilt
    evidence = Evidence.of(read.original, None, rebuilt.forest, rebuilt.publication, rebuilt.form)
    found = {own.by: own for own in measure_singling_out(evidence, 3, 120, np.random.default_rng(1))}
    for by in (BY_QUASI, BY_EVERYTHING):
        assert found[by].n_success >= 0.99 * found[by].n_attacks == 0.99 * 120


def test_what_is_published_as_it_is_singles_out() -> None:
    records = people(1, 60)
    found = hierdata.attack(records, policy(), original=records, facts=3, victims=200)
    risks = {(own.by, own.facts): own for own in found.risks if own.risk == "singling_out"}
    for by in (BY_QUASI, BY_EVERYTHING, BY_STRINGS):
        assert risks[by, 3].n_attacks == 60
        assert risks[by, 3].n_success >= 20
        assert risks[by, 3].n_baseline < risks[by, 3].n_success / 2
    table = rows(0, 200)
    alone = hierdata.attack(table, TABLE, original=table, as_data=True, facts=3, victims=200)
    (last,) = [own for own in alone.risks if own.by == BY_EVERYTHING and own.facts == 3]
    assert last.n_success >= 0.99 * last.n_attacks == 0.99 * 200
    linked = [own for own in found.risks if own.risk == "linkability"]
    assert linked[-1].value > linked[-1].n_baseline / linked[-1].n_attacks


@pytest.mark.parametrize("recoding", ["generalization", "representatives", "full_domain", "anatomy"])
def test_quasi_identifiers_of_classes_single_nobody_out(recoding: str) -> None:
    done = 0
    for number in range(4):
        stated = policy(recoding=recoding)
        stated["fields"] = {path: stated["fields"][path] for path in ("$.town", "$.income")}
        records = [{name: one[name] for name in ("town", "income")} for one in people(number, 30)]
        # One person of a town would be found where quasi-identifiers are published as they are.
        records[0]["town"] = "d"
        records[1:] = [one | {"town": "c" if one["town"] == "d" else one["town"]} for one in records[1:]]
        try:
            release = hierdata.anonymize(records, stated, seed=SEED)
        except PromiseError:
            continue
        found = hierdata.attack(release.folder, stated, original=records, facts=2, victims=50)
        by_quasi = [own for own in found.risks if own.by == BY_QUASI]
        everything = [own for own in found.risks if own.by == BY_EVERYTHING]
        assert len(by_quasi) == len(everything) == 2
        if recoding == "anatomy":
            assert max(own.value for own in by_quasi) > 0
        else:
            assert {own.n_success for own in by_quasi} == {0}
            assert found.isolation is not None
            assert found.isolation.smallest_class >= 3
        done += 1
    assert done


def test_an_attack_without_a_clue_makes_no_guess() -> None:
    """Refusals by hand: nobody's values alike, a field without values, everybody alike."""
    people = [{"town": town, "wage": wage, "ill": ill} for town, wage, ill in
              (("a", 1, "flu"), ("b", 2, "flu"), ("c", 3, "gout"), ("d", 4, "gout"))]  # fmt: skip
    stated = {**TABLE, "attackers": {}, "fields": {
        "$.town": {"role": "quasi", "flat": True}, "$.wage": {"role": "sensitive"},
        "$.ill": {"role": "sensitive"}}}  # fmt: skip
    hidden = [{**one, "town": "*", "wage": 7} for one in people]
    silent = [{"town": one["town"], "wage": one["wage"]} for one in people]
    for shown, by, refused in ((people, BY_QUASI, 0), (hidden, BY_EVERYTHING, 4), (hidden, BY_STRINGS, 0)):
        found = hierdata.attack(shown, stated, original=people, as_data=True, facts=1, victims=4)
        (risk,) = [own for own in found.risks if own.by == by]
        assert risk.n_refused == refused
        assert risk.n_success + risk.n_wrong + risk.n_refused == risk.n_attacks
        told = risk.as_dict()
        assert told["refusal_rate"]["value"] == pytest.approx(estimate_rate(risk.n_attacks, refused).value)
    found = hierdata.attack(silent, stated, original=people, as_data=True, facts=1, victims=4)
    inferred = {own.on: own for own in found.risks if own.risk == "inference" and own.facts == 0}
    assert [(own.n_attacks, own.n_refused) for own in inferred.values()] == [(4, 0), (4, 4)]
    assert MeasuredRisk("inference", "all", 0, 0, 0, 0).refusal_rate is None


def test_numbers_are_read_away_from_the_median_of_different_rows() -> None:
    """As anonymeter does: equal rows count once, so of 30, 30, 30, 40, 50 the 40 is in the middle."""
    people = [{"age": age, "town": town, "wage": 1, "ill": "flu"} for age, town in
              ((30, "a"), (30, "a"), (30, "a"), (40, "b"), (50, "c"))]  # fmt: skip
    evidence = evidence_of_table(people)
    signs = [
        own.labels[0].sign_of(own.labels[0].texts.index(40)) for own in (evidence, evidence.without_equal)
    ]
    assert signs == [">=", "<="]


def evidence_of_table(people: list[dict[str, Any]]) -> Evidence:
    """What the attacks see of a table that is published as it is."""
    stated = {**TABLE, "attackers": {}, "fields": {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 20]}},
        "$.town": {"role": "quasi", "flat": True},
        "$.wage": {"role": "sensitive"}, "$.ill": {"role": "sensitive"}}}  # fmt: skip
    read = read_release(people, stated, original=people)
    rebuilt = read.rebuilt
    return Evidence.of(read.original, None, rebuilt.forest, rebuilt.publication, rebuilt.form)


def test_rates_are_those_of_wilson() -> None:
    """Figures by hand: 1 of 10 has the interval 0.0179 to 0.4042 (Wilson 1927)."""
    low, high = estimate_rate(10, 1).interval
    assert (round(low, 4), round(high, 4)) == (0.0179, 0.4042)
    attack, control = estimate_rate(1000, 300), estimate_rate(1000, 200)
    left = find_residual(attack, control)
    assert left.value == pytest.approx((attack.value - control.value) / (1 - control.value))
    assert find_residual(control, attack).value == 0
    assert MeasuredRisk("singling_out", "all", 1, 0, 0, 0).value == 0
    assert MeasuredRisk("singling_out", "all", 1, 10, 5, 0, 9.0, 10).ci[0] == 0


def test_a_control_of_another_size_is_corrected() -> None:
    """Predicates of known weights: their success among many is foretold from their success among few."""
    rng = np.random.default_rng(5)
    weights = rng.uniform(0, 2e-3, 1500)
    few, many = (rng.random((1500, size)) < weights[:, None] for size in (1200, 4000))
    before, after = ((own.sum(axis=1) == 1).mean() for own in (few, many))
    factor = correct_for_size([np.flatnonzero(own) for own in few], 1200, 4000)
    assert before * factor == pytest.approx(after, rel=0.25)
    assert correct_for_size([np.array([1])], 50, 50) == 1


def rows(first: int, count: int) -> list[dict[str, Any]]:
    draw = Random(first)
    return [
        {
            "id": f"P{number}",
            "age": draw.randrange(18, 90),
            "town": draw.choice("abcd"),
            "wage": draw.randrange(900, 90_000),
            "ill": draw.choice(["flu", "cold", "gout"]),
        }
        for number in range(first, first + count)
    ]


TABLE: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 4}],
    "engine": {"steps": [{"kind": "mondrian"}]},
    "fields": {
        "$.id": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 20]}},
        "$.town": {"role": "quasi", "flat": True},
        "$.wage": {"role": "sensitive"},
        "$.ill": {"role": "sensitive"},
    },
    "attackers": {"registry": {"keys": ["$.age"]}, "post": {"keys": ["$.town"]}},
}


def test_a_control_of_strangers_is_as_safe_as_those_inside(tmp_path: Path) -> None:
    records, strangers = rows(0, 900), rows(5000, 450)
    release = hierdata.anonymize(records, TABLE, seed=SEED, out=tmp_path / "release")
    found = hierdata.attack(
        tmp_path / "release", TABLE, original=records, control=strangers, facts=2, victims=300
    )
    assert (found.records, found.control, found.not_measured) == (900, 450, ())
    risks = {(own.risk, own.by, own.facts, own.on): own for own in found.risks}
    everything = risks["singling_out", BY_EVERYTHING, 2, None]
    # Wages are published as they are: they single out those inside, and nobody else.
    assert everything.n_success > 250
    assert everything.n_control is not None
    assert everything.n_control < 60
    assert everything.value > 0.8
    for own in found.risks:
        if own.risk == "inference" and own.on == "$.ill":
            assert own.ci[0] < 0.1
            assert own.n_attacks_control == 300
        if own.risk == "linkability":
            assert own.by == "registry and post"
        assert 0 <= own.ci[0] <= own.value <= own.ci[1] <= 1
    (downcoded,) = [own for own in found.risks if own.risk == "downcoding"]
    assert downcoded.n_attacks > 200
    assert downcoded.control_rate is not None
    text = json.dumps(found.as_dict())
    assert not any(f'"{value}"' in text for value in ("flu", "cold", "gout"))
    assert len(list(release.records())) > 800


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (rows(0, 420), "the control has 420 of the individuals of the input"),
        (rows(5000, 399) + rows(0, 420)[:1], "the control has 1 of the individuals of the input"),
        ([one | {"street": 5} for one in rows(5000, 400)], "1 field is unknown there"),
        ([{"id": one["id"], "age": one["age"]} for one in rows(5000, 400)], "3 fields are missing"),
        (rows(5000, 384), "the control has 384 individuals.*: 385 are needed"),
        ([], "the collection is empty"),
    ],
)
def test_a_control_that_does_not_fit_is_refused(control: list[dict[str, Any]], message: str) -> None:
    records = rows(0, 420)
    with pytest.raises(InputError, match=message) as refused:
        hierdata.attack(records, TABLE, original=records, control=control, facts=1, victims=10)
    assert refused.value.exit_code == 5


def test_a_control_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "control.jsonl").write_text('{"id": "Q1"\n', "utf-8")
    records = rows(0, 420)
    with pytest.raises(InputError, match=r"^the control: record 1"):
        hierdata.attack(records, TABLE, original=records, control=tmp_path / "control.jsonl", facts=1)


def test_records_that_look_like_no_other_are_no_class() -> None:
    """Bounded knowledge makes none: (1 - 1/c)^(c - 1) of c = 1 would say that everybody is isolated."""
    records = people(1, 60)
    assert hierdata.attack(records, policy(), original=records, facts=1, victims=5).isolation is None


def test_data_of_other_tools_needs_no_witness() -> None:
    records = people(4, 60)
    draw = Random(4)
    made_up = copy.deepcopy(records)
    for one in made_up:
        one["income"] = draw.randrange(900, 999)  # nobody's
        one["town"] = draw.choice([one["town"], "north or south"])
        one["visits"] = one["visits"][:1]
    found = hierdata.attack(made_up, policy(), original=records, as_data=True, facts=2, victims=50)
    assert found.not_measured
    risks = {(own.risk, own.by, own.facts): own for own in found.risks if own.on is None}
    assert risks["singling_out", BY_EVERYTHING, 1].n_success == 0
    assert risks["linkability", "root and lists", 2].n_attacks == 50
    copied = hierdata.attack(records, policy(), original=records, as_data=True, facts=3, victims=50)
    assert copied.release == copied.identifiers_dropped
    ages = [{**one, "age": f"[{one['age'] // 10 * 10}, {one['age'] // 10 * 10 + 10}["} for one in rows(0, 90)]
    told = hierdata.attack(ages, TABLE, original=rows(0, 90), as_data=True, facts=3, victims=80)
    by = {own.by: own for own in told.risks if own.risk == "singling_out" and own.facts == 3}
    assert by[BY_EVERYTHING].n_success == by[BY_EVERYTHING].n_attacks == 80
    assert by[BY_QUASI].n_success == 0
