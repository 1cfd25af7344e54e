"""t-closeness by a particle swarm over random keys (TC section 4.2, erratum TC-5)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Engine, Mended, StepInput
from hierdata.privacy.base import NotNegative, Positive

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Swarm(Engine):
    """Reassign whole records between the classes of the previous step by particle swarm optimization.

    A particle is one number in 0..1 for each record. The records, sorted by these numbers, ties by index, are
    cut into the class sizes; so every particle is a partition. It moves by
    v = inertia v + cognitive r1 (own best - x) + social r2 (swarm's best - x), |v| <= velocity, x = x + v,
    with random numbers r1 and r2 for each record. The default weights keep its path stable; the constants
    that the paper recommends do not (TC-5). The objective, in this order, is the least number of records in
    classes that break a frequency cap of another model, the least largest distance of a class over all
    sensitive attributes, and the least mean distance weighted by size. The first swarm contains the classes
    of the previous step, and the records dealt round robin in the order of their sensitive values, so the
    result is never worse than these. The search ends when all classes are within t, or after ``rounds``.

    A swarm ignores quasi-identifiers, so the classes that it builds are generalized to almost nothing.
    ``swap`` comes nearer to t, loses less and needs less time; this engine is for comparison. Classes that
    are too far in the end are handled as in ``swap``. O(particles x rounds x rows log rows).
    """

    goes_on: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset({"closeness"})

    kind: Literal["swarm"] = "swarm"
    particles: Annotated[int, Field(strict=True, ge=2, le=1000)] = Field(
        default=30, description="size of the swarm"
    )
    rounds: Annotated[int, Field(strict=True, ge=0, le=10_000)] = Field(
        default=100, description="largest number of moves of all particles"
    )
    inertia: NotNegative = Field(default=Fraction("0.729"), description="weight of the last velocity")
    cognitive: NotNegative = Field(
        default=Fraction("1.494"), description="pull to the best place of the particle"
    )
    social: NotNegative = Field(default=Fraction("1.494"), description="pull to the best place of the swarm")
    velocity: Positive = Field(default=Fraction("0.5"), description="bound of a velocity")

    def find_classes(self, given: StepInput) -> Partition:
        """Reassign the records of the classes of the previous step."""
        from hierdata.engines.reassignment.arrangement import Arrangement, initial_classes
        from hierdata.engines.reassignment.descent import publish_classes
        from hierdata.engines.reassignment.swarming import Flight, run_swarm, seeds

        classes = initial_classes(*given.problem, given.previous)
        arrangement = Arrangement.of(*given.problem, classes)
        flight = Flight(*map(float, (self.inertia, self.cognitive, self.social, self.velocity)))
        first = seeds(arrangement)
        members = run_swarm(
            arrangement, flight, first, self.particles, self.rounds, given.rng, given.progress
        )
        arrangement.classes.members[:] = members
        given.progress(len(classes))
        return publish_classes(*given.problem, arrangement.numbers(), given.previous, 0, given.rng)
