"""Check a class representative against the models that its growth has not settled already.

Models with a closeness are packed for compiled code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import first_nodes
from hierdata.engines.alignment.kernels.arrays import CHILD_COUNT, FIRST_CHILD, FIRST_NODE, KIND
from hierdata.engines.alignment.kernels.closeness import BITS, FOREIGN_SET, ClosenessChecks, find_close
from hierdata.engines.base import Constraints, accepts_all
from hierdata.forest.forest import MISSING, Forest
from hierdata.privacy.base import FOREIGN, Closeness, Constraint

AskedModels: TypeAlias = "dict[int, list[tuple[int, tuple[Constraint, ...]]]]"
"""By vertex type the positions of the sensitive attributes that are asked about, each with its models."""

_LARGEST = 2**62
_MOST_PLACES = 2**18
"""A check whose table of paths would have more places is left to the models."""

_Check: TypeAlias = "tuple[int, int, Closeness]"
"""Vertex type, position of the sensitive attribute, and the closeness asked there."""


def pack_checks(forest: Forest, asked: AskedModels) -> tuple[ClosenessChecks, AskedModels]:
    """Pack the models with a closeness; also return the other models."""
    checks: list[_Check] = []
    others: AskedModels = {}
    for kind, attributes in sorted(asked.items()):
        for position, constraints in attributes:
            closenesses = [constraint.closeness for constraint in constraints]
            packed = [
                closeness is not None and _is_packable(closeness, forest.record_count)
                for closeness in closenesses
            ]
            checks += [
                (kind, position, closeness)
                for closeness, is_packed in zip(closenesses, packed, strict=True)
                if closeness is not None and is_packed
            ]
            rest = tuple(
                constraint for constraint, is_packed in zip(constraints, packed, strict=True) if not is_packed
            )
            if rest:
                others.setdefault(kind, []).append((position, rest))
    return _pack(forest, checks), others


def _is_packable(closeness: Closeness, records: int) -> bool:
    """Return whether the sums of a check fit into 64 bits, and its paths into a small table."""
    depth = max(map(len, closeness.paths), default=0)
    most = max(sum(closeness.weight), closeness.scale) * closeness.total * (records + 1)
    fractions = max(closeness.bound.numerator, closeness.bound.denominator)
    return most * fractions < _LARGEST and len(closeness.set_of) * depth <= _MOST_PLACES


def _column(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def _pack(forest: Forest, checks: list[_Check]) -> ClosenessChecks:
    types = len(forest.schema.types)
    kinds = np.array([kind for kind, _, _ in checks], np.int64)
    first_check = np.searchsorted(kinds, np.arange(types + 1))
    held = [closeness.paths for _, _, closeness in checks]
    counts = np.array([len(paths) + 1 for paths in held], np.int64)
    sets = [(closeness, value_set) for _, _, closeness in checks for value_set in closeness.weighted_sets]
    first_set = [*accumulate((len(closeness.weighted_sets) for _, _, closeness in checks), initial=0)]
    depth = max((len(path) for paths in held for path in paths), default=0) + 1
    packed = np.full((len(checks), int(counts.max(initial=0)), depth), -1, np.int32)
    width = int(np.diff(first_check).max(initial=0))
    values = np.zeros((forest.vertex_count, width), np.int32)
    first_value = np.zeros(len(checks), np.int64)
    for check, (kind, position, closeness) in enumerate(checks):
        for code, path in enumerate(held[check]):
            packed[check, code, : len(path)] = np.array(path, np.int64) + first_set[check]
            if closeness.set_of[code] == FOREIGN:
                packed[check, code, 0] = FOREIGN_SET
        first_value[check] = counts[first_check[kind] : check].sum()
        vertices = np.flatnonzero(forest.type == kind)
        codes = forest.sensitive[forest.first_sensitive[vertices] + position]
        values[vertices, check - first_check[kind]] = np.where(codes == MISSING, len(held[check]), codes)
    most = max((int(counts[kinds == kind].sum()) for kind in kinds), default=0)
    return ClosenessChecks(
        words=-(-most // BITS),
        first_check=first_check,
        first_value=first_value,
        paths=packed,
        counts=counts,
        first_set=np.array(first_set, np.int64),
        weight=_column(closeness.weight[value_set] for closeness, value_set in sets),
        expected=_column(closeness.expected[value_set] for closeness, value_set in sets),
        total=_column(closeness.total for _, _, closeness in checks),
        limit=_column(
            closeness.bound.numerator * closeness.scale * closeness.total for _, _, closeness in checks
        ),
        bottom=_column(closeness.bound.denominator for _, _, closeness in checks),
        values=values,
        held=np.zeros(first_set[-1], np.int64),
    )


Rows = NDArray[np.int32]
Members = NDArray[np.int64]

_REMEMBERED = 2**15


class Closing:
    """Checks classes of at least ``size`` records against the models.

    ``rows`` are the rows of a representative; ``members[m, v]`` is member m's vertex for its v-th vertex.
    Models with a closeness are compiled ``checks``. Of the ``others``, answers are remembered by the values
    that were asked about: two classes that differ by an exchange have the same values at most vertices.

    ``undecided`` are by vertex type the sensitive attributes that must be checked, each with its models.
    """

    def __init__(self, forest: Forest, constraints: Constraints, size: int) -> None:
        self._forest = forest
        self._constraints = constraints
        self.undecided = _undecided_constraints(forest, constraints, size)
        self.checks, self.others = pack_checks(forest, self.undecided)
        self._root_nodes = np.array(first_nodes(forest)[0], np.int64)
        self._answers: dict[tuple[int, int, bytes, tuple[int, ...]], bool] = {}

    @property
    def asks(self) -> bool:
        """Whether a model must be asked about the values of a class of the right size."""
        return bool(self.undecided)

    @property
    def asks_at_root(self) -> bool:
        """Whether a class of the right size may still fail as a whole."""
        return 0 in self.undecided or self._constraints.population is not None

    def holds_at_root(self, rows: Rows, members: Members) -> bool:
        """Return whether the class as a whole may be published."""
        root = self._root(rows)
        view = self._constraints.view(len(members), {}, root)
        if not accepts_all(self._constraints.on_records, view):
            return False
        at_root = self.others.get(0, ())
        return bool(self._find_close(rows[:1], members[:, :1])[0]) and all(
            self._holds(0, position, asked, self._codes(position, members[:, :1])[0], root)
            for position, asked in at_root
        )

    def find_safe_vertices(self, rows: Rows, members: Members) -> NDArray[np.bool_]:
        """Mark the vertices where, and above which, all models hold; the root must be safe."""
        kept = self._find_close(rows, members)
        if not self.others:
            return kept
        root = self._root(rows)
        for kind in range(1, len(self._constraints.on_values)):  # above comes before below
            vertices = np.flatnonzero((rows[:, KIND] == kind) & kept)
            for position, asked in self.others.get(kind, ()):
                for v, codes in zip(
                    vertices.tolist(), self._codes(position, members[:, vertices]), strict=True
                ):
                    kept[v] = kept[v] and self._holds(kind, position, asked, codes, root)
            for v in np.flatnonzero((rows[:, KIND] == kind) & ~kept).tolist():
                first = rows[v, FIRST_CHILD]
                kept[first : first + rows[v, CHILD_COUNT]] = False
        return kept

    def _find_close(self, rows: Rows, members: Members) -> NDArray[np.bool_]:
        """Mark the vertices where, and above which, all models with a closeness hold."""
        kept = np.ones(len(rows), np.bool_)
        if self.checks.words:
            find_close(rows, len(rows), len(members), np.ascontiguousarray(members), self.checks, kept)
        return kept

    def _codes(self, position: int, members: Members) -> NDArray[np.int32]:
        """Return the sensitive values of the members at each vertex, a row for each vertex, sorted."""
        codes = self._forest.sensitive[self._forest.first_sensitive[members] + position]
        return np.sort(codes.T, axis=1)

    def _holds(
        self,
        kind: int,
        position: int,
        asked: tuple[Constraint, ...],
        codes: NDArray[np.int32],
        root: tuple[int, ...],
    ) -> bool:
        key = (kind, position, codes.tobytes(), root)
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            counts = Counter(codes[codes >= 0].tolist())
            view = self._constraints.view(len(codes), counts, root)
            answer = self._answers[key] = accepts_all(asked, view)
        return answer

    def _root(self, rows: Rows) -> tuple[int, ...]:
        """Return the nodes of the root that a population is asked about, none without a population."""
        if self._constraints.population is None:
            return ()
        nodes = rows[0, FIRST_NODE : FIRST_NODE + len(self._root_nodes)]
        return tuple((nodes - self._root_nodes).tolist())


def _undecided_constraints(forest: Forest, constraints: Constraints, size: int) -> AskedModels:
    """Return by vertex type the sensitive attributes that must be checked, each with its models.

    Sufficient caps are settled if every record has a value (erratum ML-8) and a second record has joined; a
    single record is never checked against them. Presence below the root is a matter of all vertices that will
    look alike, which ``coalesce`` judges, where the file ties values to records; else each vertex has values
    of its own, which must do by themselves.
    """
    unsettled: AskedModels = {}
    for kind, attributes in enumerate(constraints.on_values):
        vertices = np.flatnonzero(forest.type == kind)
        for position, bound in enumerate(attributes):
            some_missing = bool((forest.sensitive[forest.first_sensitive[vertices] + position] < 0).any())
            open_ = size == 1 or some_missing
            asked = tuple(
                constraint
                for constraint in bound
                if (open_ or constraint.caps is None or not constraint.caps.sufficient)
                and (kind == 0 or constraint.reading.asks == "value" or not constraint.tied)
            )
            if asked:
                unsettled.setdefault(kind, []).append((position, asked))
    return unsettled
