"""The form that engines read of t-closeness says the same as the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import TCloseness
from hierdata.privacy.base import ClassView, Closeness
from tests.privacy.distributions import COMPARED, GROUPED


def distance(form: Closeness, counts: Mapping[int, int]) -> Fraction | None:
    """The distance as the form states it; None where a class holds what it may not."""
    present = sum(counts.values())
    held: Counter[int] = Counter()
    for code, count in counts.items():
        at = form.set_of[code]
        if at == -2:
            return None
        while at >= 0:
            held[at] += count
            at = form.parent[at]
    return sum(
        (
            Fraction(weight, form.scale) * abs(Fraction(held[at], present) - Fraction(expected, form.total))
            for at, (weight, expected) in enumerate(zip(form.weight, form.expected, strict=True))
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("by", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("t", [Fraction(0), Fraction(1, 5), Fraction(1, 2)])
def test_the_form_has_the_distance_of_the_model(by: str, t: Fraction) -> None:
    constraint = TCloseness.model_validate({"t": t, "distance": by}).bind(COMPARED)
    form = constraint.closeness
    assert form is not None
    assert form.bound == t
    for size, in_all in product(range(1, 6), [range(4)]):
        for values in combinations_with_replacement(in_all, size):
            view = ClassView(size, Counter(values))
            found = distance(form, view.counts)
            assert found == constraint.achieved_parameters(view)["t"]
            assert (found <= t) == constraint.holds(view)


@pytest.mark.parametrize("how", [how for how, _, _ in GROUPED], ids=str)
def test_the_form_of_groups_has_the_distance_of_the_model(how: dict[str, object]) -> None:
    constraint = TCloseness.model_validate({"t": "1/5", **how}).bind(COMPARED)
    form = constraint.closeness
    assert form is not None
    for size in range(1, 6):
        for values in combinations_with_replacement(range(4), size):
            view = ClassView(size, Counter(values))
            assert distance(form, view.counts) == constraint.achieved_parameters(view)["t"]


@pytest.mark.parametrize("by", ["equal", "ordered"])
def test_a_value_that_the_original_lacks_is_in_no_set(by: str) -> None:
    domain = SensitiveDomain("$.a", (1, 2, 3), reference=(2, 1, 0))
    form = TCloseness.model_validate({"t": "1/2", "distance": by}).bind(domain).closeness
    assert form is not None
    assert distance(form, {2: 1}) is None


def test_every_class_is_within_t_of_one() -> None:
    assert TCloseness(t=1).bind(COMPARED).closeness is None
