"""The inner loops of joining together: several suppressed records enter a class where one alone costs more.

Of many equal records with one sensitive level each, no class takes in one without publishing less of all its
members, which a single newcomer seldom outweighs; several together may.
"""

from __future__ import annotations

from hierdata.engines.alignment.kernels.anonytree import align
from hierdata.engines.alignment.kernels.arrays import SLOT_COUNT, Rules, Scratch, Settings
from hierdata.engines.alignment.kernels.representative import Ordinals, copy_rows, merge
from hierdata.engines.jit import lean
from hierdata.engines.local_search.kernel_moves import nearest_classes
from hierdata.engines.local_search.kernel_state import (
    Buffers,
    Ground,
    Standing,
    at_size,
    common_worth,
    place_in,
    saved_by,
)


@lean
def _companions(record: int, visits: Ordinals, ground: Ground, standing: Standing, buffers: Buffers) -> int:
    """Fill ``buffers.company`` with the other suppressed records by what they may save with this one.

    By its paths, which stand in ``buffers.passed``; those first that may save most, of equals as they are
    visited. Answers how many there are.
    """
    company, commons = buffers.company, buffers.company_commons
    count = 0
    for other in visits:
        if standing.class_of[other] >= 0 or other == record:
            continue
        common = common_worth(ground.paths[other], ground.lengths[other], buffers.passed, ground.worth)
        count = place_in(company, commons, count, other, common)
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
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
) -> None:
    """Find with how many companions a record saves most in the at-th near class, as that stands.

    They are aligned one after the other; whose root does not fit is passed over.
    """
    to = buffers.near[at]
    first = standing.sizes[to]
    kept = first * standing.saved[to]
    party = buffers.parties[at]
    buffers.party_sizes[at] = 0
    buffers.party_gains[at] = 0
    size = first
    for place in range(-1, count):
        joining = record if place < 0 else buffers.company[place]
        if size == largest:
            break
        rep = standing.rows[to] if size == first else buffers.rep
        root = ground.roots[joining]
        fitting = at_size(rules, ground.caps_of, size + 1)
        if rep[0, SLOT_COUNT] > 0:
            align(0, 1, root, 1, size, True, settings, work, rep, ground.rows, fitting)
            if work.mates[0, 0] < 0:
                if place < 0:
                    break
                continue
        vertices = merge(
            root, size, settings, work, buffers.queue, rep, buffers.behind, buffers.new, buffers.new_behind,
            ground.rows, fitting,
        )  # fmt: skip
        copy_rows(buffers.new, vertices, buffers.rep)
        party[size - first] = joining
        size += 1
        gain = size * saved_by(buffers.rep, vertices, settings.scale, rules.losses) - kept
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
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
    tally: Ordinals,
) -> int:
    """Look for others who are suppressed with whom a record may join a near class; answer the near classes.

    See ``Buffers.parties``. A class that can save nothing with the record, however many come, is passed over.
    """
    for place in range(ground.lengths[record]):
        buffers.passed[ground.paths[record, place, 0]] = ground.paths[record, place, 1]
    near_count = nearest_classes(record, largest, ground, standing, buffers)
    promising = False
    for at in range(near_count):
        size = standing.sizes[buffers.near[at]]
        kept = size * standing.saved[buffers.near[at]]
        common = (buffers.near_gains[at] + kept) // (size + 1)
        buffers.fresh[at] = size < largest and largest * common > kept
        promising = promising or buffers.fresh[at]
    count = _companions(record, visits, ground, standing, buffers) if promising else 0
    for place in range(ground.lengths[record]):
        buffers.passed[ground.paths[record, place, 0]] = 0
    for at in range(near_count):
        buffers.party_sizes[at] = 0
        buffers.party_gains[at] = 0
        if buffers.fresh[at] and count > 0:
            _party(at, record, count, largest, settings, work, rules, ground, standing, buffers)
            tally[0] += 1
    return near_count
