"""Classes composed of rows that together are distributed like the original: t-closeness with little loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Compose(Engine):
    """Classes of rows alike where they can be, and together distributed as a model of closeness asks.

    Cuts by quasi-identifiers tear apart what t-closeness wants side by side: who studied has other
    occupations than who did not. Here short classes come first, each distributed nearly like the whole, and
    then rows change places while every class stays close, as in simulated annealing.

    - *Start.* Rows of equal sensitive values stand in the order of their quasi-identifiers; all are merged so
      that each combination is spread evenly, and a class ends where it is close and large enough.
    - *Changes.* Two rows of two classes change places, or a row joins another class. Proposed are rows that
      are near in one of twelve random orders of the quasi-identifiers; the best of some is taken. It is made
      if both classes keep every closeness and an allowed size, and if it adds less to the total loss (rows
      times LM' of the joins; exact integers) than a random room. The room shrinks from pass to pass, to none.
      The least loss met at the end of a pass is the answer.

    Where what comes out loses no less than what ``mondrian`` finds, changes begin from the latter: never
    worse. A pass costs O(rows * sets of values), and for each change O(rows of its classes). Classes that are
    much larger than most are left alone, and those of more than 1,024 rows, or of so many that a distance
    times their size and that of the table passes 2^62: within these bounds 64-bit integers decide exactly.

    Where a model on values is not one of closeness, or a distance goes over more than 4,096 sets, the classes
    of ``mondrian`` keep what they hold: only rows of equal sensitive values change places. Below the root the
    start is ``mondrian``'s too. Where a model asks for a population all is left as ``mondrian`` finds it. All
    models are asked at the end. Below the root a class takes at most one vertex of any record.
    """

    kind: Literal["compose"] = "compose"
    passes: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=70, description="how often every row is looked at; loss and time go by it"
    )

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from all of them, not from an earlier step."""
        from hierdata.engines.compose.run import composed

        return composed(given, self.passes)
