"""Composition: a reader of two releases keeps the candidates of each that agree with one of the other.

Both are read as published files: no witness, and nothing of an original but the fields and their domains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierdata.forest.forest import MISSING, Forest
from hierdata.measurement.adversary.attack import Adversary, Findings
from hierdata.measurement.adversary.forms import Forms
from hierdata.measurement.adversary.knowledge import Knowledge
from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.facts import Ints, LabelMeanings

Bools = NDArray[np.bool_]
_ANYTHING = 0
"""The root of a hierarchy: any value may be behind it."""
_TOGETHER = 256
"""Records that are linked at a time."""


class ShownRelease(NamedTuple):
    """A published release: its forms, in which victims are looked for, and what its vertices show."""

    forms: Forms
    evidence: Evidence


class ShownVertices(NamedTuple):
    """The vertices of one type: the labels of each different one, and how many of each a record has."""

    labels: Ints
    of: sparse.csr_matrix


@dataclass(frozen=True)
class Composition:
    """Looks for victims in two releases at once (Ganta et al., KDD 2008, for records that are trees).

    Candidates in each release are those of an ``Adversary``. Records of the two are linked: each to those of
    the other whose root can be its root, and with the fewest contradictions. A contradiction is a vertex of
    either record that can be no vertex of the other: at none of the same type all values agree. Labels agree
    if some value may be behind both, sensitive values if they are equal; a missing value agrees with any,
    since it may have been left out. A candidate that is linked to no candidate of the other release is none;
    what is counted is the release where fewer remain.
    """

    original: Forest
    first: ShownRelease
    second: ShownRelease
    _links: tuple[dict[int, Ints], dict[int, Ints]] = field(default_factory=lambda: ({}, {}))

    @cached_property
    def _adversaries(self) -> tuple[Adversary, Adversary]:
        return Adversary(self.original, self.first.forms), Adversary(self.original, self.second.forms)

    @cached_property
    def _rows(self) -> list[tuple[tuple[int, ...], ShownVertices, ShownVertices]]:
        """By vertex type its attributes, and the vertices of both releases."""
        attributes = self.first.evidence.attributes
        by_type = []
        for kind in sorted({attribute.kind for attribute in attributes}):
            of_kind = tuple(number for number, attribute in enumerate(attributes) if attribute.kind == kind)
            rows = [_list_rows(release.evidence, of_kind) for release in (self.first, self.second)]
            by_type.append((of_kind, rows[0], rows[1]))
        return by_type

    def attack(
        self, victims: Sequence[Knowledge], facts: int, progress: Callable[[int], object] = bool
    ) -> Findings:
        """Look for each victim with 0 to ``facts`` facts; a victim whom one release lacks has no candidates.

        ``progress`` is called with the number of victims that are done.
        """
        sizes = np.zeros((facts + 1, len(victims)), np.int64)
        for number, victim in enumerate(victims):
            records = [
                [_number_records(shown, forms) for forms in adversary.find_forms(victim, facts)]
                for shown, adversary in zip((self.first, self.second), self._adversaries, strict=True)
            ]
            for count, (ours, theirs) in enumerate(zip(*records, strict=True)):
                sizes[count, number] = self._count_both(ours, theirs)
            progress(number + 1)
        return Findings(sizes, ((),) * (facts + 1), ())

    def _count_both(self, ours: Ints, theirs: Ints) -> int:
        """Count the candidates that are linked to one of the other release, where they are fewer."""
        if not len(ours) or not len(theirs):
            return 0
        remaining = []
        for turned, (mine, other) in enumerate(((ours, theirs), (theirs, ours))):
            links = self.link(mine, bool(turned))
            is_other = np.zeros(self._counts[1 - turned], np.bool_)
            is_other[other] = True
            remaining.append(sum(bool(is_other[linked].any()) for linked in links))
        return min((count for count in remaining if count), default=0)

    @property
    def _counts(self) -> tuple[int, int]:
        return self.first.evidence.counts[0], self.second.evidence.counts[0]

    def link(self, records: Ints, turned: bool = False) -> list[Ints]:
        """Return the records of the second release that each of the first is linked to; ``turned``: back."""
        known = self._links[turned]
        unknown = np.array([record for record in records.tolist() if record not in known], np.int64)
        for first in range(0, len(unknown), _TOGETHER):
            part = unknown[first : first + _TOGETHER]
            fits = self._find_roots(part, turned)
            others = np.flatnonzero(fits.any(axis=0))
            contradictions = self._count_contradictions(part, others, turned)
            contradictions[~fits[:, others]] = np.iinfo(np.int64).max
            for record, row, fit in zip(part.tolist(), contradictions, fits, strict=True):
                known[record] = others[row == row.min()] if fit.any() else others[:0]
        return [known[record] for record in records.tolist()]

    def _find_roots(self, records: Ints, turned: bool) -> Bools:
        """Return by record of one release and of the other whether both roots can be of one person."""
        attributes, *rows = self._rows[0]
        if self.first.evidence.attributes[attributes[0]].kind:
            return np.ones((len(records), self._counts[1 - turned]), np.bool_)  # roots have no values
        ours, theirs = rows[turned], rows[1 - turned]
        mine, other = ours.of[records].indices, theirs.of.indices  # a record has one root
        used, row = np.unique(mine, return_inverse=True)
        agree = self._find_agreeing(attributes, ours.labels[used], theirs.labels, turned)
        both: Bools = agree[row.reshape(-1)[:, None], other]
        return both

    def _count_contradictions(self, records: Ints, others: Ints, turned: bool) -> Ints:
        """Count the vertices that contradict each other, by record of one release and of the other."""
        contradictions = np.zeros((len(records), len(others)), np.int64)
        for attributes, *rows in self._rows:
            mine, other = rows[turned].of[records], rows[1 - turned].of[others]
            used = np.unique(mine.indices), np.unique(other.indices)
            labels = rows[turned].labels[used[0]], rows[1 - turned].labels[used[1]]
            agree = self._find_agreeing(attributes, *labels, turned)
            mine, other = mine[:, used[0]], other[:, used[1]]
            contradictions += _count_lacking(mine, other, agree) + _count_lacking(other, mine, agree.T).T
        return contradictions

    def _find_agreeing(self, attributes: Sequence[int], ours: Ints, theirs: Ints, turned: bool) -> Bools:
        """Return which vertices of one release may be those of the other."""
        evidence = (self.first.evidence, self.second.evidence)
        agree = np.ones((len(ours), len(theirs)), np.bool_)
        for column, attribute in enumerate(attributes):
            labels, row = np.unique(ours[:, column], return_inverse=True)
            others, other_row = np.unique(theirs[:, column], return_inverse=True)
            if evidence[0].attributes[attribute].is_quasi:
                known = evidence[turned].labels[attribute], evidence[1 - turned].labels[attribute]
                alike = _share_values(known[0], labels, known[1], others)
            else:
                alike = labels[:, None] == others
                alike |= (labels == MISSING)[:, None] | (others == MISSING)
            agree &= alike[row.reshape(-1)[:, None], other_row.reshape(-1)]
        return agree


def _list_rows(evidence: Evidence, attributes: Sequence[int]) -> ShownVertices:
    columns = [evidence.published[attribute] for attribute in attributes]
    stacked = np.stack([column.labels for column in columns], axis=1)
    labels, row = np.unique(stacked, axis=0, return_inverse=True)
    records, count = columns[0].records, evidence.counts[0]
    cells = np.ones(len(records), np.int64), (records, row.reshape(-1))
    return ShownVertices(labels, sparse.coo_matrix(cells, (count, len(labels))).tocsr())


def _number_records(shown: ShownRelease, forms: Ints) -> Ints:
    """Return the records of some forms, as the evidence numbers published records."""
    records = [shown.forms.records_of[form] for form in forms.tolist()]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *records]))


def _count_lacking(ours: sparse.csr_matrix, theirs: sparse.csr_matrix, agree: Bools) -> Ints:
    """Return by record of ours and of theirs the vertices of theirs with which none of ours agrees."""
    lacking = (ours @ agree.astype(np.int64)) == 0
    count: Ints = (theirs @ lacking.T.astype(np.int64)).T
    return count


def _share_values(first: LabelMeanings, labels: Ints, second: LabelMeanings, others: Ints) -> Bools:
    """Return which labels of a quasi-identifier may be of one value."""
    both = ((first, labels), (second, others))
    behind = [_mark_values(meanings, listed) for meanings, listed in both]
    shared: Bools = (behind[0] @ behind[1].T).toarray() > 0
    is_open = [
        np.array([label == _ANYTHING or meanings.texts[label] is None for label in listed.tolist()], np.bool_)
        for meanings, listed in both
    ]
    return shared | is_open[0][:, None] | is_open[1]


def _mark_values(known: LabelMeanings, labels: Ints) -> sparse.csr_matrix:
    """Mark by label the values of the domain that may be behind it."""
    covered = [known.list_covered("=", label) for label in labels.tolist()]
    ends = np.cumsum([0, *map(len, covered)])
    values = np.concatenate([np.zeros(0, np.int64), *covered])
    return sparse.csr_matrix((np.ones(len(values), np.int64), values, ends), (len(labels), known.values))
