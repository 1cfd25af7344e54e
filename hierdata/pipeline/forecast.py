"""Say before a long search that it will be long, and what would shorten it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hierdata.pipeline.block import Load
from hierdata.policy.lint.attainable import estimate_patterns
from hierdata.policy.plan.plan import Prepared

_SECONDS = 6e-9
"""Seconds for each pair of vertices of two aligned trees, as measured with 20 to 230 vertices a tree."""
_LONG = 60.0
"""Searches that take fewer seconds are not announced."""


def announce_search(
    loads: Iterable[Load], prepared: Prepared, workers: int, notice: Callable[[str], None] | None
) -> None:
    """Call ``notice`` with an estimate if the search, or judging patterns, will take more than a minute."""
    if notice is None:
        return
    for _, warning in estimate_patterns(prepared.policy, prepared.survey):
        notice(warning)
    loads = [load for load in loads if load.records]
    seconds = estimate_seconds(loads, prepared) / max(1, min(workers, len(loads)))
    if seconds < _LONG:
        return
    records, vertices = sum(load.records for load in loads), sum(load.vertices for load in loads)
    notice(
        f"the search will take about {spell_duration(seconds)}: records have {vertices // records} vertices "
        "on average, and its time grows with the square of that. Shorter: 'shape' in the policy (take, cap, "
        "distinct), 'aligned: 4' for the engine k-member, or the preset ClusTree, which loses more"
    )


def estimate_seconds(loads: Iterable[Load], prepared: Prepared) -> float:
    """Return about how long one processor searches, by the number of alignments and the sizes of records."""
    return sum(
        _SECONDS
        * engine.estimate_work(load.records, load.vertices, constraints)
        * (load.vertices / load.records) ** 2
        for load in loads
        for stage in prepared.stages
        for engine, constraints in stage.work()
    )


def spell_duration(seconds: float) -> str:
    """Return a duration in words, rounded as an estimate is.

    >>> spell_duration(100), spell_duration(3000), spell_duration(30000)
    ('2 minutes', '50 minutes', '8 hours')
    """
    if seconds < 5400:
        return f"{max(2, round(seconds / 60))} minutes"
    return f"{round(seconds / 3600)} hours"
