"""Engines that bring classes within t: swaps of two records, and a particle swarm (TC section 4, TC-5)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.domains.bounds import Compared, Passes
from hierdata.engines.base import Engine, Mended, StepInput
from hierdata.privacy.base import NotNegative, Positive

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Swap(Engine):
    """Swap whole records between the classes of the previous step, until each class is close to the original.

    Records move between classes, values never do (erratum TC-6), and class sizes stay. A swap exchanges two
    records of two classes. t is a bound (TC-4): what counts is how far the largest distance of a class, over
    all sensitive attributes, exceeds it. The class that exceeds it most comes first, with the swap that
    brings both classes nearest to their bounds; ties go to the swap that loses least at the
    quasi-identifiers. Classes within the bound are not brought nearer. Further passes make swaps that lower
    the loss and take no class farther from its bound. All other models must hold in both classes after every
    swap; below the root a class has at most one vertex of any record.

    Partners are searched in the neighbouring classes, by number: ``window`` pairs of records for each swap,
    and sixteen times as many if no swap is found; so a swap costs the same in tables of any length. Classes
    that are still too far are each united with the class where that loses least, and swaps go on, until all
    classes are within their bounds or no more can be united. A class that fails then is united with the
    nearest class such that all models hold; else its records join the nearest classes that accept them, or
    are suppressed. ``costs`` count all of this.
    """

    goes_on: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset({"closeness"})

    kind: Literal["swap"] = "swap"
    passes: Passes = Field(default=2, description="passes over all classes, with swaps that lower the loss")
    window: Compared = Field(default=8192, description="pairs of records compared for each swap")

    def find_classes(self, step: StepInput) -> Partition:
        """Swap records between the classes of the previous step."""
        from hierdata.engines.reassignment.arrangement import initial_classes
        from hierdata.engines.reassignment.descent import descend_classes, publish_classes

        classes = initial_classes(*step.problem, step.previous)
        classes, united = descend_classes(*step.problem, classes, self.window, self.passes, step.progress)
        step.progress(len(classes))
        return publish_classes(*step.problem, classes, step.previous, united, step.rng)


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

    def find_classes(self, step: StepInput) -> Partition:
        """Reassign the records of the classes of the previous step."""
        from hierdata.engines.reassignment.arrangement import Arrangement, initial_classes
        from hierdata.engines.reassignment.descent import publish_classes
        from hierdata.engines.reassignment.swarming import Flight, run_swarm, seeds

        classes = initial_classes(*step.problem, step.previous)
        arrangement = Arrangement.of(*step.problem, classes)
        flight = Flight(*map(float, (self.inertia, self.cognitive, self.social, self.velocity)))
        first = seeds(arrangement)
        members = run_swarm(arrangement, flight, first, self.particles, self.rounds, step.rng, step.progress)
        arrangement.classes.members[:] = members
        step.progress(len(classes))
        return publish_classes(*step.problem, arrangement.numbers(), step.previous, 0, step.rng)
