"""The shape of a record: vertex types with their attributes (ML section 3.2, definition 1).

``KeyForm`` and ``Weight`` name what an attacker may know of a record, and how vertices are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal, TypeAlias

from hierdata.records.path import Path


class Role(Enum):
    """The part that an attribute plays in the promise."""

    QUASI = "quasi"
    SENSITIVE = "sensitive"
    CARRIED = "carried"
    """Published unchanged and not judged: the policy says why (``exempt``)."""


@dataclass(frozen=True)
class Rule:
    """What a policy says about one path, as far as the shape of records is concerned.

    ``role`` None drops the path and everything below it; with ``vertex`` it only makes the object a vertex of
    its own. ``optional`` rules may match nothing. ``spelling`` says which values are made one: equal numbers
    (``value``), also those in texts (``number``), or none (None).
    """

    path: Path
    role: Role | None
    missing: frozenset[str] = frozenset()
    vertex: bool = False
    optional: bool = False
    spelling: Literal["value", "number"] | None = None

    @property
    def drops(self) -> bool:
        """Whether the path and everything below it are left out."""
        return self.role is None and not self.vertex


@dataclass(frozen=True)
class Attribute:
    """A published attribute of a vertex type.

    ``steps`` are the keys from the vertex down to the value; they are empty if the vertex is a scalar item of
    an array. ``missing`` are spellings of a missing value, in addition to null and absence. ``absent`` is
    what is written for a missing item: null or, since XML has none, one of these spellings.
    """

    path: str
    steps: tuple[str, ...]
    role: Role
    missing: frozenset[str] = frozenset()
    absent: str | None = None


@dataclass(frozen=True)
class VertexType:
    """Union-compatible vertices: those at one path of the schema.

    ``steps`` are the keys from the parent vertex. ``many`` is True for an array (or repeated element), False
    for a single object that the policy makes a vertex. ``attributes`` are in the order of the policy.
    """

    index: int
    path: str
    steps: tuple[str, ...]
    many: bool
    parent: int | None
    children: tuple[int, ...]
    attributes: tuple[Attribute, ...]

    def of_role(self, role: Role) -> tuple[Attribute, ...]:
        """Return the attributes of one role, in order."""
        return tuple(attribute for attribute in self.attributes if attribute.role is role)

    @cached_property
    def quasi(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers, in order."""
        return self.of_role(Role.QUASI)

    @cached_property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The sensitive attributes, in order."""
        return self.of_role(Role.SENSITIVE)

    @cached_property
    def places(self) -> tuple[tuple[tuple[str, ...], int, int], ...]:
        """Per attribute its steps, its list in a vertex (quasi, sensitive, carried), and its index there."""
        used = dict.fromkeys(Role, 0)
        order = tuple(Role)
        places = []
        for attribute in self.attributes:
            places.append((attribute.steps, order.index(attribute.role), used[attribute.role]))
            used[attribute.role] += 1
        return tuple(places)


def name_steps(kind: VertexType) -> str:
    """Return a name of a vertex type within its parent, for people.

    >>> name_steps(VertexType(1, "$.a.b[*]", ("a", "b"), True, 0, (), ()))
    'a.b[*]'
    """
    selects = "[?" in kind.steps[-1]  # a filter says that there may be several
    return ".".join(kind.steps) + "[*]" * (kind.many and not selects)


@dataclass(frozen=True)
class Schema:
    """All vertex types in pre-order; the first is the record's root."""

    types: tuple[VertexType, ...]

    @property
    def root(self) -> VertexType:
        """The type of the records' roots."""
        return self.types[0]

    def line(self, kind: int) -> tuple[int, ...]:
        """Return the types from the root down to one, which is the last."""
        parent = self.types[kind].parent
        return (*(() if parent is None else self.line(parent)), kind)

    def keys(self, kind: int) -> tuple[str, ...]:
        """Return the keys from the record down to the vertices of a type."""
        vertex_type = self.types[kind]
        return () if vertex_type.parent is None else self.keys(vertex_type.parent) + vertex_type.steps


KeyForm: TypeAlias = Literal["own", "ancestors", "record"]
"""The published quasi-identifiers of the vertex itself; those and its ancestors'; or all that is published of
the record except sensitive values: its class and the vertex in it, identical siblings pooled."""

Weight: TypeAlias = Literal["vertex", "person"]
"""Each vertex counts 1; or each person counts 1, split over their published vertices of the type."""
