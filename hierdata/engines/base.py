"""The base class of all engines, and the constraints that every engine receives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field

from hierdata.domains.bounds import PathName
from hierdata.privacy import BoundedKnowledge
from hierdata.privacy.base import ClassView, Closeness, Constraint, FrequencyCaps

if TYPE_CHECKING:
    import numpy as np

    from hierdata.domains.base import Hierarchy
    from hierdata.engines.compiler.ahead import KernelCall
    from hierdata.forest.forest import Forest, Scope
    from hierdata.forest.partition import Partition


WIDE = 64
"""Records of more vertices on average are wide: aligning two takes long, so less is tried by default."""

Mended: TypeAlias = Literal["size", "closeness"]
"""What a later step can establish in classes that lack it: models on records, or models with a closeness."""


def accepts_all(constraints: Iterable[Constraint], view: ClassView) -> bool:
    """Whether all constraints hold for a view."""
    return all(constraint.holds(view) for constraint in constraints)


@dataclass(frozen=True)
class BoundedValues:
    """The values of one sensitive attribute whose share the alpha of bounded knowledge limits.

    The attribute is the one at ``position`` of vertex type ``kind``. ``named`` is how many of its values are,
    None for all. ``presence``: a record counts in full for each of its values, otherwise it is divided among
    them.
    """

    kind: int
    position: int
    codes: frozenset[int]
    named: int | None
    presence: bool


@dataclass(frozen=True)
class CountedVertices:
    """A vertex type of which bounded knowledge declares the number, and where the root has its bin.

    ``position`` is that of the quasi-identifier of the root. It is published as it is, and no vertex of the
    type is removed.
    """

    kind: int
    position: int


@dataclass(frozen=True)
class Constraints:
    """All models of a policy, bound.

    ``on_records`` judge a class by its records alone. ``on_values[t][i]`` judge the i-th sensitive
    attribute of vertex type t, at every vertex of a class representative. ``population`` counts the rows of
    the policy's population table that match the nodes of a root, if a model needs that count. No class may
    be smaller than ``least``. ``guarded``: what is suppressed must be none or satisfy them too, as a whole
    (see engines.guarding). ``bounded`` are the values that alpha of bounded knowledge limits,
    ``counts`` the vertices that it counts, ``facts`` by vertex type the sensitive attributes with values that
    somebody may know.
    """

    on_records: tuple[Constraint, ...]
    on_values: tuple[tuple[tuple[Constraint, ...], ...], ...]
    population: Callable[[Sequence[int]], int] | None = None
    least: int = 1
    guarded: bool = False
    bounded: tuple[BoundedValues, ...] = ()
    counts: tuple[CountedVertices, ...] = ()
    facts: tuple[tuple[int, ...], ...] = ()

    def all(self) -> Iterator[Constraint]:
        """Iterate over all constraints."""
        yield from self.on_records
        for attributes in self.on_values:
            for constraints in attributes:
                yield from constraints

    @cached_property
    def shows_sets(self) -> bool:
        """Whether all constraints may look at the sets of values that records show."""
        return all(constraint.tied for constraint in self.all())

    def on_type(self, kind: int) -> Iterator[tuple[int, Constraint]]:
        """Iterate over the constraints on values of a vertex type, with the positions of their attributes."""
        for position, constraints in enumerate(self.on_values[kind]):
            for constraint in constraints:
                yield position, constraint

    def caps(self, kind: int) -> list[tuple[int, FrequencyCaps]]:
        """Return the frequency caps on a vertex type, each with the position of its sensitive attribute."""
        bound = ((position, constraint.caps) for position, constraint in self.on_type(kind))
        return [(position, caps) for position, caps in bound if caps is not None]

    def closeness(self, kind: int) -> list[tuple[int, Closeness]]:
        """Return the closenesses on a vertex type, each with the position of its sensitive attribute."""
        bound = ((position, constraint.closeness) for position, constraint in self.on_type(kind))
        return [(position, closeness) for position, closeness in bound if closeness is not None]

    def at(self, kind: int) -> Constraints:
        """Return the constraints on classes of vertices of one type, which are treated as rows of a table."""
        values = self.on_attributes(kind, range(len(self.on_values[kind]))).on_values
        population = self.population if kind == 0 else None
        return Constraints(self.on_records, values, population, guarded=self.guarded)

    def on_attributes(self, kind: int, positions: Collection[int]) -> Constraints:
        """Return the constraints on records, and those on some sensitive attributes of a vertex type."""
        values = tuple(
            tuple(
                constraints if this_kind == kind and position in positions else ()
                for position, constraints in enumerate(attributes)
            )
            for this_kind, attributes in enumerate(self.on_values)
        )
        return replace(self, on_values=values)

    def view(
        self,
        records: int,
        counts: Mapping[int, int],
        root: Sequence[int],
        sets: Mapping[frozenset[int], int] | None = None,
        siblings: int = 1,
    ) -> ClassView:
        """Build the view of a class for a model; ``root`` holds the published nodes of the class's root.

        ``sets`` count only where all constraints are tied: otherwise no reader of the file knows them.
        """
        population = None if self.population is None else self.population(root)
        return ClassView(records, counts, population, sets if self.shows_sets else None, siblings)

    def without_mended(self, mended: Collection[Mended]) -> Constraints:
        """Return the constraints that a step must keep when later steps establish the rest.

        Steps that establish closeness swap rows and keep class sizes, so unless ``mended`` has "size" the
        result still requires the least size of all constraints.
        """

        def is_kept(constraint: Constraint) -> bool:
            return "closeness" not in mended or constraint.closeness is None

        values = tuple(
            tuple(tuple(filter(is_kept, constraints)) for constraints in attributes)
            for attributes in self.on_values
        )
        if "size" in mended:
            return Constraints((), values, self.population, guarded=self.guarded)
        return replace(self, on_values=values, least=self.min_class_size)

    @property
    def knowledge(self) -> BoundedKnowledge | None:
        """The model that bounds what somebody knows, if there is one: k of patterns, and alpha."""
        bound = (constraint.knowledge for constraint in self.on_records if constraint.knowledge is not None)
        return cast("BoundedKnowledge | None", next(bound, None))

    @property
    def min_class_size(self) -> int:
        """The least size of a class that can satisfy all constraints, and that later steps need."""
        return max([self.least, *(constraint.min_class_size for constraint in self.all())])


def silent(done: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class StepInput:
    """The input of an engine for one step.

    ``constraints`` are the constraints of the scope (``Constraints.at``; all constraints if records are
    aligned as trees), without those that a later step establishes. ``partition`` is the result of the
    previous step, None for the first step. The engine calls ``progress`` from time to time with the number
    of rows done.
    """

    forest: Forest
    scope: Scope
    constraints: Constraints
    partition: Partition | None
    rng: np.random.Generator
    progress: Callable[[int], None] = silent

    @property
    def problem(self) -> tuple[Forest, Scope, Constraints]:
        """The forest, the scope to partition, and the constraints that all classes must satisfy."""
        return self.forest, self.scope, self.constraints

    @property
    def previous(self) -> Partition:
        """The partition of the previous step, for engines that always follow another step."""
        assert self.partition is not None, "no step was run before"
        return self.partition


@dataclass(frozen=True)
class Trial:
    """The result of one trial: its ``loss`` times the scale, and the number of records it ``suppressed``."""

    loss: int
    suppressed: int

    def __add__(self, other: Trial) -> Trial:
        """Add two trials."""
        return Trial(self.loss + other.loss, self.suppressed + other.suppressed)


class Engine(ABC, BaseModel):
    """One step of the search for classes; its fields are its parameters in the policy.

    An engine with ``aligns`` partitions whole records as trees. The others partition the rows of one vertex
    type, with the quasi-identifiers and sensitive attributes of that type. Without ``on`` they partition
    every type with sensitive attributes if the recoding keeps the types apart, else the records.

    ``begins``: it can start from single rows. ``goes_on``: it can start from the classes of the previous
    step. ``mends``: the constraints that it establishes, so that earlier steps need not keep them.
    ``chooses_from``: the number of blocks from which on it chooses between variants once for all of them
    (``run_trials``, ``choose_by_trials``); with fewer, each block chooses. None: it has no variants.
    ``bounds_knowledge``: it keeps bounded knowledge, and serves no other purpose.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    aligns: ClassVar[bool] = False
    begins: ClassVar[bool] = True
    goes_on: ClassVar[bool] = False
    mends: ClassVar[frozenset[Mended]] = frozenset()
    chooses_from: ClassVar[int | None] = None
    bounds_knowledge: ClassVar[bool] = False

    kind: str
    on: PathName | None = Field(
        default=None, description="the vertex type that is partitioned, such as $.courses[*]"
    )

    def check(self, kind: int, hierarchies: Sequence[Hierarchy]) -> None:
        """Raise PolicyError if this engine cannot partition a vertex type; called before the search.

        ``kind`` is the vertex type, 0 for the records; ``hierarchies`` are those of its quasi-identifiers.
        """

    @abstractmethod
    def find_classes(self, step: StepInput) -> Partition:
        """Return a partition of the scope in which all classes satisfy the constraints."""

    def calls(self, forest: Forest, constraints: Constraints) -> list[KernelCall]:
        """Return calls that this step makes of kernels that take long to compile, the longest first.

        While this process compiles what is called before, a second one compiles these. Arguments need only
        have the right types.
        """
        return []

    def take_in(self, step: StepInput) -> Partition | None:
        """Return the previous partition with all suppressed records in classes, even where that loses more.

        It is asked of the last step, where records that stay suppressed would be a risk. None if the engine
        cannot, or not for these records.
        """
        return None

    def estimate_work(self, records: int, vertices: int, constraints: Constraints) -> float:
        """Return about how many pairs of records this engine aligns; 0 if it aligns none or few.

        ``vertices`` is the number of vertices of all ``records`` together. A pair of trees with v vertices
        each takes time in the order of v * v.
        """
        return 0.0

    def run_trials(
        self, forest: Forest, scope: Scope, constraints: Constraints, rng: np.random.Generator
    ) -> Mapping[Hashable, Trial]:
        """Return the loss of each variant that this engine can choose, measured on these records.

        All blocks of a collection have one scale. The trials of variants that were tried in every block are
        added up for ``choose_by_trials``. An engine without variants returns an empty mapping.
        """
        return {}

    def choose_by_trials(self, trials: Mapping[Hashable, Trial]) -> Engine:
        """Return a copy of this engine that uses the best variant by these trials in every block."""
        return self
