"""Models of sensitive values beside bounded knowledge: kept in every root class, or refused with reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import hierdata
from hierdata.ground.errors import PromiseError
from tests.cases import naming, with_worlds

FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
BESIDE: tuple[tuple[dict[str, Any], Fraction | None], ...] = (
    ({"kind": "distinct-l-diversity", "l": 2}, None),
    ({"kind": "frequency-l-diversity", "l": 2}, Fraction(1, 2)),
    ({"kind": "alpha-k", "k": 2, "alpha": "0.6"}, Fraction(3, 5)),
)
"""Each model with the largest share that it allows; None for two different values."""


def holds(ills: Sequence[Sequence[str]], share: Fraction | None, asks: str) -> bool:
    """Whether a model holds for the values of some records, one sequence a record."""
    shown = [own for own in ills if own]
    every = [value for own in shown for value in own]
    if not every:
        return True
    if share is None:
        return len(set(every)) >= 2
    if asks == "value":
        return Fraction(max(Counter(every).values()), len(every)) <= share
    having = Counter(value for own in shown for value in set(own))
    return Fraction(max(having.values()), len(shown)) <= share


@with_worlds(5, 60)
def test_each_root_class_keeps_the_model_by_a_plain_count(worlds: int) -> None:
    random, refused = Random(5), list[str]()
    for number in range(worlds):
        people = [
            {
                "town": random.choice("abc"),
                "visits": [
                    {"ward": random.choice("xyz"), "ill": random.choice("HHfcg")}
                    for _ in range(random.randrange(1, 4))
                ],
            }
            for _ in range(random.choice([8, 15, 30]))
        ]
        model, share = random.choice(BESIDE)
        asks = "value" if share is None else random.choice(["value", "presence"])
        known = {"kind": "bounded-knowledge", "k": 2, "m": random.choice([1, 2]), "vertex": "off"}
        policy = {
            "version": 1,
            "models": [known, model],
            "fields": {
                "$.town": FLAT,
                "$.visits[*].ward": FLAT,
                "$.visits[*].ill": {"role": "sensitive", "asks": asks},
            },
        }
        with naming(number=number, model=model, asks=asks):
            try:
                release = hierdata.anonymize(people, policy, seed=bytes(16))
            except PromiseError as error:
                every = [[visit["ill"] for visit in person["visits"]] for person in people]
                assert not holds(every, share, asks)
                refused.append(str(error))
                continue
            classes: defaultdict[Any, list[list[str]]] = defaultdict(list)
            records: list[Any] = list(release.records())
            assert len(records) == len(people)
            for record in records:
                ills = [visit.get("ill") for visit in record.get("visits", ())]
                classes[record["town"]].append([ill for ill in ills if ill not in (None, "*")])
            assert all(holds(own, share, asks) for own in classes.values())
    assert 0 < len(refused) < 25
    assert all("even all records as one class fail a model" in reason for reason in refused)
