"""Growing a class by looking at everybody: the slow, obvious twin of ``kernels.growth``.

Same arguments, same answers. Pair losses are those of ``kernels.anonytree``, which has a twin of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierdata.engines.alignment.kernels.arrays import WEIGHT, AlignmentArrays, Sides
from hierdata.engines.alignment.kernels.lower_bounds import Histograms, bounds_to, histogram_of
from hierdata.engines.alignment.kernels.representative import ClassBuffers, merge, pair_losses_to
from tests.aligned import align


def begin(
    seed: int, remaining: Any, near: Any, near_bounds: Any, histograms: Histograms, *arrays: Any
) -> tuple[int, int]:
    """The nearest of all who remain, of equals the first ones."""
    losses = np.empty(len(remaining), np.int64)
    pair_losses_to(seed, remaining, losses, *arrays)
    places = [place for place in range(len(remaining)) if remaining[place] != seed]
    places = sorted(places, key=lambda place: (losses[place], place))[: len(near)]
    near[: len(places)] = remaining[places]
    return len(places), len(remaining) - 1


def grow(
    count: int,
    have: int,
    until: int,
    picky: bool,
    near: Any,
    near_bounds: Any,
    near_count: int,
    joined: Any,
    histograms: Histograms,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> tuple[int, int, int]:
    """The cheapest of all who are near joins, of equals the first one; no bound may be above its loss."""
    rep, members, new, new_members, _ = buffers
    settings, work, roots, rows, rules = arrays
    candidates = near[:near_count].tolist()
    lost_at = evaluated = 0
    vector = np.empty(histograms.counts.shape[1], np.uint8)
    bounds = np.empty(near_count, np.int64)
    while have < until:
        losses: list[int] = []
        fitting: list[bool] = []
        for record in candidates:
            if lost_at:
                losses.append(settings.scale * rows[roots[record], WEIGHT])
                fitting.append(False)
            else:
                sides = Sides(have, settings, work, rep, rows, rules)
                loss = align(0, 1, roots[record], 1, True, sides)
                losses.append(int(loss))
                fitting.append(bool(work.mates[0, 0] == 0))
        if not lost_at:
            evaluated += len(candidates)
            if not picky:
                total = histogram_of(rep, count, histograms, vector)
                bounds_to(vector, total, np.array(candidates, np.int64), histograms, bounds)
                assert all(bound <= loss for bound, loss in zip(bounds, losses, strict=False))
        allowed = [at for at in range(len(candidates)) if lost_at or not picky or fitting[at]]
        best = min(allowed, key=lambda at: losses[at], default=None)
        if not lost_at and (best is None or not fitting[best]):
            lost_at = have
            if picky:
                break
        assert best is not None
        record = joined[have] = candidates.pop(best)
        if not lost_at:
            count = merge(record, have, buffers, arrays)
            rep[:count] = new[:count]
            members[:, :count] = new_members[:, :count]
        have += 1
    near[: len(candidates)] = candidates
    return count, lost_at, evaluated
