"""Releases under bounded knowledge are attacked: with what is promised to be harmless nobody is found."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import hierdata
from tests.engines.test_specialize import OUTLINE, above, documents, policy_of
from tests.naive_knowledge import Shown
from tests.naive_suspects import candidates, knowledge_of

REPEATED = frozenset({"courses", "books", "notes"})
"""The vertex types of which any number may be published."""


def tree_of(document: dict[str, Any]) -> Shown:
    home = document.get("home")
    return OUTLINE.read({**document, "home": [home] if isinstance(home, dict) else home or []})


@pytest.mark.full
def test_nobody_is_found_by_what_is_promised_to_be_harmless() -> None:
    rng = Random(20)
    attacked = told_apart = 0
    for _ in range(24):
        k, m = rng.choice([2, 3]), rng.choice([1, 2])
        whole, counted = rng.random() < 0.5, rng.random() < 0.3
        stated = {"vertex": "whole" if whole else "off", "root": "counted" if counted else "known"}
        records = documents(rng, rng.randrange(3 * k, 14))
        policy = policy_of(k=k, m=m, **stated)
        release = hierdata.anonymize(records, policy, seed=b"a seed of sixteen bytes")
        published = [tree_of(document) for document in release.records()]
        assert len(published) == len(records)
        for original in map(tree_of, rng.sample(records, 4)):
            every = list(knowledge_of(original, m, whole=whole, counted=counted))
            for known in rng.sample(every, min(12, len(every))):
                # Whatever became of the facts, as many records tell the same.
                for fitting in candidates(known, published, REPEATED, above, counted=counted).values():
                    assert len(fitting) >= k, (stated, k, m, known.facts)
                    told_apart += len(fitting) < len(published)
                    attacked += 1
    assert attacked > 500
    assert told_apart > 200


@pytest.mark.parametrize("worlds", [4, pytest.param(12, marks=pytest.mark.full)])
def test_the_adversary_of_the_command_finds_nobody_by_as_many_facts(worlds: int) -> None:
    rng = Random(21)
    found_by_more = 0
    for _ in range(worlds):
        k, m = rng.choice([2, 3]), rng.choice([1, 2])
        records = documents(rng, rng.randrange(3 * k, 16))
        policy = policy_of(k=k, m=m, vertex="off")
        release = hierdata.anonymize(records, policy, seed=b"a seed of sixteen bytes")
        found = hierdata.attack(
            list(release.records()), policy, original=records, facts=5, victims=len(records)
        ).release
        for row in found.candidates[: m + 1]:
            assert row.smallest >= k, (k, m)
            assert row.below == row.none == 0
        found_by_more += found.candidates[-1].smallest < k
    assert found_by_more > worlds // 12


def test_values_among_the_facts_are_no_guesses() -> None:
    """Whoever knows a diagnosis of a person guesses the others, and alpha bounds that."""
    rng, known = Random(4), 0
    policy = {
        "version": 1,
        "models": [{"kind": "bounded-knowledge", "k": 3, "m": 1, "facts": "all", "alpha": 0.5}],
        "fields": {
            "$.town": {"role": "quasi", "flat": True},
            "$.ills[*].ill": {"role": "sensitive", "asks": "presence", "within": "record"},
        },
    }
    for _ in range(3):
        records = [
            {
                "town": rng.choice("ab"),
                "ills": [{"ill": ill} for ill in rng.sample("uvwxyz", rng.randrange(1, 4))],
            }
            for _ in range(40)
        ]
        release = hierdata.anonymize(records, policy, seed=b"a seed of sixteen bytes")
        found = hierdata.attack(list(release.records()), policy, original=records, facts=2, victims=40)
        # With one fact those with one diagnosis have no other to guess.
        none, one, _ = found.release.guesses
        assert (none.asked, none.facts, one.facts) == (40, 0, 1)
        assert one.asked == sum(len(own["ills"]) > 1 for own in records)
        for guess in (none, one):
            assert guess.surest <= 0.5
            known += guess.surest > 0.2
    assert known
