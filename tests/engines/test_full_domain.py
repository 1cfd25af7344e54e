"""full-domain: the optimum among all nodes, what is refused, and the optima of Adult."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.domains import DOMAINS
from hierdata.engines import Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.full_domain.engine import FullDomain
from hierdata.engines.full_domain.kernel import GroupTable, sum_equal_lines
from hierdata.engines.rows.constraints import check_classes
from hierdata.engines.rows.table import nodes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.ground.errors import PolicyError, PromiseError
from hierdata.metrics import METRICS
from tests import naive_lattice
from tests.benchmarks import adult, lattice
from tests.cases import with_worlds
from tests.contracts.test_engines import tables
from tests.engines.test_mondrian_twin import SETTINGS, models, random_table
from tests.promises import bind
from tests.publications import publication_of
from tests.small_tables import Table, table

LIMITS = (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1))
CLOSE: list[list[tuple[str, dict[str, Any]]]] = [
    [("k-anonymity", {"k": 2}), ("t-closeness", {"t": "0.3"})],
    [("t-closeness", {"t": "0.2", "distance": "ordered"})],
    [("l-e-diversity", {"l": 2, "e": 1, "repeats": "allow"})],
    [("delta-presence", {"delta_max": "2/5"})],
]


def searched(forest: Forest, constraints: Constraints, limit: Fraction) -> Partition:
    rng = np.random.default_rng(0)
    return FullDomain(suppression=limit).find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, rng)
    )


def asked(forest: Forest, constraints: Constraints) -> Callable[..., bool]:
    """Whether rows may be a class: enough of them, and all models hold by what is published."""
    scope = Scope.of(forest)
    answers: dict[object, bool] = {}

    def holds(rows: tuple[int, ...], published: tuple[int, ...]) -> bool:
        if len(rows) < constraints.min_class_size:
            return False
        # What is published matters to a population alone; many combinations have a group in common.
        asked = rows, None if constraints.population is None else published
        if asked not in answers:
            classes = np.full(len(scope.rows), -1)
            classes[list(rows)] = 0
            nodes = np.array([published], np.int32)
            answers[asked] = bool(check_classes(forest, scope, constraints, classes, nodes)[0])
        return answers[asked]

    return holds


def compare(forest: Forest, constraints: Constraints) -> int:
    """Hold the engine to its twin under every limit; answer for how many there is an optimum."""
    scope, found = Scope.of(forest), 0
    trees = forest.hierarchies[0]
    rows = [tuple(row) for row in nodes_of(forest, scope).tolist()]
    holds = asked(forest, constraints)
    for limit in LIMITS:
        best, ties, fewest = naive_lattice.optima(trees, rows, limit, holds)
        partition = searched(forest, constraints, limit)
        if best is None:
            assert partition.class_count == 0
            assert (f"{fewest}/{len(rows)}" in partition.reason) == (fewest < len(rows))
            continue
        found += 1
        groups = [np.flatnonzero(partition.equivalence_class == own) for own in range(partition.class_count)]
        assert tuple(sorted(tuple(own.tolist()) for own in groups)) == best.groups
        assert partition.costs["lattice_nodes_of_least_loss"] == ties
        for row, vertex in enumerate(scope.vertices.tolist()):
            if partition.representative[vertex] >= 0:
                first = forest.first_node[partition.representative[vertex]]
                own = partition.nodes[first : first + len(trees)].tolist()
                assert tuple(own) == best.published[row]
        total = METRICS["lm_cost"]().of(publication_of(forest, partition), forest)[0].value
        assert total == best.loss
    return found


@with_worlds(1, 12)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_optimum_of_random_tables(setting: list[tuple[str, dict[str, Any]]], worlds: int) -> None:
    found = 0
    for seed in range(worlds):
        own = random_table(seed, missing=bool(seed % 2))
        found += compare(own.forest, own.bind(*models(setting)))
    assert found


@pytest.mark.parametrize("setting", CLOSE, ids=str)
def test_the_optimum_under_models_that_compare_with_something(
    setting: list[tuple[str, dict[str, Any]]],
) -> None:
    found = 0
    for built in tables():
        bound = [bind(built, model) for model in models(setting)]
        together = Constraints(
            tuple(one for own in bound for one in own.on_records),
            tuple(
                tuple(tuple(one for held in of for one in held) for of in zip(*kind, strict=True))
                for kind in zip(*(own.on_values for own in bound), strict=True)
            ),
            next((own.population for own in bound if own.population is not None), None),
        )
        found += compare(built.forest, together)
    assert found


def people(*ages: int) -> Table:
    return table([DOMAINS["interval"](steps=[1, 2, 4])], [[age] for age in ages], [[age] for age in ages])


def test_a_worked_case() -> None:
    """Ages 0 0 1 1 2 3 7, k = 2: by itself 2, 3, 7 fail (3 rows); in twos 7; of all loses 7."""
    own = people(0, 0, 1, 1, 2, 3, 7)
    constraints = own.bind(*models([("k-anonymity", {"k": 2})]))
    alone = searched(own.forest, constraints, Fraction(1))
    # Alone 3 of 7 are suppressed and nothing is lost beside: 3. In twos it is 6 x 1/7 + 1 < 3.
    assert alone.equivalence_class.tolist() == [0, 0, 0, 0, 1, 1, -1]
    assert searched(own.forest, constraints, Fraction(1, 7)).equivalence_class.tolist()[-1] == -1
    everybody = searched(own.forest, constraints, Fraction(0))
    assert everybody.equivalence_class.tolist() == [0] * 7
    assert dict(everybody.costs) == {
        "lattice_nodes": 4,
        "lattice_nodes_of_least_loss": 1,
        "records_in_groups_that_fail": 0,
    }


def test_the_order_of_the_rows_changes_nothing() -> None:
    ages = [random.Random(1).randint(0, 30) for _ in range(60)]
    for limit in LIMITS:
        found = []
        for order in (ages, sorted(ages), ages[::-1]):
            own = people(*order)
            partition = searched(own.forest, own.bind(*models([("k-anonymity", {"k": 3})])), limit)
            kept = [
                age for age, of in zip(order, partition.equivalence_class.tolist(), strict=True) if of >= 0
            ]
            found.append((sorted(kept), partition.class_count, partition.costs))
        assert found[0] == found[1] == found[2]


def test_equal_rows_are_added_up() -> None:
    """Many lines, some with the same hash in their low bits: against a dict."""
    rng = np.random.default_rng(3)
    for width in (0, 1, 3):
        values = rng.integers(0, 9, (5_000, width)).astype(np.int32)
        sizes, sums = rng.integers(1, 9, 5_000), rng.integers(0, 9, (5_000, 2))
        (merged, merged_sizes, merged_sums), of = sum_equal_lines(GroupTable(values, sizes, sums))
        expected: dict[tuple[int, ...], list[int]] = {}
        for line, row in enumerate(map(tuple, values.tolist())):
            held = expected.setdefault(row, [0, 0, 0])
            for at, number in enumerate((sizes[line], *sums[line])):
                held[at] += int(number)
        assert [tuple(row) for row in merged.tolist()] == list(expected)
        assert np.column_stack([merged_sizes, merged_sums]).tolist() == list(expected.values())
        assert (merged[of] == values).all()


# Through files


def policy(quasi: int, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {f"$.q{at}": {"role": "quasi", "flat": True} for at in range(quasi)}
    stated = {"version": 1, "recoding": "full_domain", "models": [{"kind": "k-anonymity", "k": 2}]}
    return {**stated, "fields": {**fields, "$.s": {"role": "sensitive"}}, **more}


def rows(count: int, quasi: int) -> list[dict[str, Any]]:
    rng = random.Random(count)
    own = [{f"q{at}": rng.randint(0, 1) for at in range(quasi)} for _ in range(count)]
    return [row | {"s": rng.choice("xyz")} for row in own]


def test_a_table_is_searched_by_it_where_the_policy_names_no_engine() -> None:
    release = hierdata.anonymize(rows(40, 3), policy(3), seed=b"1" * 16)
    assert release.report.costs["lattice_nodes"].count == 8
    assert release.report.counts.records.suppressed == 0
    assert release.report.passed


def test_a_limit_that_is_too_low_is_told_with_the_one_that_would_do() -> None:
    """Half of each class at most may be x, and nine of ten are: the two rows of q0 = 1 are all there is."""
    people = [{"q0": 0, "s": "x"}] * 8 + [{"q0": 1, "s": "x"}, {"q0": 1, "s": "y"}]
    stated = policy(1, models=[{"kind": "frequency-l-diversity", "l": 2}])
    with pytest.raises(PromiseError, match=r"\$\.s: 0\.9 of all values are .* and 0\.5 is allowed"):
        hierdata.anonymize(people, stated)  # the eight are as unsafe as any class of them
    stated["suppressed"] = "as_published"
    with pytest.raises(PromiseError, match=r"at least 8 of 10 .* suppress 0: set `suppression: 8/10`"):
        hierdata.anonymize(people, stated)
    limit = {"steps": [{"kind": "full-domain", "suppression": "8/10"}]}
    counts = hierdata.anonymize(people, {**stated, "engine": limit}).report.counts
    assert (counts.records.suppressed, counts.classes) == (8, 1)
    with pytest.raises(PromiseError, match="every record would be suppressed"):
        hierdata.anonymize(people[:9], {**stated, "engine": limit})


def test_a_lattice_that_is_too_large_is_refused_before_the_search() -> None:
    with pytest.raises(PolicyError, match="16777216 combinations of depths of 24 quasi-identifiers"):
        hierdata.anonymize(rows(4, 24), policy(24))


def test_vertices_below_the_root_are_refused() -> None:
    people = [{"visits": [{"q0": 1, "s": "x"}]}] * 4
    fields = {"$.visits[*].q0": {"role": "quasi", "flat": True}, "$.visits[*].s": {"role": "sensitive"}}
    engine = {"steps": [{"kind": "full-domain", "on": "$.visits[*]"}]}
    with pytest.raises(PolicyError, match="two vertices of one record"):
        hierdata.anonymize(people, policy(0, fields=fields, engine=engine, recoding="anatomy"))


@pytest.mark.parametrize("suppression", [-1, "1.1", "much"])
def test_a_limit_is_a_share(suppression: object) -> None:
    engine = {"steps": [{"kind": "full-domain", "suppression": suppression}]}
    with pytest.raises(PolicyError, match="suppression"):
        hierdata.anonymize(rows(4, 1), policy(1, engine=engine))


# Adult


@pytest.mark.full
@pytest.mark.skipif(not adult.is_there(), reason="the Adult table does not lie beside the repository")
@pytest.mark.parametrize("name", lattice.OPTIMA)
def test_the_optima_of_adult(name: str, tmp_path: Path) -> None:
    data = lattice.encoded(name)
    for limit, (expected, suppressed) in lattice.OPTIMA[name].items():
        loss, found = lattice.reached(data, limit)
        assert (f"{loss:.5f}", found) == (expected, suppressed), limit


def test_a_population_is_counted_at_the_depth_that_is_published(tmp_path: Path) -> None:
    """Classes may be the same at two depths; how many of a population fit them is not."""
    (tmp_path / "people.csv").write_text("age\n" + "2\n" + "3\n" * 5 + "0\n" * 5)
    policy = tmp_path / "policy.json"
    stated = {
        "version": 1,
        "models": [{"kind": "k-map", "k": 3}],
        "recoding": "full_domain",
        "population": {"file": "people.csv", "columns": {"$.age": "age"}},
        "fields": {"$.age": {"role": "quasi", "interval": {"steps": [1, 2]}}},
    }
    policy.write_text(json.dumps(stated))
    release = hierdata.anonymize([{"age": age} for age in (0, 0, 2, 2, 2)], policy)
    assert release.report.passed
    assert {record["age"] for record in release.records()} == {"[0, 1]", "[2, 3]"}
