"""One run of spread: keep the rows that can be published, cut them into blocks, deal, check all models.

Classes that look alike once they are published, and whose union is not safe, are brought apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.number import plain
from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.mondrian.run import cut, mondrian
from hierdata.engines.rows.constraints import ClassConstraints, RowCaps, confirm_classes, row_caps
from hierdata.engines.rows.dealing import Apart
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import (
    RowLine,
    classes_of,
    codes_of,
    dense,
    joins,
    members_of,
    nodes_of,
    partition_of,
    suppression_cost,
    unaccepted_cost,
)
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.isomorphism import first_alike
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import FrequencyCaps

_FORMS = 1000
"""The number of forms that are tried for a class."""
_ASKED = 100_000
"""The number of unions that are judged; after that a class gets a form of its own or none."""

Form = tuple[int, ...]


def redeal_look_alikes(
    forest: Forest, scope: Scope, apart: Apart, asked: ClassConstraints, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Deal classes that look alike to as few classes as their rows need, where their union is not safe.

    The fewer they are, the fewer forms are needed to tell them apart.
    """
    line = RowLine.of(forest, scope)
    result = classes.copy()
    members, following = members_of(classes), int(classes.max(initial=SUPPRESSED)) + 1
    published = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
    for alike in _group_by_form(_Ladders.of(forest, scope), published):
        rows = np.concatenate([members[number] for number in alike])
        if len(alike) == 1 or asked(rows) or (apart.groups[rows] < 0).any():
            continue
        each = len(rows) // apart.count_tracks(rows)
        if each <= len(rows) // len(alike):
            continue
        dealt = apart.deal_blocks(line, scope, [rows], each)[rows]
        if (dealt >= 0).all() and all(asked(rows[dealt == number]) for number in range(int(dealt.max()) + 1)):
            result[rows] = following + dealt
            following += len(alike)
    return dense(result)


def tell_apart(
    forest: Forest, scope: Scope, asked: ClassConstraints, classes: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the nodes by which each class is published: its joins, or more general ones.

    Of classes that look alike the largest keeps its joins. Each other one is generalized, with the least
    loss, to a form that no class has, or that is safe for it and all classes that have it together; it may be
    its own. A class for which none of the first 1,000 forms will do keeps its joins.
    """
    published = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
    counted = [asked.count_rows(rows) for rows in members_of(classes)]
    forms = _Ladders.of(forest, scope)
    groups = [
        sorted(alike, key=lambda number: -counted[number].records)
        for alike in _group_by_form(forms, published)
    ]
    held = {forms.of_nodes(published[alike[0]].tolist()): counted[alike[0]] for alike in groups}
    questions = _ASKED
    for _, *others in groups:
        for number in others:
            for nodes in islice(forms.above(published[number].tolist()), _FORMS):
                form = forms.of_nodes(nodes)
                union = counted[number] + held[form] if form in held else counted[number]
                questions -= form in held
                if form not in held or (questions > 0 and asked.hold(union)):
                    published[number], held[form] = nodes, union
                    break
    return published


def _group_by_form(forms: _Ladders, published: NDArray[np.int32]) -> list[list[int]]:
    """Return the classes of each form, by the nodes that they are published by."""
    alike: defaultdict[Form, list[int]] = defaultdict(list)
    for number, nodes in enumerate(published.tolist()):
        alike[forms.of_nodes(nodes)].append(number)
    return [*alike.values()]


@dataclass(frozen=True)
class _Ladders:
    """What readers see of nodes, and what generalizes them, by quasi-identifier.

    ``alike`` is the first node with a node's label; ``ladders`` are the nodes above each node, itself first;
    ``losses`` are as in Forest.
    """

    alike: tuple[Sequence[int], ...]
    ladders: tuple[Sequence[Sequence[int]], ...]
    losses: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, forest: Forest, scope: Scope) -> _Ladders:
        trees = forest.hierarchies[scope.kind]
        ladders = tuple(
            [[node for node in reversed(row) if node >= 0] for row in tree.ancestors] for tree in trees
        )
        return cls(tuple(first_alike(tree.labels) for tree in trees), ladders, forest.losses[scope.kind])

    def of_nodes(self, nodes: Sequence[int]) -> Form:
        """Return the form of a class that is published by some nodes."""
        return tuple(same[node] for same, node in zip(self.alike, nodes, strict=True))

    def above(self, nodes: Sequence[int]) -> Iterator[list[int]]:
        """Yield nodes and all that generalize them, by rising loss."""
        ladders = [by_node[node] for by_node, node in zip(self.ladders, nodes, strict=True)]
        waiting: list[tuple[int, Form]] = [(0, (0,) * len(ladders))]
        met = {waiting[0][1]}
        while waiting:
            _, steps = heappop(waiting)
            yield [ladder[step] for ladder, step in zip(ladders, steps, strict=True)]
            for position, ladder in enumerate(ladders):
                higher = (*steps[:position], steps[position] + 1, *steps[position + 1 :])
                if higher[position] < len(ladder) and higher not in met:
                    met.add(higher)
                    heappush(waiting, (self._loss(ladders, higher), higher))

    def _loss(self, ladders: Sequence[Sequence[int]], steps: Form) -> int:
        chosen = zip(self.losses, ladders, steps, strict=True)
        return sum(int(losses[ladder[step]]) for losses, ladder, step in chosen)


def spread_rows(step: StepInput) -> Partition:
    """Partition the rows of the scope (see ``Spread``). Raises PolicyError if no model has a reach."""
    forest, scope, constraints = step.problem
    apart, l = nearness(forest, scope, constraints)  # noqa: E741  (the paper's letter)
    least = max(ceil(l), constraints.min_class_size)
    count = len(scope.rows)
    present = np.flatnonzero(apart.groups >= 0)
    kept = apart.tracks(present, Fraction(least))
    classes = _deal_classes(forest, scope, apart, kept, least, step.progress)
    classes = confirm_classes(forest, scope, constraints, classes)

    leftovers = np.flatnonzero(classes == SUPPRESSED)
    if least == l and len(kept) == int((classes[present] != SUPPRESSED).sum()):
        leftovers = leftovers[apart.groups[leftovers] < 0]  # by the bound, no other row can be published
    classes = attach(forest, scope, constraints, classes, leftovers, step.rng)
    published = None
    if len(forest.schema.types) == 1 and constraints.population is None:
        asked = ClassConstraints(forest, scope, constraints)
        classes = redeal_look_alikes(forest, scope, apart, asked, classes)
        published = tell_apart(forest, scope, asked, classes)
    step.progress(count)

    gone = int((classes == SUPPRESSED).sum())
    reason = _reason(apart, present, l, least) if gone else ""
    costs = Counter({unaccepted_cost(scope): gone})
    dealt = partition_of(forest, scope, classes, costs, reason, published)
    if least == ceil(l):
        return dealt
    # Classes of more than l values, all apart, are stricter than the models; cuts are not.
    by_cuts = mondrian(step)
    by_cuts = replace(by_cuts, reason=by_cuts.reason or reason)
    return min(
        dealt, by_cuts, key=lambda partition: suppression_cost(forest, scope, classes_of(partition, scope))
    )


def nearness(forest: Forest, scope: Scope, constraints: Constraints) -> tuple[Apart, Fraction]:
    """Return which values count together, and the l of the strictest model: at most 1/l of a class may.

    Raises PolicyError if no model has such a limit, or models of several attributes have one.
    """
    attributes = forest.schema.types[scope.kind].sensitive
    near = [
        (
            position,
            [
                constraint.caps
                for constraint in bound
                if constraint.caps is not None and constraint.caps.reach is not None
            ],
        )
        for position, bound in enumerate(constraints.on_values[scope.kind])
    ]
    near = [(position, caps) for position, caps in near if caps]
    if not near:
        raise PolicyError(
            "spread needs a model that limits numbers near each other, such as delta-l-diversity: add one, "
            "or use mondrian",
            path=forest.schema.types[scope.kind].path if scope.kind else None,
        )
    if len(near) > 1:
        raise PolicyError(
            "spread keeps the numbers of one attribute apart: limit the model with `on`, or use mondrian",
            path=attributes[near[1][0]].path,
        )
    ((position, caps),) = near
    assert len({cap.group_of for cap in caps}) == 1, "groups are the ranks of one attribute's numbers"
    ends = np.max([np.array([end for _, end in cap.reach or ()], np.int32) for cap in caps], axis=0)
    groups = row_caps(codes_of(forest, scope)[:, position], caps[0]).groups
    share = min((share for cap in caps for share in cap.share), default=Fraction(1))
    return Apart(groups, ends), 1 / share


def _deal_classes(
    forest: Forest,
    scope: Scope,
    apart: Apart,
    kept: NDArray[np.int64],
    least: int,
    progress: Callable[[int], None],
) -> NDArray[np.int64]:
    """Cut the kept rows such that W * least <= size on both sides, and deal the blocks."""
    if not len(kept):
        return np.full(len(scope.rows), SUPPRESSED, np.int64)
    line = RowLine.of(forest, scope)
    reach = tuple(enumerate(apart.ends.tolist()))
    caps = FrequencyCaps(tuple(range(len(reach))), (Fraction(1, least),) * len(reach), reach=reach)
    blocks = cut(line, kept, [RowCaps(apart.groups, caps)], least, None, progress)
    return apart.deal_blocks(line, scope, np.split(blocks.order, blocks.starts[1:]), least)


def _reason(apart: Apart, present: NDArray[np.int64], l: Fraction, least: int) -> str:  # noqa: E741
    """Explain what can be published at best, by counts alone."""
    most = apart.one_track(present)
    if most < l:
        return (
            f"a class needs {plain(l)} values that are not near each other, and there are at most {most}: "
            f"{most} is the largest l that would work"
        )
    bound = len(apart.tracks(present, l))
    text = (
        f"at most {bound} of the {len(present)} values can be published: too many of them are near each "
        f"other for classes in which at most 1 in {plain(l)} may be near any value"
    )
    return text if most >= least else f"{text}; a class of {least} needs some that are near each other"
