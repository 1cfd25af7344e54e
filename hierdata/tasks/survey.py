"""The survey of one split: shape and values, and a sample of its records for the cut."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hierdata.document import Document
from hierdata.errors import InputError
from hierdata.identifiers.treatment import UNTREATED, Traces, Treatment
from hierdata.intake import InputSplit, checked
from hierdata.progress import Progress, counted, silent
from hierdata.records.survey import Keys, Survey, survey


@dataclass
class Sample:
    """Every ``stride``-th record of a split, pickled; the stride doubles when there are more than ``most``.

    It needs neither randomness nor the number of records, and two samples can be brought to one stride.
    """

    most: int
    stride: int = 1
    records: list[bytes] = field(default_factory=list)

    def watching(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass documents on, and keep the sample."""
        for ordinal, document in enumerate(documents):
            if self.most and ordinal % self.stride == 0:
                if len(self.records) == self.most:
                    self.records, self.stride = self.records[::2], 2 * self.stride
                if ordinal % self.stride == 0:
                    self.records.append(pickle.dumps(document, protocol=5))
            yield document

    def documents(self, stride: int) -> Iterator[Document]:
        """Every ``stride``-th record of the split; a multiple of the sample's own stride."""
        yield from map(pickle.loads, self.records[:: stride // self.stride])


@dataclass
class Surveyed:
    """What a split has.

    ``marks`` are those of its pseudonyms, by domain (see Traces). If one of its records is wrong, ``error``
    says so; ``within`` tells that the record is numbered within the split, and not in the whole collection.
    """

    survey: Survey
    sample: Sample
    marks: dict[str, bytearray] = field(default_factory=dict)
    error: InputError | None = None
    within: bool = False


@dataclass(frozen=True)
class SurveySplit:
    """Survey a split: the values of the ``declared`` fields, and ``most`` records at most as a sample.

    ``schema`` is a JSON Schema that every record must satisfy, before the ``treatment``.
    """

    declared: dict[Keys, frozenset[str]]
    schema: Path | None
    most: int
    treatment: Treatment = UNTREATED
    progress: Progress = silent

    def __call__(self, split: InputSplit) -> Surveyed:
        """The survey of one split."""
        sample = Sample(self.most)
        traces = Traces()
        read = _Reading(split)
        documents = iter(read) if self.schema is None else checked(iter(read), self.schema)
        documents = self.treatment.documents(documents, traces=traces)
        documents = counted(sample.watching(documents), "reading", None, self.progress)
        try:
            found = survey(documents, self.declared)
        except InputError as error:
            return Surveyed(Survey(), sample, error=error, within=not read.failed)
        found.pseudonyms.update(traces.made)
        return Surveyed(found, sample, traces.marks)


class _Reading:
    """The documents of a split; ``failed`` tells that one could not be read."""

    def __init__(self, split: InputSplit) -> None:
        self._split = split
        self.failed = False

    def __iter__(self) -> Iterator[Document]:
        try:
            yield from self._split.documents()
        except InputError:
            self.failed = True
            raise
