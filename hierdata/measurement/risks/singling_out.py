"""Singling out: predicates that match one published record, and so perhaps one person."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.facts import COMPARE, Ints, PublishedFact
from hierdata.measurement.risks.rates import MeasuredRisk

Floats: TypeAlias = NDArray[np.float64]
_TRIES = 10
"""Predicates that are tried for each attack that is asked for."""
_REPEATS, _SIZES = 5, 10
_WEIGHTS = np.logspace(-8, 0, 2001)

BY_QUASI = "quasi-identifiers"
BY_EVERYTHING = "everything published"
BY_STRINGS = "everything published, as strings"


def measure_singling_out(
    evidence: Evidence, facts: int, attacks: int, rng: np.random.Generator
) -> list[MeasuredRisk]:
    """Single persons out by ``facts`` published facts of one record (Giomi 2023, section 4.1).

    A predicate is made of facts of a published record that no other published record has; it is right if it
    matches one record of the input. Three ways: by quasi-identifiers alone, by everything published, and by
    this as ``anonymeter`` reads it: labels are strings, which match only values that are published as they
    are, numbers are compared by size, away from the median, and equal rows of a table count once. Chance:
    facts with random labels. Attacks are as many as asked for, at most one for each published record; where
    fewer predicates match one published record, the others make no guess.
    ``n_control`` is corrected for the size of the control.
    """
    every = tuple(range(len(evidence.attributes)))
    risks = []
    for by, attributes in ((BY_QUASI, evidence.quasi), (BY_EVERYTHING, every), (BY_STRINGS, every)):
        as_strings = by == BY_STRINGS
        read = evidence.without_equal if as_strings else evidence
        most = min(attacks, read.counts[0])
        predicates = draw_predicates(read, attributes, facts, most, rng, as_strings)
        chance = draw_at_random(read, attributes, facts, most, rng)
        risks.append(_evaluate(read, predicates, chance, facts, by, as_strings))
    return risks


def draw_predicates(
    evidence: Evidence,
    attributes: Sequence[int],
    facts: int,
    attacks: int,
    rng: np.random.Generator,
    by_size: bool = False,
) -> list[tuple[PublishedFact, ...]]:
    """Draw up to ``attacks`` predicates that match one published record each, from facts that it shows.

    Of single facts all are listed: labels that one record alone has, and ``by_size`` the extreme numbers.
    """
    if facts == 1:
        listed = _list_single(evidence, attributes, by_size)
        return [(listed[number],) for number in rng.permutation(len(listed))[:attacks].tolist()]
    targets = np.arange(evidence.counts[0])
    if set(attributes) <= set(evidence.quasi):
        # A predicate that one of several records of a form satisfies matches them all.
        targets = targets[evidence.alike == 1]
    single: dict[tuple[PublishedFact, ...], None] = {}
    tried: set[tuple[PublishedFact, ...]] = set()
    if not len(targets):
        return []
    for record in rng.choice(targets, _TRIES * attacks).tolist():
        if len(single) == attacks:
            break
        shown = evidence.list_labels(record, attributes)
        if len(shown) < facts:
            continue
        drawn = (shown[number] for number in rng.permutation(len(shown))[:facts].tolist())
        facts_drawn = (evidence.find_fact(attribute, label, by_size) for attribute, label in drawn)
        predicate = tuple(sorted(facts_drawn))
        if predicate not in tried:
            tried.add(predicate)
            if evidence.is_single_published(predicate):
                single[predicate] = None
    return [*single]


def _list_single(evidence: Evidence, attributes: Sequence[int], by_size: bool) -> list[PublishedFact]:
    """List the facts that match one published record (Giomi 2023, section 4.1: univariate predicates)."""
    rare_labels = {attribute: evidence.published[attribute].list_rare() for attribute in attributes}
    facts = [
        PublishedFact(attribute, "=", label) for attribute, rare in rare_labels.items() for label in rare
    ]
    for attribute, rare in rare_labels.items() if by_size else ():
        known, counts = evidence.labels[attribute], evidence.published[attribute].counts
        if known.is_ordered:
            numbers = known.numbers[: len(counts)]
            shown = np.flatnonzero((counts > 0) & ~np.isnan(numbers))
            ends = ("<=", int(shown[numbers[shown].argmin()])), (">=", int(shown[numbers[shown].argmax()]))
            facts += [PublishedFact(attribute, sign, label) for sign, label in ends if label in rare]
    return facts


def draw_at_random(
    evidence: Evidence, attributes: Sequence[int], facts: int, attacks: int, rng: np.random.Generator
) -> list[tuple[PublishedFact, ...]]:
    """Draw predicates by chance: attributes, published labels, and how a value compares with them."""
    labels = {attribute: np.flatnonzero(evidence.published[attribute].counts) for attribute in attributes}
    usable = [attribute for attribute, shown in labels.items() if len(shown)]
    predicates = []
    for _ in range(attacks if usable else 0):
        repeats = facts > len(usable)
        drawn = rng.choice(usable, facts, replace=repeats).tolist()
        predicate = []
        for attribute in drawn:
            label = int(rng.choice(labels[attribute]))
            known = evidence.labels[attribute]
            signs = ("=", "!=", *COMPARE) if known.sign_of(label) != "=" else ("=", "!=")
            predicate.append(PublishedFact(attribute, signs[int(rng.integers(len(signs)))], label))
        predicates.append(tuple(sorted(predicate)))
    return predicates


def _evaluate(
    evidence: Evidence,
    predicates: Sequence[tuple[PublishedFact, ...]],
    chance: Sequence[tuple[PublishedFact, ...]],
    facts: int,
    by: str,
    as_strings: bool,
) -> MeasuredRisk:
    def count(drawn: Sequence[tuple[PublishedFact, ...]]) -> int:
        return sum(evidence.is_single_true(predicate, as_strings) for predicate in drawn)

    attacks, controlled, n_control = len(chance), evidence.control is not None, None
    if evidence.control is not None:
        matched = [evidence.find_controls(predicate, as_strings) for predicate in predicates]
        single = sum(len(records) == 1 for records in matched)
        _, size, own_size = evidence.counts
        n_control = min(single * correct_for_size(matched, own_size, size), float(attacks))
    return MeasuredRisk(
        "singling_out",
        by,
        facts,
        attacks,
        count(predicates),
        count(chance),
        n_control,
        attacks if controlled else 0,
        n_refused=attacks - len(predicates),
    )


def correct_for_size(matched: Sequence[Ints], size: int, wanted: int) -> float:
    """Return by how much more predicates would single out among ``wanted`` records than among ``size``.

    Success is counted in samples of the records and fitted by w and a factor of the integral of
    n w (1 - w)^(n - 1), the chance that a predicate of weight w matches one of n records (Giomi 2023, 4.1).
    ``anonymeter`` 1.1 counts all predicates as successes there, so that its factor is always size / wanted.
    """
    if size == wanted or not any(len(records) for records in matched):
        return 1.0
    rng = np.random.default_rng(0)
    sizes = np.linspace(size // _SIZES, size, _SIZES).astype(np.int64)
    successes = np.zeros(len(sizes))
    there = [records for records in matched if len(records)]
    for _ in range(_REPEATS):
        rank = rng.permutation(size)
        for records in there:
            least = np.sort(rank[records]) if len(records) < 3 else np.partition(rank[records], 1)
            second = least[1] if len(records) > 1 else size
            successes += (least[0] < sizes) & (second >= sizes)
    if not successes.any():
        return 1.0
    model = _integrate(sizes[:, None], _WEIGHTS)
    factor = (successes / _REPEATS) @ model / (model**2).sum(axis=0)
    best = int(((successes[:, None] / _REPEATS - factor * model) ** 2).sum(axis=0).argmin())
    more, before = (float(_integrate(np.array(count), float(_WEIGHTS[best]))) for count in (wanted, size))
    return more / before


def _integrate(n: Ints, w: Floats | float) -> Floats:
    """Integrate the chance that a predicate of weight 0 to w matches one of n records."""
    integral: Floats = (1 - (n * w + 1) * np.power(1.0 - w, n)) / (n + 1.0)
    return integral


def isolate_in_class(size: int) -> Fraction:
    """Return the chance (1 - 1/c)^(c - 1) that a predicate of weight 1/c isolates one of a class of c.

    It is what a reader of k-anonymous data achieves who knows nothing (Cohen and Nissim 2020, section 4).

    >>> float(isolate_in_class(2)), isolate_in_class(1)
    (0.5, Fraction(1, 1))
    """
    return (1 - Fraction(1, size)) ** (size - 1)
