"""Particle swarm optimization over random keys (TC section 4.2 with erratum TC-5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.kernel import objective

Keys: TypeAlias = NDArray[np.float64]
Score: TypeAlias = tuple[int, int, int]
"""Rows in classes that break a frequency cap, the largest distance, and the distances summed over rows."""


@dataclass(frozen=True)
class Flight:
    """The motion of particles: the weights of the last velocity and of the two best places, and the bound."""

    inertia: float
    cognitive: float
    social: float
    bound: float

    def move_keys(
        self, keys: Keys, speed: Keys, best: Keys, leader: Keys, draws: tuple[Keys, Keys]
    ) -> tuple[Keys, Keys]:
        """Return the next keys, within 0..1, and the next velocity, at most the bound."""
        pulled = (
            self.inertia * speed
            + self.cognitive * draws[0] * (best - keys)
            + self.social * draws[1] * (leader - keys)
        )
        pulled = np.clip(pulled, -self.bound, self.bound)
        return np.clip(keys + pulled, 0.0, 1.0), pulled


def decode_keys(keys: Keys, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort the rows by their keys, ties by index; cut into the class sizes, this is a partition."""
    return rows[np.argsort(keys, kind="stable")]


def encode_members(members: NDArray[np.int64]) -> Keys:
    """Return keys, for the rows in ascending order, that decode to these members."""
    keys: Keys = (np.argsort(members) + 0.5) / max(1, len(members))
    return keys


def deal_rows(order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Deal rows in order, one to each class in turn; full classes are skipped."""
    sizes = np.diff(starts)
    classes = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.arange(len(order)) - starts[classes]
    members = np.empty_like(order)
    members[np.lexsort((classes, turn))] = order
    return members


def along_the_leaves(arrangement: Arrangement) -> NDArray[np.int64]:
    """Sort the rows by their sensitive values, attribute after attribute, each in the order of its leaves."""
    rows = np.sort(arrangement.classes.members)
    ordered: NDArray[np.int64] = rows[np.lexsort((rows, *arrangement.closeness.sets[::-1, rows]))]
    return ordered


def seeds(arrangement: Arrangement) -> tuple[NDArray[np.int64], ...]:
    """Return two starting points: the given classes, and the rows dealt in the order of sensitive values."""
    classes = arrangement.classes
    return classes.members.copy(), deal_rows(along_the_leaves(arrangement), classes.starts)


def run_swarm(
    arrangement: Arrangement,
    flight: Flight,
    first: Sequence[NDArray[np.int64]],
    particles: int,
    rounds: int,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> NDArray[np.int64]:
    """Return the best members that a swarm finds; it ends as soon as all classes are within their bounds.

    The first swarm contains the members in ``first``, of which there must be at most ``particles``; so the
    result is never worse than these.
    """
    members, starts = arrangement.classes.members, arrangement.classes.starts
    rows = np.sort(members)
    if not len(rows):
        return members

    def score(keys: Keys) -> tuple[Score, bool]:
        broken, largest, total, failing = objective(
            decode_keys(keys, rows), starts, arrangement.closeness, arrangement.caps
        )
        return (broken, largest, total), not broken and not failing

    keys = rng.random((particles, len(rows)))
    for particle, start in enumerate(first):
        keys[particle] = encode_members(start)
    speed = rng.uniform(-flight.bound, flight.bound, keys.shape)
    best = keys.copy()
    scores = [*map(score, keys)]
    leader = min(range(len(scores)), key=lambda particle: scores[particle][0])
    for done in range(rounds):
        if scores[leader][1]:
            break
        draws = rng.random(keys.shape), rng.random(keys.shape)
        keys, speed = flight.move_keys(keys, speed, best, best[leader], draws)
        for particle, scored in enumerate(map(score, keys)):
            if scored[0] < scores[particle][0]:
                scores[particle], best[particle] = scored, keys[particle]
        leader = min(range(len(scores)), key=lambda particle: scores[particle][0])
        progress(done)
    return decode_keys(best[leader], rows)
