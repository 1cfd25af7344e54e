"""Published records as arrays, linked to the records of the original that a witness names (DECISION 36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.encoded import Encoded, Frame, part
from hierdata.forest.encoding import RecordEncoder
from hierdata.forest.published_records import PublishedRecords
from hierdata.ground.errors import InputError, VerificationError
from hierdata.policy.plan.plan import Prepared
from hierdata.release.witness import ROOT_WORDS

OTHER_RELEASE = "the witness does not fit the published records: it is of another release, or was changed"


@dataclass(frozen=True)
class Shown:
    """Published records as arrays; a class of n records is n records, each with one value of its lists.

    The nodes of ``encoded`` are numbers of ``labels``, by vertex type and quasi-identifier. ``groups`` is by
    vertex: vertices of one type and group share their sensitive values; None where each has its own. Where
    each table has groups of its own, ``groups[part]`` are those of that part, else there is one, of "".
    """

    encoded: Encoded
    labels: tuple[tuple[tuple[Scalar, ...], ...], ...]
    groups: Mapping[str, NDArray[np.int64]] | None

    @property
    def words(self) -> int:
        """The numbers that a witness of these records has."""
        return ROOT_WORDS * self.encoded.record_count + len(self.encoded.type)


class ShownEncoder:
    """Encodes published documents, batch by batch; ``beside`` has the other parts of the release, by name.

    ``problem`` is set for documents that are not as the recoding writes them; what follows is not encoded.
    """

    def __init__(self, prepared: Prepared, beside: Mapping[str, Iterable[Document]]) -> None:
        self.problem: VerificationError | None = None
        self._prepared = prepared
        self._labels = [[_Labels() for _ in trees] for trees in prepared.hierarchies]
        self._encoder = RecordEncoder(self._frame(), 0)
        try:
            self._records = PublishedRecords(
                prepared.binding.as_spelled(), prepared.policy.recoding_traits, beside
            )
        except VerificationError as error:
            self.problem = error

    def _frame(self) -> Frame:
        """Return the frame in which labels and values are numbered as they come."""
        prepared = self._prepared
        return Frame(
            prepared.schema,
            tuple(
                tuple(replace(tree, node_of=labels.number) for tree, labels in zip(*of_type, strict=True))
                for of_type in zip(prepared.hierarchies, self._labels, strict=True)
            ),
            tuple(tuple(_AnyValue(domain.path, ()) for domain in domains) for domains in prepared.domains),
        )

    def add(self, batch: Sequence[Document]) -> None:
        """Encode some more documents."""
        if self.problem is not None:
            return
        try:
            for records in self._records.bind(zip(batch, repeat(1)), self._encoder.records):
                self._encoder.add(records)
        except InputError as error:
            self.problem = VerificationError(
                error.message, record=error.record, path=error.path, revealed=error.revealed
            )
        except VerificationError as error:
            self.problem = error

    def take(self) -> Shown | VerificationError:
        """Return the records, or the problem."""
        if self.problem is not None:
            return self.problem
        try:
            self._records.check_complete()
        except VerificationError as error:
            return error
        encoded, of_groups = self._encoder.take_encoded(), self._records.groups
        groups = None if of_groups is None else of_groups.by_part()
        if self._prepared.policy.recoding_traits.publishes_classes:
            groups = {"": _places(encoded, self._records.documents)}
        labels = tuple(tuple(field.take() for field in of_type) for of_type in self._labels)
        return Shown(encoded, labels, groups)


def _places(encoded: Encoded, classes: Sequence[int]) -> NDArray[np.int64]:
    """Number the vertices of classes: those at the same place of one class have one number."""
    ends = np.cumsum(encoded.size)
    inside = np.arange(len(encoded.type)) - np.repeat(ends - encoded.size, encoded.size)
    of_class = np.repeat(np.array(classes, np.int64), encoded.size)
    numbers: NDArray[np.int64] = of_class * (int(encoded.size.max(initial=0)) + 1) + inside
    return numbers


class _Labels:
    """The labels of one quasi-identifier, numbered as they come."""

    def __init__(self) -> None:
        self._labels: list[Scalar] = []

    def number(self, label: Scalar) -> int:
        self._labels.append(label)
        return len(self._labels) - 1

    def take(self) -> tuple[Scalar, ...]:
        return tuple(self._labels)


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
    forest, of_vertices = frame.forest(whole), np.repeat(bins, size)
    for bin in np.unique(bins).tolist():
        records = np.flatnonzero(bins == bin)
        if len(records) == len(size):
            yield bin, LinkedRecords(bin, replace(shown, encoded=whole), targets, places)
            continue
        inside = of_vertices == bin
        encoded = part(forest, numbers, records)
        groups = None
        if shown.groups is not None:
            groups = {name: of_part[inside] for name, of_part in shown.groups.items()}
        linked = replace(shown, encoded=encoded, groups=groups)
        yield bin, LinkedRecords(bin, linked, targets[records], places[inside])
