"""Compose classes that are distributed like the original: t-closeness with little loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from hierdata.domains.bounds import MOST_PASSES
from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Compose(Engine):
    """Compose classes of similar rows whose distribution is as close as a model of closeness requires.

    Cuts by quasi-identifiers separate rows that t-closeness needs together: people who studied have other
    occupations than people who did not. This engine starts from short classes, each distributed nearly like
    the whole, and then exchanges rows while every class stays close, as in simulated annealing.

    - *Start.* Rows of equal sensitive values are sorted by their quasi-identifiers; all are merged so that
      each combination is spread evenly, and a class ends as soon as it is close and large enough.
    - *Changes.* Two rows of two classes are exchanged, or a row joins another class. Candidates are rows that
      are near in one of twelve random orders of the quasi-identifiers; the best of several is taken. The
      change is made if both classes keep every closeness and an allowed size, and if it adds less to the
      total loss (rows times LM' of the joins; exact integers) than a random tolerance. The tolerance shrinks
      from pass to pass, to zero. The result is the least loss at the end of any pass.

    If the result loses no less than the classes of ``mondrian``, the changes start from those, so the result
    is never worse. A pass costs O(rows * sets of values), and each change O(rows of its classes). Classes
    that are much larger than most are not changed, nor are those of more than 1,024 rows, or of so many that
    a distance times their size and that of the table exceeds 2^62: within these bounds 64-bit integers
    decide exactly.

    If a model on values is not one of closeness, or a distance has more than 4,096 sets, the classes of
    ``mondrian`` keep their sensitive values: only rows of equal sensitive values are exchanged. Below the
    root the start is ``mondrian``'s too. If a model asks for a population, the result is ``mondrian``'s. All
    models are checked at the end. Below the root a class takes at most one vertex of any record.
    """

    kind: Literal["compose"] = "compose"
    passes: Annotated[int, Field(strict=True, ge=1, le=MOST_PASSES)] = Field(
        default=100, description="how often every row is considered; more passes lose less and take longer"
    )

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from all of them, not from an earlier step."""
        from hierdata.engines.compose.run import compose_partition

        return compose_partition(step, self.passes)
