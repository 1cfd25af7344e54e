"""Every case of fixtures/papers/multilevel_hierarchical.json, asserted on the twin."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests import naive_levels as levels
from tests.golden.cases import Case, agrees, load
from tests.naive import (
    PAIRINGS,
    Rules,
    Schema,
    ShareCap,
    Taxonomy,
    Tree,
    apply,
    check_cons,
    frequency_l,
    level_alpha,
    pair_loss,
    pre_order,
    total_loss,
    vertex_cost,
)

GOLDEN = load("multilevel_hierarchical.json")
ALPHA = tuple(Fraction(GOLDEN.inputs["alpha_by_sensitivity_level"][str(level)]) for level in levels.LEVELS)
TYPES = GOLDEN.inputs["qi_taxonomy_by_type"]


@cache
def schema() -> Schema:
    taxonomies = {name: Taxonomy(parent) for name, parent in GOLDEN.inputs["taxonomies"].items()}
    return Schema({kind: [taxonomies[name] for name in names] for kind, names in TYPES.items()})


def tree(content: dict[str, Any]) -> Tree:
    return Tree(content["type"], content["qi"], [content["level"]], [tree(x) for x in content["children"]])


def rules(k: int | None, pairing: str = "greedy") -> Rules:
    caps = [level_alpha(kind, 0, ALPHA) for kind in TYPES] if k is not None else []
    return Rules(schema(), k, caps, pairing)


def alpha() -> ShareCap:
    return level_alpha("any", 0, ALPHA)


def domain(given: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return Fraction(given["min"]), Fraction(given["max"])


# One function a kind: the case's input -> what the twin computes.


def knot(given):
    return levels.knots(*domain(given))[given["index"] - 1]


def breakpoint_(given):
    return levels.breakpoints(*domain(given))[given["index"] - 1]


def breakpoint_fractions(given):
    points = levels.breakpoints(Fraction(0), Fraction(1))
    return {f"p{i}": str(point) for i, point in enumerate(points, start=1)}


def membership(given):
    return levels.membership(Fraction(given["value"]), given["set"], *domain(given))


def level(given):
    value = levels.value_level(Fraction(given["value"]), *domain(given))
    return {"value_level": value, "sensitivity_level": levels.sensitivity_level(value, given["direction"])}


def several_levels(given):
    return [level({**given, "value": value})["sensitivity_level"] for value in given["values"]]


def letter_levels(given):
    of_letter = GOLDEN.inputs["letter_grade_value_level"]
    return [levels.sensitivity_level(of_letter[letter], given["direction"]) for letter in given["values"]]


def capacity(given):
    most = levels.capacities(given["k"], ALPHA)
    return {"capacity": most, "fillable": sum(most) >= given["k"]}


def smallest_class_size(given):
    return {str(i): levels.smallest_class_size(share) for i, share in zip(levels.LEVELS, ALPHA, strict=True)}


def feasible_level_multisets(given):
    k = given["k"]
    feasible = [list(multiset) for multiset in levels.feasible_level_multisets(k, ALPHA)]
    spread = [levels.dissimilarity(multiset) for multiset in feasible]
    anything = levels.feasible_level_multisets(k, [Fraction(1)] * 5)
    return {
        "count": len(feasible),
        "multisets": feasible,
        "dissimilarity_min": min(spread),
        "dissimilarity_max": max(spread),
        "dissimilarity_max_without_alpha": max(map(levels.dissimilarity, anything)),
    }


def dissimilarity_vertex(given):
    return levels.dissimilarity(given["levels"], given["z"])


def dissimilarity_normaliser(given):
    return Fraction(levels.pair_distances(range(1, given["z"] + 1)))


def alpha_frequency_check(given):
    return alpha().fits(given["levels"], len(given["levels"]))


def alpha_two_readings(given):
    values = given["levels"]
    return {
        "count_at_most_k_alpha": alpha().fits(values, given["k"]),
        "frequency_on_values_present": alpha().fits(values, len(values)),
        "frequency_on_records": alpha().fits(values, given["records"]),
    }


def alpha_union_reading(given):
    level_of = dict(zip(given["values"], given["levels"], strict=True))
    cap = level_alpha("any", 0, ALPHA, level=level_of.__getitem__)
    return {
        "multiset_count_check": cap.fits(given["values"], given["k"]),
        "set_count_check": cap.fits(sorted(set(given["values"])), given["k"]),
    }


def exact_value_share(given):
    values, size = given["values"], given["k"]
    return {
        "alpha_satisfied": alpha().fits(given["levels"], size),
        "largest_share": Fraction(max(map(values.count, values)), size),
        "frequency_5_diverse": frequency_l("any", 0, size).fits(values, size),
    }


def lm(given):
    parent = given.get("taxonomy_inline") or GOLDEN.inputs["taxonomies"][given["taxonomy"]]
    return Taxonomy(parent).lm(given["node"])


def tree_pair_cost(given):
    a, b = tree(given["a"]), tree(given["b"])
    return {pairing: pair_loss(a, b, rules(given["k"], pairing)) for pairing in PAIRINGS}


def tree_pair_in_place(given):
    a, b, setting = tree(given["a"]), tree(given["b"]), rules(given["k"])
    return {"with_copies": pair_loss(a, b, setting), "in_place": loss_in_place(a, b, setting, set())}


def loss_in_place(a: Tree, b: Tree, setting: Rules, suppressed: set[int]) -> Fraction:
    """Algorithm 1 with line 20 as printed, so that each trial generalizes and suppresses for good (ML-9)."""

    def suppress(*trees: Tree) -> None:
        suppressed.update(id(vertex) for top in trees for vertex in pre_order(top))

    if not check_cons(a, b, setting):
        suppress(a, b)
    else:
        a.qi = b.qi = setting.schema.join(a.type, a.qi, b.qi)
        short, long = sorted((a.children, b.children), key=len)
        free = list(long)
        for x in short:
            partner = min(free, key=lambda y: loss_in_place(x, y, setting, suppressed))
            free = [y for y in free if y is not partner]
            loss_in_place(x, partner, setting, suppressed)
        suppress(*free)
    return sum(
        vertex_cost(setting.schema, vertex.type, vertex.qi, suppressed=id(vertex) in suppressed)
        for top in (a, b)
        for vertex in pre_order(top)
    )


def tree_cost(given):
    return sum(vertex_cost(schema(), v["type"], v["qi"], v["suppressed"]) for v in given["vertices"])


def growth_cost(given):
    """The classes that the case describes: j equal records; y1 lacks their leaf, y2 has another root."""
    root = {
        "any": None,
        "node": "any",
        "e": "any",
        "f": "any",
        **dict.fromkeys("abcd", "node"),
    }  # LM(node) 3/5
    setting = Rules(Schema({"root": [Taxonomy(root)], "leaf": [Taxonomy({"*": None})]}))
    members = [Tree("root", ["a"], children=[Tree("leaf", ["*"])]) for _ in range(given["j"])]
    representative = members[0]
    for member in members[1:]:
        representative = apply(representative, member, setting)
    candidates = {"y1": Tree("root", ["a"]), "y2": Tree("root", ["b"], children=[Tree("leaf", ["*"])])}
    unweighted = {name: pair_loss(representative, y, setting) for name, y in candidates.items()}
    true_total = {
        name: published_loss([*members, y], apply(representative, y, setting), setting)
        for name, y in candidates.items()
    }
    for name in candidates:
        assert unweighted[name] == Fraction(given[name]["unweighted"])
        assert true_total[name] == Fraction(given[name]["true_total"])
    return {
        "chosen_unweighted": min(unweighted, key=unweighted.__getitem__),
        "chosen_weighted": min(true_total, key=true_total.__getitem__),
    }


def published_loss(records, representative, setting):
    """Total loss of records of which a class is published, counted vertex by vertex."""
    vertices = [] if representative is None else pre_order(representative)
    return total_loss(records, setting.schema, {id(v): vertex for vertex in vertices for v in vertex.members})


KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "knot": knot,
    "breakpoint": breakpoint_,
    "breakpoint_fractions": breakpoint_fractions,
    "membership": membership,
    "level": level,
    "levels": several_levels,
    "letter_levels": letter_levels,
    "capacity": capacity,
    "smallest_class_size": smallest_class_size,
    "feasible_level_multisets": feasible_level_multisets,
    "dissimilarity_vertex": dissimilarity_vertex,
    "dissimilarity_normaliser": dissimilarity_normaliser,
    "alpha_frequency_check": alpha_frequency_check,
    "alpha_two_readings": alpha_two_readings,
    "alpha_union_reading": alpha_union_reading,
    "exact_value_share": exact_value_share,
    "lm": lm,
    "tree_pair_cost": tree_pair_cost,
    "tree_pair_in_place": tree_pair_in_place,
    "tree_cost": tree_cost,
    "growth_cost": growth_cost,
}


def test_every_kind_is_asserted():
    assert set(GOLDEN.by_kind()) == set(KINDS)


@pytest.mark.parametrize("case", GOLDEN.cases, ids=lambda case: case.id)
def test_case(case: Case):
    assert agrees(case.expected, KINDS[case.kind](case.input))


# What holds for any pair, on the pairs at hand.


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("case", GOLDEN.by_kind()["tree_pair_cost"], ids=lambda case: case.id)
def test_the_loss_is_what_the_two_records_lose_when_the_pair_is_published(case: Case, pairing: str):
    a, b, setting = tree(case.input["a"]), tree(case.input["b"]), rules(case.input["k"], pairing)
    representative = apply(a, b, setting)
    assert pair_loss(a, b, setting) == published_loss([a, b], representative, setting)
    assert (a, b) == (tree(case.input["a"]), tree(case.input["b"]))


@pytest.mark.parametrize("case", GOLDEN.by_kind()["level"], ids=lambda case: case.id)
def test_the_level_counts_the_breakpoints_passed(case: Case):
    points = levels.breakpoints(*domain(case.input))
    passed = sum(Fraction(case.input["value"]) >= point for point in points)
    assert case.expected["value_level"] == passed + 1
