"""What an engine is, and the constraints that every engine is handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from hierdata.privacy.base import ClassView, Closeness, Constraint, ShareCaps

if TYPE_CHECKING:
    import numpy as np

    from hierdata.domains.base import Hierarchy
    from hierdata.forest.forest import Forest, Scope
    from hierdata.forest.partition import Partition


Mended: TypeAlias = Literal["size", "closeness"]
"""What a step can bring about in classes that lack it: models on records, models that state a closeness."""


@dataclass(frozen=True)
class Constraints:
    """All models of a policy, bound.

    ``on_records`` judge a class by its records alone; ``on_values[t][i]`` judge the i-th sensitive
    attribute of vertex type t, at every vertex of a class representative. ``population`` counts the rows of
    the policy's population table that fit the nodes of a root, where a model asks for them. No class may be
    smaller than ``least``.
    """

    on_records: tuple[Constraint, ...]
    on_values: tuple[tuple[tuple[Constraint, ...], ...], ...]
    population: Callable[[Sequence[int]], int] | None = None
    least: int = 1

    def all(self) -> Iterator[Constraint]:
        """Every constraint."""
        yield from self.on_records
        for attributes in self.on_values:
            for constraints in attributes:
                yield from constraints

    def caps(self, kind: int) -> list[tuple[int, ShareCaps]]:
        """The share caps on a vertex type, each with the position of its sensitive attribute."""
        bound = enumerate(self.on_values[kind])
        return [(position, one.caps) for position, own in bound for one in own if one.caps is not None]

    def closeness(self, kind: int) -> list[tuple[int, Closeness]]:
        """What is stated on a vertex type, each with the position of its sensitive attribute."""
        bound = enumerate(self.on_values[kind])
        return [
            (position, one.closeness) for position, own in bound for one in own if one.closeness is not None
        ]

    def at(self, kind: int) -> Constraints:
        """Those that a class of vertices of one type must satisfy, as rows of a table."""
        values = tuple(own if at == kind else tuple(() for _ in own) for at, own in enumerate(self.on_values))
        return Constraints(self.on_records, values, self.population if kind == 0 else None)

    def view(self, records: int, counts: Mapping[int, int], root: Sequence[int]) -> ClassView:
        """What a model sees of a class whose root is published by these nodes."""
        return ClassView(records, counts, None if self.population is None else self.population(root))

    def left_to(self, mended: Collection[Mended]) -> Constraints:
        """Those that a step must keep where later ones mend the rest.

        Rows that change places leave classes as large as they are, so these must be large enough before.
        """

        def kept(constraint: Constraint) -> bool:
            return "closeness" not in mended or constraint.closeness is None

        values = tuple(tuple(tuple(filter(kept, own)) for own in attributes) for attributes in self.on_values)
        if "size" in mended:
            return Constraints((), values, self.population)
        return Constraints(self.on_records, values, self.population, self.min_class_size)

    @property
    def min_class_size(self) -> int:
        """No smaller class can satisfy all of them, or is large enough for a later step."""
        return max([self.least, *(constraint.min_class_size for constraint in self.all())])


def silent(done: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class StepInput:
    """What an engine is handed for one step.

    ``constraints`` are those of the scope (``Constraints.at``; all, where records are aligned as trees) that
    no later step mends. ``partition`` is the step before's, None for the first step. ``progress`` is to be
    told from time to time how many rows have been dealt with.
    """

    forest: Forest
    scope: Scope
    constraints: Constraints
    partition: Partition | None
    rng: np.random.Generator
    progress: Callable[[int], None]

    @property
    def problem(self) -> tuple[Forest, Scope, Constraints]:
        """What is partitioned, and what all classes must satisfy."""
        return self.forest, self.scope, self.constraints

    @property
    def previous(self) -> Partition:
        """The step before's partition, for engines that always have one."""
        assert self.partition is not None, "no step was run before"
        return self.partition


@dataclass(frozen=True)
class Trial:
    """What a way to go lost where it was tried: the ``loss`` times the scale, and so many records."""

    loss: int
    suppressed: int

    def __add__(self, other: Trial) -> Trial:
        """Both together."""
        return Trial(self.loss + other.loss, self.suppressed + other.suppressed)


class Engine(ABC, BaseModel):
    """One step of the search for classes; its fields are its parameters in the policy.

    An engine that ``aligns`` partitions whole records, however many vertices they have. The others see rows:
    one vertex type each, its own quasi-identifiers and sensitive attributes; without ``on`` they partition
    every type with sensitive attributes where the recoding keeps the types apart, else the records.

    An engine ``begins`` if it can start from single rows, and ``goes_on`` if it can start from the classes of
    the step before; what it ``mends`` the steps before it need not keep. One that ``chooses`` between ways to
    go chooses once for all blocks of a collection (``tried``, ``settled``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    aligns: ClassVar[bool] = False
    begins: ClassVar[bool] = True
    goes_on: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset()
    chooses: ClassVar[bool] = False

    kind: str
    on: str | None = Field(
        default=None, description="the vertex type that is partitioned, such as $.courses[*]"
    )

    def check(self, kind: int, hierarchies: Sequence[Hierarchy]) -> None:
        """Refuse what it cannot partition, before anything is searched: raises PolicyError.

        ``kind`` is the vertex type, 0 for the records, with the hierarchies of its quasi-identifiers.
        """

    def step(
        self,
        forest: Forest,
        scope: Scope,
        constraints: Constraints,
        partition: Partition | None,
        rng: np.random.Generator,
        progress: Callable[[int], None] = silent,
    ) -> Partition:
        """Run ``find_classes`` on a ``StepInput`` of these."""
        if partition is None:
            assert self.begins, f"{self.kind} goes on from another step"
        else:
            assert self.goes_on, f"{self.kind} is a first step"
        assert not (self.aligns and scope.kind), f"{self.kind} partitions whole records"
        return self.find_classes(StepInput(forest, scope, constraints, partition, rng, progress))

    @abstractmethod
    def find_classes(self, given: StepInput) -> Partition:
        """A partition of the scope all of whose classes satisfy the constraints."""

    def tried(
        self, forest: Forest, scope: Scope, constraints: Constraints, rng: np.random.Generator
    ) -> Mapping[Hashable, Trial]:
        """What the ways of going about it that this engine chooses from would lose here.

        All blocks of a collection have one scale, and trials of ways that were tried in each are added up for
        ``settled``; one way at least always is. Nothing from an engine that never ``chooses``.
        """
        return {}

    def settled(self, trials: Mapping[Hashable, Trial]) -> Engine:
        """The engine with its choice made by these trials, so that it goes the same way in every block."""
        return self
