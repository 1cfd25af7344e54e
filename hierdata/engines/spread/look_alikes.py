"""Bring classes apart that look alike once published, and whose union is not safe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.asking import ClassConstraints
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import dense, joins, members_of, nodes_of
from hierdata.engines.rows.tracks import Apart
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.isomorphism import first_alike
from hierdata.forest.partition import SUPPRESSED

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
        rows = np.concatenate([members[own] for own in alike])
        if len(alike) == 1 or asked(rows) or (apart.groups[rows] < 0).any():
            continue
        each = len(rows) // apart.count_tracks(rows)
        if each <= len(rows) // len(alike):
            continue
        dealt = apart.deal_blocks(line, scope, [rows], each)[rows]
        if (dealt >= 0).all() and all(asked(rows[dealt == own]) for own in range(int(dealt.max()) + 1)):
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
        sorted(alike, key=lambda own: -counted[own].records) for alike in _group_by_form(forms, published)
    ]
    held = {forms.of_nodes(published[alike[0]].tolist()): counted[alike[0]] for alike in groups}
    left = _ASKED
    for _, *others in groups:
        for own in others:
            for nodes in islice(forms.above(published[own].tolist()), _FORMS):
                form = forms.of_nodes(nodes)
                union = counted[own] + held[form] if form in held else counted[own]
                left -= form in held
                if form not in held or (left > 0 and asked.hold(union)):
                    published[own], held[form] = nodes, union
                    break
    return published


def _group_by_form(forms: _Ladders, published: NDArray[np.int32]) -> list[list[int]]:
    """Return the classes of each form, by the nodes that they are published by."""
    alike: defaultdict[Form, list[int]] = defaultdict(list)
    for own, nodes in enumerate(published.tolist()):
        alike[forms.of_nodes(nodes)].append(own)
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
        ladders = [own[node] for own, node in zip(self.ladders, nodes, strict=True)]
        waiting: list[tuple[int, Form]] = [(0, (0,) * len(ladders))]
        seen = {waiting[0][1]}
        while waiting:
            _, steps = heappop(waiting)
            yield [ladder[step] for ladder, step in zip(ladders, steps, strict=True)]
            for at, ladder in enumerate(ladders):
                higher = (*steps[:at], steps[at] + 1, *steps[at + 1 :])
                if higher[at] < len(ladder) and higher not in seen:
                    seen.add(higher)
                    heappush(waiting, (self._loss(ladders, higher), higher))

    def _loss(self, ladders: Sequence[Sequence[int]], steps: Form) -> int:
        found = zip(self.losses, ladders, steps, strict=True)
        return sum(int(losses[ladder[step]]) for losses, ladder, step in found)
