"""Inner loops of local search over classes of trees: which exchange of records saves most.

A class of s records keeps ``s * saved``, where ``saved`` is what each member keeps by its representative: the
weights of the vertices minus the losses of their nodes, times the scale. The total loss is the weight of all
records times the scale, minus what all classes keep. So the gain of an exchange is the increase of what the
two classes keep. An exchange is aligned only if the bound by paths says that it may be the best. Its gain is
exact for closeness (``kernel_closeness``): vertices where such a model fails count as suppressed.

Several suppressed records may join a class at once. A single newcomer seldom outweighs what all members of
the class lose by its joining, for instance if many equal records each have one sensitive level; several may.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.anonytree import align
from hierdata.engines.alignment.kernels.arrays import WEIGHT, Sides
from hierdata.engines.alignment.kernels.candidates import insert_best
from hierdata.engines.alignment.kernels.representative import (
    Ordinals,
    Rows,
    build,
    join_record,
    representative_saving,
)
from hierdata.engines.jit import lean, part
from hierdata.engines.local_search.kernel_closeness import call_close_saving, call_close_saving_with
from hierdata.engines.local_search.kernel_state import (
    NOBODY,
    CurrentClasses,
    ExchangeSearch,
    SearchBuffers,
    SearchInput,
    at_size,
    clear_paths,
    common_worth,
    mark_paths,
)

UNKNOWN = -(2**63)
_UNFIT = UNKNOWN + 1
"""Of a class that a record leaves: its gain is not computed yet, or it may not be published."""


@lean
def _saving_with(rep: Rows, open_: Ordinals, size: int, record: int, search: ExchangeSearch) -> np.int64:
    """Return the saving of a representative of ``size`` members with a record; -1 if that does not fit."""
    data = search.data
    settings, work, roots, rows, rules = at_size(search.arrays, data.caps_of, size + 1)
    sides = Sides(size, settings, work, rep, rows, rules)
    root = roots[record]
    if data.checks.words > 0:
        saved: np.int64 = call_close_saving_with(
            data.close.close_saving_with, (open_, root, search.buffers.built.queue, sides, data.checks)
        )
        return saved
    loss = align(0, 1, root, 1, True, sides)
    if work.mates[0, 0] < 0:
        return np.int64(-1)
    return (settings.scale * np.int64(rep[0, WEIGHT] + rows[root, WEIGHT]) - loss) // 2


@part
def _saving_of_built(count: int, size: int, search: ExchangeSearch) -> np.int64:
    """Return what ``size`` members keep of what was built; -1 if a check fails at the root."""
    data, built = search.data, search.buffers.built
    scale, losses = search.arrays.settings.scale, search.arrays.rules.losses
    if data.checks.words == 0:
        return representative_saving(built.rep, count, scale, losses)
    saved: np.int64 = call_close_saving(
        data.close.close_saving,
        (built.rep, count, size, built.members, search.buffers.open_, scale, losses, data.checks),
    )
    return saved


@lean
def _gain_without(record: int, this_class: int, search: ExchangeSearch) -> np.int64:
    """Return the gain of a class that a record leaves, with the others aligned again; _UNFIT if they fail."""
    arrays, data, classes, buffers = search
    stay = classes.sizes[this_class]
    smaller = at_size(arrays, data.caps_of, stay - 1)
    vertices = build(classes.order[this_class], 0, stay, record, 0, 0, buffers.built, smaller)
    if vertices == 0:
        return np.int64(_UNFIT)
    saved = _saving_of_built(vertices, stay - 1, search)
    return (stay - 1) * saved - stay * classes.saved[this_class] if saved >= 0 else np.int64(_UNFIT)


@lean
def _move_saving(record: int, this_class: int, to: int, search: ExchangeSearch) -> np.int64:
    """Return the gain of a move, with both classes aligned again; 0 if a root does not fit.

    The target class is aligned again only if the move gains something with the record aligned to it as it is.
    """
    arrays, data, classes, buffers = search
    size = classes.sizes[to]
    joined = _saving_with(classes.rows[to], classes.open_[to], size, record, search)
    gain_without = np.int64(0)
    if this_class >= 0 and joined >= 0:
        if buffers.gain_without[0] == UNKNOWN:
            buffers.gain_without[0] = _gain_without(record, this_class, search)
        gain_without = buffers.gain_without[0]
        if gain_without == _UNFIT:
            return np.int64(0)
    here = size * classes.saved[to] - gain_without
    if joined < 0 or (size + 1) * joined <= here:
        return np.int64(0)
    for member in range(size):
        buffers.records[member] = classes.order[to, member]
    buffers.records[size] = record
    larger = at_size(arrays, data.caps_of, size + 1)
    vertices = build(buffers.records, 0, size + 1, NOBODY, 0, 0, buffers.built, larger)
    if vertices == 0:
        return np.int64(0)
    saved = _saving_of_built(vertices, size + 1, search)
    return (size + 1) * saved - here if saved >= 0 else np.int64(0)


@lean
def gain_of(
    record: int, to: int, who: int, promised: np.int64, bar: np.int64, search: ExchangeSearch
) -> np.int64:
    """Return the gain of an exchange by alignments; 0 if a root does not fit or if it cannot exceed ``bar``.

    ``promised`` is an upper bound of the gain in the record's own class.
    """
    classes = search.classes
    this_class = classes.class_of[record]
    if who == NOBODY:
        return _move_saving(record, this_class, to, search)
    size = classes.sizes[to]
    joined = _saving_with(classes.rest_rows[who], classes.rest_open[who], size - 1, record, search)
    if joined < 0:
        return np.int64(0)
    gain: np.int64 = size * (joined - classes.saved[to])
    if this_class < 0 or this_class == to:
        return gain
    if gain + promised <= bar:
        return np.int64(0)
    size = classes.sizes[this_class]
    joined = _saving_with(classes.rest_rows[record], classes.rest_open[record], size - 1, who, search)
    return gain + size * (joined - classes.saved[this_class]) if joined >= 0 else np.int64(0)


GAIN, TO, WHO, PROMISED, HERE, EXCHANGE = range(6)
"""Columns of an exchange: its gain; the other class; the record that comes from there (NOBODY for a move; the
record itself with its own class: it is aligned again, as the last member); and upper bounds of the gain by
paths, in total and in the record's own class."""


@part
def nearest_classes(
    record: int, largest: int, data: SearchInput, classes: CurrentClasses, buffers: SearchBuffers
) -> int:
    """Fill ``buffers.near`` with the other classes that would gain most if the record joins, by paths.

    The paths of the record must be in ``buffers.passed``. Of equal classes the first comes first. Return how
    many there are.
    """
    near, gains = buffers.near, buffers.near_gains
    count = 0
    for other in range(len(classes.sizes)):
        size = classes.sizes[other]
        if other == classes.class_of[record] or size == 0 or size > largest:
            continue
        common = common_worth(classes.paths, other, buffers.passed, data.worth)
        gain = (size + 1) * common - size * classes.saved[other]
        count = insert_best(near, gains, count, other, gain)
    return count


@lean
def _note(chosen: Ordinals, count: int, promised: np.int64, here: np.int64, to: int, who: int) -> int:
    """Insert an exchange into the list by its promised gain, if that is positive; return the new length."""
    if promised <= 0:
        return count
    position = count
    while position > 0 and chosen[position - 1, PROMISED] < promised:
        for column in range(EXCHANGE):
            chosen[position, column] = chosen[position - 1, column]
        position -= 1
    chosen[position, PROMISED] = promised
    chosen[position, HERE] = here
    chosen[position, TO] = to
    chosen[position, WHO] = who
    return count + 1


@lean
def _compare(record: int, near_count: int, classes: CurrentClasses, buffers: SearchBuffers) -> bool:
    """Mark the near classes that are fresh: changed since the record's last visit, or not near it then.

    All are fresh if the record's own class has changed, or at the first visit; return whether that is so. The
    visit is recorded.
    """
    visited = classes.visited[record]
    this_class = classes.class_of[record]
    is_new: bool = visited < 0 or (this_class >= 0 and classes.changed[this_class] > visited)
    before = classes.were_near[record]
    for position in range(near_count):
        buffers.fresh[position] = is_new or classes.changed[buffers.near[position]] > visited
        if not buffers.fresh[position]:
            known = False
            for rank in range(len(before)):
                known = known or before[rank] == buffers.near[position]
            buffers.fresh[position] = not known
    for position in range(len(before)):
        before[position] = buffers.near[position] if position < near_count else NOBODY
    classes.visited[record] = classes.clock[0]
    return is_new


@lean
def _find_promising(
    record: int,
    near_count: int,
    least: int,
    largest: int,
    data: SearchInput,
    classes: CurrentClasses,
    buffers: SearchBuffers,
) -> int:
    """Fill ``buffers.chosen`` with the exchanges that promise a gain by paths; return how many there are.

    Exchanges that were weighed before, between classes that have not changed since, are left out.
    """
    worth, chosen = data.worth, buffers.chosen
    passed, passed_rest = buffers.passed, buffers.passed_rest
    this_class = classes.class_of[record]
    size = kept = here = np.int64(0)
    count = 0
    is_new = _compare(record, near_count, classes, buffers)
    if this_class >= 0:
        size = classes.sizes[this_class]
        kept = size * classes.saved[this_class]
        mark_paths(classes.rest_paths, record, passed_rest)
        again = size * common_worth(data.paths, record, passed_rest, worth)
        if is_new:
            count = _note(chosen, count, again - kept, again - kept, this_class, record)
    for position in range(near_count):
        other = buffers.near[position]
        if not buffers.fresh[position]:
            continue
        there = classes.sizes[other]
        if (this_class < 0 or size > least) and there < largest:
            here = (size - 1) * classes.rest_saved[record] - kept if this_class >= 0 else np.int64(0)
            count = _note(chosen, count, here + buffers.near_gains[position], here, other, NOBODY)
        for member in range(there if there > 1 else 0):
            who = classes.order[other, member]
            here = np.int64(0)
            if this_class >= 0:
                here = size * common_worth(data.paths, who, passed_rest, worth) - kept
            common = common_worth(classes.rest_paths, who, passed, worth)
            promised = there * (common - classes.saved[other]) + here
            count = _note(chosen, count, promised, here, other, who)
    if this_class >= 0:
        clear_paths(classes.rest_paths, record, passed_rest)
    return count


@lean
def seek(
    visits: Ordinals,
    start: int,
    least: int,
    largest: int,
    search: ExchangeSearch,
    best: Ordinals,
    tally: Ordinals,
) -> tuple[int, int]:
    """Visit records from ``start`` on, until one has exchanges with a gain, or is suppressed.

    ``best`` receives its best exchanges, by gain; of equal gains the one that promised more comes first,
    then the first one. ``tally[0]`` counts the exchanges that were aligned. Return the position of the record
    in ``visits``, and the number of exchanges found.
    """
    data, classes, buffers = search.data, search.classes, search.buffers
    wanted = len(best)
    for position in range(start, len(visits)):
        record = visits[position]
        this_class = classes.class_of[record]
        if this_class >= 0 and (classes.sizes[this_class] < 2 or classes.sizes[this_class] > largest):
            continue
        mark_paths(data.paths, record, buffers.passed)
        near_count = nearest_classes(record, largest, data, classes, buffers)
        chosen = _find_promising(record, near_count, least, largest, data, classes, buffers)
        clear_paths(data.paths, record, buffers.passed)
        buffers.gain_without[0] = UNKNOWN
        count = 0
        for which in range(chosen):
            exchange = buffers.chosen[which]
            bar = best[wanted - 1, GAIN] if count == wanted else np.int64(0)
            if exchange[PROMISED] <= bar and exchange[WHO] != NOBODY:
                continue
            gain = gain_of(record, exchange[TO], exchange[WHO], exchange[HERE], bar, search)
            tally[0] += 1
            if gain <= bar:
                continue
            rank = min(count, wanted - 1)
            while rank > 0 and best[rank - 1, GAIN] < gain:
                for column in range(EXCHANGE):
                    best[rank, column] = best[rank - 1, column]
                rank -= 1
            for column in range(EXCHANGE):
                best[rank, column] = exchange[column]
            best[rank, GAIN] = gain
            count = min(count + 1, wanted)
        if count > 0 or this_class < 0:
            return position, count
    return len(visits), 0


@lean
def _find_companions(
    record: int, visits: Ordinals, data: SearchInput, classes: CurrentClasses, buffers: SearchBuffers
) -> int:
    """Fill ``buffers.company`` with other suppressed records, by their possible saving with this one.

    The saving is bounded by paths; those of the record must be in ``buffers.passed``. The largest come first,
    equal ones in the order of ``visits``. Return how many there are.
    """
    company, commons = buffers.company, buffers.company_commons
    count = 0
    for other in visits:
        if classes.class_of[other] >= 0 or other == record:
            continue
        common = common_worth(data.paths, other, buffers.passed, data.worth)
        count = insert_best(company, commons, count, other, common)
    return count


@lean
def _find_party(position: int, record: int, count: int, largest: int, search: ExchangeSearch) -> None:
    """Find the number of companions with which a record gains most in the at-th near class.

    They are aligned one after the other to the class as it is. Records whose roots do not fit are skipped.
    Where models have a closeness, the members are aligned again, and what fails then is not gained.
    """
    arrays, data, classes, buffers = search
    checks, built = data.checks, buffers.built
    to = buffers.near[position]
    first = classes.sizes[to]
    kept = first * classes.saved[to]
    party = buffers.parties[position]
    buffers.party_sizes[position] = 0
    buffers.party_gains[position] = 0
    size = first
    if checks.words > 0:
        smaller = at_size(arrays, data.caps_of, first)
        if build(classes.order[to], 0, first, NOBODY, 0, 0, built, smaller) == 0:
            return
    for companion in range(-1, count):
        joining = record if companion < 0 else buffers.company[companion]
        if size == largest:
            break
        rep = classes.rows[to] if size == first and checks.words == 0 else built.rep
        fitting = at_size(arrays, data.caps_of, size + 1)
        vertices = join_record(joining, size, rep, built, fitting)
        if vertices == 0:
            if companion < 0:
                break
            continue
        party[size - first] = joining
        size += 1
        saved = _saving_of_built(vertices, size, search)
        gain = size * saved - kept
        if gain > buffers.party_gains[position]:
            buffers.party_gains[position] = gain
            buffers.party_sizes[position] = size - first


@lean
def gather(record: int, visits: Ordinals, largest: int, search: ExchangeSearch, tally: Ordinals) -> int:
    """Find other suppressed records with which a record may join near classes; write ``buffers.parties``.

    Classes that gain nothing with the record, however many join, are skipped. ``tally[0]`` counts the classes
    that were tried. Return the number of near classes.
    """
    data, classes, buffers = search.data, search.classes, search.buffers
    mark_paths(data.paths, record, buffers.passed)
    near_count = nearest_classes(record, largest, data, classes, buffers)
    promising = False
    for position in range(near_count):
        size = classes.sizes[buffers.near[position]]
        kept = size * classes.saved[buffers.near[position]]
        common = (buffers.near_gains[position] + kept) // (size + 1)
        buffers.fresh[position] = size < largest and largest * common > kept
        promising = promising or buffers.fresh[position]
    count = _find_companions(record, visits, data, classes, buffers) if promising else 0
    clear_paths(data.paths, record, buffers.passed)
    for position in range(near_count):
        buffers.party_sizes[position] = 0
        buffers.party_gains[position] = 0
        if buffers.fresh[position] and count > 0:
            _find_party(position, record, count, largest, search)
            tally[0] += 1
    return near_count
