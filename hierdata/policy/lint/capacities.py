"""How many values of each level a class may hold, by its size; shown by lint (erratum ML-6)."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.policy.policy import Policy

_MOST = 12
"""Limit on the rows of a table."""


@dataclass(frozen=True)
class Capacities:
    """For classes of each size, the most values of each level, from level 1 upwards: floor(size * alpha)."""

    sizes: tuple[int, ...]
    by_level: tuple[tuple[int, ...], ...]


def capacities(policy: Policy, least: int) -> dict[str, Capacities]:
    """Return a table for each sensitive attribute whose levels a model limits, by its path.

    Sizes run from ``least``, the smallest class that all models allow, to the size at which every level with
    a positive alpha has room, or to twice ``least`` if that is larger; a table has at most 12 rows. If
    several models limit an attribute, the strictest counts.
    """
    tables = {}
    for keys in policy.sensitive:
        models = [
            model
            for model, scope in policy.scoped_models
            if model.smallest_sizes() and (scope is None or keys in scope)
        ]
        if not models:
            continue
        roomy = max(size or 1 for model in models for size in model.smallest_sizes())
        sizes = tuple(range(least, min(max(2 * least, roomy), least + _MOST - 1) + 1))
        rows = tuple(
            tuple(map(min, zip(*(model.capacities(size) for model in models), strict=True))) for size in sizes
        )
        tables[str(policy.rules_by_keys[keys][0])] = Capacities(sizes, rows)
    return tables
