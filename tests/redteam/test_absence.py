"""Who is not there: the suppressed are none or as safe as a class, as told by a program of its own."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PromiseError
from tests.adversarial import plain_judge
from tests.cases import with_worlds
from tests.naive_absence import SERIAL, unsafe, unsafe_vertices

COLORS: dict[str, Any] = {
    "*": {"warm": {"red": {}, "orange": {}}, "cold": {"blue": {}, "green": {}}, "grey": {}}
}
WARDS: dict[str, Any] = {"*": {"low": {"w1": {}, "w2": {}, "w3": {}}, "high": {"w4": {}, "w5": {}}}}
LEAVES = {"color": ["red", "orange", "blue", "green", "grey"], "ward": ["w1", "w2", "w3", "w4", "w5"]}
ABOVE = {
    "red": "warm", "orange": "warm", "blue": "cold", "green": "cold", "grey": "*", "warm": "*", "cold": "*",
    "w1": "low", "w2": "low", "w3": "low", "w4": "high", "w5": "high", "low": "*", "high": "*",
}  # fmt: skip
MODELS: list[list[dict[str, Any]]] = [
    [{"kind": "alpha-k", "k": 3, "alpha": "1/2"}],
    [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
    [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 3}],
    [{"kind": "k-anonymity", "k": 2}, {"kind": "t-closeness", "t": "2/5", "distance": "equal"}],
]
HOW: list[dict[str, Any]] = [
    {},
    {"recoding": "sets_and_ranges"},
    {"recoding": "full_domain", "engine": {"steps": [{"kind": "full-domain", "suppression": "1/2"}]}},
    {"recoding": "slicing"},
    {"recoding": "anatomy"},
    {"blocks": 12},
    {"recoding": "slicing_by_table", "accept": {"group-ids": "a test"}},
]


def field(role: str, tree: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"role": role, "optional": True, **({} if tree is None else {"taxonomy": {"tree": tree}})}


SERIALS = {"role": "insensitive", "exempt": "drawn at random"}


def collection(rng: Random, deep: bool) -> list[dict[str, Any]]:
    """Records in which one value is so frequent that engines have to leave some out."""
    ills = "HHHHABCD" if rng.random() < 0.5 else "HHABCD"
    records: list[dict[str, Any]] = []
    for number in range(rng.randint(8, 40)):
        record = {
            SERIAL: f"r{number}",
            "color": rng.choice(LEAVES["color"]),
            "ward": rng.choice(LEAVES["ward"]),
        }
        record["ill"] = rng.choice(ills)
        if deep:
            record["visits"] = [
                {SERIAL: f"v{number}-{at}", "ward": rng.choice(LEAVES["ward"]), "code": rng.choice(ills)}
                for at in range(rng.choice([0, 1, 1, 2, 3]))
            ]
        records.append(record)
    return records


def policy(models: list[dict[str, Any]], how: dict[str, Any], deep: bool) -> dict[str, Any]:
    fields = {
        f"$.{SERIAL}": SERIALS,
        "$.color": field("quasi", COLORS),
        "$.ward": field("quasi", WARDS),
        "$.ill": field("sensitive"),
    }
    if deep:
        fields |= {
            f"$.visits[*].{SERIAL}": SERIALS,
            "$.visits[*].ward": field("quasi", WARDS),
            "$.visits[*].code": field("sensitive"),
        }
    return {"version": 1, "models": models, "fields": fields, **how}


def holds(models: list[dict[str, Any]], records: int, values: list[Any], original: list[Any]) -> bool:
    return all(plain_judge.holds(model, records, values, original) for model in models)


def cases(count: int) -> Any:
    for number in range(count):
        rng = Random(number)
        how, models = HOW[number % len(HOW)], rng.choice(MODELS)
        flat = "full-domain" in repr(how) or "by_table" in repr(how)
        deep = not flat and rng.random() < 0.5
        if deep and how.get("recoding") != "anatomy" and "t-closeness" in repr(models):
            models = MODELS[0]
        yield collection(rng, deep), models, how, deep


def attack(records: Any, models: Any, how: Any, deep: bool, **stated: Any) -> list[str] | None:
    """What the program finds wrong; None if no release was made."""
    asked = partial(holds, models)
    try:
        release = hierdata.anonymize(records, policy(models, how | stated, deep), seed=bytes(16))
    except PromiseError:
        return None
    published: list[Any] = list(release.records())
    sensitive = ["ill", *(["code"] if deep else [])]
    if how.get("recoding") == "anatomy":
        return [
            found
            for name in sensitive
            for found in unsafe_vertices(records, published, name, "visits", asked)
        ]
    return unsafe(records, published, ["color", "ward"], sensitive, "visits", ABOVE, asked)


@with_worlds(7, 240)
def test_the_suppressed_are_none_or_as_safe_as_a_class(worlds: int) -> None:
    found = [attack(*case) for case in cases(worlds)]
    made = [one for one in found if one is not None]
    assert len(made) > worlds // 2, "most collections can be released"
    assert made == [[]] * len(made)


@pytest.mark.parametrize("executor", ["serial", pytest.param("processes", marks=pytest.mark.full)])
def test_the_suppressed_of_many_blocks_are_mended_together(tmp_path: Path, executor: str) -> None:
    rng = Random(5)
    records = [record for _ in range(20) for record in collection(rng, deep=False)]
    for number, record in enumerate(records):
        record[SERIAL] = f"r{number}"
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    models = [{"kind": "alpha-k", "k": 3, "alpha": "2/5"}]
    resources = hierdata.Resources(executor, workers=2)
    release = hierdata.anonymize(
        file, policy(models, {"blocks": 40}, deep=False), seed=bytes(16), resources=resources
    )
    costs = {name: cost.count for name, cost in release.report.costs.items()}
    assert costs["records_published_at_roots"] > costs["records_of_classes_given_up"] > 0
    published: list[Any] = list(release.records())
    asked = partial(holds, models)
    assert unsafe(records, published, ["color", "ward"], ["ill"], "visits", ABOVE, asked) == []
    assert sorted(one[SERIAL] for one in published) == sorted(one[SERIAL] for one in records)


@with_worlds(14, 60)
def test_the_program_finds_what_is_wrong_where_nothing_is_guarded(worlds: int) -> None:
    found = [attack(*case, suppressed="as_published") for case in cases(worlds)]
    broken = Counter(name for one in found for name in one or [])
    assert sum(bool(one) for one in found) > worlds // 6
    assert {name.split()[0] for name in broken} == {"suppressed", "uncovered"}
