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
"""Rows in classes that break a share cap, the largest distance, and the distances summed over rows."""


@dataclass(frozen=True)
class Flight:
    """How particles move: the weights of their own direction, their own best place and the swarm's."""

    inertia: float
    cognitive: float
    social: float
    bound: float

    def moved(
        self, keys: Keys, speed: Keys, best: Keys, leader: Keys, draws: tuple[Keys, Keys]
    ) -> tuple[Keys, Keys]:
        """The next keys, within 0..1, and the speed with which they were reached, at most the bound."""
        pulled = (
            self.inertia * speed
            + self.cognitive * draws[0] * (best - keys)
            + self.social * draws[1] * (leader - keys)
        )
        pulled = np.clip(pulled, -self.bound, self.bound)
        return np.clip(keys + pulled, 0.0, 1.0), pulled


def decoded(keys: Keys, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows in the order of their keys, ties by index: cut into the sizes of the classes, a partition."""
    return rows[np.argsort(keys, kind="stable")]


def encoded(members: NDArray[np.int64]) -> Keys:
    """Keys, for the rows in ascending order, that are decoded to these."""
    keys: Keys = (np.argsort(members) + 0.5) / max(1, len(members))
    return keys


def dealt(order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows in an order, one to each class in turn; a class that is full is passed over."""
    sizes = np.diff(starts)
    classes = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.arange(len(order)) - starts[classes]
    members = np.empty_like(order)
    members[np.lexsort((classes, turn))] = order
    return members


def along_the_leaves(arrangement: Arrangement) -> NDArray[np.int64]:
    """The rows by their sensitive values, attribute after attribute, each in the order of its leaves."""
    rows = np.sort(arrangement.classes.members)
    ordered: NDArray[np.int64] = rows[np.lexsort((rows, *arrangement.ground.sets[::-1, rows]))]
    return ordered


def seeds(arrangement: Arrangement) -> tuple[NDArray[np.int64], ...]:
    """The classes as they are, and the rows dealt round robin along their sensitive values."""
    own = arrangement.classes
    return own.members.copy(), dealt(along_the_leaves(arrangement), own.starts)


def swarmed(
    arrangement: Arrangement,
    flight: Flight,
    first: Sequence[NDArray[np.int64]],
    particles: int,
    rounds: int,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> NDArray[np.int64]:
    """The best members that a swarm finds; it ends as soon as all classes are within their bounds.

    Those that are handed over are in the ``first`` swarm, which has no fewer ``particles``: nothing worse is
    found than they are.
    """
    members, starts = arrangement.classes.members, arrangement.classes.starts
    rows = np.sort(members)
    if not len(rows):
        return members

    def score(keys: Keys) -> tuple[Score, bool]:
        broken, largest, total, failing = objective(
            decoded(keys, rows), starts, arrangement.ground, arrangement.caps
        )
        return (broken, largest, total), not broken and not failing

    keys = rng.random((particles, len(rows)))
    for at, own in enumerate(first):
        keys[at] = encoded(own)
    speed = rng.uniform(-flight.bound, flight.bound, keys.shape)
    best = keys.copy()
    scores = [score(own) for own in keys]
    leader = min(range(len(scores)), key=lambda at: scores[at][0])
    for done in range(rounds):
        if scores[leader][1]:
            break
        draws = rng.random(keys.shape), rng.random(keys.shape)
        keys, speed = flight.moved(keys, speed, best, best[leader], draws)
        for at, own in enumerate(keys):
            found = score(own)
            if found[0] < scores[at][0]:
                scores[at], best[at] = found, own
        leader = min(range(len(scores)), key=lambda at: scores[at][0])
        progress(done)
    return decoded(best[leader], rows)
