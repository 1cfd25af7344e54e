"""Downcoding: guess the finer value behind a generalized one, from the release alone (Cohen 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.facts import Ints
from hierdata.measurement.risks.rates import MeasuredRisk

BY_RELEASE = "the release alone"


def measure_downcoding(
    evidence: Evidence, true: Sequence[Ints | None], attacks: int, draw: int
) -> MeasuredRisk:
    """Guess the finest form of published generalized values (Cohen, Attacks on Deidentification, 2022).

    The guess is the finest label below the published one that the release shows most often for the
    attribute. ``true`` has by attribute the code behind each published value, None for those that are not
    generalized. Against the control: values of the control that the same label would hide. Chance: any of
    the values below the label, all equally likely.
    """
    rng = np.random.default_rng([draw, 4])
    generalized = [_list_generalized(evidence, attribute, codes) for attribute, codes in enumerate(true)]
    sizes = np.array(list(map(len, generalized)), np.int64)
    drawn = rng.permutation(int(sizes.sum()))[:attacks]
    which = np.searchsorted(np.cumsum(sizes), drawn, side="right")
    right = chance = controlled = asked = 0
    numbers = drawn - (np.cumsum(sizes) - sizes)[which]
    for attribute, number in zip(which.tolist(), numbers.tolist(), strict=True):
        vertex, codes = int(generalized[attribute][number]), true[attribute]
        assert codes is not None
        label = int(evidence.published[attribute].labels[vertex])
        guess, below = guess_finer(evidence, attribute, label)
        right += guess == int(codes[vertex])
        chance += int(rng.choice(below)) == int(codes[vertex])
        if evidence.control is not None:
            there = evidence.control[attribute].counts
            weights = np.zeros(len(below))
            inside = below < len(there)
            weights[inside] = there[below[inside]]
            if weights.any():
                asked += 1
                controlled += int(rng.choice(below, p=weights / weights.sum())) == guess
    control = None if evidence.control is None else float(controlled)
    return MeasuredRisk("downcoding", BY_RELEASE, 0, len(drawn), int(right), int(chance), control, asked)


def _list_generalized(evidence: Evidence, attribute: int, codes: Ints | None) -> Ints:
    """List the published values that are not in their finest form."""
    known = evidence.labels[attribute]
    if codes is None or known.tree is None:
        return np.zeros(0, np.int64)
    labels = evidence.published[attribute].labels
    generalized = (codes >= 0) & (known.first[np.maximum(codes, 0)] != labels)
    return np.flatnonzero(generalized)


def guess_finer(evidence: Evidence, attribute: int, label: int) -> tuple[int, Ints]:
    """Return the finest label below one that is published most often, the first of several; and all."""
    known = evidence.labels[attribute]
    below = known.list_covered("=", label)
    tree = known.tree
    assert tree is not None
    finest = below[known.is_finest[below]]
    finest = finest if len(finest) else below
    counts = evidence.published[attribute].counts
    shown = np.zeros(len(finest), np.int64)
    first = known.first[finest]
    inside = first < len(counts)
    shown[inside] = counts[first[inside]]
    return int(finest[int(shown.argmax())]), finest
