"""The models that compare with the original or count a population, with their twins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import (
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EnhancedBetaLikeness,
    KMap,
    PrivacyModel,
    PSensitiveKAnonymity,
    TCloseness,
)
from tests import naive_distributions as naive
from tests.naive_distributions import Node

REFERENCE = (4, 3, 2, 1)
ORIGINAL = [code for code, count in enumerate(REFERENCE) for _ in range(count)]
TREE = Node("*", (Node("A", (Node(0), Node(1))), Node("B", (Node("C", (Node(2), Node("other"))), Node(3)))))
"""The leaves are the codes; one of them does not occur."""
PATHS, HEIGHTS = ((0, 1, 2), (0, 1, 3), (0, 4, 5, 6), (0, 4, 8)), (3, 1, 0, 0, 2, 1, 0, 0, 0)
COMPARED = SensitiveDomain(
    "$.a", (7, 11, 30, 31), levels=(1, 3, 3, 2), paths=PATHS, reference=REFERENCE, heights=HEIGHTS
)
GROUPED: list[tuple[dict[str, object], tuple[int, ...], str]] = [
    ({"by": "level"}, (1, 3, 3, 2), "ordered"),
    ({"by": "similarity", "e": 1}, (0, 0, 2, 3), "equal"),
    (
        {"by": "partition", "partition": {"blocks": {"x": [7, 31], "y": [11], "z": [30]}}},
        (0, 1, 2, 0),
        "equal",
    ),
    ({"by": "partition", "partition": {"equal_frequency": 3}}, (0, 1, 2, 2), "ordered"),
    ({"by": "partition", "partition": {"levels": True}}, (1, 3, 3, 2), "ordered"),
    ({"by": "partition", "partition": {"depth": 1}}, (0, 0, 2, 2), "hierarchical"),
    ({"by": "partition", "partition": {"depth": 2}}, (0, 1, 2, 3), "hierarchical"),
]
"""How values are grouped, the group of each code (a depth: a leaf of it), and the distance that suits it."""


def crowd(records: int) -> int:
    """The population of the classes of the contract, by their size: as many people, or some more."""
    return records + records % 4


def t_of(values: Sequence[int], distance: str, original: Sequence[int] = ORIGINAL) -> Fraction:
    distances: dict[str, naive.Distance] = {
        "equal": naive.equal,
        "ordered": lambda p, q: naive.ordered(p, q, sorted(set(original))),
        "hierarchical": lambda p, q: naive.hierarchical(p, q, TREE),
    }
    return naive.t_of(values, original, distances[distance])


def t_of_groups(values: Sequence[int], group_of: Sequence[int], distance: str) -> Fraction:
    """The distance where values of one group are one value."""
    return t_of([group_of[code] for code in values], distance, [group_of[code] for code in ORIGINAL])


CASES: list[tuple[PrivacyModel, Callable[[int, Sequence[int]], bool]]] = [
    *(
        (TCloseness(t=t, distance=by), lambda r, v, t=t, by=by: t_of(v, by) <= t)
        for t, by in product(map(Fraction, ("0", "1/5", "1/3", "1")), ("equal", "ordered", "hierarchical"))
    ),
    *(
        (TCloseness(t=t), lambda r, v, t=t: t_of(v, "hierarchical") <= t)
        for t in map(Fraction, ("1/5", "1/2"))
    ),
    *(
        (
            TCloseness.model_validate({"t": t, "distance": stated, **how}),
            lambda r, v, t=t, own=own, by=stated or by: t_of_groups(v, own, by) <= t,
        )
        for how, own, by in GROUPED
        for stated in (None, by, "equal")
        for t in map(Fraction, ("0", "1/5", "1/2"))
    ),
    *(
        (BasicBetaLikeness(beta=b), lambda r, v, b=b: naive.basic_beta(v, ORIGINAL, b))
        for b in map(Fraction, ("0", "1/2", "1", "5/2"))
    ),
    *(
        (EnhancedBetaLikeness(beta=b), lambda r, v, b=b: naive.enhanced_beta(v, ORIGINAL, b))
        for b in map(Fraction, ("0", "1/2", "1", "5/2"))
    ),
    *(
        (
            DeltaDisclosure(delta=d, absent=absent),
            lambda r, v, d=d, absent=absent: naive.delta_disclosure(v, ORIGINAL, d, absent),
        )
        for d, absent in product(map(Fraction, ("1/10", "1/2", "1", "60")), ("refuse", "ignore"))
    ),
    *(
        (PSensitiveKAnonymity(p=p, k=k), lambda r, v, p=p, k=k: naive.p_sensitive(r, v, p, k))
        for p, k in ((1, 2), (2, 3), (3, 3), (3, 2))
    ),
    *((KMap(k=k), lambda r, v, k=k: naive.k_map(crowd(r), k)) for k in (1, 3, 5)),
    *(
        (
            DeltaPresence(delta_min=low, delta_max=high),
            lambda r, v, low=low, high=high: naive.delta_presence(r, crowd(r), low, high),
        )
        for low, high in (("0", "3/4"), ("3/4", "1"), ("1/2", "2/3"))
        for low, high in [(Fraction(low), Fraction(high))]
    ),
]
