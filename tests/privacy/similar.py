"""The models on similar values with their twins, for the table of all models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain, path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.privacy import (
    AlphaK,
    DeltaLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    LEDiversity,
    PrivacyModel,
    RecursiveCLDiversity,
)
from tests import naive_models as naive
from tests import naive_semantics as semantics

Twin = Callable[[int, Sequence[int]], bool]

VALUES = ("flu", "cold", "angina", "HIV")
LEVELS = (1, 2, 2, 3)
PARENT = {
    "*": None,
    "lungs": "*",
    "blood": "*",
    "flu": "lungs",
    "cold": "lungs",
    "angina": "*",
    "HIV": "blood",
}
"""Ragged: at e = 3/2 angina is near all, flu and HIV are not near each other (LE-2)."""
TREE = Taxonomy(tree={"*": {"lungs": ["flu", "cold"], "angina": None, "blood": ["HIV"]}}).compile({}, Path())
DOMAIN = SensitiveDomain(
    "$.a", VALUES, LEVELS, level_count=3, paths=tuple(path_in(TREE, value) for value in VALUES)
)
NUMBERS = SensitiveDomain("$.n", (10, -4, 15, 0))
"""Codes in no order, as a judge meets them."""

E = tuple(Fraction(half, 2) for half in (0, 1, 2, 3, 4))
BLOCKS = SemanticPartition(blocks={"mild": ["flu", "cold"], "other": ["HIV", "angina", "gone"]})


def _names(codes: Sequence[int]) -> list[str]:
    return [VALUES[code] for code in codes]


def _numbers(codes: Sequence[int]) -> list[int | Fraction]:
    return [(10, -4, 15, 0)[code] for code in codes]


def _buckets(e: Fraction) -> list[int]:
    found = semantics.buckets(PARENT, VALUES, e)
    return [next(at for at, bucket in enumerate(found) if value in bucket) for value in VALUES]


GROUPINGS = [
    ({"by": "level"}, list(LEVELS)),
    ({"by": "similarity", "e": Fraction(1)}, _buckets(Fraction(1))),
    ({"by": "similarity", "e": Fraction(3, 2)}, _buckets(Fraction(3, 2))),
    ({"by": "partition", "partition": BLOCKS}, [0, 0, 1, 1]),
    ({"by": "partition", "partition": SemanticPartition(depth=1)}, [0, 0, 1, 2]),
]
"""What a model is told to count, and the group of each value."""


def _grouped() -> Iterator[tuple[PrivacyModel, Twin]]:
    two, some = Fraction(2), Fraction(3, 2)
    for by, groups in GROUPINGS:

        def counted(values: Sequence[int], groups: list[int] = groups) -> list[int]:
            return [groups[code] for code in values]

        yield DistinctLDiversity(l=2, **by), lambda r, v, of=counted: naive.distinct_l(r, of(v), 2)
        yield FrequencyLDiversity(l=some, **by), lambda r, v, of=counted: naive.frequency_l(r, of(v), some)
        yield EntropyLDiversity(l=some, **by), lambda r, v, of=counted: naive.entropy_l(r, of(v), some)
        yield (
            RecursiveCLDiversity(c=two, l=2, **by),
            lambda r, v, of=counted: naive.recursive_cl(r, of(v), two, 2),
        )
        yield (
            AlphaK(k=2, alpha=1 / some, **by),
            lambda r, v, of=counted: naive.alpha_k(r, of(v), 2, 1 / some, None),
        )


CASES: list[tuple[PrivacyModel, Twin]] = [
    *(
        (LEDiversity(l=n, e=e), lambda r, v, n=n, e=e: semantics.l_e(PARENT, r, _names(v), n, e))
        for n, e in product((1, 2, 3), E)
    ),
    *(
        (
            LEDiversity(l=n, e=e, repeats="allow"),
            lambda r, v, n=n, e=e: semantics.l_e_with_repeats(PARENT, r, _names(v), n, e),
        )
        for n, e in product((1, 2, 3), E)
    ),
    *(
        (
            DeltaLDiversity(delta=delta, l=n),
            lambda r, v, n=n, delta=delta: semantics.delta_l(r, _numbers(v), delta, n),
        )
        for delta, n in product(
            map(Fraction, ("0", "2", "5/2", "5", "51/10")), map(Fraction, ("1", "3/2", "2"))
        )
    ),
    *(
        (
            EpsilonMAnonymity(epsilon=epsilon, m=n, relative=relative),
            lambda r, v, n=n, epsilon=epsilon, relative=relative: semantics.epsilon_m(
                r, _numbers(v), epsilon, n, relative
            ),
        )
        for relative, steps in ((False, ("0", "5", "10")), (True, ("1/3", "1/2", "1")))
        for epsilon, n in product(map(Fraction, steps), map(Fraction, ("1", "3/2", "2")))
    ),
    *_grouped(),
]
