"""Inner loop of attaching rows to classes: the nearest classes that keep the caps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Caps, Numbers, Places, keeps_caps, loss_between


class AttachedRows(NamedTuple):
    """The rows of a scope by their hierarchy nodes, and the losses of nodes.

    The nodes of all hierarchies are numbered consecutively.
    """

    nodes: Places  # [row, quasi-identifier]
    records: Numbers  # [row]: record of the row
    ancestors: Places  # [node, depth]: -1 where the node's path has no entry
    losses: Numbers  # [node]: LM' times the scale


class AttachedClasses(NamedTuple):
    """The classes that rows may join; their members are linked lists."""

    joins: Places  # [class, quasi-identifier]: the published node
    sizes: Numbers  # [class]: rows
    numbers: Numbers  # [class]: breaks ties, the lower number comes first
    refused: Numbers  # [class]: last stamp under which the class has refused a row
    latest: Numbers  # [class]: the last row that joined
    earlier: Numbers  # [row]: the row that joined the same class before, -1 for none


@jit
def _keeps_caps(
    row: int,
    own: int,
    latest: Numbers,
    earlier: Numbers,
    caps: Caps,
    members: Numbers,
) -> bool:
    """Return whether a class that keeps every cap still does with one row more.

    The row's own group is checked first, which decides most cases. ``members`` is working memory. See
    ``keeps_caps``.
    """
    for cap in range(caps.groups.shape[0]):
        group = caps.groups[cap, row]
        if group < 0:
            continue
        number = caps.first_group[cap] + group
        low = caps.reach[number, 0]
        high = caps.reach[number, 1]
        present = 1
        near = 1
        member = latest[own]
        while member >= 0:
            other = caps.groups[cap, member]
            if other >= 0:
                present += 1
                if low <= other <= high:
                    near += 1
            member = earlier[member]
        if near > caps.most[cap] or near * caps.shares[number, 1] > caps.shares[number, 0] * present:
            return False
        if near > 1 and low < high:  # the row counts together with other groups
            members[0] = row
            filled = 1
            member = latest[own]
            while member >= 0:
                members[filled] = member
                filled += 1
                member = earlier[member]
            return keeps_caps(0, filled, members, caps)
    return True


@jit
def nearest(
    row: int,
    start: int,
    window: int,
    at_most: int,
    stamp: int,
    recurring: bool,
    found: Numbers,
    distances: Numbers,
    rows: AttachedRows,
    classes: AttachedClasses,
    caps: Caps,
    members: Numbers,
) -> tuple[int, int]:
    """Write the classes nearest to a row to ``found``, best first; return how many, and how many were seen.

    ``window`` classes are seen, from ``start`` on and wrapping around; more, up to ``at_most``, only while
    none is found. Classes that have refused under ``stamp`` are left out, and so are classes that would break
    a cap with the row and, with ``recurring``, classes with a row of the same record. The distance is the sum
    of LM' of the joins of the nodes of row and class; ties go to the smaller class, then to the lower of
    ``numbers``. ``distances`` receives the distances; ``members`` is working memory.
    """
    nodes, records, ancestors, losses = rows
    joins, sizes, numbers, refused, latest, earlier = classes
    wanted = len(found)
    width = nodes.shape[1]
    count = 0
    seen = 0
    while seen < at_most and (seen < window or count == 0):
        own = start + seen if start + seen < len(sizes) else start + seen - len(sizes)
        seen += 1
        if refused[own] == stamp:
            continue
        distance = np.int64(0)
        for b in range(width):
            distance += loss_between(nodes[row, b], joins[own, b], ancestors, losses)
            if count == wanted and distance > distances[count - 1]:
                break
        place = count
        while place > 0:
            other = found[place - 1]
            if distance > distances[place - 1]:
                break
            tied = distance == distances[place - 1]
            if tied and (sizes[own], numbers[own]) > (sizes[other], numbers[other]):
                break
            place -= 1
        if place == wanted:
            continue
        if recurring:
            member = latest[own]
            while member >= 0 and records[member] != records[row]:
                member = earlier[member]
            if member >= 0:
                continue
        if not _keeps_caps(row, own, latest, earlier, caps, members):
            continue
        count = min(count + 1, wanted)
        for at in range(count - 1, place, -1):
            found[at] = found[at - 1]
            distances[at] = distances[at - 1]
        found[place] = own
        distances[place] = distance
    return count, seen


@jit
def join_row(row: int, own: int, rows: AttachedRows, classes: AttachedClasses) -> Places:
    """Return the nodes of a class with one row more: the joins of their nodes."""
    nodes, ancestors, joins = rows.nodes, rows.ancestors, classes.joins
    found = np.empty(nodes.shape[1], np.int32)
    for b in range(nodes.shape[1]):
        one = ancestors[nodes[row, b]]
        other = ancestors[joins[own, b]]
        level = len(one) - 1
        while level > 0 and (one[level] < 0 or one[level] != other[level]):
            level -= 1
        found[b] = one[level]
    return found
