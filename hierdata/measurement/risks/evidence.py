"""What the attacks look at: published records, those of the input, and those of the control, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.isomorphism import number_keys
from hierdata.forest.publication import Publication
from hierdata.measurement.risks.columns import FactIndex, LabelColumn, codes_of, observe
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
        for attribute in attributes:
            vertices = np.flatnonzero(shown & (forest.type == attribute.kind))
            records_of = number[forest.record_of[vertices]]
            codes = codes_of(forest, attribute, vertices, publication.nodes)
            known = _find_meanings(input, forest, attribute)
            if attribute.is_quasi:
                codes = known.first[codes]
            elif grouped:
                groups = publication.positions_of(attribute.path)[vertices]
                codes, known = _name_groups(codes, groups, known)
            columns.append(LabelColumn(records_of, codes, len(records)))
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
        return tuple(number for number, attribute in enumerate(self.attributes) if attribute.is_quasi)

    @cached_property
    def without_equal(self) -> Evidence:
        """The evidence with one of all equal rows, as ``anonymeter`` reads tables; trees are unchanged.

        Medians are those of the rows that are left.
        """
        tables = [table for table in (self.published, self.original, self.control) if table is not None]
        if not all(column.is_flat for table in tables for column in table):
            return self
        kept = [_keep_one(table) for table in tables]
        form = self.form[np.sort(np.unique(_number_rows(self.published), return_index=True)[1])]
        sizes = [len(table[0].records) for table in kept]
        control = kept[2] if self.control is not None else None
        counts = sizes[0], sizes[1], sizes[2] if control is not None else 0
        labels = tuple(_find_median(*pair) for pair in zip(self.labels, kept[0], strict=True))
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
        counts = [len(column.counts) for column in self.published]

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
        columns = ((attribute, self.published[attribute]) for attribute in attributes)
        return [(attribute, label) for attribute, column in columns for label in column.of_record(record)]

    def find_fact(self, attribute: int, label: int, by_size: bool = False) -> PublishedFact:
        """Return the fact that a record shows a label.

        ``by_size``: where all labels are numbers, one is compared so that fewer values satisfy it, those
        further from the median.
        """
        sign = self.labels[attribute].sign_of(label) if by_size else "="
        return PublishedFact(attribute, sign, label)


def _number_rows(columns: Sequence[LabelColumn]) -> Ints:
    """Number the different rows of a table."""
    stacked = np.stack([column.labels for column in columns], axis=1)
    rows: Ints = np.unique(stacked, axis=0, return_inverse=True)[1]
    return rows.reshape(-1)


def _keep_one(columns: Sequence[LabelColumn]) -> tuple[LabelColumn, ...]:
    """Return the columns of the first of all equal rows of a table."""
    first = np.sort(np.unique(_number_rows(columns), return_index=True)[1])
    return tuple(LabelColumn(np.arange(len(first)), column.labels[first], len(first)) for column in columns)


def _find_meanings(input: Forest, forest: Forest, attribute: FactField) -> LabelMeanings:
    kind, position = attribute.kind, attribute.position
    if not attribute.is_quasi:
        values = len(input.domains[kind][position].values)
        return LabelMeanings(values, tuple(forest.domains[kind][position].values))
    tree = forest.hierarchies[kind][position]
    return LabelMeanings(len(input.hierarchies[kind][position].labels), tuple(tree.labels), tree)


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
    for number in range(len(label)):
        values = pairs[starts[number] : starts[number + 1], 1]
        if len(values) == 1:
            label[number] = values[0]
        elif len(values):
            label[number] = numbered.setdefault(tuple(values.tolist()), first + len(numbered))
            members[int(label[number])] = values
    texts = (*known.texts, *[None] * len(numbered))
    return label[group], replace(known, texts=texts, members=members)


def _order(known: LabelMeanings, published: LabelColumn, original: LabelColumn) -> LabelMeanings:
    """Find whether readers compare the labels of an attribute by size."""
    numbers = np.array([read_number(text) for text in known.texts], np.float64)
    shown, stated = (np.unique(column.labels).tolist() for column in (published, original))
    shown = [label for label in shown if label != MISSING]
    shown = [label for label in shown if known.texts[label] is not None or label in known.members]
    stated = [label for label in stated if label != MISSING and known.texts[label] is not None]
    if not shown or np.isnan(numbers[[*shown, *stated]]).any():
        return known
    return _find_median(replace(known, numbers=numbers, is_ordered=True), published)


def _find_median(known: LabelMeanings, published: LabelColumn) -> LabelMeanings:
    """Return labels that are compared by size with the median of the numbers that a table shows."""
    if not known.is_ordered:
        return known
    numbers = known.numbers[published.labels[published.labels != MISSING]]
    return replace(known, median=float(np.nanmedian(numbers)))
