"""The worked examples of the paper on numbers, all of them, asserted on the package and on the twin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest

from hierdata.domains.number import exact
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import (
    DeltaLDiversity,
    DistinctLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    PrivacyModel,
)
from hierdata.privacy.base import ClassView
from hierdata.reproduction.dl_examples import run_printed_check
from tests import naive_models
from tests import naive_semantics as naive
from tests.golden.cases import Case, agrees, load
from tests.privacy.largest import largest_l

GOLDEN = load("delta_l_diversity.json")

Value = int | str
Values = Sequence[Value]


def numbers(values: Values) -> list[int | Fraction]:
    return [exact(value) for value in values]


class Side(ABC):
    """What the cases ask for."""

    @abstractmethod
    def distinct_l(self, values: Values, least: int) -> bool: ...

    @abstractmethod
    def frequency_l(self, values: Values) -> Fraction: ...

    @abstractmethod
    def delta_l(self, values: Values, delta: Fraction, least: Fraction) -> bool: ...

    @abstractmethod
    def epsilon_m(self, values: Values, epsilon: Fraction, least: Fraction) -> bool: ...

    @abstractmethod
    def within(self, values: Values, epsilon: Fraction) -> dict[Value, int]:
        """n(v) of (epsilon,m)-anonymity, under the values as they are spelled."""

    @abstractmethod
    def similar(self, values: Values, delta: Fraction) -> dict[Value, int]:
        """n(v) of (delta,l)-diversity."""

    @abstractmethod
    def best_l(self, values: Values, delta: Fraction) -> Fraction: ...

    @abstractmethod
    def best_m(self, values: Values, epsilon: Fraction) -> Fraction: ...

    @abstractmethod
    def window(self, values: Values, width: Fraction) -> int: ...


class Package(Side):
    def _asked(self, model: PrivacyModel, values: Values) -> tuple[bool, dict[str, Fraction]]:
        domain = SensitiveDomain.build("$.n", Counter(values), number=True)
        constraint = model.bind(domain)
        view = ClassView(len(values), Counter(map(domain.code_of, values)))
        return constraint.holds(view), constraint.achieved_parameters(view)

    def distinct_l(self, values: Values, least: int) -> bool:
        return self._asked(DistinctLDiversity(l=least), values)[0]

    def frequency_l(self, values: Values) -> Fraction:
        return self._asked(FrequencyLDiversity(l=1), values)[1]["l"]

    def delta_l(self, values: Values, delta: Fraction, least: Fraction) -> bool:
        return self._asked(DeltaLDiversity(delta=delta, l=least), values)[0]

    def epsilon_m(self, values: Values, epsilon: Fraction, least: Fraction) -> bool:
        return self._asked(EpsilonMAnonymity(epsilon=epsilon, m=least), values)[0]

    def within(self, values: Values, epsilon: Fraction) -> dict[Value, int]:
        codes = list(dict.fromkeys(values))
        sizes = Neighbourhoods.absolute(numbers(codes), epsilon).sizes(Counter(map(codes.index, values)))
        return {codes[code]: size for code, size in sizes.items()}

    def similar(self, values: Values, delta: Fraction) -> dict[Value, int]:
        return self.within(values, 2 * delta)

    def best_l(self, values: Values, delta: Fraction) -> Fraction:
        best = self._asked(DeltaLDiversity(delta=delta, l=1), values)[1]["l"]
        assert best == largest_l(numbers(values), delta)
        return best

    def best_m(self, values: Values, epsilon: Fraction) -> Fraction:
        return self._asked(EpsilonMAnonymity(epsilon=epsilon, m=1), values)[1]["m"]

    def window(self, values: Values, width: Fraction) -> int:
        return fullest_window(numbers(values), width)


class Twin(Side):
    def distinct_l(self, values: Values, least: int) -> bool:
        return naive_models.distinct_l(len(values), [int(value) for value in values], least)

    def frequency_l(self, values: Values) -> Fraction:
        return Fraction(len(values), max(values.count(value) for value in values))

    def delta_l(self, values: Values, delta: Fraction, least: Fraction) -> bool:
        return naive.delta_l(len(values), numbers(values), delta, least)

    def epsilon_m(self, values: Values, epsilon: Fraction, least: Fraction) -> bool:
        return naive.epsilon_m(len(values), numbers(values), epsilon, least)

    def within(self, values: Values, epsilon: Fraction) -> dict[Value, int]:
        sizes = naive.within_epsilon(numbers(values), epsilon)
        return {value: sizes[exact(value)] for value in values}

    def similar(self, values: Values, delta: Fraction) -> dict[Value, int]:
        sizes = naive.similar_to_each(numbers(values), delta)
        return {value: sizes[exact(value)] for value in values}

    def best_l(self, values: Values, delta: Fraction) -> Fraction:
        return Fraction(len(values), max(self.similar(values, delta).values()))

    def best_m(self, values: Values, epsilon: Fraction) -> Fraction:
        return Fraction(len(values), max(self.within(values, epsilon).values()))

    def window(self, values: Values, width: Fraction) -> int:
        return naive.fullest_window(numbers(values), width)


# One function a kind: a side and the case's input -> what is computed.


def distinct_l(side: Side, classes: list[Values]) -> Any:
    return Fraction(
        max(least for least in range(1, 9) if all(side.distinct_l(values, least) for values in classes))
    )


def frequency_l(side: Side, classes: list[Values]) -> Any:
    return min(map(side.frequency_l, classes))


def interval_share(side: Side, values: Values, low: int, high: int) -> Any:
    """The chance to lie in [low, high] is that of a fullest window, which holds its middle value here."""
    middle = Fraction(low + high, 2)
    inside = side.within(values, Fraction(high - low, 2))[int(middle)]
    assert inside == side.window(values, Fraction(high - low))
    return Fraction(inside, len(values))


def epsilon_m(side: Side, values: Values, epsilon: str) -> Any:
    sizes = side.within(values, Fraction(epsilon))
    return {
        "m": side.best_m(values, Fraction(epsilon)),
        "n": {str(value): size for value, size in sizes.items()},
    }


def proximity_risk(side: Side, values: Values, epsilon: str, value: int) -> Any:
    return Fraction(side.within(values, Fraction(epsilon))[value], len(values))


def epsilon_m_check(side: Side, classes: list[Values], epsilon: str, m: int) -> Any:
    return [side.epsilon_m(values, Fraction(epsilon), Fraction(m)) for values in classes]


def delta_l(side: Side, values: Values, delta: str) -> Any:
    sizes = side.similar(values, Fraction(delta))
    return {
        "l": side.best_l(values, Fraction(delta)),
        "n": {str(value): size for value, size in sizes.items()},
    }


def delta_l_union(side: Side, E1: list[Value], E2: list[Value], delta: str, l: int) -> Any:  # noqa: E741, N803
    width, least = Fraction(delta), Fraction(l)
    return {
        "E1": side.delta_l(E1, width, least),
        "E2": side.delta_l(E2, width, least),
        "union": side.delta_l(E1 + E2, width, least),
        "union_l": side.best_l(E1 + E2, width),
    }


def delta_l_union_bound(side: Side, n1: int, n2: int, l: int) -> Any:  # noqa: E741
    """The least l of a union, over all pairs of small classes that satisfy it."""
    delta, least = Fraction(1, 2), Fraction(l)
    good = {
        size: [
            list(values)
            for values in combinations_with_replacement(range(6), size)
            if side.delta_l(values, delta, least)
        ]
        for size in {n1, n2}
    }
    return min(side.best_l(one + two, delta) for one in good[n1] for two in good[n2])


def delta_l_algorithm(side: Side, values: Values, delta: str) -> Any:
    radius = Fraction(delta)
    printed = run_printed_check(numbers(values), radius)
    return {
        "l": side.best_l(values, radius),
        "l_of_the_printed_procedure": "unbounded" if printed is None else printed,
        "l_window_2delta": Fraction(len(values), side.window(values, 2 * radius)),
        "l_window_4delta": Fraction(len(values), side.window(values, 4 * radius)),
    }


def delta_l_decision(side: Side, values: Values, delta: str, l: int) -> Any:  # noqa: E741
    printed = run_printed_check(numbers(values), Fraction(delta))
    return {
        "correct": side.delta_l(values, Fraction(delta), Fraction(l)),
        "printed_procedure": printed is None or printed >= l,
    }


KINDS: dict[str, Callable[..., Any]] = {
    "distinct_l": distinct_l,
    "frequency_l": frequency_l,
    "interval_share": interval_share,
    "epsilon_m": epsilon_m,
    "proximity_risk": proximity_risk,
    "epsilon_m_check": epsilon_m_check,
    "delta_l": delta_l,
    "delta_l_union": delta_l_union,
    "delta_l_union_bound": delta_l_union_bound,
    "delta_l_algorithm": delta_l_algorithm,
    "delta_l_decision": delta_l_decision,
}


@pytest.mark.parametrize("side", [Package(), Twin()], ids=lambda side: type(side).__name__.lower())
@pytest.mark.parametrize("case", GOLDEN.cases, ids=lambda case: case.id)
def test_case(case: Case, side: Side) -> None:
    assert agrees(case.expected, KINDS[case.kind](side, **case.input))


def test_every_kind_has_cases() -> None:
    assert {case.kind for case in GOLDEN.cases} == set(KINDS)
    assert len(GOLDEN.cases) == 56
