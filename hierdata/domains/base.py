"""Value domains: what a policy states about the values of an attribute, and its compiled form."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ConfigDict

from hierdata.documents.document import Scalar

ROOT_LABEL = "*"

Label: TypeAlias = Scalar
"""A value, or what is published for values."""
LabelLoss: TypeAlias = Callable[[Label], Fraction]
"""Returns LM' of a published label, 0..1. Raises Uncovered for what the domain does not publish."""
Observed = Mapping[Scalar, int]
"""Distinct values of an attribute in the collection (missing is None), each with its number of occurrences.
It may keep True and 1 apart although they are equal, so iterate over ``items()`` and never look up a key."""


class Uncovered(Exception):  # noqa: N818  a signal inside the package, never shown to a user
    """A value is outside its domain. Carries no value: the binding code knows record and path."""


@dataclass(frozen=True)
class Bin:
    """The points ``low`` <= point < ``high``, published as ``label``.

    ``least`` and ``greatest`` are its ends as in the label of a range that begins or ends with the bin.
    """

    low: int
    high: int
    label: Scalar
    least: str
    greatest: str


@dataclass(frozen=True)
class Axis:
    """The finest nodes of numbers or dates: ``first``, ``first`` + 1 ... for the ascending ``bins``.

    ``span`` is the width of the domain, in units of the bins' points. The labels of ``closed`` bins, and of
    ranges of them, end with their last point, ``[1985, 1989]``; others with the first point beyond,
    ``[0.5, 1.0)``.
    """

    first: int
    bins: tuple[Bin, ...]
    span: int
    closed: bool

    def holders(self, points: Iterable[int]) -> list[int]:
        """Return the finest node that holds each of some points; all are held."""
        lows = [bin.low for bin in self.bins]
        return [self.first + bisect_right(lows, point) - 1 for point in points]

    def label(self, low: int, high: int) -> str:
        """Return the label of the range from one finest node to another."""
        least, greatest = self.bins[low - self.first].least, self.bins[high - self.first].greatest
        return f"[{least}, {greatest}{']' if self.closed else ')'}"

    def width(self, low: int, high: int) -> int:
        """Return the width of the range from one finest node to another; 0 for a single point."""
        return self.bins[high - self.first].high - self.bins[low - self.first].low - self.closed


class AncestorRows(Sequence[tuple[int, ...]]):
    """Rows of nodes, all of one length, in one flat array: a tenth of what tuples take in memory.

    ``depths`` is the length of a row. Numpy makes an array of them without asking for each row.
    """

    def __init__(self, nodes: array[int], depths: int) -> None:
        self._nodes, self._depths = nodes, depths

    def __len__(self) -> int:
        return len(self._nodes) // self._depths

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(index, slice):
            return tuple(map(self.__getitem__, range(len(self))[index]))
        first = range(len(self))[index] * self._depths
        return tuple(self._nodes[first : first + self._depths])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AncestorRows):
            return (self._nodes, self._depths) == (other._nodes, other._depths)
        return isinstance(other, Sequence) and (*self,) == (*other,)

    def __hash__(self) -> int:
        return hash((*self,))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The rows as numpy reads them."""
        order = "<" if sys.byteorder == "little" else ">"
        kind = f"{order}i{self._nodes.itemsize}"
        return {
            "shape": (len(self), self._depths),
            "typestr": kind,
            "data": memoryview(self._nodes),
            "version": 3,
        }


@dataclass(frozen=True)
class Hierarchy:
    """The generalization hierarchy of one quasi-identifier: nodes 0..n-1, node 0 the root ``*``.

    ``labels`` is each node's published spelling (None for the missing value). ``ancestors[node][depth]`` is
    the node that generalizes ``node`` at ``depth`` (0 the root, the node itself at its own depth), -1 below
    the node's own depth or if there is none. The join of two nodes is their deepest common entry, so the
    steps of a hierarchy need not nest (2 and 5 years). ``lm[node]`` is LM' of ML section 5.1, in 0..1.
    ``node_of`` turns an original value into its finest node, the floor of the policy: no recoding publishes
    anything finer. LM' is 0 there only if the node is the value itself. It raises Uncovered;
    None (missing) always has a node. ``codebook`` describes the hierarchy to the readers of a release as
    plain data and reveals nothing that only the data contain. ``leaves`` is the number of leaves by which LM'
    is computed, 0 for numbers and dates, which have an ``axis`` unless some dates are partial. With ``typed``
    values keep their types, so a
    text may spell a number that is another value. ``made`` is how many of the last nodes exist
    only for what one part of a release publishes, so that another part may number them differently; None if
    all nodes are those of the whole collection. ``made_of`` tells for each of these which nodes it
    generalizes, with all below them. With ``masked`` the missing value has the label of the root, because the
    release tells them apart nowhere; it stays a node of its own, since it loses nothing.

    Where the steps do not nest, joining is not associative; see ``domains.interval``.
    """

    labels: tuple[Scalar, ...]
    ancestors: Sequence[tuple[int, ...]]
    lm: tuple[Fraction, ...]
    node_of: Callable[[Scalar], int]
    codebook: dict[str, Any] = field(default_factory=dict)
    leaves: int = 0
    axis: Axis | None = None
    typed: bool = False
    made: int | None = None
    made_of: tuple[tuple[range, ...], ...] = ()
    masked: int | None = None

    @property
    def missing(self) -> int:
        """The node of the missing value, -1 if there is none."""
        if self.masked is not None:
            return self.masked
        return self.labels.index(None) if None in self.labels else -1

    def mask_missing(self) -> Hierarchy:
        """Return the hierarchy in which the missing value has the label of the root."""
        missing = self.missing
        if missing < 0:
            return self
        labels = (*self.labels[:missing], ROOT_LABEL, *self.labels[missing + 1 :])
        return replace(self, labels=labels, masked=missing)

    @property
    def depths(self) -> int:
        """The number of depths, counted from 0 (the root)."""
        return len(self.ancestors[0])

    def at_depth(self, depth: int) -> tuple[int, ...]:
        """Return the node that each node is generalized to at ``depth``: its deepest entry down to it.

        A value with a path that ends above the depth, or skips it, is published by its last node before it.
        """
        return tuple(next(node for node in row[depth::-1] if node >= 0) for row in self.ancestors)

    def join(self, a: int, b: int) -> int:
        """Return the least node that generalizes both: the deepest common entry of ``ancestors``."""
        shared = 0
        for node, other in zip(self.ancestors[a], self.ancestors[b], strict=True):
            if node == other and node >= 0:
                shared = node
        return shared


class Labels(ABC):
    """The labels that a domain may publish under a policy, in any collection; the root and missing are known.

    The judge asks by these what a release may show. A label is a value as a format returns it, so a number
    may be spelled as text.
    """

    @abstractmethod
    def is_finest(self, label: Scalar) -> bool:
        """Return whether a label is that of a finest node."""

    @abstractmethod
    def is_coarser(self, label: Scalar) -> bool:
        """Return whether a label is that of a node above the finest and below the root."""

    def is_range(self, label: str) -> bool:
        """Return whether a label spells the range from one finest node to a greater one."""
        return False

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        """Return the first and the last value that a label may stand for, in an order of the domain's values.

        Two labels may stand for one value only if their extents overlap. Raises Uncovered where this is not
        known; any other label may then stand for the same value.
        """
        raise Uncovered

    def leaf(self, value: Scalar) -> Hashable:
        """Return the key of the leaf that a value is; values that are published alike share it.

        Raises Uncovered where the domain has no such value, or does not tell its leaves.
        """
        raise Uncovered

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        """Return the keys of all leaves of the domain below a label, those of no value of the data too.

        ``known`` are those of the data. Values at inner nodes are leaves if they are among these. Raises
        Uncovered if the leaves cannot be listed, or are more than those that are known.
        """
        raise Uncovered


LabelKind: TypeAlias = Literal["own", "values", "beginnings", "bins", "periods", "groups"]


OLDEST = 89
"""The age above which HIPAA's Safe Harbor wants ages to be one group."""


class Remainder(NamedTuple):
    """What at most remains of dates and ages, or of places, in the labels of a domain; ``words`` say it."""

    of: Literal["dates", "places"]
    words: str


class QuasiDomain(ABC, BaseModel):
    """What a policy states about a quasi-identifier's values; ``compile`` builds a collection's hierarchy.

    ``called`` is the name of the domain in messages. ``takes`` describes the values that it covers, if the
    policy does not determine them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    called: ClassVar[str]
    takes: ClassVar[str] = ""
    keeps_texts: ClassVar[bool] = False
    """Whether values are published as they are, or their beginnings, and not as groups of values."""
    labels_are: ClassVar[LabelKind] = "own"
    """What the labels below ``*`` are; only the domains of the package have others than ``own``."""

    @property
    def remainder(self) -> Remainder | None:
        """What of dates, ages or places HIPAA's Safe Harbor sees remain, None if that may be too much."""
        return None

    @property
    def named_file(self) -> str | None:
        """The file that the domain is read from, None if there is none."""
        return None

    @property
    def has_partial_values(self) -> bool:
        """Whether a value on a line may be a range that holds others, so that values have no order."""
        return False

    @abstractmethod
    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed values; files are named relative to ``folder``.

        Values that the domain does not cover are left out: binding refuses them with record and path. Raises
        PolicyError if the domain itself is unusable.
        """

    @abstractmethod
    def labels(self, folder: Path) -> Labels:
        """Return the labels that may be published, for the judge.

        Files are named relative to ``folder``. Raises PolicyError as ``compile`` does.
        """

    def describe(self, labels: Collection[Scalar], folder: Path) -> dict[str, Any]:
        """Return the codebook for published ``labels``: of nothing but these and the policy."""
        return self.compile({}, folder).codebook

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """Return LM' of the published ``labels``, by nothing but these and the policy.

        With ``sets`` a text that begins with ``{`` is a set. By default ``*`` has 1 and everything else 0.
        """
        return lambda label: Fraction(label == ROOT_LABEL)


def memoize(find: Callable[[Scalar], int]) -> Callable[[Scalar], int]:
    """Return ``find`` with a cache, for lookups made once per value. True and 1 are kept apart."""
    known: dict[tuple[type, Scalar], int] = {}

    def lookup(value: Scalar) -> int:
        key = (value.__class__, value)
        node = known.get(key)
        if node is None:
            node = known[key] = find(value)
        return node

    return lookup


Key = TypeVar("Key", bound=Hashable)


def group_observed(observed: Observed, key_of: Callable[[Scalar], Key]) -> dict[Key, list[Scalar]]:
    """Group the observed values by key; missing and uncovered ones are left out."""
    groups: dict[Key, list[Scalar]] = {}
    for value in observed:
        if value is None:
            continue
        try:
            groups.setdefault(key_of(value), []).append(value)
        except Uncovered:
            continue
    return groups


def finder(
    nodes: Mapping[Key, int], key_of: Callable[[Scalar], Key], missing: int
) -> Callable[[Scalar], int]:
    """Build ``Hierarchy.node_of`` from the node of each key."""

    def find(value: Scalar) -> int:
        node = missing if value is None else nodes.get(key_of(value))
        if node is None:
            raise Uncovered
        return node

    return memoize(find)


def loss_of(leaves: int, all_leaves: int) -> Fraction:
    """Return LM' of a node of a taxonomy: (leaves - 1) / (all leaves - 1).

    ML section 5.1; 0 for a domain of one value (erratum ML-14).

    >>> loss_of(2, 4), loss_of(1, 1)
    (Fraction(1, 3), Fraction(0, 1))
    """
    return Fraction(leaves - 1, all_leaves - 1) if all_leaves > 1 and leaves else Fraction(0)
