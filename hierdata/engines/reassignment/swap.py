"""t-closeness by swaps: two classes exchange a record as long as that helps (TC section 4, erratum TC-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Engine, Mended, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Swap(Engine):
    """Reassign whole records between the classes of the step before, until each is close to the original.

    Records change places, never values (erratum TC-6), and the sizes of the classes stay. A swap exchanges
    two records of two classes. t is a bound (TC-4): what counts is how far a class's largest distance, over
    all sensitive attributes, lies beyond it. First the class that is farthest is worked on, by the swap that
    brings both classes nearest to their bounds and, among equals, loses least of the quasi-identifiers;
    nothing is done beyond the bound. Then, pass after pass, swaps follow that lower the loss and take no
    class farther. All other models must hold in both classes after every swap; below the root no two
    vertices of a record meet.

    Partners are looked for among the classes beside it in their order, ``window`` pairs of records for each
    swap, and sixteen times as many where none is found; so a swap costs the same in tables of any length.
    Classes that are still too far are united, each with the one by which that loses least, and swaps go on,
    until all are within their bounds or no smaller in number. What fails then is united with the nearest
    class with which all models hold; else its records join the nearest classes that accept them, or are
    suppressed. ``costs`` count all of it.
    """

    goes_on: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset({"closeness"})

    kind: Literal["swap"] = "swap"
    passes: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=2, description="passes over all classes by swaps that lower the loss"
    )
    window: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=8192, description="pairs of records that are compared for each swap"
    )

    def find_classes(self, given: StepInput) -> Partition:
        """Swap records between the classes of the step before; see the class."""
        from hierdata.engines.reassignment.arrangement import started
        from hierdata.engines.reassignment.descent import descended
        from hierdata.engines.reassignment.repair import published

        classes = started(*given.problem, given.previous)
        classes, united = descended(*given.problem, classes, self.window, self.passes, given.progress)
        given.progress(len(classes))
        return published(*given.problem, classes, given.previous, united, given.rng)
