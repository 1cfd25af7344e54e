"""The slow, obvious twin of full-domain search: every combination of depths, from the definition.

Samarati, Protecting respondents' identities (TKDE 2001), with suppression: all values of an attribute are
generalized to one depth; rows that then look alike are a group; groups that fail are suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from hierdata.domains.base import Hierarchy

Rows = tuple[int, ...]
Nodes = tuple[int, ...]


@dataclass(frozen=True)
class Recoded:
    """A table under one combination of depths: the groups that hold, and what all of it loses."""

    published: tuple[Nodes, ...]
    groups: tuple[Rows, ...]
    suppressed: int
    loss: Fraction


def shown(tree: Hierarchy, value: int, depth: int) -> int:
    """The deepest generalization of a value that lies no deeper than this."""
    return [node for node in tree.ancestors[value][: depth + 1] if node >= 0][-1]


def recoded(
    trees: Sequence[Hierarchy],
    rows: Sequence[Nodes],
    depths: Sequence[int],
    holds: Callable[[Rows, Nodes], bool],
) -> Recoded:
    """What one combination comes to."""
    published = tuple(
        tuple(shown(tree, value, depth) for tree, value, depth in zip(trees, row, depths, strict=True))
        for row in rows
    )
    groups: dict[Nodes, list[int]] = {}
    for at, own in enumerate(published):
        groups.setdefault(own, []).append(at)
    kept = {own: tuple(members) for own, members in groups.items() if holds(tuple(members), own)}
    suppressed = len(rows) - sum(map(len, kept.values()))
    loss = Fraction(suppressed * len(trees))
    for own, members in kept.items():
        loss += len(members) * sum(tree.lm[node] for tree, node in zip(trees, own, strict=True))
    return Recoded(published, tuple(sorted(kept.values())), suppressed, loss)


def optima(
    trees: Sequence[Hierarchy],
    rows: Sequence[Nodes],
    limit: Fraction,
    holds: Callable[[Rows, Nodes], bool],
) -> tuple[Recoded | None, int, int]:
    """The best combination that publishes anything within the limit; how many ways to recode the table lose
    as little; and the fewest rows that any combination suppresses.

    Of equal losses the fewest rows suppressed, then the first in the order of depths from below.
    """
    every = [
        recoded(trees, rows, depths, holds)
        for depths in product(*(reversed(range(tree.depths)) for tree in trees))
    ]
    fewest = min(one.suppressed for one in every)
    allowed = [one for one in every if one.suppressed <= limit * len(rows) and one.suppressed < len(rows)]
    if not allowed:
        return None, 0, fewest
    best = min(allowed, key=lambda one: (one.loss, one.suppressed))
    return best, len({one.published for one in allowed if one.loss == best.loss}), fewest
