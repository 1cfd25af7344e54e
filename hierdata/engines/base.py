"""What an engine is, and the constraints that every engine is handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from hierdata.privacy.base import Constraint

if TYPE_CHECKING:
    import numpy as np

    from hierdata.forest import Forest
    from hierdata.partition import Partition


@dataclass(frozen=True)
class Constraints:
    """All models of a policy, bound.

    ``on_records`` judge a class by its records alone; ``on_values[t][i]`` judge the i-th sensitive
    attribute of vertex type t, at every vertex of a class representative.
    """

    on_records: tuple[Constraint, ...]
    on_values: tuple[tuple[tuple[Constraint, ...], ...], ...]

    def all(self) -> Iterator[Constraint]:
        """Every constraint."""
        yield from self.on_records
        for attributes in self.on_values:
            for constraints in attributes:
                yield from constraints

    @property
    def min_class_size(self) -> int:
        """No smaller class can satisfy all of them."""
        return max((constraint.min_class_size for constraint in self.all()), default=1)


def silent(done: int) -> None:
    """Show no progress."""


class Engine(ABC, BaseModel):
    """One step of the search for classes; its fields are its parameters in the policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def step(
        self,
        forest: Forest,
        constraints: Constraints,
        partition: Partition | None,
        rng: np.random.Generator,
        progress: Callable[[int], None] = silent,
    ) -> Partition:
        """A partition all of whose classes satisfy the constraints; ``partition`` is the step before's.

        ``progress`` is told from time to time how many records have been dealt with.
        """
