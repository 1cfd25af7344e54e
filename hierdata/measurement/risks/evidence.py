"""What the attacks look at: published records, those of the input, and those of the control, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.isomorphism import first_alike, number_keys
from hierdata.forest.publication import Publication
from hierdata.measurement.risks.columns import FactIndex, LabelColumn, observe
from hierdata.measurement.risks.facts import (
    FactField,
    Ints,
    LabelMeanings,
    PublishedFact,
    list_attributes,
    read_number,
)


@dataclass(frozen=True)
class Evidence:
    """Published records beside the input, attribute by attribute.

    ``form`` numbers published records by all their quasi-identifiers. ``control`` is None without one.
    """

    attributes: tuple[FactField, ...]
    labels: tuple[LabelMeanings, ...]
    published: tuple[LabelColumn, ...]
    original: tuple[LabelColumn, ...]
    control: tuple[LabelColumn, ...] | None
    form: Ints
    counts: tuple[int, int, int]

    @classmethod
    def of(
        cls,
        input: Forest,
        is_control: NDArray[np.bool_] | None,
        forest: Forest,
        publication: Publication,
        place: Ints,
        grouped: bool = False,
    ) -> Evidence:
        """Build it from an input with its control, and the forest of what is published.

        ``place[v]`` is the first vertex that looks as v does. With ``grouped`` the sensitive values of a
        vertex are those of its group: any of them.
        """
        attributes = list_attributes(input)
        shown = publication.shown >= 0
        of_root = place[forest.roots[:-1]]
        records = np.flatnonzero(shown[forest.roots[:-1]])
        number = np.full(forest.record_count, -1)
        number[records] = np.arange(len(records))
        columns, labels = [], []
        for own in attributes:
            vertices = np.flatnonzero(shown & (forest.type == own.kind))
            found = number[forest.record_of[vertices]]
            if own.is_quasi:
                codes = publication.nodes[forest.first_node[vertices] + own.position].astype(np.int64)
                known = _labels_of_tree(input, forest, own)
                codes = np.array(first_alike(known.texts), np.int64)[codes] if len(codes) else codes
            else:
                codes = forest.sensitive[forest.first_sensitive[vertices] + own.position].astype(np.int64)
                known = _labels_of_values(input, forest, own)
                if grouped:
                    codes, known = _name_groups(codes, publication.positions_of(own.path)[vertices], known)
            columns.append(LabelColumn(found, codes, len(records)))
            labels.append(known)
        inside = np.ones(input.record_count, np.bool_) if is_control is None else ~is_control
        original = observe(input, attributes, inside)
        labels = [_order(*each) for each in zip(labels, columns, original, strict=True)]
        return cls(
            attributes,
            tuple(labels),
            tuple(columns),
            original,
            None if is_control is None else observe(input, attributes, is_control),
            number_keys(of_root[records])[1],
            (len(records), int(inside.sum()), int((~inside).sum())),
        )

    @cached_property
    def alike(self) -> Ints:
        """The number of published records that look as each does by quasi-identifiers."""
        counts: Ints = np.bincount(self.form, minlength=1)[self.form]
        return counts

    @cached_property
    def quasi(self) -> tuple[int, ...]:
        """The numbers of the quasi-identifiers."""
        return tuple(own for own, one in enumerate(self.attributes) if one.is_quasi)

    @cached_property
    def without_equal(self) -> Evidence:
        """The evidence with one of all equal rows, as ``anonymeter`` reads tables; trees are unchanged.

        Medians are those of the rows that are left.
        """
        tables = [own for own in (self.published, self.original, self.control) if own is not None]
        if not all(column.is_flat for own in tables for column in own):
            return self
        kept = [_keep_one(own) for own in tables]
        form = self.form[np.sort(np.unique(_number_rows(self.published), return_index=True)[1])]
        sizes = [len(own[0].records) for own in kept]
        control = kept[2] if self.control is not None else None
        counts = sizes[0], sizes[1], sizes[2] if control is not None else 0
        labels = tuple(_find_median(*own) for own in zip(self.labels, kept[0], strict=True))
        return replace(
            self,
            labels=labels,
            published=kept[0],
            original=kept[1],
            control=control,
            form=form,
            counts=counts,
        )

    def is_single_published(self, facts: Sequence[PublishedFact]) -> bool:
        """Return whether a predicate matches one published record, by the labels as they are."""
        return self._of_published.is_single(facts)

    def is_single_true(self, facts: Sequence[PublishedFact], as_strings: bool = False) -> bool:
        """Return whether a predicate matches one record of the input."""
        return self._of_original[as_strings].is_single(facts)

    def find_true(self, facts: Sequence[PublishedFact], as_strings: bool = False) -> Ints:
        """Return the records of the input that a predicate matches."""
        return self._of_original[as_strings].find(facts)

    def find_controls(self, facts: Sequence[PublishedFact], as_strings: bool = False) -> Ints:
        """Return the records of the control that a predicate matches."""
        return self._of_control[as_strings].find(facts)

    @cached_property
    def _of_published(self) -> FactIndex:
        counts = [len(own.counts) for own in self.published]

        def list_alike(fact: PublishedFact) -> Ints:
            return self.labels[fact.attribute].list_alike(fact.sign, fact.label, counts[fact.attribute])

        return FactIndex(self.published, list_alike)

    @cached_property
    def _of_original(self) -> tuple[FactIndex, FactIndex]:
        """Labels read as sets of values, and as strings."""
        return self._index(self.original)

    @cached_property
    def _of_control(self) -> tuple[FactIndex, FactIndex]:
        assert self.control is not None
        return self._index(self.control)

    def _index(self, columns: Sequence[LabelColumn]) -> tuple[FactIndex, FactIndex]:
        def list_covered(fact: PublishedFact) -> Ints:
            return self.labels[fact.attribute].list_covered(fact.sign, fact.label)

        def list_spelled(fact: PublishedFact) -> Ints:
            return self.labels[fact.attribute].list_covered(fact.sign, fact.label, as_strings=True)

        return FactIndex(columns, list_covered), FactIndex(columns, list_spelled)

    def list_labels(self, record: int, attributes: Sequence[int]) -> list[tuple[int, int]]:
        """List the labels that a published record shows, each with its attribute."""
        return [(own, label) for own in attributes for label in self.published[own].of_record(record)]

    def find_fact(self, attribute: int, label: int, by_size: bool = False) -> PublishedFact:
        """Return the fact that a record shows a label.

        ``by_size``: where all labels are numbers, one is compared so that fewer values satisfy it, those
        further from the median.
        """
        sign = self.labels[attribute].sign_of(label) if by_size else "="
        return PublishedFact(attribute, sign, label)


def _number_rows(columns: Sequence[LabelColumn]) -> Ints:
    """Number the different rows of a table."""
    rows: Ints = np.unique(np.stack([own.labels for own in columns], axis=1), axis=0, return_inverse=True)[1]
    return rows.reshape(-1)


def _keep_one(columns: Sequence[LabelColumn]) -> tuple[LabelColumn, ...]:
    """Return the columns of the first of all equal rows of a table."""
    first = np.sort(np.unique(_number_rows(columns), return_index=True)[1])
    return tuple(LabelColumn(np.arange(len(first)), own.labels[first], len(first)) for own in columns)


def _labels_of_tree(input: Forest, forest: Forest, own: FactField) -> LabelMeanings:
    tree = forest.hierarchies[own.kind][own.position]
    values = len(input.hierarchies[own.kind][own.position].labels)
    return LabelMeanings(values, tuple(tree.labels), tree)


def _labels_of_values(input: Forest, forest: Forest, own: FactField) -> LabelMeanings:
    known = input.domains[own.kind][own.position].values
    texts = forest.domains[own.kind][own.position].values
    return LabelMeanings(len(known), tuple(texts))


def _name_groups(codes: Ints, groups: Ints, known: LabelMeanings) -> tuple[Ints, LabelMeanings]:
    """Return a label for each group that has several values: the set of them."""
    there = codes != MISSING
    first = len(known.texts)
    _, group = np.unique(groups, return_inverse=True)
    pairs = np.unique(np.stack((group[there], codes[there]), axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(group.max(initial=-1)) + 2))
    label = np.full(len(starts) - 1, MISSING)
    members: dict[int, Ints] = {}
    numbered: dict[tuple[int, ...], int] = {}
    for own in range(len(label)):
        values = pairs[starts[own] : starts[own + 1], 1]
        if len(values) == 1:
            label[own] = values[0]
        elif len(values):
            label[own] = numbered.setdefault(tuple(values.tolist()), first + len(numbered))
            members[int(label[own])] = values
    texts = (*known.texts, *[None] * len(numbered))
    return label[group], replace(known, texts=texts, members=members)


def _order(known: LabelMeanings, published: LabelColumn, original: LabelColumn) -> LabelMeanings:
    """Find whether readers compare the labels of an attribute by size."""
    numbers = np.array([read_number(text) for text in known.texts], np.float64)
    shown = np.unique(published.labels[published.labels != MISSING])
    shown = np.array([own for own in shown.tolist() if known.texts[own] is not None or own in known.members])
    stated = np.unique(original.labels[original.labels != MISSING])
    stated = np.array([own for own in stated.tolist() if known.texts[own] is not None])
    ordered = len(shown) > 0 and not any(np.isnan(numbers[own]).any() for own in (shown, stated) if len(own))
    if not ordered:
        return known
    return _find_median(replace(known, numbers=numbers, is_ordered=True), published)


def _find_median(known: LabelMeanings, published: LabelColumn) -> LabelMeanings:
    """Return labels that are compared by size with the median of the numbers that a table shows."""
    if not known.is_ordered:
        return known
    numbers = known.numbers[published.labels[published.labels != MISSING]]
    return replace(known, median=float(np.nanmedian(numbers)))
