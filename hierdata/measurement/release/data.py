"""Read records of any origin, such as the output of a synthesizer, beside an original: values and labels.

A label is read as a node of the original's hierarchies where it is one. Any other value is a node of its own,
which covers the values of the original that lie in it, if it is an interval, else none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import repeat

import numpy as np

from hierdata.documents.document import Document, Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import exact
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.encoded import Frame
from hierdata.forest.encoding import RecordEncoder
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication, group_by_form
from hierdata.forest.published_records import PublishedRecords
from hierdata.ground.errors import VerificationError
from hierdata.ground.recodings import traits_of
from hierdata.measurement.release import Rebuilt
from hierdata.measurement.release.labels import LabelReader
from hierdata.policy.plan.plan import Prepared

_INTERVAL = re.compile(
    r"^([\[\](])\s*([^,;]+?)\s*(?:,|;|\.\.)\s*([^,;]+?)\s*([\[\])])$|^(-?[\d.]+)\s*-\s*(-?[\d.]+)$"
)
"""Intervals as tools spell them: ``[20, 30)``, ``[20, 30[``, ``20-30``."""


def read_data(documents: Iterable[Document], prepared: Prepared, original: Forest) -> Rebuilt:
    """Read records as a publication, each with what it shows; InputError for those that do not fit."""
    schema = prepared.schema
    traits = traits_of("generalization")
    records = PublishedRecords(prepared.binding, traits, {})
    readers = [
        [
            _OpenReader(tree, LabelReader(tree, field.path, traits))
            for tree, field in zip(trees, kind.quasi, strict=True)
        ]
        for kind, trees in zip(schema.types, original.hierarchies, strict=True)
    ]
    domains = tuple(tuple(map(_OpenDomain.of, of_type)) for of_type in original.domains)
    labels = tuple(
        tuple(replace(reader.tree, node_of=reader.node_of) for reader in of_type) for of_type in readers
    )
    frame = Frame(schema, labels, domains)
    encoder = RecordEncoder(frame, 0)
    for bound in records.bind(zip(documents, repeat(1))):
        encoder.add(bound)
    encoded = encoder.take_encoded()  # what is not known is met now
    trees = tuple(tuple(reader.hierarchy() for reader in of_type) for of_type in readers)
    known = tuple(tuple(domain.extend() for domain in of_type) for of_type in domains)
    forest = replace(frame.forest(encoded), hierarchies=trees, domains=known)
    shown = np.arange(forest.vertex_count)
    form, classes = group_by_form(forest, shown, forest.nodes)
    publication = Publication((), shown, forest.nodes, form, classes, original=original)
    return Rebuilt(publication, forest, form, (), (), np.arange(forest.record_count))


class _OpenReader:
    """Reads the labels of a quasi-identifier; each that is unknown becomes a node of its own."""

    def __init__(self, tree: Hierarchy, reader: LabelReader) -> None:
        self.tree = tree
        self._node_of = reader.label_hierarchy.node_of
        self._made: dict[Scalar, int] = {}

    def node_of(self, label: Scalar) -> int:
        """Return the node of a label."""
        for read in (self._node_of, self.tree.node_of):
            try:
                return read(label)
            except (Uncovered, VerificationError):
                continue
        return self._made.setdefault(label, len(self.tree.labels) + len(self._made))

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy with a node below the root for each label that is not one of it."""
        tree, made = self.tree, [*self._made]
        below = (-1,) * (tree.depths - 2)
        rows = ((0, node, *below) for node, _ in enumerate(made, len(tree.labels)))
        return replace(
            tree,
            labels=(*tree.labels, *made),
            ancestors=(*tree.ancestors, *(row[: tree.depths] for row in rows)),
            lm=(*tree.lm, *(Fraction(int(label is not None)) for label in made)),
            made=(tree.made or 0) + len(made),
            made_of=(*tree.made_of, *(self._list_covered(label) for label in made)),
        )

    def _list_covered(self, label: Scalar) -> tuple[range, ...]:
        """Return the nodes with a number inside an interval."""
        bounds = read_interval(label)
        if bounds is None:
            return ()
        covered = []
        for node, text in enumerate(self.tree.labels):
            if text is None or isinstance(text, bool):
                continue
            try:
                number = exact(text)
            except Uncovered:
                continue
            if bounds(number):
                covered.append(range(node, node + 1))
        return tuple(covered)


def read_interval(label: Scalar) -> Callable[[Fraction | int], bool] | None:
    """Return the test of a label that spells an interval of numbers, None for another.

    >>> inside = read_interval("[20, 30[")
    >>> inside(20), inside(30)
    (True, False)
    """
    match = _INTERVAL.match(label) if isinstance(label, str) else None
    if match is None:
        return None
    opening, closing = match[1] or "[", match[4] or "]"
    try:
        low, high = exact(match[2] or match[5]), exact(match[3] or match[6])
    except Uncovered:
        return None
    from_low, to_high = opening == "[", closing == "]"

    def is_inside(number: Fraction | int) -> bool:
        return (low <= number if from_low else low < number) and (
            number <= high if to_high else number < high
        )

    return is_inside


class _OpenDomain(SensitiveDomain):
    """A sensitive domain that numbers values of no record of the original after those of it."""

    @cached_property
    def _beyond(self) -> dict[Scalar, int]:
        return {}

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """The function from a value to its code."""
        find = super().code_of

        def look_up(value: Scalar) -> int:
            try:
                return find(value)
            except Uncovered:
                return self._beyond.setdefault(value, len(self.values) + len(self._beyond))

        return look_up

    def extend(self) -> SensitiveDomain:
        """Return the domain with the values that were met, without levels."""
        return SensitiveDomain(self.path, (*self.values, *self._beyond))
