"""Bounded knowledge in the judge: golden cases worked by hand, papers' examples, and the plain twin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hierdata.ground.errors import PolicyError
from hierdata.judge import JudgeHear, JudgeRules, JudgeWalk, Verdict, judge, merge_verdicts
from hierdata.judge.knowledge import counting, patterns, shares
from hierdata.judge.knowledge.places import PatternFacts, Places
from hierdata.pipeline.judging import judge_rules
from hierdata.policy.plan.compared import stated_scales
from hierdata.policy.policy import Policy
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds

FIXTURES = Path(__file__).parents[1] / "fixtures" / "knowledge"
FLAT = {"role": "quasi", "flat": True}
FIELDS: dict[str, Any] = {
    "$.r": FLAT,
    "$.s": {"role": "sensitive", "asks": "value"},
    "$.c[*].x": FLAT,
    "$.c[*].y": FLAT,
    "$.c[*].g": {"role": "sensitive", "asks": "value"},
    "$.c[*].e[*].z": FLAT,
    "$.c[*].e[*].h": {"role": "sensitive", "asks": "value"},
    "$.f[*]": {"vertex": True},
}
COURSE = naive.Outline("c", ("x", "y"), ("g",), {"e": naive.Outline("e", ("z",), ("h",))})
OUTLINE = naive.Outline("", ("r",), ("s",), {"c": COURSE, "f": naive.Outline("f")})

_EXAM = naive.Outline("e", ("z",), ("h",), None, ("h",))
KNOWN = [
    (
        naive.Outline(
            "",
            ("r",),
            ("s",),
            {"c": naive.Outline("c", ("x", "y"), ("g",), {"e": _EXAM}, ("g",)), "f": naive.Outline("f")},
            ("s",),
        ),
        "all",
    ),
    (
        naive.Outline("", ("r",), ("s",), {"c": COURSE, "f": naive.Outline("f")}, ("s",)),
        ("$.s",),
    ),
    (
        naive.Outline(
            "",
            ("r",),
            ("s",),
            {"c": naive.Outline("c", ("x", "y"), ("g",), COURSE.children, ("g",)), "f": naive.Outline("f")},
        ),
        ("$.c[*].g",),
    ),
]
"""Records of which sensitive values are facts too, and how a policy says so."""


def rules_of(model: dict[str, Any], fields: dict[str, Any] = FIELDS, *others: dict[str, Any]) -> JudgeRules:
    models = [{"kind": "bounded-knowledge", **model}, *others]
    policy = Policy(version=1, models=models, fields=fields)
    return judge_rules(policy, stated_scales(policy), {})


def person(*courses: dict[str, Any], **own: Any) -> dict[str, Any]:
    """A record in which everything absent is ``*`` and every list is there."""
    return {"r": "*", "f": [], **own, "c": [{"x": "*", "y": "*", "e": [], **course} for course in courses]}


def reached(records: Sequence[Any], fields: dict[str, Any] = FIELDS, **model: Any) -> dict[str, Any]:
    """The achieved parameters of ``k: 2``."""
    verdict = judge(records, rules_of({"k": 2, **model}, fields))
    return {
        letter: share if share.denominator > 1 else int(share)
        for letter, share in verdict.judgements[0].achieved.items()
    }


def test_facts_are_values_and_what_is_absent() -> None:
    one, other = person({"x": "1"}), person({"x": "2"})
    # x = 1 and x = 2 are facts of one record each; y is absent in both.
    assert reached([one, other], m=1, vertex="off") == {"k_0": 2, "k_1": 1}
    assert reached([one, one, other, other], m=1, vertex="off") == {"k_0": 4, "k_1": 2}
    # x is absent is a fact too, of the second record alone.
    assert reached([one, one, person({})], m=1, vertex="off") == {"k_0": 3, "k_1": 1}


@pytest.mark.parametrize("nothing", ["*", None, "", "?", ...])
def test_a_missing_value_is_absent_in_any_one_spelling(nothing: Any) -> None:
    fields = {"$.r": FLAT, "$.c[*].x": {**FLAT, "missing": ["?"]}}
    lacking = {"r": "a", "c": [{} if nothing is ... else {"x": nothing}]}
    both = [lacking, {"r": "a", "c": [{"x": "1"}]}] * 2
    verdict = judge(both, rules_of({"k": 2, "m": 1}, fields))
    assert verdict.passed
    assert verdict.judgements[0].achieved["k_1"] == 2


def test_two_spellings_of_what_is_absent_are_refused() -> None:
    fields = {"$.r": FLAT, "$.a.b": FLAT, "$.c[*].x": {**FLAT, "missing": ["?", "-"]}}

    def told(one: dict[str, Any], other: dict[str, Any]) -> dict[str, int]:
        records = [{"r": "a", "a": {"b": "1"}, "c": [{"x": "1"}], **own} for own in (one, other)] * 2
        verdict = judge(records, rules_of({"k": 2, "m": 1}, fields))
        assert verdict.passed is not bool(verdict.forbidden)
        return dict(verdict.forbidden)

    apart = "{} (what is absent is spelled in more than one way)".format
    assert told({"c": [{"x": "*"}]}, {"c": [{"x": "*"}]}) == {}
    pairs = [("*", None), (None, ""), ("?", "-"), ("*", "?")]
    for one, other in pairs:
        assert told({"c": [{"x": one}]}, {"c": [{"x": other}]}) == {apart("$.c[*].x"): 1}
    assert told({"c": [{"x": "*"}]}, {"c": [{}]})[apart("$.c[*].x")] == 1
    assert told({"c": []}, {"c": None}) == {apart("c"): 1}
    # A list without items and an item without a value are two things; two items without one have one form.
    fields["$.s[*]"] = FLAT
    assert told({"s": ["*"]}, {"s": []}) == {}
    assert told({"s": ["*"]}, {"s": [None]}) == {apart("$.s[*]"): 1}
    del fields["$.s[*]"]
    # Two containers without a value: no object, and an empty one.
    assert apart("a") in told({"a": {}}, {"a": None})


def test_the_same_fact_at_two_vertices_makes_two_facts() -> None:
    once, twice = person({"x": "1"}), person({"x": "1"}, {"x": "1"})
    assert reached([once, twice], m=1) == {"k_0": 2, "k_1": 2, "k_vertex": 2}
    assert reached([once, twice], m=2) == {"k_0": 2, "k_1": 2, "k_2": 1, "k_vertex": 2}
    # Three times and twice differ in patterns of three facts.
    thrice = person({"x": "1"}, {"x": "1"}, {"x": "1"})
    assert reached([thrice, twice], m=2)["k_2"] == 2
    assert reached([thrice, twice], m=3)["k_3"] == 1


def test_facts_at_one_vertex_are_told_from_facts_at_two() -> None:
    together = person({"x": "1", "y": "1"}, {"x": "2", "y": "2"})
    crossed = person({"x": "1", "y": "2"}, {"x": "2", "y": "1"})
    assert reached([together, crossed], m=1, vertex="off") == {"k_0": 2, "k_1": 2}
    assert reached([together, crossed], m=2, vertex="off") == {"k_0": 2, "k_1": 2, "k_2": 1}


def test_facts_below_one_vertex_are_told_from_facts_below_two() -> None:
    exam = "1", "2"
    near = person({"e": [{"z": value} for value in exam]}, {"e": []})
    far = person(*({"e": [{"z": value}]} for value in exam))
    assert reached([near, far], m=1, vertex="off") == {"k_0": 2, "k_1": 2}
    assert reached([near, far], m=2, vertex="off") == {"k_0": 2, "k_1": 2, "k_2": 1}


def test_a_type_without_quasi_identifiers_shows_that_it_is_there() -> None:
    one, two, three = ({"r": "*", "c": [], "f": [{}] * count} for count in (1, 2, 3))
    assert reached([one, two], m=1) == {"k_0": 2, "k_1": 2, "k_vertex": 2}
    assert reached([one, two], m=2)["k_2"] == 1
    assert reached([two, three], m=2)["k_2"] == 2


def test_the_root_alone_is_a_pattern() -> None:
    assert reached([person(r="a"), person(r="a"), person(r="b")], m=1) == {"k_0": 1}
    assert judge([person(r="a")] * 2, rules_of({"k": 2, "m": 1})).passed
    assert not judge([person(r="a"), person(r="b")], rules_of({"k": 2, "m": 1})).passed


def test_a_whole_vertex_is_known_instead_of_the_facts() -> None:
    shown = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    records = [person({"x": x, "y": y}) for x, y in shown]
    assert reached(records, m=1) == {"k_0": 4, "k_1": 2, "k_vertex": 1}
    assert judge(records, rules_of({"k": 2, "m": 1, "vertex": "off"})).passed
    assert not judge(records, rules_of({"k": 2, "m": 1})).passed


def test_counted_roots_are_facts_and_matched_over_the_file() -> None:
    records = [person({"x": "1"}, r="a"), person({"x": "1"}, r="b"), person({"x": "2"}, r="a")]
    assert reached(records, m=1, vertex="off")["k_1"] == 1
    # Over the file r = b is matched by one record, and so is x = 2.
    assert reached(records, m=1, vertex="off", root="counted") == {"k_0": 3, "k_1": 1}
    more = [*records, person({"x": "2"}, r="b")]
    assert reached(more, m=1, vertex="off", root="counted") == {"k_0": 4, "k_1": 2}
    # Two facts are r = a and x = 1 together, of one record.
    assert reached(more, m=2, vertex="off", root="counted")["k_2"] == 1
    assert judge(more, rules_of({"k": 2, "m": 1, "vertex": "off", "root": "counted"})).passed


def test_alpha_is_at_the_record_at_vertices_of_facts_and_around_them() -> None:
    # At the record A has 1/2 of each; at the vertex with x = 1 it has all.
    records = [person({"x": "1", "g": "A"}, {"x": "2", "g": "B"})] * 2
    assert reached(records, m=1, vertex="off", alpha="0.9")["alpha"] == 1
    # With x absent nothing tells the two vertices apart.
    hidden = [person({"g": "A"}, {"g": "B"})] * 2
    assert reached(hidden, m=1, vertex="off", alpha="0.9")["alpha"] == Fraction(1, 2)
    # Values below the vertex of a fact, and values of the record above it.
    below = [person({"x": "1", "e": [{"z": "*", "h": "A"}]}, {"x": "2", "e": [{"z": "*", "h": "B"}]})] * 2
    assert reached(below, m=1, vertex="off", alpha="0.9")["alpha"] == 1
    above = [person({"x": "1"}, s="A"), person({"x": "1"}, s="B"), person({"x": "2"}, s="A")]
    assert reached(above, m=1, vertex="off", alpha="0.9")["alpha"] == 1


def test_each_record_weighs_one_and_is_divided_among_its_values() -> None:
    # A: 1 + 1/4, B: 3/4, of two records that show a value; the third shows none.
    records = [person({"g": "A"}), person({"g": "A"}, *[{"g": "B"}] * 3), person({})]
    assert reached(records, m=1, vertex="off", alpha="1")["alpha"] == Fraction(5, 8)
    presence = {**FIELDS, "$.c[*].g": {"role": "sensitive", "asks": "presence"}}
    assert reached(records, presence, m=1, vertex="off", alpha="1")["alpha"] == 1


def test_alpha_bounds_the_values_that_are_named() -> None:
    records = [person({"g": "A"}), person({"g": "A"}), person({"g": "B"})]
    stated = {"k": 2, "m": 1, "alpha": "1/3"}
    assert not judge(records, rules_of(stated)).passed
    assert judge(records, rules_of({**stated, "values": {"$.c[*].g": ["B"]}})).passed
    assert judge(records, rules_of({**stated, "values": {"$.s": ["B"]}})).passed
    assert reached(records, m=1, alpha="1/3", values={"$.c[*].g": ["B"]})["alpha"] == Fraction(1, 3)


NUMBERS = {"$.r": FLAT, "$.c[*].x": {"role": "quasi", "interval": {"steps": [1, 5, 10]}}}
OVERLAP = "$.c[*].x (labels that overlap among records with the same root values)"


def courses(*labels: Any, r: str = "a") -> dict[str, Any]:
    return {"r": r, "c": [{"x": label} for label in labels]}


def test_nodes_are_disjoint_among_the_records_of_one_root() -> None:
    rules = rules_of({"k": 2, "m": 1}, NUMBERS)
    nested = [courses(3, "[0, 4]"), courses("[0, 4]", 3)]  # one form, twice
    assert judge(nested, rules).passed
    # Both labels are matched twice, but whoever knows 3 can tell where it is.
    apart = [courses(3), courses(3, "[0, 4]"), courses("[0, 4]")]
    verdict = judge(apart, rules)
    assert not verdict.passed
    assert verdict.forbidden == {OVERLAP: 1}
    assert verdict.judgements[0].held
    # Under another root the nodes may be others.
    elsewhere = [courses(3), courses(3), courses("[0, 4]", r="b"), courses("[0, 4]", r="b")]
    assert judge(elsewhere, rules).passed
    # What is absent overlaps nothing, and equal numbers are one value however they are spelled.
    assert judge([courses(3), courses("*"), courses(3), courses("*")], rules).passed


def test_classes_of_whole_records_may_have_nodes_that_overlap() -> None:
    rules = rules_of({"k": 2, "m": 2}, NUMBERS)
    one, other = courses(3, 7), courses("[0, 4]", "[5, 9]")
    assert judge([one, one, other, other], rules).passed
    assert judge([one, one, other], rules).forbidden == {OVERLAP: 1}


def test_other_models_judge_the_records_of_one_root() -> None:
    l_diverse = {"kind": "distinct-l-diversity", "l": 2, "on": ["$.c[*].g"]}
    records = [person({"x": "1", "g": "A"}), person({"x": "2", "g": "B"})] * 2
    verdict = judge(records, rules_of({"k": 2, "m": 1}, FIELDS, l_diverse, {"kind": "k-anonymity", "k": 4}))
    assert verdict.passed
    assert (verdict.k, verdict.classes, verdict.k_raw) == (4, 1, None)
    assert not judge(records, rules_of({"k": 2, "m": 1}, FIELDS, {"kind": "k-anonymity", "k": 5})).passed
    same = [person({"x": "1", "g": "A"})] * 2
    assert not judge(same, rules_of({"k": 2, "m": 1}, FIELDS, l_diverse)).passed


def test_a_list_where_the_policy_has_one_value_is_refused() -> None:
    fields = {"$.r": FLAT, "$.a.b": FLAT, "$.c[*].x": FLAT}
    record = {"r": "a", "a": [{"b": "1"}], "c": [{"x": "1"}]}
    verdict = judge([record] * 2, rules_of({"k": 2, "m": 1}, fields))
    assert not verdict.passed
    assert any("where the policy has a single value" in path for path in verdict.forbidden)


def test_work_beyond_the_bound_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_OCCURRENCES", 9)
    assert judge([person({})], rules_of({"k": 1, "m": 2})).passed
    with pytest.raises(PolicyError, match="10 occurrences of patterns of up to 2 facts, and at most 9"):
        judge([person({}, {})], rules_of({"k": 1, "m": 2}))  # four facts and six pairs
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_WITH_ALPHA", 8)
    with pytest.raises(PolicyError, match="at most 8 are judged"):
        judge([person({}, {})], rules_of({"k": 1, "m": 2, "alpha": "1/2"}))


def read_fixture(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return found


def test_the_example_of_terrovitis_2008() -> None:
    """Sets of items: what is generalized to the same item is one; as lists the pair A, A tells one apart."""
    case = read_fixture("terrovitis-2008")
    fields = {"$.items[*]": FLAT}
    for part in ("original", "published", "as_lists"):
        records = [{"items": items} for items in case[part]]
        assert reached(records, fields, m=case["m"], vertex="off") == case[f"{part}_counts"]
        passed = judge(records, rules_of({"k": case["k"], "m": case["m"]}, fields)).passed
        assert passed is (part == "published")


def test_an_example_of_gkountouna_and_terrovitis_2015() -> None:
    """Two records with the same values, told apart by what lies below what."""
    case = read_fixture("gkountouna-terrovitis-2015")
    fields = {"$.visits[*].ward": FLAT, "$.visits[*].tests[*].code": FLAT}
    for part in ("told_apart", "without_wards"):
        assert reached(case[part], fields, m=case["m"], vertex="off") == case[f"{part}_counts"]


def judge_in_parts(records: Sequence[Any], rules: JudgeRules, walks: int, buckets: int) -> Verdict:
    pieces: list[list[bytes]] = [[] for _ in range(buckets)]
    for at in range(walks):
        for bucket, piece in JudgeWalk(rules, buckets)(zip(records[at::walks], repeat(1))):
            pieces[bucket].append(piece)
    return merge_verdicts([JudgeHear(rules)(own) for own in pieces], rules)


def random_record(random: Random) -> dict[str, Any]:
    def value() -> str:
        return random.choice(["*", "1", "2"])

    def sensitive(name: str) -> dict[str, str]:
        return {name: random.choice("AB")} if random.random() < 0.7 else {}

    def exam() -> dict[str, Any]:
        return {"z": value(), **sensitive("h")}

    def course() -> dict[str, Any]:
        exams = [exam() for _ in range(random.randrange(3))]
        return {"x": value(), "y": random.choice("*1"), "e": exams, **sensitive("g")}

    return {
        "r": random.choice("ab*"),
        "c": [course() for _ in range(random.randrange(4))],
        "f": [{}] * random.randrange(3),
        **sensitive("s"),
    }


def random_collections(random: Random, count: int) -> Iterator[list[dict[str, Any]]]:
    for _ in range(count):
        records = [random_record(random) for _ in range(random.choice([1, 2, 4, 6]))]
        yield records + [random.choice(records) for _ in range(random.randrange(4))]


VALUES = {".s": "$.s", "c.g": "$.c[*].g", "e.h": "$.c[*].e[*].h"}


@with_worlds(3, 150)
def test_judges_like_the_plain_twin(monkeypatch: pytest.MonkeyPatch, worlds: int) -> None:
    """On small collections, in parts of any size; the parts of arrays are made small in turn."""
    random = Random(19)
    kept = (patterns.PART, patterns._PIECE, shares._EXACT)
    for number, records in enumerate(random_collections(random, worlds)):
        part, piece, exact = random.choice([kept, (3, 2, 1), (40, 5, 1 << 62)])
        for module in (patterns, counting, shares):
            monkeypatch.setattr(module, "PART", part)
        monkeypatch.setattr(patterns, "_PIECE", piece)
        monkeypatch.setattr(shares, "_EXACT", exact)
        stated = {
            "k": 2,
            "m": random.choice([1, 2, 3]),
            "vertex": random.choice(["whole", "off"]),
            "root": random.choice(["known", "counted"]),
        }
        whole, counted = stated["vertex"] == "whole", stated["root"] == "counted"
        outline, facts = random.choice([(OUTLINE, None), (OUTLINE, None), *KNOWN])
        if facts is not None:
            stated["facts"] = facts
        shown = [outline.read(record) for record in records]
        m = int(stated["m"])
        expected: dict[str, Any] = dict(naive.smallest_counts(shown, m, whole=whole, counted=counted))
        presence = random.random() < 0.4
        asked = {"role": "sensitive", "asks": "presence" if presence else "value"}
        fields = {path: asked if "asks" in own else own for path, own in FIELDS.items()}
        alpha = random.choice([None, Fraction(1, 2), Fraction(2, 3)])
        named = None
        if alpha is not None:
            stated["alpha"] = alpha
            named = random.choice([None, {(".s", "A"), ("c.g", "A")}])
            if named is not None:
                stated["values"] = {VALUES[name]: [value] for name, value in named}
            shares_of = naive.largest_shares(
                shown, m, whole=whole, counted=counted, presence=presence, values=named
            )
            if shares_of:
                expected["alpha"] = max(shares_of.values())
        kept_promise = naive.keeps_promise(
            shown,
            lambda *_: (),
            k=2,
            m=m,
            whole=whole,
            counted=counted,
            alpha=alpha,
            presence=presence,
            values=named,
        )
        rules = rules_of(stated, fields)
        with naming(number=number, stated=stated, records=records):
            verdict = judge(records, rules)
            assert verdict.judgements[0].achieved == expected
            assert verdict.passed is kept_promise
            parted = judge_in_parts(records, rules, random.choice([1, 2]), random.choice([1, 3]))
            assert (parted.passed, parted.judgements, parted.k, parted.records) == (
                verdict.passed,
                verdict.judgements,
                verdict.k,
                verdict.records,
            )


@with_worlds(2, 36)
def test_records_that_repeat_few_values_are_judged_like_by_the_plain_twin(
    monkeypatch: pytest.MonkeyPatch, worlds: int
) -> None:
    """Their patterns are few, and occur many times: what is there twice is dropped as they are counted."""
    random = Random(23)
    for module in (patterns, counting, shares):
        monkeypatch.setattr(module, "PART", 5)
    for _ in range(worlds):
        records = []
        for number in (2, 5, 8):
            records.append(
                person(*({"x": random.choice("12"), "g": random.choice("AB")} for _ in range(number)))
            )
        shown = [OUTLINE.read(record) for record in records]
        expected = {**naive.smallest_counts(shown, 3), "alpha": max(naive.largest_shares(shown, 3).values())}
        (own,) = judge(records, rules_of({"k": 2, "m": 3, "alpha": "1/2"})).judgements
        assert own.achieved == expected


def test_places_that_are_added_in_pieces_are_those_of_all_rows() -> None:
    random = np.random.default_rng(5)
    sources = [random.integers(-1, 8, 8), random.integers(-1, 8, 8)]
    above = random.integers(-1, 8, (8, 2))
    states = np.array([0, 1, 2, 3])
    for _ in range(50):
        rows = random.integers(1, 30)
        key = random.integers(0, 12, rows) * 5
        root, vertex = random.integers(0, 8, (2, rows))
        rank, level, label = key // 5 % 3, key // 10 % 3, key // 5 % 4  # a pattern has one of each

        def facts_of(piece: Any, *columns: Any) -> PatternFacts:
            one, two, three, four = (column[piece] for column in columns)
            return PatternFacts([one], [two], [three], [[four]])

        together, apart = (Places(sources, [None, states], 2) for _ in range(2))
        every = np.arange(rows)
        for places, pieces in ((together, [every]), (apart, np.array_split(every, random.integers(1, 5)))):
            for piece in pieces:
                own = facts_of(piece, vertex, rank, label, level)
                places.add(key[piece], key[piece] + 1, root[piece], above, own)
        assert len(apart) == len(together)
        anchors = [(key, 0 * rank, root)]
        anchors += [(key, 1 + 2 * rank + depth, above[vertex, depth]) for depth in range(2)]
        for at, source in enumerate(sources):
            expected = {
                (pattern, slot, source[own])
                for columns in anchors
                for pattern, slot, own in zip(*columns, strict=True)
                if own >= 0 and source[own] >= 0
            }
            for found in (apart, together):
                place, read, group = found.read(at)
                own = found.keys[place // 7]
                assert sorted(zip(own, place % 7, read, strict=True)) == sorted(expected)
                assert (group == own + 1).all()
                said, what = found.read_stated(at)
                stated = zip(found.keys[said // 7], said % 7, what, strict=True)
                shown = {(pattern, slot) for pattern, slot, _ in expected} if at else set()
                assert {(pattern, slot) for pattern, slot, _ in stated} <= shown
                assert at == 0 or all(own == states[pattern // 5 % 4] - 2 for pattern, _, own in stated)


def test_values_stay_at_their_vertices_where_records_look_alike() -> None:
    """Two records that differ in sensitive values only: where their exams are must not be confused."""
    shown = {"x": "1", "y": "1"}
    one = person({**shown, "g": "A"}, {**shown, "g": "C", "e": [{"z": "1", "h": "P"}]})
    other = person({**shown, "g": "B"}, {**shown, "g": "A", "e": [{"z": "1", "h": "Q"}]})
    found = reached([one, other], m=2, vertex="off", alpha=Fraction(1, 2))
    assert found == {"k_0": 2, "k_1": 2, "k_2": 2, "alpha": Fraction(1, 2)}


@with_worlds(10, 200)
def test_judges_overlaps_like_the_plain_twin(worlds: int) -> None:
    """Labels of a tree with three levels, in one root vector or two."""
    tree = {"*": {"A": ["1", "2"], "B": ["3"]}}
    fields = {"$.r": FLAT, "$.c[*].x": {"role": "quasi", "taxonomy": {"tree": tree}}}
    above = {"1": ["A"], "2": ["A"], "3": ["B"]}
    outline = naive.Outline("", ("r",), (), {"c": naive.Outline("c", ("x",))})
    random = Random(7)
    seen = set()
    for number in range(worlds):
        pool = random.choice([["A", "3", "*"], ["1", "A", "B"], ["1", "2", "B", "*"], ["A", "B"]])
        records = [
            {"r": random.choice("ab"), "c": [{"x": random.choice(pool)} for _ in range(random.randrange(3))]}
            for _ in range(3)
        ]
        records += [random.choice(records) for _ in range(random.randrange(6))]
        shown = [outline.read(record) for record in records]
        expected = naive.keeps_promise(shown, lambda kind, at, value: above.get(value, ()), k=2, m=1)
        with naming(number=number, records=records):
            assert judge(records, rules_of({"k": 2, "m": 1}, fields)).passed is expected
        seen.add(expected)
    assert seen == {True, False}
