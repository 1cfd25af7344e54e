"""Distances against a linear programme, thresholds that are irrational, what is refused, large counts."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import linprog

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy import (
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EnhancedBetaLikeness,
    KMap,
    PrivacyModel,
    TCloseness,
)
from hierdata.privacy.base import ClassView
from hierdata.privacy.reference import at_most, largest_below
from tests import naive_distributions as naive
from tests.cases import for_each
from tests.naive_distributions import Node
from tests.privacy.distributions import COMPARED, ORIGINAL, REFERENCE, TREE, t_of

UNKNOWN = SensitiveDomain("$.a", ("x", "y"))
COMPARING: list[PrivacyModel] = [
    TCloseness(t=0.5),
    BasicBetaLikeness(beta=9),
    EnhancedBetaLikeness(beta=9),
    DeltaDisclosure(delta=9),
    DeltaDisclosure(delta=9, absent="ignore"),
]


def transport(p: list[Fraction], q: list[Fraction], ground: list[list[Fraction]]) -> float:
    """The cheapest way to turn p into q, by a linear programme."""
    size = len(p)
    sums = [[1 if at // size == row else 0 for at in range(size * size)] for row in range(size)]
    sums += [[1 if at % size == column else 0 for at in range(size * size)] for column in range(size)]
    cost = [float(way) for row in ground for way in row]
    solved = linprog(cost, A_eq=np.array(sums), b_eq=[float(share) for share in (*p, *q)])
    assert solved.success
    return float(solved.fun)


def trees(rng: random.Random, leaves: int) -> Node:
    """A ragged tree over leaves 0..n-1."""
    parts = [Node(leaf) for leaf in range(leaves)]
    while len(parts) > 1:
        rng.shuffle(parts)
        taken = rng.randint(1, min(3, len(parts)))
        parts = [*parts[taken:], Node(f"n{rng.random()}", tuple(parts[:taken]))]
    return parts[0] if parts[0].children else Node("*", tuple(parts))


def as_domain(tree: Node, reference: tuple[int, ...]) -> SensitiveDomain:
    nodes = tree.nodes()
    number = {one.name: at for at, one in enumerate(nodes)}
    paths = []
    for code in range(len(reference)):
        above = [one for one in nodes if code in {below.name for below in one.nodes()}]
        paths.append(tuple(number[one.name] for one in sorted(above, key=lambda one: -one.height)))
    return SensitiveDomain(
        "$.a",
        tuple(range(len(reference))),
        paths=tuple(paths),
        reference=reference,
        heights=tuple(one.height for one in nodes),
    )


@for_each("seed", range(25))
@for_each("distance", ["equal", "ordered", "hierarchical"])
def test_distances_are_what_a_linear_programme_finds(distance: str, seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 6)
    reference = tuple(rng.randint(1, 5) for _ in range(size))
    counts = {code: rng.randint(0, 4) for code in range(size)}
    counts[0] += 1
    tree = trees(rng, size)
    grounds: dict[str, Any] = {
        "equal": lambda a, b: Fraction(int(a != b)),
        "ordered": lambda a, b: Fraction(abs(a - b), size - 1),
        "hierarchical": lambda a, b: naive.ground(tree, a, b),
    }
    ground = [[grounds[distance](a, b) for b in range(size)] for a in range(size)]
    present = sum(counts.values())
    p = [Fraction(count, sum(reference)) for count in reference]
    q = [Fraction(counts[code], present) for code in range(size)]
    model = TCloseness.model_validate({"t": 1, "distance": distance})
    found = model.bind(as_domain(tree, reference)).achieved_parameters(ClassView(present, counts))["t"]
    assert abs(float(found) - transport(p, q, ground)) < 1e-9


def test_values_at_inner_nodes_are_leaves_below_them() -> None:
    tree = Node("*", (Node("A", (Node(0), Node(1))), Node("B", (Node("C", (Node(2),)), Node(3)))))
    paths, heights = ((0, 1, 2), (0, 1), (0, 4), (0, 4, 7)), (3, 1, 0, 0, 2, 1, 0, 0)
    domain = SensitiveDomain(
        "$.a", ("leaf", "A", "B", "b"), paths=paths, reference=(3, 2, 4, 1), heights=heights
    )
    ground = [[Fraction(0), Fraction(1, 3), 1, 1], [Fraction(1, 3), 0, 1, 1], [1, 1, 0, Fraction(2, 3)]]
    ground.append([1, 1, Fraction(2, 3), 0])
    assert tree.height == heights[0]
    bound = TCloseness(t=1, distance="hierarchical").bind(domain)
    for counts in product(range(3), repeat=4):
        if present := sum(counts):
            p = [Fraction(count, 10) for count in (3, 2, 4, 1)]
            q = [Fraction(count, present) for count in counts]
            found = bound.achieved_parameters(ClassView(present, dict(enumerate(counts))))["t"]
            assert abs(float(found) - transport(p, q, ground)) < 1e-9


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
)
def test_larger_classes_are_as_far_as_the_twin_says(values: list[int], distance: str) -> None:
    counts = {code: values.count(code) for code in set(values)}
    model = TCloseness.model_validate({"t": 1, "distance": distance})
    assert model.bind(COMPARED).achieved_parameters(ClassView(len(values), counts)) == {
        "t": t_of(values, distance)
    }


@given(
    st.dictionaries(st.integers(0, 3), st.integers(1, 60), min_size=1),
    st.fractions(0, 4, max_denominator=50),
    st.sampled_from(["refuse", "ignore"]),
)
def test_likeness_and_disclosure_of_larger_classes(
    counts: dict[int, int], bound: Fraction, absent: str
) -> None:
    values = [code for code, count in counts.items() for _ in range(count)]
    view = ClassView(len(values), counts)
    basic, enhanced = BasicBetaLikeness(beta=bound), EnhancedBetaLikeness(beta=bound)
    assert basic.bind(COMPARED).holds(view) == naive.basic_beta(values, ORIGINAL, bound)
    assert enhanced.bind(COMPARED).holds(view) == naive.enhanced_beta(values, ORIGINAL, bound)
    if bound:
        disclosure = DeltaDisclosure.model_validate({"delta": bound, "absent": absent}).bind(COMPARED)
        assert disclosure.holds(view) == naive.delta_disclosure(values, ORIGINAL, bound, absent)


def test_ten_million_rows_are_decided_exactly() -> None:
    """At a share of one half: one value more in the class is too much, and no float could tell."""
    many = 5 * 10**18
    domain = SensitiveDomain("$.a", ("x", "y"), reference=(many, many))
    even, odd = ClassView(9, {0: many, 1: many}), ClassView(9, {0: many + 1, 1: many - 1})
    for model in (TCloseness(t=0), BasicBetaLikeness(beta=0)):
        assert model.bind(domain).holds(even)
        assert not model.bind(domain).holds(odd)


@pytest.mark.parametrize("digits", [5, 9, 18])
def test_shares_next_to_an_irrational_bound_are_told_apart(digits: int) -> None:
    """The fractions of a denominator around 1 - ln p and e^delta, p = 1/3."""
    size = 10**digits
    domain = SensitiveDomain("$.a", ("x", "y", "z"), reference=(1, 1, 1))
    with localcontext(prec=60):
        most = int((1 + Decimal(3).ln()) / 3 * size)
        factor = int(Decimal("0.5").exp() / 3 * size)
    for model, last in ((EnhancedBetaLikeness(beta=9), most), (DeltaDisclosure(delta="0.5"), factor)):
        rest = size - last
        bound = model.bind(domain)
        assert bound.holds(ClassView(9, {0: last, 1: rest // 2, 2: rest - rest // 2}))
        assert not bound.holds(ClassView(9, {0: last + 1, 1: rest // 2, 2: rest - rest // 2 - 1}))


@given(st.fractions(0, 9, max_denominator=400), st.integers(1, 40))
def test_the_largest_fraction_below(number: Fraction, denominators: int) -> None:
    around = [Fraction(int(number * below), below) for below in range(1, denominators + 1)]
    assert at_most(number, denominators) == max(around)


def test_no_fraction_lies_between_a_threshold_and_its_number() -> None:
    found = largest_below(lambda: Decimal(2).ln())
    with localcontext(prec=200):
        exact = Fraction(Decimal(2).ln())
    assert 0 < exact - found < Fraction(1, 10**40)
    assert found.denominator <= 10**40


@pytest.mark.parametrize("model", COMPARING, ids=str)
def test_without_the_original_nothing_is_bound(model: PrivacyModel) -> None:
    with pytest.raises(PolicyError, match=r"^\$\.a: .* compares with the original collection"):
        model.bind(UNKNOWN)


def test_distances_ask_for_what_they_need() -> None:
    text = SensitiveDomain("$.a", ("x", "y"), reference=(1, 1))
    with pytest.raises(PolicyError, match="number: true"):
        TCloseness(t=1, distance="ordered").bind(text)
    with pytest.raises(PolicyError, match="taxonomy"):
        TCloseness(t=1, distance="hierarchical").bind(text)


@pytest.mark.parametrize("model", COMPARING, ids=str)
def test_a_value_that_the_original_lacks_fails(model: PrivacyModel) -> None:
    domain = SensitiveDomain("$.a", ("x", "y", "forged"), reference=(5, 5, 0))
    bound = model.bind(domain)
    assert bound.holds(ClassView(2, {0: 1, 1: 1}))
    assert not bound.holds(ClassView(20, {0: 10, 1: 10, 2: 1}))
    assert bound.caps is not None
    assert bound.caps.share[2] == 0


@pytest.mark.parametrize("model", COMPARING, ids=str)
def test_a_constant_attribute_is_as_it_was(model: PrivacyModel) -> None:
    bound = model.bind(SensitiveDomain("$.a", (7,), reference=(5,)))
    assert bound.holds(ClassView(3, {0: 3}))
    assert bound.min_class_size == 1
    ordered = TCloseness(t=0, distance="ordered").bind(SensitiveDomain("$.a", (7,), reference=(5,)))
    assert ordered.achieved_parameters(ClassView(3, {0: 3})) == {"t": 0}


@pytest.mark.parametrize("model", COMPARING, ids=str)
def test_an_attribute_without_values_asks_nothing(model: PrivacyModel) -> None:
    bound = model.bind(SensitiveDomain("$.a", (), reference=()))
    assert bound.holds(ClassView(3, {}))
    assert bound.achieved_parameters(ClassView(3, {})) == {}


def test_the_least_class_is_the_least_that_can_be() -> None:
    """By the equal distance: tried with every multiset up to it."""
    for t in (Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)):
        bound = TCloseness(t=t, distance="equal").bind(COMPARED)
        sizes = [
            sum(counts)
            for counts in product(*(range(count + 1) for count in REFERENCE))
            if any(counts) and bound.holds(ClassView(9, dict(enumerate(counts))))
        ]
        assert bound.min_class_size == min(sizes)


def test_what_arx_calls_delta_is_ours_by_ln_2() -> None:
    """ARX takes base 2: a share that doubles has 1 there, and ln 2 here."""
    domain = SensitiveDomain("$.a", ("x", "y"), reference=(1, 3))
    bound = DeltaDisclosure(delta=9).bind(domain)
    reached = bound.achieved_parameters(ClassView(4, {0: 2, 1: 2}))["delta"]
    assert reached == Fraction("0.693148")


def test_without_a_population_nobody_fits() -> None:
    for model in (KMap(k=1), DeltaPresence(delta_max=1)):
        bound = model.bind(None)
        assert not bound.holds(ClassView(3, {}))
        assert bound.achieved_parameters(ClassView(3, {})) == {}
    assert not DeltaPresence(delta_max=1).bind(None).holds(ClassView(3, {}, population=2))
    assert not DeltaPresence(delta_max=1).bind(None).holds(ClassView(3, {}, population=0))


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (TCloseness, {"t": "1.1"}),
        (TCloseness, {"t": "0.1", "distance": "euclidean"}),
        (BasicBetaLikeness, {"beta": -1}),
        (DeltaDisclosure, {"delta": 0}),
        (KMap, {"k": 3, "on": ("$.a",)}),
        (DeltaPresence, {"delta_max": "0.2", "delta_min": "0.3"}),
        (DeltaPresence, {"delta_max": "0.2", "on": ("$.a",)}),
    ],
)
def test_parameters_out_of_range_are_refused(
    model: type[PrivacyModel], parameters: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(parameters)


def test_the_tree_of_the_contract_is_the_domain() -> None:
    assert COMPARED.heights is not None
    assert COMPARED.heights[0] == TREE.height
