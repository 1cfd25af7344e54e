"""t-closeness by swaps of records between two classes (TC section 4, erratum TC-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hierdata.domains.bounds import Compared, Passes
from hierdata.engines.base import Engine, Mended, StepInput

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

    def find_classes(self, given: StepInput) -> Partition:
        """Swap records between the classes of the previous step."""
        from hierdata.engines.reassignment.arrangement import initial_classes
        from hierdata.engines.reassignment.descent import descend_classes, publish_classes

        classes = initial_classes(*given.problem, given.previous)
        classes, united = descend_classes(*given.problem, classes, self.window, self.passes, given.progress)
        given.progress(len(classes))
        return publish_classes(*given.problem, classes, given.previous, united, given.rng)
