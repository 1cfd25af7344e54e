"""Pack models with a closeness for compiled code."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.closeness import BITS, FOREIGN_SET, ClosenessChecks
from hierdata.engines.nested_sets import paths, weighted_sets
from hierdata.forest.forest import MISSING, Forest
from hierdata.privacy.base import FOREIGN, Closeness, Constraint

AskedModels: TypeAlias = "dict[int, list[tuple[int, tuple[Constraint, ...]]]]"
"""By vertex type the positions of the sensitive attributes that are asked about, each with its models."""

_LARGEST = 2**62
_MOST_PLACES = 2**18
"""A check whose table of paths would have more places is left to the models."""

_Check: TypeAlias = "tuple[int, int, Closeness]"
"""Vertex type, position of the sensitive attribute, and the closeness asked there."""


def pack_checks(forest: Forest, asked: AskedModels) -> tuple[ClosenessChecks, AskedModels]:
    """Pack the models with a closeness; also return the other models."""
    checks: list[_Check] = []
    others: AskedModels = {}
    for kind, attributes in sorted(asked.items()):
        for position, constraints in attributes:
            found = [one.closeness for one in constraints]
            packed = [one is not None and _is_packable(one, forest.record_count) for one in found]
            checks += [
                (kind, position, one)
                for one, is_packed in zip(found, packed, strict=True)
                if one is not None and is_packed
            ]
            left = tuple(one for one, is_packed in zip(constraints, packed, strict=True) if not is_packed)
            if left:
                others.setdefault(kind, []).append((position, left))
    return _pack(forest, checks), others


def _is_packable(one: Closeness, records: int) -> bool:
    """Return whether the sums of a check fit into 64 bits, and its paths into a small table."""
    depth = max(map(len, paths(one)), default=0)
    most = max(sum(one.weight), one.scale) * one.total * (records + 1)
    fractions = max(one.bound.numerator, one.bound.denominator)
    return most * fractions < _LARGEST and len(one.set_of) * depth <= _MOST_PLACES


def _pack(forest: Forest, checks: list[_Check]) -> ClosenessChecks:
    types = len(forest.schema.types)
    kinds = np.array([kind for kind, _, _ in checks], np.int64)
    first_check = np.searchsorted(kinds, np.arange(types + 1))
    held = [paths(one) for _, _, one in checks]
    sets = [weighted_sets(one) for _, _, one in checks]
    counts = np.array([len(own) + 1 for own in held], np.int64)
    first_set = [*accumulate(map(len, sets), initial=0)]
    depth = max((len(path) for own in held for path in own), default=0) + 1
    packed = np.full((len(checks), int(counts.max(initial=0)), depth), -1, np.int32)
    width = int(np.diff(first_check).max(initial=0))
    values = np.zeros((forest.vertex_count, width), np.int32)
    first_value = np.zeros(len(checks), np.int64)
    for at, (kind, position, one) in enumerate(checks):
        for code, path in enumerate(held[at]):
            packed[at, code, : len(path)] = np.array(path, np.int64) + first_set[at]
            if one.set_of[code] == FOREIGN:
                packed[at, code, 0] = FOREIGN_SET
        first_value[at] = counts[first_check[kind] : at].sum()
        vertices = np.flatnonzero(forest.type == kind)
        codes = forest.sensitive[forest.first_sensitive[vertices] + position]
        values[vertices, at - first_check[kind]] = np.where(codes == MISSING, len(held[at]), codes)
    most = max((int(counts[kinds == kind].sum()) for kind in kinds), default=0)
    return ClosenessChecks(
        words=-(-most // BITS),
        first_check=first_check,
        first_value=first_value,
        paths=packed,
        counts=counts,
        first_set=np.array(first_set, np.int64),
        weight=_numbers(one.weight[own] for (_, _, one), of in zip(checks, sets, strict=True) for own in of),
        expected=_numbers(
            one.expected[own] for (_, _, one), of in zip(checks, sets, strict=True) for own in of
        ),
        total=_numbers(one.total for _, _, one in checks),
        limit=_numbers(one.bound.numerator * one.scale * one.total for _, _, one in checks),
        bottom=_numbers(one.bound.denominator for _, _, one in checks),
        values=values,
        held=np.zeros(first_set[-1], np.int64),
    )


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)
