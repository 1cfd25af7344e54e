"""Inner loops of joining together: several suppressed records join a class at once.

A single newcomer seldom outweighs what all members of the class lose by its joining, for instance if many
equal records each have one sensitive level; several newcomers together may.
"""

from __future__ import annotations

from hierdata.engines.alignment.kernels.arrays import Rules, Scratch, Settings
from hierdata.engines.alignment.kernels.representative import Ordinals
from hierdata.engines.jit import lean
from hierdata.engines.local_search.kernel_closeness import close_saving
from hierdata.engines.local_search.kernel_moves import nearest_classes
from hierdata.engines.local_search.kernel_paths import clear_paths, common_worth, insert_best, mark_paths
from hierdata.engines.local_search.kernel_state import (
    NOBODY,
    SearchBuffers,
    SearchInput,
    Standing,
    at_size,
    build,
    join_record,
)


@lean
def _companions(
    record: int, visits: Ordinals, ground: SearchInput, standing: Standing, buffers: SearchBuffers
) -> int:
    """Fill ``buffers.company`` with other suppressed records, by their possible saving with this one.

    The saving is bounded by paths; those of the record must be in ``buffers.passed``. The largest come first,
    equal ones in the order of ``visits``. Return how many there are.
    """
    company, commons = buffers.company, buffers.company_commons
    count = 0
    for other in visits:
        if standing.class_of[other] >= 0 or other == record:
            continue
        common = common_worth(ground.paths[other], ground.lengths[other], buffers.passed, ground.worth)
        count = insert_best(company, commons, count, other, common)
    return count


@lean
def _party(
    at: int,
    record: int,
    count: int,
    largest: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
) -> None:
    """Find the number of companions with which a record gains most in the at-th near class.

    They are aligned one after the other to the class as it is. Records whose roots do not fit are skipped.
    Where models have a closeness, the members are aligned again, and what fails then is not gained.
    """
    checks = ground.checks
    to = buffers.near[at]
    first = standing.sizes[to]
    kept = first * standing.saved[to]
    party = buffers.parties[at]
    buffers.party_sizes[at] = 0
    buffers.party_gains[at] = 0
    size = first
    if checks.words > 0:
        smaller = at_size(rules, ground.caps_of, first)
        if build(standing.order[to], 0, first, NOBODY, 0, 0, settings, work, smaller, ground, buffers) == 0:
            return
    for place in range(-1, count):
        joining = record if place < 0 else buffers.company[place]
        if size == largest:
            break
        rep = standing.rows[to] if size == first and checks.words == 0 else buffers.rep
        fitting = at_size(rules, ground.caps_of, size + 1)
        vertices = join_record(joining, size, rep, settings, work, fitting, ground, buffers)
        if vertices == 0:
            if place < 0:
                break
            continue
        party[size - first] = joining
        size += 1
        saved = close_saving(
            buffers.rep, vertices, size, buffers.behind, buffers.open_, settings.scale, rules.losses, checks
        )
        gain = size * saved - kept
        if gain > buffers.party_gains[at]:
            buffers.party_gains[at] = gain
            buffers.party_sizes[at] = size - first


@lean
def gather(
    record: int,
    visits: Ordinals,
    largest: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
    tally: Ordinals,
) -> int:
    """Find other suppressed records with which a record may join near classes; write ``buffers.parties``.

    Classes that gain nothing with the record, however many join, are skipped. ``tally[0]`` counts the classes
    that were tried. Return the number of near classes.
    """
    mark_paths(ground.paths[record], ground.lengths[record], buffers.passed)
    near_count = nearest_classes(record, largest, ground, standing, buffers)
    promising = False
    for at in range(near_count):
        size = standing.sizes[buffers.near[at]]
        kept = size * standing.saved[buffers.near[at]]
        common = (buffers.near_gains[at] + kept) // (size + 1)
        buffers.fresh[at] = size < largest and largest * common > kept
        promising = promising or buffers.fresh[at]
    count = _companions(record, visits, ground, standing, buffers) if promising else 0
    clear_paths(ground.paths[record], ground.lengths[record], buffers.passed)
    for at in range(near_count):
        buffers.party_sizes[at] = 0
        buffers.party_gains[at] = 0
        if buffers.fresh[at] and count > 0:
            _party(at, record, count, largest, settings, work, rules, ground, standing, buffers)
            tally[0] += 1
    return near_count
