"""The nested sets of values that models with a closeness compare."""

from __future__ import annotations

from hierdata.privacy.base import Closeness


def weighted_sets(one: Closeness) -> tuple[int, ...]:
    """Return the sets with a weight, which add to the distance."""
    return tuple(own for own, weight in enumerate(one.weight) if weight)


def paths(one: Closeness) -> tuple[tuple[int, ...], ...]:
    """Return, by code, the positions in ``weighted_sets`` of the sets that hold it, the smallest first."""
    position = {own: at for at, own in enumerate(weighted_sets(one))}
    found = []
    for own in one.set_of:
        path: list[int] = []
        while own >= 0:
            path += [position[own]] if own in position else []
            own = one.parent[own]
        found.append(tuple(path))
    return tuple(found)
