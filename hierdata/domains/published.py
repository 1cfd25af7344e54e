"""Published labels, read without the original: the members of sets, and what each label loses."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, LabelLoss, Labels, Uncovered, loss_of
from hierdata.domains.number import Number, identity

Extent: TypeAlias = "tuple[Number, Number]"
"""The least and the greatest point that a label stands for."""

MISSING = "null"
"""The member of a set that stands for a missing value."""


@dataclass(frozen=True)
class Member:
    """A member of a published set; a ``quoted`` one is a text, another may spell a number or a range."""

    text: str
    quoted: bool = False


def split_set(label: str) -> Iterator[Member]:
    """Yield the members of a set ``{a, b}`` as they are spelled. Raises Uncovered for a malformed one.

    >>> [member.text for member in split_set('{[20, 25], "a, b", null}')]
    ['[20, 25]', 'a, b', 'null']
    """
    position = 1
    if label in ("{", "{}"):
        raise Uncovered
    while label[position - 1 :] != "}":
        start, quoted = position, label.startswith('"', position)
        if quoted:
            text, position = _read_quoted(label, position)
        else:
            find_end = _end_of_range if label.startswith("[", position) else _end
            position = find_end(label, position)
            text = label[start:position]
        if position <= start:
            raise Uncovered
        yield Member(text, quoted)
        position += 2 if label.startswith(", ", position) else 1


def _end_of_range(label: str, start: int) -> int:
    """Find the end of a range or bin, ``[20, 25]`` or ``[0.5, 1.0)``; 0 if there is none."""
    ends = [end for end in (label.find("]", start), label.find(")", start)) if end >= 0]
    return min(ends, default=-1) + 1


def _end(label: str, start: int) -> int:
    """Find the end of an unquoted member."""
    comma = label.find(", ", start)
    return comma if comma >= 0 else len(label) - 1


def _read_quoted(label: str, start: int) -> tuple[str, int]:
    """Return the quoted text that begins at ``start``, and its end."""
    try:
        text, end = json.JSONDecoder().raw_decode(label, start)
    except ValueError:
        raise Uncovered from None
    return str(text), end


def members_of(label: Scalar, sets: bool) -> list[Scalar]:
    """Return the members of a label: those of a set where ``sets`` may be published, else itself alone.

    A missing value is None.
    """
    if not sets or not isinstance(label, str) or not label.startswith("{"):
        return [label]
    return [
        None if member.text == MISSING and not member.quoted else member.text for member in split_set(label)
    ]


def leaf_losses(
    labels: Iterable[Scalar], sets: bool, of_one: LabelLoss = lambda label: Fraction(0)
) -> LabelLoss:
    """Return the losses of values without order; ``of_one`` gives that of a single label but the root.

    A set of n has (n - 1) / (all - 1), where all are the different members published. The root has 1.
    """
    known = {_key(member) for label in labels for member in members_of(label, sets) if member != ROOT_LABEL}

    def loss(label: Scalar) -> Fraction:
        members = members_of(label, sets)
        if len(members) > 1:
            return loss_of(len(members), len(known | {None}) if None in members else len(known))
        return Fraction(1) if members[0] == ROOT_LABEL else of_one(members[0])

    return loss


def _key(label: Scalar) -> str | Number | None:
    return None if label is None else identity(label)


def line_losses(
    labels: Collection[Scalar],
    extent: Callable[[Scalar], Extent],
    sets: bool,
    domain: Extent | None = None,
) -> LabelLoss:
    """Return the losses of numbers or dates: the width of a label over that of the domain, at most 1.

    Without a stated ``domain`` it reaches from the least to the greatest point of all labels but the root. A
    missing value in a set adds nothing. The root has 1.
    """

    def cover(label: Scalar) -> Extent | None:
        """Return what a label covers; None for the root."""
        members = [member for member in members_of(label, sets) if member not in (None, ROOT_LABEL)]
        return _span(map(extent, members))

    covers = [covered for covered in map(cover, labels) if covered is not None]
    if domain is None:
        domain = _span(covers)
    span = Fraction(domain[1] - domain[0]) if domain is not None else Fraction(0)

    def loss(label: Scalar) -> Fraction:
        covered = cover(label)
        if covered is None:
            return Fraction(1)
        width = covered[1] - covered[0]
        return min(width / span, Fraction(1)) if span else Fraction(bool(width))

    return loss


def _span(extents: Iterable[Extent]) -> Extent | None:
    """Return the least and the greatest point of several extents, None without any."""
    ends = [*extents]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


@dataclass(frozen=True)
class TreeLabels(Labels):
    """The labels of finest nodes and of all nodes, each as text and as the number that it spells.

    ``spans`` are the first and last node below each label, the node itself included, in pre-order. ``nodes``
    are those of the values, ``ends`` those without children, ascending, ``inner`` those of values that have
    children, all by their places in pre-order.
    """

    finest: frozenset[str | Number]
    every: frozenset[str | Number]
    spans: Mapping[str | Number, tuple[int, int]]
    nodes: Mapping[str | Number, int]
    ends: tuple[int, ...]
    inner: tuple[int, ...]

    def is_finest(self, label: Scalar) -> bool:
        """See Labels."""
        return _is_among(label, self.finest)

    def is_coarser(self, label: Scalar) -> bool:
        """See Labels."""
        return _is_among(label, self.every) and not _is_among(label, self.finest)

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        """See Labels."""
        span = self.spans.get(identity(label))
        if span is None:
            raise Uncovered
        return span

    def leaf(self, value: Scalar) -> Hashable:
        """See Labels."""
        node = self.nodes.get(identity(value))
        if node is None:
            raise Uncovered
        return node

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        """See Labels."""
        first, last = self.extent(label)
        below = self.ends[bisect_left(self.ends, first) : bisect_right(self.ends, last)]
        if len(below) > len(known):
            raise Uncovered
        inner = (node for node in self.inner if first <= node <= last and node in known)
        return chain(below, inner)


def _is_among(label: Scalar, keys: frozenset[str | Number]) -> bool:
    try:
        return identity(label) in keys
    except Uncovered:
        return False
