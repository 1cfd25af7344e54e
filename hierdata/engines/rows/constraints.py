"""Constraints on classes of rows: what classes contain, what caps decide, why no class is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.number import plain
from hierdata.engines.base import Constraints, accepts_all
from hierdata.engines.rows.kernel import Caps
from hierdata.engines.rows.table import class_sizes, codes_of, dense, joins, nodes_of
from hierdata.forest.forest import MISSING, Forest, Scope, look_up
from hierdata.forest.partition import SUPPRESSED
from hierdata.privacy.base import FOREIGN, ClassView, Closeness, Constraint, FrequencyCaps

_FEW = 32


class Contents:
    """The views of all classes at one sensitive attribute; classes with equal contents share a view.

    ``of_class[class]`` is a position in ``views``. A class with more than 32 different values has a view of
    its own. O(rows log rows).
    """

    def __init__(self, classes: NDArray[np.int64], codes: NDArray[np.int32]) -> None:
        sizes = class_sizes(classes)
        there = (classes >= 0) & (codes >= 0)
        base = int(codes.max(initial=0)) + 1
        entries, counts = np.unique(classes[there] * base + codes[there], return_counts=True)
        owners, values = np.divmod(entries, base)
        lengths = np.bincount(owners, minlength=len(sizes))
        starts = np.cumsum(lengths) - lengths
        self.views: list[ClassView] = []
        self.of_class = np.empty(len(sizes), np.int64)
        for alike in _group_alike(sizes, lengths, starts, values, counts):
            first = alike[0]
            span = slice(starts[first], starts[first] + lengths[first])
            held = dict(zip(values[span].tolist(), counts[span].tolist(), strict=True))
            self.of_class[alike] = len(self.views)
            self.views.append(ClassView(int(sizes[first]), held))


def _group_alike(
    sizes: NDArray[np.int64],
    lengths: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Iterator[NDArray[np.int64]]:
    """Iterate over groups of classes of equal size that hold the same values equally often."""
    for length in np.unique(lengths).tolist():
        classes = np.flatnonzero(lengths == length)
        if length > _FEW:
            yield from classes[:, None]
            continue
        keys = sizes[classes]
        for nth in range(length):
            for column in (values, counts):
                entries = column[starts[classes] + nth]
                keys = np.unique(keys, return_inverse=True)[1] * (int(entries.max()) + 1) + entries
        order = np.argsort(keys, kind="stable")
        yield from np.split(classes[order], np.flatnonzero(np.diff(keys[order])) + 1)


def check_classes(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    published: NDArray[np.int32] | None = None,
) -> NDArray[np.bool_]:
    """Decide, exactly, whether each class satisfies all constraints.

    A constraint is checked once for classes with equal contents. ``published`` are the nodes of the classes,
    by default the lowest nodes above all members.
    """
    sizes = class_sizes(classes)
    holds = np.ones(len(sizes), np.bool_)
    if not len(sizes):
        return holds
    if constraints.population is None:
        for size in np.unique(sizes).tolist():
            holds[sizes == size] = accepts_all(constraints.on_records, ClassView(size, {}))
    else:
        roots = published
        if roots is None:
            roots = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
        views = map(constraints.view, sizes.tolist(), repeat({}), roots.tolist())
        holds &= np.array([accepts_all(constraints.on_records, view) for view in views], np.bool_)
    codes = codes_of(forest, scope)
    for position, bound in enumerate(constraints.on_values[scope.kind]):
        if bound:
            contents = Contents(classes, codes[:, position])
            answers = [accepts_all(bound, view) for view in contents.views]
            holds &= np.array(answers, np.bool_)[contents.of_class]
    return holds


class Question:
    """A constraint that is checked once for each summary of a view."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._answers: dict[Hashable, bool] = {}

    def holds(self, view: ClassView) -> bool:
        """Whether the constraint holds for a view."""
        key = view.records, view.population, self._constraint.summary(view.counts)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._constraint.holds(view)
        return answer


@dataclass(frozen=True)
class RowCounts:
    """The number of rows of a class, and by sensitive attribute with constraints how often it has each code.

    ``root`` are the nodes by which a class at the root is published, where a constraint counts a population.
    """

    records: int
    counts: tuple[Counter[int], ...]
    root: tuple[int, ...] = ()

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the counts of the union of two classes that are published alike."""
        counts = tuple(mine + others for mine, others in zip(self.counts, other.counts, strict=True))
        return RowCounts(self.records + other.records, counts, self.root)


class ClassConstraints:
    """A predicate: whether a class of some rows satisfies the constraints."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        self._constraints = constraints
        self._hierarchies = forest.hierarchies[scope.kind]
        self._nodes = nodes_of(forest, scope)
        bound = enumerate(constraints.on_values[scope.kind])
        codes = codes_of(forest, scope)
        self._attributes = [
            (np.ascontiguousarray(codes[:, position]), models) for position, models in bound if models
        ]

    @property
    def has_constraints(self) -> bool:
        """Whether there is any constraint."""
        return bool(self._constraints.on_records or self._attributes)

    def __call__(self, rows: NDArray[np.int64]) -> bool:
        """Check a class of these rows."""
        return self.hold(self.count_rows(rows))

    def count_rows(self, rows: NDArray[np.int64]) -> RowCounts:
        """Count the rows of a class and their values."""
        root: list[int] = []
        if self._constraints.population is not None:
            alone = np.zeros(len(rows), np.int64)
            root = joins(self._hierarchies, self._nodes[rows], alone)[0].tolist()
        counts = tuple(Counter(codes[rows].tolist()) for codes, _ in self._attributes)
        for counter in counts:
            counter.pop(MISSING, None)
        return RowCounts(len(rows), counts, tuple(root))

    def hold(self, counted: RowCounts) -> bool:
        """Check a class with these counts."""
        constraints = self._constraints
        if constraints.on_records:
            view = constraints.view(counted.records, {}, counted.root)
            if not accepts_all(constraints.on_records, view):
                return False
        for counts, (_, bound) in zip(counted.counts, self._attributes, strict=True):
            view = constraints.view(counted.records, counts, counted.root)
            if not accepts_all(bound, view):
                return False
        return True


def confirm_classes(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the classes that satisfy all constraints, numbered without gaps."""
    classes = dense(classes)
    holds = np.append(check_classes(forest, scope, constraints, classes), False)  # SUPPRESSED is -1: the last
    return dense(np.where(holds[classes], classes, SUPPRESSED))


_UNBOUNDED = 2**62


@dataclass(frozen=True)
class RowCaps:
    """Frequency caps with the group of every row, -1 for a missing value."""

    groups: NDArray[np.int32]
    caps: FrequencyCaps

    def fits(self) -> bool:
        """Whether count * denominator fits into 64 bits at every size."""
        return all(share.denominator * len(self.groups) < _UNBOUNDED for share in self.caps.share)


def pack_row_caps(bound: Sequence[RowCaps], rows: int) -> Caps:
    """Pack the caps on a table of ``rows`` rows for compiled code; without caps, every region passes."""
    counts = [len(cap.caps.share) for cap in bound]
    alone = [[(group, group) for group in range(count)] for count in counts]
    reach = [cap.caps.reach or single for cap, single in zip(bound, alone, strict=True)]
    shares = [(share.numerator, share.denominator) for cap in bound for share in cap.caps.share]
    return Caps(
        np.array([cap.groups for cap in bound], np.int32).reshape(len(bound), rows),
        np.cumsum([0, *counts]),
        np.array([_UNBOUNDED if cap.caps.most is None else cap.caps.most for cap in bound], np.int64),
        np.array([*chain.from_iterable(reach)], np.int64).reshape(-1, 2),
        np.array(shares, np.int64).reshape(-1, 2),
        np.zeros(max(counts, default=0), np.int64),
    )


def row_caps(codes: NDArray[np.int32], caps: FrequencyCaps) -> RowCaps:
    """Build the caps of rows with these codes."""
    return RowCaps(look_up(caps.group_of, codes), caps)


def strangers(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.bool_]:
    """Mark the rows with a value that does not occur in the original, which no class may hold."""
    codes = codes_of(forest, scope)
    strange = np.zeros(len(codes), np.bool_)
    for position, closeness in constraints.closeness(scope.kind):
        strange |= foreign(closeness, codes[:, position])
    return strange


def foreign(closeness: Closeness, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Mark the codes of values that do not occur in the original."""
    return np.array([*(value_set == FOREIGN for value_set in closeness.set_of), False], np.bool_)[
        codes
    ]  # MISSING is the last


def one_of_each_record(scope: Scope) -> list[RowCaps]:
    """Return the cap of one row per record in a class; empty if no record has two rows."""
    records, which = np.unique(scope.records, return_inverse=True)
    if len(records) == len(scope.records):
        return []
    groups = which.ravel().astype(np.int32)
    return [RowCaps(groups, FrequencyCaps((), (Fraction(1),) * len(records), most=1))]


def split_decided(
    forest: Forest, scope: Scope, constraints: Constraints
) -> tuple[list[RowCaps], Constraints]:
    """Return the caps on the rows, and the constraints that these and the least size do not decide.

    Caps decide a constraint if they are sufficient and every row has a value (erratum ML-8).
    """
    bound = one_of_each_record(scope)
    codes = codes_of(forest, scope)
    asked: list[tuple[Constraint, ...]] = []
    for position, models in enumerate(constraints.on_values[scope.kind]):
        column = codes[:, position]
        open_ones = []
        for constraint in models:
            caps = None if constraint.caps is None else row_caps(column, constraint.caps)
            if caps is not None and caps.fits():
                bound.append(caps)
                if caps.caps.sufficient and (column >= 0).all():
                    continue
            open_ones.append(constraint)
        asked.append(tuple(open_ones))
    on_records = tuple(
        constraint for constraint in constraints.on_records if not decided_by_size(constraint, constraints)
    )
    on_values = tuple(
        tuple(asked) if kind == scope.kind else tuple(() for _ in attributes)
        for kind, attributes in enumerate(constraints.on_values)
    )
    return bound, Constraints(on_records, on_values, constraints.population)


def decided_by_size(constraint: Constraint, constraints: Constraints) -> bool:
    """Whether every class of the least size or more satisfies a constraint on records.

    A larger class is a union of classes of the least size to twice that. A constraint that is closed under
    unions and holds for those holds for their union. With a population, none is decided by size.
    """
    least = constraints.min_class_size
    return (
        constraint.closed_under_union
        and constraints.population is None
        and all(constraint.holds(ClassView(size, {})) for size in range(least, 2 * least))
    )


def shortage(forest: Forest, scope: Scope, constraints: Constraints) -> str:
    """Return a sentence about a constraint that no class of these rows can satisfy; "" if none is known."""
    kind = forest.schema.types[scope.kind]
    records = len(np.unique(scope.records))
    least = constraints.min_class_size
    if records < least:
        return (
            f"a class needs at least {least} records, and there are only {records}: {records} is the largest "
            "k or l that would work; collect more records or lower k or l"
        )
    codes = codes_of(forest, scope)
    attributes = kind.sensitive
    for position, caps in constraints.caps(scope.kind):
        # Unequal shares have no single letter that could be smaller.
        asked = 1 / caps.share[0] if caps.share and caps.share[0] else 0
        if not asked or len(set(caps.share)) > 1:
            continue
        apart = values_apart(row_caps(codes[:, position], caps))
        if apart < asked:
            return (
                f"a class needs {plain(asked)} or more values at {attributes[position].path} that do not "
                f"count together, and there are only {apart}: {apart} is the largest l that a class can reach"
            )
    return ""


def values_apart(caps: RowCaps) -> int:
    """Return the largest number of occurring values of which no two count together."""
    groups = np.unique(caps.groups[caps.groups >= 0]).tolist()
    if caps.caps.reach is None:
        return len(groups)
    apart, reached = 0, -1
    for group in groups:
        if group > reached:
            apart, reached = apart + 1, caps.caps.reach[group][1]
    return apart
