"""How far the values given a key are from those of the original; no rate detects this (erratum DR-10)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.metrics.joint_counts import Joint, JointTally

_Weights = NDArray[Any]
"""Integers or floats."""


def skew(found: JointTally, usual: JointTally) -> tuple[Fraction | float, float]:
    """Return the greatest distance and the greatest divergence of any key from the values of the original.

    Distance: half the sum of |p(x|y) - p(x)|, 0..1, a Fraction if weights are integers. Divergence: the
    relative entropy, the sum of p(x|y) log2 (p(x|y) / p(x)), in bits. Both are 0 without keys. Every value in
    ``found`` must be in ``usual``. Both are computed together and cached.
    """
    known = found.metric_cache.get(id(usual))
    if known is None:
        of_some = [_skew(some, usual.values) for some in found.joints()] or [(Fraction(0), 0.0)]
        known = max(distance for distance, _ in of_some), max(divergence for _, divergence in of_some)
        found.metric_cache[id(usual)] = (usual, known)
        return known
    answer: tuple[Fraction | float, float] = known[1]
    return answer


def _skew(found: Joint, before: Mapping[int, float]) -> tuple[Fraction | float, float]:
    """Return both for some of the keys."""
    key, value = found.key, found.value[0]
    whole = found.exact and all(isinstance(weight, int) for weight in before.values())
    kind: type = np.int64 if whole else np.float64
    weight: _Weights = found.weight.astype(kind)
    usual: _Weights = np.zeros(int(value.max()) + 1, kind)
    for own, often in before.items():
        if own < len(usual):
            usual[own] = often
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    sizes = np.add.reduceat(weight, starts)
    total = sum(before.values()) if whole else math.fsum(before.values())
    return (
        _distance(key, weight, usual[value], sizes, total),
        _divergence(key, weight, usual[value], sizes, total),
    )


def _distance(
    key: NDArray[np.int64], weight: _Weights, usual: _Weights, sizes: _Weights, total: float
) -> Fraction | float:
    if weight.dtype.kind == "f":
        above = np.maximum(weight / sizes[key] - usual / total, 0)
        return min(float(np.bincount(key, weights=above).max()), 1.0)
    # Weights of a joint sum to less than 2^31 (or to the number of vertices), so products and sums fit.
    above = np.maximum(weight * int(total) - usual * sizes[key], 0)
    of_key = np.zeros(len(sizes), np.int64)
    np.add.at(of_key, key, above)
    size, at = np.unique(sizes, return_inverse=True)
    most = np.zeros(len(size), np.int64)
    np.maximum.at(most, at.reshape(-1), of_key)
    return max(Fraction(top, own * int(total)) for top, own in zip(most.tolist(), size.tolist(), strict=True))


def _divergence(
    key: NDArray[np.int64], weight: _Weights, usual: _Weights, sizes: _Weights, total: float
) -> float:
    """Compute each distinct term once: most keys have the same few terms."""
    cells = [np.unique(own, return_inverse=True) for own in (sizes[key], weight, usual)]
    number = np.zeros(len(key), np.int64)
    for values, at in cells:
        number = number * len(values) + at.reshape(-1)
    _, first, term = np.unique(number, return_index=True, return_inverse=True)
    triples = zip(*(own[first].tolist() for own in (sizes[key], weight, usual)), strict=True)
    terms = [own / size * math.log2(own * total / (often * size)) for size, own, often in triples]
    gained = np.bincount(key, weights=np.array(terms)[term.reshape(-1)])
    return max(float(gained.max()), 0.0)
