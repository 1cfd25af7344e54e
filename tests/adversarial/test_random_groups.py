"""Random tables whose sensitive tables have groups of their own: groups and mixtures keep the definitions."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import lcm
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.policy.load import from_data
from tests.adversarial.plain_judge import holds
from tests.adversarial.test_random_tables import BEGIN, GO_ON, MODELS, SEED, Case, numbered
from tests.cases import examples

CLOSED = [model for model in MODELS if model["kind"] not in ("l-e-diversity", "delta-l-diversity")]

CHAINS = ("t-closeness over MSB-KACA with swap", "t-closeness over MSB-KACA")


def case_of(number: int) -> Case:
    """A random table, published by table under models that are closed under unions."""
    rng, case = Random(number), numbered(number)
    models = [rng.choice(CLOSED[:2]), {"kind": "distinct-l-diversity", "l": 2}, rng.choice(CLOSED[2:])]
    engine = {
        "steps": [rng.choice(BEGIN[:4]), *rng.sample(GO_ON[:1], rng.choice((0, 1)))],
        "sensitive_steps": [rng.choice(BEGIN[3:6]), *rng.sample(GO_ON, rng.choice((0, 1)))],
    }
    changes: dict[str, Any] = {
        "recoding": "slicing_by_table",
        "accept": {"group-ids": "a test"},
        "suppressed": rng.choice(("guarded", "as_published")),
        "models": models,
        "engine": rng.choice((engine, None)),
        "sensitive_tables": rng.choice(
            (None, 1, 2, "correlated", [[f"$.{name}"] for name in case.sensitive])
        ),
    }
    return Case(case.rows, case.quasi, case.sensitive, case.policy | changes)


def spread(values: list[tuple[int, list[int]]]) -> list[int]:
    """The mixture of groups, each given with its size and its values: as many of each as persons weigh."""
    common = lcm(*(size for size, _ in values))
    return [value for size, own in values for value in own * (common // size)]


def chain_of(number: int) -> Case:
    """A random table under t-closeness over MSB-KACA, by swaps or by a swarm."""
    rng, case = Random(number), numbered(number)
    changes: dict[str, Any] = {
        "recoding": "slicing_by_table",
        "accept": {"group-ids": "a test"},
        "models": [
            {"kind": "k-anonymity", "k": 2},
            {"kind": "frequency-l-diversity", "l": rng.choice((1, "3/2", 2))},
            {"kind": "t-closeness", "t": rng.choice(("1/5", "3/10", "1/2"))},
        ],
        "engine": {"preset": rng.choice(CHAINS)},
    }
    stated = {key: value for key, value in case.policy.items() if key != "sensitive_tables"}
    return Case(case.rows, case.quasi, case.sensitive, stated | changes)


@given(st.integers(0, 2**48))
@examples(60)
def test_every_group_and_every_mixture_keeps_every_model_by_its_definition(number: int) -> None:
    check_release(case_of(number))


@given(st.integers(0, 2**48))
@examples(60)
def test_t_closeness_over_msb_kaca_keeps_its_models_and_ties_values_to_records(number: int) -> None:
    check_release(chain_of(number))


def check_release(case: Case) -> None:
    """Publish, and check the records, groups and mixtures by their definitions."""
    from_data(case.policy)
    try:
        release = hierdata.anonymize(case.rows, case.policy, seed=SEED)
    except (hierdata.PromiseError, hierdata.PolicyError):
        return
    records: list[dict[str, Any]] = [*release.records()]
    classes = defaultdict(list)
    for record in records:
        classes[tuple(repr(record.get(name)) for name in case.quasi)].append(record)
    least = max((model["k"] for model in case.policy["models"] if model["kind"] == "k-anonymity"), default=1)
    assert min(map(len, classes.values())) >= least
    for number_of, part in enumerate(release.report.tables, 1):
        groups = defaultdict(list)
        for record in records:
            groups[record[f"group_{number_of}"]].append(str(record["place"]))
        ids = [[record[f"group_{number_of}"] for record in members] for members in classes.values()]
        for name in (path.removeprefix("$.") for path in release.report.tables[part]):
            told = stated([*release.part(part)], name)
            for group, places in groups.items():
                assert sorted(told[group]) == sorted(case.values(name, places)), "true of the original"
            check(case, name, [(len(places), told[group]) for group, places in groups.items()])
            mixed = [[(len(groups[own]), told[own]) for own in of_class] for of_class in ids]
            check(case, name, [(len(own), spread(own)) for own in mixed])


def stated(rows: list[Any], name: str) -> dict[Any, list[int]]:
    """The values of a field by group."""
    told: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        if row.get(name) is not None:
            told[row["group"]] += [int(row[name])] * row["count"]
    return told


def check(case: Case, name: str, judged: list[tuple[int, list[int]]]) -> None:
    """Whether all models on values hold of these persons and values."""
    original = case.values(name, [row["place"] for row in case.rows])
    models = [model for model in case.policy["models"] if model["kind"] != "k-anonymity"]
    for (persons, values), model in product(judged, models):
        assert holds(model, persons, values, original), (model, name, persons, values)
