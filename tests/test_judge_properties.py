"""The judge against a slow twin, and in every order of records, siblings and keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hierdata.judge import JudgeRules, SensitiveRule, Verdict, judge
from hierdata.privacy import FrequencyLDiversity, KAnonymity

# Random collections of a few distinct values, so that classes and equal siblings are common.
leaf = st.fixed_dictionaries(
    {"q": st.sampled_from(["*", 1, Decimal(1), None])}, optional={"s": st.sampled_from("ABC")}
)
child = st.fixed_dictionaries(
    {"q": st.sampled_from(["*", "x"])},
    optional={"s": st.sampled_from("ABC"), "c": st.lists(leaf, max_size=2)},
)
collections = st.lists(
    st.fixed_dictionaries({"c": st.lists(child, max_size=3)}, optional={"s": st.sampled_from("AB")}),
    max_size=8,
)
RANDOM = JudgeRules(
    tuple(SensitiveRule(("c",) * depth + ("s",), "." * depth) for depth in range(3)),
    ((KAnonymity(k=2), None), (FrequencyLDiversity(l="3/2"), None)),
)


def shuffled(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(inner, random)) for key, inner in value.items()]
        return dict(random.sample(items, len(items)))
    if isinstance(value, list):
        return random.sample([shuffled(inner, random) for inner in value], len(value))
    return value


def unordered(verdict: Verdict) -> Verdict:
    return replace(verdict, k_raw=0)


@given(collections, st.randoms(use_true_random=False))
def test_order_of_records_siblings_and_keys_changes_nothing(records: list[Any], random: Random) -> None:
    assert unordered(judge(shuffled(records, random), RANDOM)) == unordered(judge(records, RANDOM))


def naive_form(vertex: Any) -> Any:
    """A vertex without sensitive values, children sorted: equal for QI-isomorphic vertices only."""
    return (
        repr(vertex["q"]) if "q" in vertex else "",
        "c" in vertex,
        sorted(map(naive_form, vertex.get("c", ()))),
    )


def naive_places(vertex: Any, above: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    """Every sensitive value with its place: the forms from the root down."""
    here = (*above, repr(naive_form(vertex)))
    own = [(here, vertex["s"])] if "s" in vertex else []
    return own + [pair for inner in vertex.get("c", ()) for pair in naive_places(inner, here)]


@given(collections)
def test_judges_like_the_twin(records: list[Any]) -> None:
    classes = Counter(repr(naive_form(record)) for record in records)
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for record in records:
        for place, value in naive_places(record, ()):
            counts.setdefault(place, Counter())[value] += 1
    expected: dict[int, Fraction] = {}
    for place, tally in counts.items():
        reached = min(Fraction(tally.total(), max(tally.values())), Fraction(classes[place[0]]))
        expected[len(place)] = min(expected.get(len(place), reached), reached)
    verdict = judge(records, RANDOM)
    assert (verdict.classes, verdict.k) == (len(classes), min(classes.values(), default=0))
    found = [judgement.achieved.get("l") for judgement in verdict.judgements[1:]]
    assert found == [expected.get(depth) for depth in (1, 2, 3)]
    diverse = all(value is None or value >= Fraction(3, 2) for value in found)
    assert verdict.passed == (diverse and all(size >= 2 for size in classes.values()))
