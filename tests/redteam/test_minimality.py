"""The example of the threat model: what the known algorithm tells by how much it generalized."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

import hierdata

AGES = [20] * 2 + [30] * 6


def published(steps: list[int], ill: tuple[int, ...]) -> list[Any]:
    """The ages that are published where these people have HIV, sorted."""
    policy = {
        "version": 1,
        "recoding": "full_domain",
        "models": [{"kind": "alpha-k", "k": 2, "alpha": "1/2"}],
        "fields": {
            "$.age": {"role": "quasi", "interval": {"steps": steps, "domain": [0, 100]}},
            "$.ill": {"role": "sensitive"},
        },
    }
    names = iter("abcdef")
    people = [{"age": age, "ill": "HIV" if at in ill else next(names)} for at, age in enumerate(AGES)]
    release = hierdata.anonymize(people, policy, seed=bytes(16))
    records: list[Any] = list(release.records())
    return sorted(str(record["age"]) for record in records)


@pytest.mark.parametrize(("steps", "certain"), [([1, 50], 1.0), ([50], 0.25)])
def test_the_form_of_the_classes_tells_what_the_classes_do_not(steps: list[int], certain: float) -> None:
    """Every assignment of HIV to two of eight is a world; the adversary keeps those with the same form.

    Worlds that differ by people of one age have one form: each is published as two of their worlds are.
    """
    every = [*combinations(range(len(AGES)), 2)]
    alike: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for ill in every:
        alike.setdefault(tuple(AGES[at] for at in ill), []).append(ill)
    forms = {}
    for ages, same in alike.items():
        forms[ages], other = (published(steps, ill) for ill in (same[0], same[-1]))
        assert forms[ages] == other
    seen = forms[20, 20]
    worlds = [ill for ill in every if forms[tuple(AGES[at] for at in ill)] == seen]
    assert sum(0 in ill for ill in worlds) / len(worlds) == certain
    assert max(seen.count(label) for label in seen) == len(AGES), "all eight are in one class"
