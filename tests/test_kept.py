"""The metric kept: by hand, against a slow twin, by field and vertex type, and as a gate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.engines.base import StepInput
from hierdata.engines.k_member.engine import KMember
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.forest.worth import Worth
from hierdata.metrics.kept import KeptWorth, Share, WorthShares
from hierdata.policy.plan.plan import Prepared
from hierdata.privacy import LevelAlphaK
from tests.cases import examples
from tests.contracts.test_metrics import forest, publication
from tests.publications import publication_of
from tests.random_collections import Collection, collection
from tests.twin import weighted_loss


def shares(built: Collection, partition: Partition) -> WorthShares:
    shown = publication_of(built.forest, partition)
    return KeptWorth().shares(KeptWorth().tally(shown, built.forest))


def test_by_hand() -> None:
    """Four records of a value (weight 3) and a sensitive value (weight 1): two generalized, two suppressed.

    All are worth 16. A root loses 3, a suppressed record 4: 2 * 3 + 2 * 4 = 14 are lost.
    """
    original = replace(forest(1, 2, 1, 2), worth=Worth(((3,),), ((1,),), (0,)))
    own = publication([0, 0, -1, -1], [0] * 4)
    found = KeptWorth().shares(KeptWorth().tally(own, original))
    assert found.total == Share(Fraction(2, 16), Fraction(1))
    assert found.vertices == {"$": found.total}
    assert found.fields == {"$.q": Share(Fraction(0), Fraction(1)), "$.s": Share(Fraction(1, 2), Fraction(1))}
    assert [figure.exact for figure in KeptWorth().of(own, original)] == ["1/8"]
    assert [(figure.name, figure.exact) for figure in KeptWorth("$.s").of(own, original)] == [("$.s", "1/2")]


def test_what_floors_lose_cannot_be_attained() -> None:
    original = forest(1, 2, 1, 2, nodes=(0, 0, 1, 2))
    found = KeptWorth().shares(KeptWorth().tally(publication([0, 0, 1, 1], [0] * 4), original))
    assert found.fields["$.q"] == Share(Fraction(0), Fraction(1, 2))
    assert found.total == Share(Fraction(1, 2), Fraction(3, 4))


def test_presence_counts_vertices_and_missing_sensitive_values_do_not() -> None:
    built = collection(11, records=8, depth=2)
    gone = Partition(np.full(8, -1), np.full(built.forest.vertex_count, -1, np.int64), built.forest.nodes)
    kinds = range(len(built.shapes))
    presence = Worth(
        tuple((0,) * len(built.shapes[kind].taxonomies) for kind in kinds),
        tuple((0,) * built.shapes[kind].sensitive for kind in kinds),
        (1,) * len(kinds),
    )
    weighted = replace(built, forest=replace(built.forest, worth=presence))
    assert shares(weighted, gone).total == Share(Fraction(0), Fraction(1))
    roots = Partition(
        np.zeros(8, np.int64),
        np.where(built.forest.parent < 0, np.arange(built.forest.vertex_count), -1),
        built.forest.nodes,
    )
    assert shares(weighted, roots).total == Share(Fraction(8, built.forest.vertex_count), Fraction(1))


@examples(40)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 3))
def test_it_is_one_minus_the_losses_that_a_search_minimizes(seed: int, depth: int) -> None:
    """With all sensitive values there, the metric is the engines' loss; a twin adds that vertex by vertex."""
    built = collection(seed, records=10, depth=depth).weighted(seed)
    forest = built.forest
    if (forest.sensitive < 0).any() or not forest.weight[forest.roots[:-1]].sum():
        forest = replace(forest, sensitive=np.maximum(forest.sensitive, 0))
        built = replace(built, forest=forest)
    constraints = built.bind(LevelAlphaK(k=2))
    partition = KMember().find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, np.random.default_rng(0))
    )
    whole = int(forest.weight[forest.roots[:-1]].sum())
    total = shares(built, partition).total
    if not whole:
        assert total is None
        return
    assert total is not None
    assert total.kept == 1 - weighted_loss(built, partition) / whole


ILLS = ("flu", "cold", "cough")
PEOPLE = [
    {"age": 20 + at, "visits": [{"year": 2000 + at % 3, "ill": ILLS[at // 4]}] * (1 + at % 2)}
    for at in range(12)
]


def policy(**more: Any) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "$.visits[*].year": {"role": "quasi", "interval": {"steps": [1, 5]}},
        "$.visits[*].ill": {"role": "sensitive"},
    }
    for path, keys in more.pop("fields", {}).items():
        fields[path] = {**fields.get(path, {}), **keys}
    return {"version": 1, "models": [{"kind": "k-anonymity", "k": 3}], "fields": fields, **more}


def released(**more: Any) -> hierdata.Release:
    return hierdata.anonymize(PEOPLE, policy(**more), seed=bytes(16), resources=hierdata.Resources("serial"))


def test_the_report_has_it_by_vertex_type_and_field() -> None:
    report = released(fields={"$.visits[*].year": {"weight": 2}}).report
    assert list(report.kept.vertices) == ["$", "$.visits[*]"]
    assert list(report.kept.fields) == ["$.age", "$.visits[*].year", "$.visits[*].ill"]
    assert report.metrics["kept"].figures.keys() == {"total"}
    fields = report.kept.fields
    vertices = report.counts.vertices["$.visits[*]"].input
    assert report.kept.total is not None
    assert report.kept.total.kept.exact == report.metrics["kept"].exact["total"]
    lost = [
        weight * count * (1 - fields[path].kept.fraction)
        for path, weight, count in (
            ("$.age", 1, 12), ("$.visits[*].year", 2, vertices), ("$.visits[*].ill", 1, vertices),
        )
    ]  # fmt: skip
    assert Fraction(report.metrics["kept"].exact["total"]) == 1 - sum(lost) / (12 + 3 * vertices)


def test_a_constant_is_not_counted_as_kept() -> None:
    """A field with one value weighs nothing, unless the policy says what it weighs; measured alike."""
    people = [{"town": "abcd"[at % 4], "system": "s", "ill": "xy"[at % 2]} for at in range(16)]
    for stated, expected in (({}, "0"), ({"weight": 1}, "1/2"), ({"weight": 3}, "3/4")):
        fields: dict[str, Any] = {
            "$.town": {"role": "quasi", "flat": True},
            "$.system": {"role": "quasi", "flat": True, **stated},
            "$.ill": {"role": "sensitive", "weight": 0},
        }
        policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 8}], "fields": fields}
        release = hierdata.anonymize(people, policy, seed=bytes(16))
        total = release.report.kept.total
        assert total is not None
        assert total.kept.exact == expected
        measured = hierdata.measure_release(release.folder, policy, original=people)
        assert measured.metrics["kept"].exact["total"] == expected
    only = {"$.system": {"role": "quasi", "flat": True}}
    alone = hierdata.anonymize(
        [{"system": "s"}] * 4, {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": only}
    )
    assert alone.report.kept.total is not None, "where nothing else is there, constants count"


def test_weights_decide_what_is_kept() -> None:
    light, heavy = (
        released(fields={"$.age": {"weight": weight}}).report.kept.fields["$.age"].kept.fraction
        for weight in (0, 100)
    )
    assert light < heavy


def test_a_gate_limits_the_total_a_type_or_a_field() -> None:
    gates = [
        {"metric": "kept", "figure": "total", "operator": ">=", "value": "0.01"},
        {"metric": "kept", "on": "$.visits[*]", "operator": ">=", "value": "0.01"},
        {"metric": "kept", "on": "$.visits[*].ill", "operator": ">", "value": "0.01"},
    ]
    report = released(gates=gates).report
    assert [gate.figure for gate in report.gates] == ["total", "$.visits[*]", "$.visits[*].ill"]
    kept = report.kept
    assert [gate.exact for gate in report.gates] == [
        report.metrics["kept"].exact["total"],
        kept.vertices["$.visits[*]"].kept.exact,
        kept.fields["$.visits[*].ill"].kept.exact,
    ]
    with pytest.raises(hierdata.GateError, match=r"kept \$\.age is"):
        released(gates=[{"metric": "kept", "on": "$.age", "operator": ">", "value": "1"}])


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ({"on": "$.name"}, "neither a vertex type nor a published field"),
        ({"figure": "total", "on": "$.age"}, "state `on` or `figure`, not both"),
        ({"figure": "most"}, "needs a figure, one of total"),
        ({"figure": "total", "keys": "own"}, "takes no keys"),
    ],
)
def test_gates_that_limit_nothing_are_refused(gate: dict[str, str], reason: str) -> None:
    with pytest.raises(hierdata.PolicyError, match=reason):
        released(gates=[{"metric": "kept", "operator": ">=", "value": "0.5", **gate}])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"$.age": {"weight": -1}}, r"\$\.age.*weight"),
        ({"$.age": {"weight": 100.01}}, r"\$\.age.*weight"),
        ({"$.age": {"weight": 0.125}}, r"\$\.age.*weight.*decimal"),
        ({"$.name": {"role": "identifier", "weight": 2}}, "a dropped field takes no weight"),
        ({"$.age": {"action": "drop", "weight": 2}}, "a dropped field takes no"),
        (
            {"$.note": {"role": "insensitive", "exempt": "made up", "weight": 2}},
            "weight changes nothing here",
        ),
        (
            {path: {"weight": 0} for path in ("$.age", "$.visits[*].year", "$.visits[*].ill")},
            r"\$\.age.*all weights are 0",
        ),
    ],
    ids=str,
)
def test_weights_that_mean_nothing_are_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(hierdata.PolicyError, match=reason):
        released(fields=fields)


def test_presence_has_a_weight_on_a_vertex() -> None:
    plain, present = (
        released(fields={"$.visits[*]": {"vertex": True, **weight}}) for weight in ({}, {"weight": 100})
    )
    assert present.report.counts.vertices["$.visits[*]"].published >= (
        plain.report.counts.vertices["$.visits[*]"].published
    )
    everything = {path: {"weight": 0} for path in ("$.age", "$.visits[*].year", "$.visits[*].ill")}
    report = released(fields={**everything, "$.visits[*]": {"vertex": True, "weight": 1}}).report
    tally = report.counts.vertices["$.visits[*]"]
    assert Fraction(report.metrics["kept"].exact["total"]) == Fraction(tally.published, tally.input)


def test_a_preset_keeps_its_loss_whatever_the_weights() -> None:
    """The search does not see them: the records are the same, in an order of their own."""
    engine = {"engine": {"preset": "ClusTree"}, "models": [{"kind": "frequency-l-diversity", "l": 2}]}
    plain, weighted = (released(fields={"$.age": weight}, **engine).report for weight in ({}, {"weight": 50}))
    assert plain.metrics["lm_cost"] == weighted.metrics["lm_cost"]
    assert plain.metrics["kept"] != weighted.metrics["kept"]


TABLE = [{"age": 20 + 7 * at % 40, "zip": 100 + at * at % 23, "ill": ILLS[at % 3]} for at in range(60)]


@pytest.mark.parametrize("engine", ["sweep", "compose", "mondrian"])
def test_on_tables_weights_of_one_lose_what_lm_loses(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only whole rows can be suppressed there, so what a row is worth makes no difference."""
    stated = {
        "version": 1,
        "models": [{"kind": "frequency-l-diversity", "l": 2}, {"kind": "k-anonymity", "k": 4}],
        "fields": {
            "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
            "$.zip": {"role": "quasi", "interval": {"steps": [1, 10]}},
            "$.ill": {"role": "sensitive"},
        },
        "engine": {"steps": [{"kind": engine}]},
    }

    def records() -> list[Any]:
        return list(hierdata.anonymize(TABLE, stated, seed=bytes(16)).records())

    by_worth = records()
    frame = Prepared.frame.fget
    assert frame is not None
    monkeypatch.setattr(Prepared, "frame", property(lambda own: replace(frame(own), sought=None)))
    assert records() == by_worth
