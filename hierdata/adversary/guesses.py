"""What a release tells of sensitive attributes, and what is true of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierdata.adversary.embedding import KnownFacts
from hierdata.adversary.forms import Forms
from hierdata.adversary.kernel import Shares, Told, add_rows, weigh_values
from hierdata.forest.forest import Forest
from hierdata.records.schema import Role


@dataclass(frozen=True)
class Guessed:
    """What a release tells of a sensitive attribute: by place, and of all of a form.

    Its values are numbered from 0 to ``values`` - 1; ``common`` is the most frequent one, -1 if no vertex has
    any. The rows of ``by_form`` are forms.
    """

    values: int
    common: int
    shares: Shares
    by_form: Told

    def weigh_values(
        self,
        forms: Forms,
        chosen: NDArray[np.int64],
        agreed: NDArray[np.int64],
        known: KnownFacts,
        paths: Sequence[Sequence[int]],
    ) -> NDArray[np.float64]:
        """Return by number of facts the weight of each value, given candidates, at the end of a path.

        ``agreed`` and the parameters that follow are as for the kernel.
        """
        weights = np.zeros((len(paths), self.values))
        padded = np.full((len(paths), len(max(paths, key=len))), -1)
        for facts, path in enumerate(paths):
            if len(path) == 1:
                add_rows(chosen[agreed[facts] >= 0], forms.records, self.by_form, weights[facts])
            else:
                padded[facts, : len(path)] = path
        asked = np.flatnonzero((agreed[padded[:, 0] >= 0] >= 0).any(axis=0))
        if len(asked):
            own = chosen[asked]
            of = forms.roots[own], forms.sizes[own], forms.records[own], agreed[:, asked]
            weigh_values(*of, forms.vertices, known, padded, self.shares, weights)
        return weights

    @classmethod
    def find(cls, forms: Forms, kind: int, position: int) -> Guessed:
        """Find the shares of an attribute's values, from the release alone."""
        forest, publication = forms.forest, forms.publication
        path = forest.schema.types[kind].of_role(Role.SENSITIVE)[position].path
        vertices = np.flatnonzero((publication.shown >= 0) & (forest.type == kind))
        groups, group = np.unique(publication.positions_of(path)[vertices], return_inverse=True)
        codes = forest.sensitive[forest.first_sensitive[vertices] + position]
        values = len(forest.domains[kind][position].values)
        having = codes >= 0
        told = _count_pairs(group[having], codes[having], len(groups), values)
        split = sparse.diags(1 / np.bincount(group, minlength=len(groups))) @ told
        spots, spot = np.unique(forms.place[vertices], return_inverse=True)
        vertices_at = np.bincount(spot, minlength=len(spots))
        found = sparse.diags(1 / vertices_at) @ _count_pairs(spot, group, len(spots), len(groups)) @ split
        row = np.full(forest.vertex_count, 0)
        row[vertices] = spot
        own, form = forms.by_kind[kind]
        total = np.maximum(np.bincount(form, minlength=len(forms.first)), 1)
        by_form = sparse.diags(1 / total) @ _count_pairs(form, row[own], len(forms.first), len(spots)) @ found
        every = vertices_at @ found
        common = int(every.argmax()) if every.max(initial=0) > 0 else -1
        depths = np.array([len(forest.schema.line(own.index)) - 1 for own in forest.schema.types], np.int64)
        return cls(values, common, Shares(kind, depths, row, _rows_of(found)), _rows_of(by_form))


def _count_pairs(
    rows: NDArray[np.int64], columns: NDArray[np.integer], height: int, width: int
) -> sparse.csr_matrix:
    """Return how often each row and column go together."""
    return sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), (height, width)).tocsr()


def _rows_of(matrix: sparse.csr_matrix) -> Told:
    found = matrix.tocsr()
    return Told(found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data.astype(np.float64))


def true_values(forest: Forest, vertex: int, kind: int, position: int) -> Counter[int]:
    """Return the codes of an attribute at or below a vertex of the original, with their numbers."""
    line = forest.schema.line
    first, last = vertex, vertex + 1
    for _ in range(len(line(kind)) - len(line(int(forest.type[vertex])))):
        if first >= last:
            break
        first, last = (
            int(forest.first_child[first]),
            int(forest.first_child[last - 1] + forest.child_count[last - 1]),
        )
    own = np.arange(first, last)
    own = own[forest.type[own] == kind]
    codes = forest.sensitive[forest.first_sensitive[own] + position]
    return Counter(codes[codes >= 0].tolist())
