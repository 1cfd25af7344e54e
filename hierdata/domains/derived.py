"""Labels of codes: which label follows from a published form, whatever value it stands for.

A field that is ``derived`` from another is published by a function of what is published of that other field.
So it can tell nothing that the published form does not tell: a form has a label only if each value of the
domain that it may stand for has that label, the values that nobody in the collection has among them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress
from typing import TypeAlias

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Labels, Uncovered
from hierdata.domains.number import canonical, exact, identity
from hierdata.domains.published import MISSING, Member, split_set

LabelPair: TypeAlias = "tuple[Scalar, Scalar]"
"""A value of the source and its label, neither of them missing."""
_MOST_KNOWN = 100_000
"""Limit on remembered forms, so that memory does not grow with what a file shows."""


def key_of(value: Scalar) -> Hashable:
    """Return the key that equal values share: the type, but one for all numbers, and the value.

    >>> key_of(1) == key_of(True), key_of("1") == key_of(1)
    (False, False)
    """
    kind = type(value).__name__ if isinstance(value, str | bool) else ""
    try:
        return kind, identity(value)
    except Uncovered:  # NaN, an infinity
        return type(value).__name__, str(value)


class ValueLabels(Labels):
    """The published forms of values that are published as they are, or not at all."""

    def is_finest(self, label: Scalar) -> bool:
        """See Labels; every value is."""
        return True

    def is_coarser(self, label: Scalar) -> bool:
        """See Labels; there is nothing between a value and the root."""
        return False

    def leaf(self, value: Scalar) -> Hashable:
        """See Labels."""
        return key_of(value)

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        """See Labels."""
        return (key_of(label),)


class LabelMap:
    """The label of each published form of one field, by the ``labels`` of its domain and known ``pairs``.

    With ``sets`` a form may be a set ``{a, b}``.

    >>> pairs = LabelMap(ValueLabels(), [("C1", "flu"), ("C2", "flu"), ("C3", "gout")], sets=True)
    >>> pairs.find("C3"), pairs.find("{C1, C2}"), pairs.find("{C1, C3}"), pairs.find("C4"), pairs.find("*")
    ('gout', 'flu', None, None, None)
    """

    def __init__(self, labels: Labels, pairs: Iterable[LabelPair], *, sets: bool) -> None:
        self._labels = labels
        self._sets = sets
        self._of_leaf: dict[Hashable, Scalar] = {}
        self._known: dict[Hashable, Scalar] = {}
        for value, label in pairs:
            try:
                leaf = labels.leaf(value)
            except Uncovered:
                continue  # the domain publishes no such value
            # Two values may be one leaf, such as two times of one day: without one label it has none.
            same = leaf not in self._of_leaf or _are_equal(self._of_leaf[leaf], label)
            self._of_leaf[leaf] = label if same else None

    def find(self, shown: Scalar) -> Scalar:
        """Return the label of a published form, None if it has none."""
        if shown is None:
            return None
        key = key_of(shown)
        if key not in self._known:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._unite(shown)
        return self._known[key]

    def _unite(self, shown: Scalar) -> Scalar:
        """Return the one label of all values that a form may stand for, None if there are several."""
        shared: Scalar = None
        try:
            for leaf in self._leaves(shown):
                label = self._of_leaf.get(leaf)
                if label is None or not (shared is None or _are_equal(shared, label)):
                    return None
                shared = label if shared is None else shared
        except Uncovered:
            return None
        return shared

    def _leaves(self, shown: Scalar) -> Iterable[Hashable]:
        """Yield the leaves of a form. Raises Uncovered where nobody knows them all."""
        if not (self._sets and isinstance(shown, str) and shown.startswith("{")):
            yield from self._labels.leaves(shown, self._of_leaf.keys())
            return
        for member in split_set(shown):
            if member.text in (MISSING, ROOT_LABEL) and not member.quoted:
                raise Uncovered
            yield from self._member_leaves(member)

    def _member_leaves(self, member: Member) -> Iterable[Hashable]:
        """Return the leaves of a member of a set; one without quotes may spell a number or a boolean."""
        values: list[Scalar] = [member.text]
        if not member.quoted and member.text in ("true", "false"):
            values.insert(0, member.text == "true")
        elif not member.quoted:
            with suppress(Uncovered):
                values.insert(0, canonical(exact(member.text)))
        for value in values:
            with suppress(Uncovered):
                leaves = tuple(self._labels.leaves(value, self._of_leaf.keys()))
                if any(leaf in self._of_leaf for leaf in leaves):
                    return leaves
        raise Uncovered


def _are_equal(label: Scalar, other: Scalar) -> bool:
    return key_of(label) == key_of(other)
