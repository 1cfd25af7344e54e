"""The search: root classes, then in each the cut and the deletions that lose least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.specialize.class_search import ClassSearch
from hierdata.engines.specialize.columns import columns_of, find_facts
from hierdata.engines.specialize.cutting import Cutter, Supports
from hierdata.engines.specialize.sensitive import SensitiveEntries
from hierdata.engines.specialize.splitting import RootClasses, Splitter
from hierdata.engines.specialize.whole_trees import (
    align_whole_trees,
    draft_whole_trees,
    lose_whole_trees,
    loss_by_root,
)
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition

DIVISIONS = (1.0, 2.5, 0.4, 0.1)
"""The factors of the support that a node needs, when root classes are split; more effort tries more."""
_MANY_OCCURRENCES = 10**7
"""With more, whole trees are searched first."""
IMPOSSIBLE = (
    "bounded knowledge cannot be kept: fewer than k records have a vertex that cannot be left out, as it "
    "does not repeat or is counted; drop it from the policy, leave its count out, or ask for a smaller k"
)
ALPHA_MISSED = (
    "bounded knowledge cannot be kept: even among all records a sensitive value has a share above alpha, or "
    "fewer than k have a vertex that does not repeat; raise alpha, name under `values` those that matter "
    "(lint with --data tells which are too common), or ask for a smaller k"
)


MODELS_MISSED = (
    "bounded knowledge cannot be kept together with the other models: even all records as one class fail a "
    "model of sensitive values; weaken that model, drop the attribute, or state alpha instead"
)
COUNTS_MISSED = (
    "bounded knowledge cannot be kept: fewer than k records have the same bins of counts; state fewer edges "
    "under `counts`, or ask for a smaller k"
)


def specialize(given: StepInput, effort: int) -> Partition:
    """Return the classes and deletions that lose least of all divisions tried."""
    forest, _, constraints = given.problem
    knowledge = constraints.knowledge
    assert knowledge is not None, "this engine keeps bounded knowledge"
    counted = knowledge.root == "counted"
    facts = find_facts(forest, columns_of(forest, counted=counted), _removable_types(forest, constraints))
    cutter = Cutter(Supports(facts), knowledge.k, knowledge.m, knowledge.vertex == "whole")
    sensitive = (
        SensitiveEntries.of(forest, constraints.bounded, knowledge.alpha)
        if constraints.bounded and knowledge.alpha is not None
        else None
    )
    search = ClassSearch(forest, facts, cutter, constraints, knowledge, sensitive, given.progress)
    if counted:
        divisions = [RootClasses(np.zeros(forest.record_count, np.int64), [()])]
    else:
        factors = sorted(DIVISIONS[:effort])
        splitters = [Splitter(forest, cutter, factor, constraints) for factor in factors]
        if np.bincount(splitters[0].by_counts).min() < constraints.min_class_size:
            return _refuse(forest, COUNTS_MISSED)
        divisions = [splitter.split() for splitter in splitters]
    # What takes longer comes last, so that it can be given up.
    first = facts.count_occurrences(knowledge.m) > _MANY_OCCURRENCES
    drafted = draft_whole_trees(given, None) if first else None
    divisions = _different(divisions)
    found = search.mend_divisions(divisions, np.inf if drafted is None else lose_whole_trees(forest, drafted))
    most = min((loss_by_root(forest, one) for one in found if one is not None), default=None)
    if not first:
        drafted = draft_whole_trees(given, most)
    whole = None if drafted is None else align_whole_trees(given, drafted, most)
    if first and most is None and whole is None:  # the draft does not serve
        found = search.mend_divisions(divisions, np.inf)
    answers = [
        (loss_by_root(forest, one), at, one) for at, one in enumerate([*found, whole]) if one is not None
    ]
    if not answers:
        missed = IMPOSSIBLE if sensitive is None else ALPHA_MISSED
        return _refuse(forest, MODELS_MISSED if search.fails_models else missed)
    return min(answers)[-1]


def _refuse(forest: Forest, reason: str) -> Partition:
    """Return a partition without classes, and why there are none."""
    nobody = np.full(forest.record_count, SUPPRESSED)
    return Partition(nobody, np.full(forest.vertex_count, SUPPRESSED), forest.nodes, reason=reason)


def _removable_types(forest: Forest, constraints: Constraints) -> frozenset[int]:
    """Return the vertex types that may repeat below their parent, and are not, or above or below, counted."""
    schema = forest.schema
    counted = frozenset(one.kind for one in constraints.counts)
    above = frozenset[int]().union(*map(schema.line, counted))
    return frozenset(
        kind.index
        for kind in schema.types[1:]
        if kind.many and kind.index not in above and counted.isdisjoint(schema.line(kind.index))
    )


def _different(divisions: Sequence[RootClasses]) -> list[RootClasses]:
    """Return the divisions without those that were found before."""
    found: dict[bytes, RootClasses] = {}
    for division in divisions:
        found.setdefault(np.array(division.vectors)[division.class_of].tobytes(), division)
    return list(found.values())
