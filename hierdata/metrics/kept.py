"""Kept: the share of what a collection is worth that is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.forest.worth import Worth
from hierdata.metrics.base import (
    Added,
    Figure,
    Metric,
    Question,
    Same,
    Sums,
    Tallies,
    collect_sums,
    count_numbers,
    quotients,
)


class Part(NamedTuple):
    """What is weighed: the vertices of a type (``presence``), or the values of one of its fields.

    ``type_path`` is the path of the vertex type, ``path`` that of the field.
    """

    kind: int
    role: Literal["presence", "quasi", "sensitive"]
    position: int
    type_path: str
    path: str


@dataclass(frozen=True)
class Share:
    """What is kept of something, from 0 to 1: ``kept`` in this release, ``attainable`` at most.

    The latter if nothing were suppressed and every value published as finely as its domain allows.
    """

    kept: Fraction
    attainable: Fraction


@dataclass(frozen=True)
class WorthShares:
    """What is kept in total, by path of the vertex type, and by path of the field.

    The total, and types where nothing has a weight, are left out.
    """

    total: Share | None
    vertices: dict[str, Share]
    fields: dict[str, Share]


class KeptWorth(Metric):
    """1 minus the weighted losses over the sum of all weights; 0..1, higher is better.

    A published quasi-identifier loses W * LM' (see LMCost), a suppressed one W. A sensitive value loses W if
    its vertex is suppressed, and the presence of a vertex likewise. Missing sensitive values are not counted;
    missing quasi-identifiers are, as in LM. One that is published in a coarser form loses W * LM' of
    that form. ``shares`` has beside it what is attainable at most: the finest forms that a policy lets
    anybody publish lose something by themselves. ``on`` limits the figures to a field or vertex type, given
    by its path; within one field weights make no difference.
    """

    symbol = "kept"
    better = "higher"
    gated = ("total",)
    explanation = (
        "The share of the input's worth that is published: each value counts by its weight, a generalized "
        "one by the detail that is left, a suppressed one not at all."
    )
    takes_place = True

    def __init__(self, on: str | None = None) -> None:
        self.on = on

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_weigh_kept,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures."""
        shares = self.shares(tallies)
        share = shares.total if self.on is None else shares.vertices.get(self.on, shares.fields.get(self.on))
        if share is None:
            return ()
        name = "total" if self.on is None else self.on
        return (Figure(name, share.kept, "share", 0, 1, "higher"),)

    def shares(self, tallies: Tallies) -> WorthShares:
        """Compute what is kept in total, of each vertex type and of each field."""
        weighed_parts: dict[Part, _Weighed] = tallies[_weigh_kept]
        every = [*weighed_parts.items()]
        paths = dict.fromkeys(part.type_path for part in weighed_parts)
        of_type = {path: _share([pair for pair in every if pair[0].type_path == path]) for path in paths}
        fields = {
            part.path: _share([(part, weighed)], alone=True)
            for part, weighed in every
            if part.role != "presence"
        }
        return WorthShares(
            _share(every),
            {path: share for path, share in of_type.items() if share is not None},
            {path: share for path, share in fields.items() if share is not None},
        )


@dataclass(frozen=True)
class _Weighed(Added):
    """Values or vertices of the input; what they lose, and would lose at their floors, by divisor.

    ``least`` is that of the whole original where parts do not tell which records of it they hold.
    """

    there: int
    lost: Sums[int, int]
    least: Sums[int, int] | Same[Sums[int, int]]
    weight: Same[int]


def _share(parts: list[tuple[Part, _Weighed]], *, alone: bool = False) -> Share | None:
    """Return what is kept of some parts, None if nothing is there; ``alone``: whatever their weight."""
    whole, lost, least = 0, Fraction(0), Fraction(0)
    for _, weighed in parts:
        weight = 1 if alone else weighed.weight.value
        whole += weight * weighed.there
        lost += weight * quotients(weighed.lost)
        least += weight * quotients(weighed.least.value if isinstance(weighed.least, Same) else weighed.least)
    return Share(1 - lost / whole, 1 - least / whole) if whole else None


def _weigh_kept(publication: Publication, forest: Forest) -> Sums[Part, _Weighed]:
    """Count values, vertices and losses of a part of a release; this is a question."""
    worth = forest.worth or Worth.by_default(forest.hierarchies, forest.domains)
    weighed: Sums[Part, _Weighed] = Sums()
    for kind in forest.schema.types:
        vertices = np.flatnonzero(forest.type == kind.index)
        gone = publication.shown[vertices] < 0
        weight = worth.presence[kind.index]
        weighed[Part(kind.index, "presence", 0, kind.path, "")] = _suppression(
            len(vertices), gone.sum(), weight
        )
        losses = zip(
            kind.quasi,
            worth.quasi[kind.index],
            _published_losses(publication, forest, kind.index),
            _floor_losses(publication, forest, kind.index),
            strict=True,
        )
        for position, (attribute, weight, lost, least) in enumerate(losses):
            part = Part(kind.index, "quasi", position, kind.path, attribute.path)
            weighed[part] = _Weighed(len(vertices), lost, least, Same(weight))
        sensitive = zip(kind.sensitive, worth.sensitive[kind.index], forest.domains[kind.index], strict=True)
        for position, (attribute, weight, domain) in enumerate(sensitive):
            entries = forest.first_sensitive[vertices] + position
            codes = forest.input_values[entries]
            there = codes >= 0
            kept = there & ~gone & (forest.sensitive[entries] >= 0)
            part = Part(kind.index, "sensitive", position, kind.path, attribute.path)
            weighed[part] = _suppression(there.sum(), (there & ~kept).sum(), weight)
            if domain.losses is not None:
                lost = _sum_losses(codes[kept], domain.losses) + weighed[part].lost
                least = _sum_losses(codes[there], domain.losses)
                weighed[part] = replace(weighed[part], lost=lost, least=least)
    return weighed


def _suppression(there: int | np.int64, gone: int | np.int64, weight: int) -> _Weighed:
    """Weigh what is either published as it is or suppressed."""
    return _Weighed(int(there), collect_sums([(1, int(gone))]), Sums(), Same(weight))


def _published_losses(publication: Publication, forest: Forest, kind: int) -> Iterator[Sums[int, int]]:
    """Yield the sum of LM' of each quasi-identifier of a type, by divisor; a suppressed value adds 1."""
    shown = publication.shown[forest.type == kind]
    first = forest.first_node[shown[shown >= 0]]
    gone = int((shown < 0).sum())
    for position, tree in enumerate(forest.hierarchies[kind]):
        yield _sum_losses(publication.measured_nodes[first + position], tree.lm) + Sums({1: gone})


def _floor_losses(
    publication: Publication, forest: Forest, kind: int
) -> Iterator[Sums[int, int] | Same[Sums[int, int]]]:
    """Yield the same if every value were published at its floor, as it is encoded."""
    original = publication.original or forest
    first = original.first_node[original.type == kind]
    for position, tree in enumerate(original.hierarchies[kind]):
        losses = _sum_losses(original.nodes[first + position], tree.lm)
        yield losses if publication.original is None else Same(losses)


def _sum_losses(nodes: NDArray[np.int32], losses: Sequence[Fraction]) -> Sums[int, int]:
    counts = count_numbers(nodes)
    return collect_sums((losses[node].denominator, count * losses[node].numerator) for node, count in counts)
