"""Section 4.2 of TC: particle swarm optimization, with the constants that it recommends and with ours."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np

from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.descent import Descent
from hierdata.engines.reassignment.engine import Swarm
from hierdata.engines.reassignment.kernel import UNIT, objective
from hierdata.engines.reassignment.swarming import Flight, run_swarm, seeds
from hierdata.forest.forest import Scope
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import prepare
from hierdata.privacy.base import round_value
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid
from hierdata.reproduction.small_data import EncodedRecords, encode_records
from hierdata.reproduction.study import Study
from hierdata.reproduction.tc_tables import facts

_RECORDS, _SIZE = 60, 5
_PARTICLES, _ROUNDS = 30, 100
_BETWEEN = (0.4, 0.6)
"""More values of w in the recommended range."""
_TABLES = 5
"""Random tables for each repeat."""
OURS = Swarm()


def swarm(study: Study) -> Exhibit:
    """Equations 6 and 7: whether particles stay, and how near classes of five come."""
    low, high = map(float, facts()["swarm"]["inertia"])
    pull = float(facts()["swarm"]["pull"])
    recommended = [(inertia, pull) for inertia in (low, *_BETWEEN, high)]
    constants = [*recommended, (float(OURS.inertia), float(OURS.cognitive))]
    tables = range(study.effort.repeats * _TABLES)
    arguments = [
        {"table": table, "inertia": inertia, "pull": pull, "seeded": seeded}
        for inertia, pull in constants
        for seeded in (False, True)
        for table in tables
    ]
    distances = iter(study.measure(swarm_distance, arguments))
    reached = {pair: [fmean(next(distances) for _ in tables) for _ in range(2)] for pair in constants}
    swaps = fmean(study.measure(swap_distance, [{"table": table} for table in tables]))
    rows: list[tuple[Cell, ...]] = [
        (f"w = {inertia:g}, c1 = c2 = {pull:g}", second_moment(inertia, pull), *reached[inertia, pull])
        for inertia, pull in constants
    ]
    unstable = sum(second_moment(*pair) >= 1 for pair in recommended)
    moves = "grows" if second_moment(*constants[-1]) >= 1 else "shrinks"
    nearest = min(least for _, least in reached.values())
    return Exhibit(
        "Equations 6 and 7",
        f"swarms on {_RECORDS} records in classes of {_SIZE}: how near the worst class comes",
        "A particle's velocity and position, with w between 0.3 and 0.9 and c1 = c2 = 2. What a particle is, "
        "what is minimized and when it ends is not said, and no figure is printed.",
        ours=Grid(
            ("constants", "growth of squares a step", "largest distance", "with a dealt table at the start"),
            (*rows, ("swaps instead", None, swaps, None)),
        ),
        differs=f"With {unstable} of {len(recommended)} constants as recommended a particle's expected "
        f"square grows, with ours it {moves}. The nearest swarm comes to {round_value(nearest)}, swaps to "
        f"{round_value(swaps)}.",
        errata=("TC-5",),
    )


def second_moment(inertia: float, pull: float) -> float:
    """Return the factor by which the expected square of a free particle's position grows in the long run."""
    mean, square = 1 + inertia - pull, (1 + inertia - pull) ** 2 + pull**2 / 6
    step = np.array([[square, -2 * inertia * mean, inertia**2], [mean, -inertia, 0], [1, 0, 0]])
    return float(np.abs(np.linalg.eigvals(step)).max())


def swarm_distance(table: int, inertia: float, pull: float, seeded: bool) -> float:
    """Return the largest distance of a class that a swarm reaches on a random table."""
    _, made = _random_table(table)
    flight = Flight(inertia, pull, pull, float(OURS.velocity))
    first: Sequence[Any] = seeds(made) if seeded else ()
    rng = np.random.default_rng(table)
    return _largest(made, run_swarm(made, flight, first, _PARTICLES, _ROUNDS, rng, _ignore))


def swap_distance(table: int) -> float:
    """Return the largest distance of a class that swaps reach, asked for a little less each time."""
    data, made = _random_table(table)
    least = _largest(made, made.classes.members)
    while least > 0:
        asked = from_data(_policy(str(Fraction(round(least * 10**6) - 2, 10**6))))
        constraints = prepare(asked, data.prepared.survey).constraints
        made = Arrangement.of(data.forest, Scope.of(data.forest), constraints, made.numbers())
        Descent(made, 10**6).towards_closeness(_ignore)
        distance = _largest(made, made.classes.members)
        if distance >= least:
            break
        least = distance
    return least


def _policy(t: str) -> dict[str, Any]:
    fields = {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}
    return {"version": 1, "models": [{"kind": "t-closeness", "t": t}], "fields": fields}


def _random_table(seed: int) -> tuple[EncodedRecords, Arrangement]:
    """Draw records with six values, skewed, in classes as they come."""
    rng = random.Random(seed)  # noqa: S311
    rows = [{"q": 1, "s": f"v{min(rng.randrange(6), rng.randrange(6))}"} for _ in range(_RECORDS)]
    data = encode_records(rows, from_data(_policy("0")))
    classes = np.repeat(np.arange(_RECORDS // _SIZE), _SIZE)
    return data, Arrangement.of(data.forest, Scope.of(data.forest), data.prepared.constraints, classes)


def _largest(made: Arrangement, members: Any) -> float:
    return float(objective(members, made.classes.starts, made.closeness, made.caps)[1] / UNIT)


def _ignore(done: int) -> None:
    """Nobody watches a point."""
