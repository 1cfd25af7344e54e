"""One run of spread: keep the rows that can be published, cut them into blocks, deal, check all models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.number import plain
from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.mondrian.cutter import cut
from hierdata.engines.mondrian.run import mondrian
from hierdata.engines.rows.asking import ClassConstraints, confirm_classes
from hierdata.engines.rows.caps import RowCaps, row_caps
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import codes_of, losses_of, partition_of, unaccepted_cost
from hierdata.engines.rows.tracks import Apart
from hierdata.engines.spread.look_alikes import redeal_look_alikes, tell_apart
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import FrequencyCaps
from hierdata.records.schema import Role


def spread_rows(given: StepInput) -> Partition:
    """Partition the rows of the scope (see ``Spread``). Raises PolicyError if no model has a reach."""
    forest, scope, constraints = given.problem
    apart, l = nearness(forest, scope, constraints)  # noqa: E741  (the paper's letter)
    least = max(ceil(l), constraints.min_class_size)
    count = len(scope.rows)
    present = np.flatnonzero(apart.groups >= 0)
    kept = apart.tracks(present, Fraction(least))
    classes = _deal_classes(forest, scope, apart, kept, least, given.progress)
    classes = confirm_classes(forest, scope, constraints, classes)

    left = np.flatnonzero(classes == SUPPRESSED)
    if least == l and len(kept) == int((classes[present] != SUPPRESSED).sum()):
        left = left[apart.groups[left] < 0]  # by the bound, no other row can be published
    classes = attach(forest, scope, constraints, classes, left, given.rng)
    published = None
    if len(forest.schema.types) == 1 and constraints.population is None:
        asked = ClassConstraints(forest, scope, constraints)
        classes = redeal_look_alikes(forest, scope, apart, asked, classes)
        published = tell_apart(forest, scope, asked, classes)
    given.progress(count)

    gone = int((classes == SUPPRESSED).sum())
    reason = _reason(apart, present, l, least) if gone else ""
    costs = Counter({unaccepted_cost(scope): gone})
    dealt = partition_of(forest, scope, classes, costs, reason, published)
    if least == ceil(l):
        return dealt
    # Classes of more than l values, all apart, are stricter than the models; cuts are not.
    by_cuts = mondrian(given)
    by_cuts = replace(by_cuts, reason=by_cuts.reason or reason)
    return max(dealt, by_cuts, key=partial(_worth, forest, scope))


def _worth(forest: Forest, scope: Scope, partition: Partition) -> tuple[int, int]:
    """Return a key by which more published rows are better, then less loss."""
    classes = partition.equivalence_class[scope.rows]
    return int((classes != SUPPRESSED).sum()), -int(losses_of(forest, scope, classes).sum())


def nearness(forest: Forest, scope: Scope, constraints: Constraints) -> tuple[Apart, Fraction]:
    """Return which values count together, and the l of the strictest model: at most 1/l of a class may.

    Raises PolicyError if no model has such a limit, or models of several attributes have one.
    """
    attributes = forest.schema.types[scope.kind].of_role(Role.SENSITIVE)
    near = [
        (position, [one.caps for one in bound if one.caps is not None and one.caps.reach is not None])
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
    assert len({own.group_of for own in caps}) == 1, "groups are the ranks of one attribute's numbers"
    ends = np.max([np.array([end for _, end in own.reach or ()], np.int32) for own in caps], axis=0)
    groups = row_caps(codes_of(forest, scope)[:, position], caps[0]).groups
    share = min((share for own in caps for share in own.share), default=Fraction(1))
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
    one = apart.one_track(present)
    if one < l:
        return (
            f"a class needs {plain(l)} values that are not near each other, and there are at most {one}: "
            f"{one} is the largest l that would work"
        )
    bound = len(apart.tracks(present, l))
    text = (
        f"at most {bound} of the {len(present)} values can be published: too many of them are near each "
        f"other for classes in which at most 1 in {plain(l)} may be near any value"
    )
    return text if one >= least else f"{text}; a class of {least} needs some that are near each other"
