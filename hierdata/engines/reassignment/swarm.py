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
    """Reassign whole records between the classes of the step before by particle swarm optimization.

    A particle is one number in 0..1 for each record. Sorted by it, ties by index, the records are cut into
    the sizes of the classes; so every particle is a partition. It moves by
    v = inertia v + cognitive r1 (own best - x) + social r2 (swarm's best - x), |v| <= velocity, x = x + v,
    with random numbers r1 and r2 for each record. The defaults keep its path stable; the constants that the
    paper recommends do not (TC-5). Least is best: the largest distance of a class over all sensitive
    attributes, then the mean weighted by size. Records in classes that break a share cap of another model
    count before both. The classes of the step before, and the records dealt round robin in the order of
    their sensitive values, are in the first swarm, so that nothing worse is found. It ends when all classes
    are within t, or after ``rounds``.

    A swarm looks at no quasi-identifier: classes that it made anew generalize to almost nothing. ``swap``
    comes nearer to t, loses less and needs less time; this engine is here to compare. What is too far in the
    end is treated as by ``swap``. O(particles x rounds x rows log rows).
    """

    goes_on: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset({"closeness"})

    kind: Literal["swarm"] = "swarm"
    particles: Annotated[int, Field(strict=True, ge=2)] = Field(default=30, description="size of the swarm")
    rounds: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=100, description="how often all particles move, at most"
    )
    inertia: NotNegative = Field(default=Fraction("0.729"), description="weight of the last velocity")
    cognitive: NotNegative = Field(
        default=Fraction("1.494"), description="pull to the best place of the particle"
    )
    social: NotNegative = Field(default=Fraction("1.494"), description="pull to the best place of the swarm")
    velocity: Positive = Field(default=Fraction("0.5"), description="bound of a velocity")

    def find_classes(self, given: StepInput) -> Partition:
        """Let the swarm reassign the records of the step before; see the class."""
        from hierdata.engines.reassignment.arrangement import Arrangement, started
        from hierdata.engines.reassignment.repair import published
        from hierdata.engines.reassignment.swarming import Flight, seeds, swarmed

        classes = started(*given.problem, given.previous)
        arrangement = Arrangement.of(*given.problem, classes)
        flight = Flight(*map(float, (self.inertia, self.cognitive, self.social, self.velocity)))
        first = seeds(arrangement)
        members = swarmed(arrangement, flight, first, self.particles, self.rounds, given.rng, given.progress)
        arrangement.classes.members[:] = members
        given.progress(len(classes))
        return published(*given.problem, arrangement.numbers(), given.previous, 0, given.rng)
