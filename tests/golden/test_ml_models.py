"""The worked examples of the multi-level paper that concern the models, asserted on the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import AlphaK, FrequencyLDiversity, LevelAlphaK
from hierdata.privacy.base import ClassView
from tests.golden.cases import Case, agrees, load

GOLDEN = load("multilevel_hierarchical.json")
ALPHA = tuple(GOLDEN.inputs["alpha_by_sensitivity_level"].values())
LEVELS = SensitiveDomain("$.level", (1, 2, 3, 4, 5), (1, 2, 3, 4, 5))


def model(k: int) -> LevelAlphaK:
    return LevelAlphaK(k=k, alpha=ALPHA)


def holds(levels: list[int] | tuple[int, ...], records: int, k: int = 1) -> bool:
    return model(k).bind(LEVELS).holds(ClassView(records, Counter(level - 1 for level in levels)))


def capacity(k: int) -> dict[str, Any]:
    room = model(k).capacities(k)
    return {"capacity": list(room), "fillable": sum(room) >= k}


def smallest_class_size() -> dict[str, Any]:
    return {str(level): size for level, size in enumerate(model(1).smallest_sizes(), start=1)}


def feasible_level_multisets(k: int) -> dict[str, Any]:
    every = list(combinations_with_replacement((1, 2, 3, 4, 5), k))
    allowed = [levels for levels in every if holds(levels, k, k)]

    def dissimilarity(levels: tuple[int, ...]) -> Fraction:
        """As the paper prints it: differences of all pairs by those of the five levels (erratum ML-15)."""
        total = sum(abs(a - b) for a, b in combinations(levels, 2))
        return Fraction(total, sum(abs(a - b) for a, b in combinations(range(1, 6), 2)))

    return {
        "count": len(allowed),
        "multisets": [list(levels) for levels in allowed],
        "dissimilarity_min": min(map(dissimilarity, allowed)),
        "dissimilarity_max": max(map(dissimilarity, allowed)),
        "dissimilarity_max_without_alpha": max(map(dissimilarity, every)),
    }


def within_caps(levels: list[int], k: int) -> bool:
    """What the alignment asks while a class grows: count <= k alpha."""
    caps = model(k).bind(LEVELS).caps
    assert caps is not None
    groups = Counter(caps.group_of[level - 1] for level in levels)
    return all(count <= k * caps.share[group] for group, count in groups.items())


def alpha_two_readings(levels: list[int], records: int, k: int) -> dict[str, Any]:
    shares = [Fraction(levels.count(level), records) <= Fraction(ALPHA[level - 1]) for level in levels]
    return {
        "count_at_most_k_alpha": within_caps(levels, k),
        "frequency_on_values_present": holds(levels, records, k),
        "frequency_on_records": all(shares),
    }


def alpha_union_reading(values: list[str], levels: list[int], k: int) -> dict[str, Any]:
    once = list(dict(zip(values, levels, strict=True)).values())
    return {"multiset_count_check": within_caps(levels, k), "set_count_check": within_caps(once, k)}


def exact_value_share(values: list[str], levels: list[int], k: int) -> dict[str, Any]:
    names = tuple(dict.fromkeys(values))
    domain = SensitiveDomain("$.value", names, tuple(dict(zip(values, levels, strict=True)).values()))
    view = ClassView(k, Counter(map(names.index, values)))
    return {
        "alpha_satisfied": model(k).bind(domain).holds(view),
        "largest_share": AlphaK(k=k, alpha=1).bind(domain).achieved_parameters(view)["alpha"],
        f"frequency_{k}_diverse": FrequencyLDiversity(l=k).bind(domain).holds(view),
    }


KINDS: dict[str, Callable[..., Any]] = {
    "capacity": capacity,
    "smallest_class_size": smallest_class_size,
    "feasible_level_multisets": feasible_level_multisets,
    "alpha_frequency_check": holds,
    "alpha_two_readings": alpha_two_readings,
    "alpha_union_reading": alpha_union_reading,
    "exact_value_share": exact_value_share,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))


def test_every_kind_has_cases() -> None:
    assert {case.kind for case in CASES} == set(KINDS)
    assert len(CASES) == 32
