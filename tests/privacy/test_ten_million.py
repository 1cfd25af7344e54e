"""Decisions about tens of millions of values, at thresholds that no float can tell from their neighbours."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines.alignment.alignment import pack_caps
from hierdata.engines.rows.constraints import RowCaps, pack_row_caps
from hierdata.engines.rows.kernel import keeps_caps
from hierdata.judge import JudgeRules, SensitiveRule, judge_counted
from hierdata.privacy import MODELS
from hierdata.privacy.base import ClassView, FrequencyCaps
from tests import naive_distributions as naive

MANY = 10_000_000
PRIMES = (10**9 + 7, 10**18 + 9)
"""Denominators of the thresholds. A step of the second one is lost in any float."""
DIGITS = 150
VALUES = (0, 1, 2, 3)
Counts = Sequence[int]


def classes(seed: int) -> Iterator[tuple[Counts, Counts]]:
    """Counts in a class and in the original collection; some as near to each other as counts can be."""
    rng = random.Random(seed)
    for _ in range(12):
        counts = [rng.randint(MANY, 3 * MANY) for _ in VALUES]
        yield counts, [count + rng.randint(0, 3 * MANY) for count in counts]
        yield [MANY + rng.randint(0, 1) for _ in VALUES], [2 * MANY + rng.randint(0, 1) for _ in VALUES]


def around(figure: Fraction) -> Iterator[Fraction]:
    """The figure itself, and fractions just below and above it."""
    yield figure
    for prime in PRIMES:
        below = Fraction(figure.numerator * prime // figure.denominator, prime)
        yield from (below, below + Fraction(1, prime))


def shares(counts: Counts) -> dict[int, Fraction]:
    return {value: Fraction(count, sum(counts)) for value, count in zip(VALUES, counts, strict=True)}


def gains(counts: Counts, reference: Counts) -> list[Fraction]:
    before = shares(reference)
    return [share / before[value] for value, share in shares(counts).items()]


def fullest(counts: Counts) -> Fraction:
    """The largest share of a value with its neighbours."""
    windows = [counts[max(0, at - 1) : at + 2] for at in VALUES]
    return Fraction(max(map(sum, windows)), sum(counts))


def rest(counts: Counts) -> Fraction:
    return Fraction(max(counts), sum(sorted(counts)[:-1]))


# By kind: its parameters but one, that one, the exact figure, and whether a parameter is promised by it.
Case = tuple[str, dict[str, Any], str, Callable[[Counts, Counts], Fraction], Callable[[Any, Any], bool]]
CASES: list[Case] = [
    (
        "frequency-l-diversity",
        {},
        "l",
        lambda own, _: 1 / max(shares(own).values()),
        lambda least, v: least <= v,
    ),
    ("alpha-k", {"k": 2}, "alpha", lambda own, _: max(shares(own).values()), lambda a, v: v <= a),
    ("recursive-cl-diversity", {"l": 2}, "c", lambda own, _: rest(own), lambda c, v: v < c),
    (
        "delta-l-diversity",
        {"delta": "1/2"},
        "l",
        lambda own, _: 1 / fullest(own),
        lambda least, v: least <= v,
    ),
    ("epsilon-m-anonymity", {"epsilon": 1}, "m", lambda own, _: 1 / fullest(own), lambda m, v: m <= v),
    (
        "t-closeness",
        {"distance": "equal"},
        "t",
        lambda own, all_: naive.equal(shares(own), shares(all_)),
        lambda t, v: v <= t,
    ),
    (
        *("t-closeness", {"distance": "ordered"}, "t"),
        lambda own, all_: naive.ordered(shares(own), shares(all_), VALUES),
        lambda t, v: v <= t,
    ),
    ("basic-beta-likeness", {}, "beta", lambda own, all_: max(gains(own, all_)) - 1, lambda b, v: v <= b),
]


def domain(reference: Counts | None = None, levels: tuple[int, ...] | None = None) -> SensitiveDomain:
    whole = None if reference is None else tuple(reference)
    return SensitiveDomain("$.a", VALUES, levels, number=True, reference=whole)


def held(kind: str, parameters: Mapping[str, Any], counts: Counts, reference: Counts | None = None) -> bool:
    stated = {
        name: str(value) if isinstance(value, Fraction) else value for name, value in parameters.items()
    }
    view = ClassView(sum(counts), dict(zip(VALUES, counts, strict=True)))
    return MODELS[kind](**stated).bind(domain(reference)).holds(view)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "parameters", "letter", "figure", "promised"), CASES)
def test_rational_thresholds(
    kind: str,
    parameters: dict[str, Any],
    letter: str,
    figure: Callable[[Counts, Counts], Fraction],
    promised: Callable[[Fraction, Fraction], bool],
) -> None:
    answers = set()
    for counts, reference in classes(3):
        exact = figure(counts, reference)
        for stated in around(exact):
            expected = promised(stated, exact)
            assert held(kind, {**parameters, letter: stated}, counts, reference) == expected
            answers.add(expected)
    assert answers == {True, False}


def test_levels_are_summed_exactly() -> None:
    for counts, _ in classes(4):
        exact = Fraction(max(counts[1] + counts[2], counts[3]), sum(counts))
        for alpha in around(exact):
            model = MODELS["level-alpha-k"](k=2, alpha=["1", *[str(alpha)] * 4])
            view = ClassView(sum(counts), dict(zip(VALUES, counts, strict=True)))
            assert model.bind(domain(levels=(1, 2, 2, 5))).holds(view) == (exact <= alpha)


def test_presence_in_a_population() -> None:
    for (records, others, _, _), _ in classes(5):
        population = records + others
        exact = Fraction(records, population)
        for share in around(exact):
            most = MODELS["delta-presence"](delta_max=str(share)).bind(None)
            assert most.holds(ClassView(records, {}, population)) == (exact <= share)


def irrational(kind: str, counts: Counts, reference: Counts) -> Decimal:
    """exp of the entropy; the least beta or delta, in many digits."""

    def logarithm(share: Fraction) -> Decimal:
        return Decimal(share.numerator).ln() - Decimal(share.denominator).ln()

    if kind == "entropy-l-diversity":
        return (-sum(logarithm(q) * q.numerator / q.denominator for q in shares(counts).values())).exp()
    return max(abs(logarithm(gain)) for gain in gains(counts, reference))


@pytest.mark.parametrize(("kind", "letter"), [("entropy-l-diversity", "l"), ("delta-disclosure", "delta")])
def test_irrational_figures_are_decided_to_the_last_digit(kind: str, letter: str) -> None:
    for counts, reference in classes(6):
        with localcontext(prec=DIGITS):
            exact = Fraction(irrational(kind, counts, reference))
        nearest = exact.limit_denominator(PRIMES[1])  # off by about 10^-36
        for stated in (nearest, *(own for own in around(exact) if 0 < own != exact)):
            equal = abs(stated - exact) < Fraction(1, 10**100)  # equally frequent values: l is their number
            expected = equal or (stated < exact) == (letter == "l")
            assert held(kind, {letter: stated}, counts, reference) == expected


def test_enhanced_beta_likeness_refuses_at_minus_ln_p() -> None:
    """The count that -ln p just allows holds under any beta, one more does not."""
    reference = (6 * MANY, 2 * MANY + 1, MANY, MANY + 3)
    total, present = sum(reference), 4 * MANY + 7
    with localcontext(prec=DIGITS):
        share = Decimal(reference[0]) / total
        most = int((1 - share.ln()) * share * present)
    for count, expected in ((most, True), (most + 1, False)):
        others = [(present - count) * own // (total - reference[0]) for own in reference[1:]]
        counts = [count, *others[:-1], present - count - sum(others[:-1])]
        assert held("enhanced-beta-likeness", {"beta": 10**6}, counts, reference) == expected


@pytest.mark.full
def test_the_compiled_caps_agree_with_fractions() -> None:
    """Two groups among ten million rows; denominators up to the largest that 64 bits have room for."""
    rows = MANY + 11
    groups = np.zeros(rows, np.int32)
    order = np.arange(rows)
    largest = (2**62 - 1) // rows
    for few in (1, rows // 3, rows // 2):
        groups[:] = 0
        groups[:few] = 1
        exact = Fraction(max(few, rows - few), rows)
        for bottom in (PRIMES[0], largest):
            below = exact.numerator * bottom // exact.denominator
            for share in (exact, Fraction(below, bottom), Fraction(min(below + 1, bottom), bottom)):
                own = RowCaps(groups, FrequencyCaps((0, 1), (share, Fraction(1))))
                assert own.fits()
                kept = keeps_caps(0, rows, order, pack_row_caps([own], rows))
                assert kept == (Fraction(rows - few, rows) <= share)
    assert not RowCaps(groups, FrequencyCaps((0,), (Fraction(1, largest + 1),))).fits()


def test_caps_by_class_size_are_cut_off_exactly() -> None:
    for size in (MANY, MANY + 1, 7 * MANY + 3):
        for share in (own for count in (1, size // 3, size) for own in around(Fraction(count, size))):
            caps = [[(0, 0, FrequencyCaps((0,), (share,)))]]
            ((most, *_),) = pack_caps(caps, size).tolist()
            assert most <= size * share < most + 1


def test_the_judge_counts_and_decides_exactly() -> None:
    counts = (2 * MANY + 1, MANY, MANY)
    exact = Fraction(sum(counts), counts[0])
    thresholds = sorted({one for one in around(exact) if one >= 1})
    verdicts = []
    for least in thresholds:
        model = MODELS["frequency-l-diversity"](l=str(least))
        rules = JudgeRules((SensitiveRule(("a",), "$.a"),), ((model, None),))
        lines = [({"q": "*", "a": value}, count) for value, count in zip("xyz", counts, strict=True)]
        verdicts.append(judge_counted(lines, rules).passed)
        assert verdicts[-1] == (least <= exact)
    assert sum(before != after for before, after in pairwise(verdicts)) == 1
