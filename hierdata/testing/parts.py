"""Cut a publication into parts of whole classes, like those of a run in blocks."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication

Part = tuple[Publication, Forest]


def cut(publication: Publication, forest: Forest, count: int, rng: random.Random) -> list[Part]:
    """Cut a publication at random into up to ``count`` parts of whole classes; suppressed records are in any.

    The costs of the search are in no part.
    """
    of_record = publication.equivalence_class[forest.roots[:-1]].tolist()
    draws = {own: rng.randrange(count) for own in set(of_record)}
    drawn = np.array([draws[own] if own >= 0 else rng.randrange(count) for own in of_record], np.int64)
    parts = [np.flatnonzero(drawn == part) for part in range(count)]
    return [_part(publication, forest, records) for records in parts if len(records)]


def _part(publication: Publication, forest: Forest, records: NDArray[np.int64]) -> Part:
    vertices = np.flatnonzero(np.isin(forest.record_of, records))
    number = np.full(forest.vertex_count + 1, -1)  # the last entry maps "no vertex" to itself
    number[vertices] = np.arange(len(vertices))
    nodes, first_node = _laid_out(forest.first_node, forest.quasi_count, vertices)
    counts = np.array([len(own) for own in forest.domains], np.int64)[forest.type]
    sensitive, first_sensitive = _laid_out(forest.first_sensitive, counts, vertices)
    part = replace(
        forest,
        roots=np.append(0, np.cumsum(np.diff(forest.roots)[records])),
        type=forest.type[vertices],
        parent=number[forest.parent[vertices]],
        first_child=number[np.minimum(forest.first_child[vertices], forest.vertex_count)],
        child_count=forest.child_count[vertices],
        first_node=first_node,
        nodes=forest.nodes[nodes],
        first_sensitive=first_sensitive,
        sensitive=forest.sensitive[sensitive],
        spelling=forest.spelling[sensitive],
        carried={int(number[v]): own for v, own in forest.carried.items() if number[v] >= 0},
    )
    vars(part)["_scale"] = (forest.lm_scale, forest.exact)
    aligned = publication.representative
    classes = publication.equivalence_class[vertices]
    classes[classes >= 0] = np.unique(classes[classes >= 0], return_inverse=True)[1]
    return (
        replace(
            publication,
            shown=number[publication.shown[vertices]],
            nodes=publication.nodes[nodes],
            equivalence_position=number[publication.equivalence_position[vertices]],
            equivalence_class=classes,
            representative=None if aligned is None else number[aligned[vertices]],
            costs=Counter(),
        ),
        part,
    )


def _laid_out(first: NDArray[Any], counts: NDArray[Any], vertices: NDArray[Any]) -> tuple[Any, Any]:
    """Return the indices of some vertices' values, and the first index of each vertex after compaction."""
    own = counts[vertices]
    begin = np.cumsum(own) - own
    return np.repeat(first[vertices] - begin, own) + np.arange(int(own.sum())), begin
