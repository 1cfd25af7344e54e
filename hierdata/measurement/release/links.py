"""Published records as arrays, linked to the records of the original that a witness names (DECISION 36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import InputError, VerificationError
from hierdata.forest.encoded import Encoded, Frame, part
from hierdata.forest.encoding import encode_records
from hierdata.measurement.release.documents import ReleaseGroups, expand_representatives
from hierdata.policy.plan.plan import Prepared
from hierdata.records.binding import bind_records
from hierdata.release.witness import ROOT_WORDS

OTHER_RELEASE = "the witness does not fit the published records: it is of another release, or was changed"


@dataclass(frozen=True)
class Shown:
    """Published records as arrays; a class of n records is n records, each with one value of its lists.

    The nodes of ``encoded`` are numbers of ``labels``, by vertex type and quasi-identifier. ``groups`` is by
    vertex: vertices of one type and group share their sensitive values; None where each has its own.
    """

    encoded: Encoded
    labels: tuple[tuple[tuple[Scalar, ...], ...], ...]
    groups: NDArray[np.int64] | None

    @property
    def words(self) -> int:
        """The numbers that a witness of these records has."""
        return ROOT_WORDS * self.encoded.record_count + len(self.encoded.type)


def encode_shown(
    documents: Iterable[Document], prepared: Prepared, beside: Mapping[str, Iterable[Document]]
) -> Shown:
    """Encode published documents; ``beside`` has the other parts of the release, by name.

    Raises VerificationError for documents that are not as the recoding writes them.
    """
    traits = prepared.policy.recoding_traits
    labels = [[_Labels() for _ in own] for own in prepared.hierarchies]
    frame = Frame(
        prepared.schema,
        tuple(
            tuple(replace(tree, node_of=one.number) for tree, one in zip(own, numbered, strict=True))
            for own, numbered in zip(prepared.hierarchies, labels, strict=True)
        ),
        tuple(tuple(_AnyValue(domain.path, ()) for domain in own) for own in prepared.domains),
    )
    groups = ReleaseGroups(beside, prepared.schema) if traits.separates_values else None
    classes: list[int] = []
    if groups is not None:
        documents = groups.join_groups((document, 1) for document in documents)
    elif traits.publishes_classes:
        documents = _members(documents, prepared, classes)
    # Published vertices exist, even empty ones.
    binding = replace(prepared.binding, sparse=False)
    try:
        (encoded,) = encode_records(bind_records(documents, binding), frame)
    except InputError as error:
        wrong = error
    else:
        found = None if groups is None else np.array(groups.group_of, np.int64)
        if traits.publishes_classes:
            found = _places(encoded, classes)
        return Shown(encoded, tuple(tuple(one.take() for one in own) for own in labels), found)
    raise VerificationError(wrong.message, record=wrong.record, path=wrong.path, revealed=wrong.revealed)


def _members(documents: Iterable[Document], prepared: Prepared, classes: list[int]) -> Iterator[Document]:
    """Yield the records of class representatives, and append the number of each one's class."""
    for number, document in enumerate(documents):
        for record in expand_representatives([(document, 1)], prepared.schema):
            classes.append(number)
            yield record


def _places(encoded: Encoded, classes: Sequence[int]) -> NDArray[np.int64]:
    """Number the vertices of classes: those at the same place of one class have one number."""
    ends = np.cumsum(encoded.size)
    inside = np.arange(len(encoded.type)) - np.repeat(ends - encoded.size, encoded.size)
    of_class = np.repeat(np.array(classes, np.int64), encoded.size)
    found: NDArray[np.int64] = of_class * (int(encoded.size.max(initial=0)) + 1) + inside
    return found


class _Labels:
    """The labels of one quasi-identifier, numbered as they come."""

    def __init__(self) -> None:
        self._found: list[Scalar] = []
        self._next = count()

    def number(self, label: Scalar) -> int:
        self._found.append(label)
        return next(self._next)

    def take(self) -> tuple[Scalar, ...]:
        return tuple(self._found)


class _AnyValue(SensitiveDomain):
    """A sensitive domain that takes every value: published ones are compared by their spelling."""

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """The function that returns 0."""
        return _zero


def _zero(value: Scalar) -> int:
    return 0


@dataclass(frozen=True)
class LinkedRecords:
    """Published records with their links.

    ``bin`` is where they are compared. ``first`` numbers are those of the records in the release, from 1;
    ``targets`` are the places of their records in the original, ``places`` those of their vertices in these.
    """

    bin: int
    shown: Shown
    targets: NDArray[np.int64]
    places: NDArray[np.int64]


def link(
    shown: Shown,
    frame: Frame,
    words: NDArray[np.int64],
    before: int,
    starts: NDArray[np.int64],
) -> Iterator[tuple[int, LinkedRecords]]:
    """Yield published records, by the part of the original that holds the record they are linked to.

    ``words`` are those of the witness for these records, ``before`` the number of published records before
    them. ``starts`` are the first records of the parts of the original, and last the number of its records.
    Raises VerificationError for links to records that do not exist.
    """
    size = shown.encoded.size
    if len(words) != shown.words:
        raise VerificationError(OTHER_RELEASE)
    heads = np.cumsum(size + ROOT_WORDS) - (size + ROOT_WORDS)
    targets = words[heads] | words[heads + 1] << 32
    inner = np.ones(len(words), np.bool_)
    inner[heads] = inner[heads + 1] = False
    places = words[inner]
    wrong = np.flatnonzero((targets < 0) | (targets >= starts[-1]))
    if len(wrong):
        raise VerificationError(
            "the witness names a record that the original does not have", record=before + int(wrong[0]) + 1
        )
    numbers = before + np.arange(1, len(size) + 1)
    whole = replace(shown.encoded, ordinals=numbers)
    bins = np.searchsorted(starts[:-1], targets, side="right") - 1
    for bin in np.unique(bins).tolist():
        own = np.flatnonzero(bins == bin)
        if len(own) == len(size):
            yield bin, LinkedRecords(bin, replace(shown, encoded=whole), targets, places)
            continue
        inside = np.repeat(bins == bin, size)
        encoded = part(frame.forest(whole), numbers, own)
        groups = None if shown.groups is None else shown.groups[inside]
        yield (
            bin,
            LinkedRecords(bin, replace(shown, encoded=encoded, groups=groups), targets[own], places[inside]),
        )
