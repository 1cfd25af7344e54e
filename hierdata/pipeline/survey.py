"""The survey: facts of all records that are needed before the first is encoded."""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hierdata.documents.document import Document
from hierdata.documents.formats import Order
from hierdata.executors import EXECUTORS, Held
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.resources import RunContext
from hierdata.pipeline.seeds import watch_content
from hierdata.policy.checks.persons import watch_persons
from hierdata.policy.load import add_unlisted
from hierdata.policy.plan.stages import may_be_cut
from hierdata.policy.plan.treatment import linked_domains
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import shaped_tables
from hierdata.policy.spec.values import Keep
from hierdata.records.derived import DerivedField
from hierdata.records.identifiers.treatment import MARK, UNTREATED, Traces, Treatment
from hierdata.records.person_watch import PersonWatch
from hierdata.records.recognition.persons import PersonField, ValueRepeats
from hierdata.records.shape.base import ShapeTally
from hierdata.records.survey import Keys, Survey, survey
from hierdata.sources import Collection, FileForm, FilesForm, Form, InputSplit, check_documents


@dataclass
class Sample:
    """Every ``stride``-th record of a split, pickled; the stride doubles to keep at most ``most`` records.

    It needs neither randomness nor the number of records, and two samples can be brought to one stride.
    """

    most: int
    stride: int = 1
    records: list[bytes] = field(default_factory=list)

    def watch_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents unchanged, and keep the sample."""
        for ordinal, document in enumerate(documents):
            if self.most and ordinal % self.stride == 0:
                if len(self.records) == self.most:
                    self.records, self.stride = self.records[::2], 2 * self.stride
                if ordinal % self.stride == 0:
                    self.records.append(pickle.dumps(document, protocol=5))
            yield document

    def documents(self, stride: int) -> Iterator[Document]:
        """Yield every ``stride``-th record of the split; a multiple of the sample's own stride."""
        yield from map(pickle.loads, self.records[:: stride // self.stride])


@dataclass
class Surveyed:
    """The survey of a split.

    ``content`` has the digest of each record as it was decoded. ``marks`` are those of its pseudonyms, by
    domain (see Traces), ``persons`` those of what says whose its records are. ``shaped`` is what the steps of
    the shape met. ``error`` is set if a record is wrong; ``within`` says that the error numbers the record
    within the split, not in the whole collection.
    """

    survey: Survey
    sample: Sample
    content: bytearray = field(default_factory=bytearray)
    marks: dict[str, bytearray] = field(default_factory=dict)
    persons: dict[PersonField, bytearray] = field(default_factory=dict)
    shaped: ShapeTally = field(default_factory=ShapeTally)
    error: InputError | None = None
    within: bool = False


@dataclass(frozen=True)
class SurveySplit:
    """Survey a split: the values of the ``declared`` fields, and a sample of at most ``most`` records.

    ``schema`` is a JSON Schema that every record must satisfy, before the ``treatment``. ``holders`` counts
    the records that have a key. Labels of ``derived`` fields are found.
    """

    declared: dict[Keys, frozenset[str]]
    schema: Path | None
    most: int
    holders: bool = False
    treatment: Treatment = UNTREATED
    progress: Progress = silent
    derived: tuple[DerivedField, ...] = ()
    persons: PersonWatch | None = None

    def __call__(self, split: InputSplit) -> Surveyed:
        """Survey one split."""
        sample = Sample(self.most)
        traces = Traces()
        read = _Reading(split)
        documents = iter(read) if self.schema is None else check_documents(iter(read), self.schema)
        content = bytearray()
        documents = watch_content(documents, content)
        persons = deepcopy(self.persons)
        if persons is not None:
            documents = persons.watch_documents(documents)
        documents = self.treatment.documents(documents, traces=traces)
        documents = count_items(sample.watch_documents(documents), "reading", None, self.progress)
        try:
            surveyed = survey(documents, self.declared, holders=self.holders, derived=self.derived)
        except InputError as error:
            return Surveyed(Survey(), sample, error=error, within=not read.failed)
        surveyed.pseudonyms.update(traces.made)
        surveyed.forms, surveyed.substitutes = traces.forms, traces.substitutes
        surveyed.coarsened = traces.coarsened
        whose = {} if persons is None else persons.marks
        return Surveyed(surveyed, sample, content, traces.marks, whose, read.tally)


class _Reading:
    """The documents of a split, and what their shape met; ``failed`` is set if one could not be read."""

    def __init__(self, split: InputSplit) -> None:
        self._split = split
        self.tally = ShapeTally()
        self.failed = False

    def __iter__(self) -> Iterator[Document]:
        try:
            yield from self._split.tally_documents(self.tally)
        except InputError:
            self.failed = True
            raise


_SAMPLE = 40_000
"""The largest number of records that the cut is grown from."""


@dataclass(frozen=True)
class Overview:
    """What the survey found: the collection's statistics, and the splits, each with its sample.

    ``content`` is the SHA-256 over the digests of all records as they were decoded and shaped, in order; it
    does not depend on how they are split. ``shaped`` is what the steps of the shape met.
    """

    policy: Policy
    survey: Survey
    hints: frozenset[Keys]
    splits: tuple[Located, ...]
    held: Held[Surveyed]
    treatment: Treatment
    content: bytes
    shaped: ShapeTally = field(default_factory=ShapeTally)


def check_key(treatment: Treatment, kind: str) -> None:
    """Raise PolicyError if an executor of this kind would write a key to a file."""
    if treatment.needs_key and kind in EXECUTORS and not EXECUTORS[kind].keeps_secrets:
        raise PolicyError(
            "Spark writes what it sends to its workers into files, and a key must not be in a file: "
            "pseudonyms and shifts need the executor serial or processes"
        )


def survey_splits(
    collection: Collection,
    splits: Sequence[InputSplit],
    policy: Policy,
    spread: RunContext,
    treatment: Treatment,
    *,
    sampled: bool = True,
) -> Overview:
    """Survey all splits of a collection; the returned policy has rules for unlisted fields that it keeps.

    A cut into blocks needs the records ``sampled``; whose the records are is watched then too.

    Raises InputError for the first record that is broken or does not satisfy the JSON Schema.
    """
    hints = hints_of(collection, policy)
    deep = any(len(keys) > 1 for keys in policy.rules_by_keys)
    flat = collection.form.format.is_tabular and not shaped_tables(policy) and not deep
    most = -(-_SAMPLE // len(splits)) if sampled and may_be_cut(policy, flat) else 0
    watch = watch_persons(policy) if sampled else None
    totals = _survey_splits(splits, policy, spread, most, treatment, watch)
    extended = add_unlisted(policy, totals.survey.shape, hints)
    unified = treatment.unify(totals.survey.forms)
    if extended is not policy or unified is not treatment:
        # Values of kept fields have not been counted yet, and dates in several forms were not in one.
        treatment = unified
        totals.held.release()
        totals = _survey_splits(splits, extended, spread, most, treatment, watch)
    befores = accumulate(totals.sizes, initial=0)
    located = tuple(Located(split, before) for split, before in zip(splits, befores, strict=False))
    return Overview(
        extended, totals.survey, hints, located, totals.held, treatment, totals.content, totals.shaped
    )


def hints_of(collection: Collection, policy: Policy) -> frozenset[Keys]:
    """Return the paths that the policy's XSD declares as repeatable. Raises PolicyError for a wrong kind."""
    named = policy.record_schema
    if named is None:
        return frozenset()
    form = collection.form
    is_xml = form.format.has_elements
    if named.lower().endswith(".xsd") != is_xml:
        kind = "an XSD" if is_xml else "a JSON Schema"
        raise PolicyError(f"the records are {form.format.name}: name {kind} under schema, or nothing")
    if not isinstance(form, FileForm | FilesForm) or not is_xml:
        return frozenset()
    from hierdata.records.xsd import many_hints

    return many_hints(policy.folder / named, policy.place or form.layout.records)


def fit_form(collection: Collection, overview: Overview) -> Form:
    """Return the form of the release: elements in the order of the XSD, else of the policy's rules."""
    form, policy = collection.form, overview.policy
    if not form.format.has_elements or not isinstance(form, FileForm | FilesForm):
        return form.fit(policy, {})
    order: Order = {}
    for keys in policy.rules_by_keys:
        below = order
        for key in keys:
            below = below.setdefault(key, {})
    if policy.record_schema is not None:
        from hierdata.records.xsd import arrange_elements

        place = policy.place or form.layout.records
        order = arrange_elements(policy.folder / policy.record_schema, place, order)
    return form.fit(policy, order)


class _Totals(NamedTuple):
    """The survey of all splits, their sizes, the content's digest, what the shape met, the held results."""

    survey: Survey
    sizes: list[int]
    content: bytes
    shaped: ShapeTally
    held: Held[Surveyed]


def _survey_splits(
    splits: Sequence[InputSplit],
    policy: Policy,
    spread: RunContext,
    most: int,
    treatment: Treatment,
    watch: PersonWatch | None,
) -> _Totals:
    """Survey all splits. Raises InputError for the first error of a record, or of the shape."""
    named = policy.record_schema
    schema = None if named is None or named.lower().endswith(".xsd") else policy.folder / named
    inner, shown = spread.progress_callbacks("reading", None, len(splits))
    keeps = isinstance(policy.unlisted, Keep)
    derived = tuple(policy.derived_fields.values())
    survey = SurveySplit(policy.declared_fields(), schema, most, keeps, treatment, inner, derived, watch)
    held = spread.executor.hold(splits).map(survey, shown)
    total: Survey | None = None
    sizes: list[int] = []
    marks: defaultdict[str, bytearray] = defaultdict(bytearray)
    persons: defaultdict[PersonField, bytearray] = defaultdict(bytearray)
    content = hashlib.sha256()
    shaped = ShapeTally()
    for split in held.map(_without_sample).collect():
        surveyed = split.survey
        for domain, some in split.marks.items():
            marks[domain] += some
        for watched, some in split.persons.items():
            persons[watched] += some
        if split.error is not None:
            raise _renumber_error(split.error, sum(sizes)) if split.within else split.error
        content.update(split.content)
        shaped.merge(split.shaped)
        sizes.append(surveyed.records)
        if total is None:
            total = surveyed
        else:
            total.merge(surveyed)
    assert total is not None, "a collection has a split"
    shaped.check([spec.step for spec in policy.shape])
    _check_own(policy, total)
    total.repeated = find_repeated(marks, policy)
    total.persons = count_repeats(persons)
    return _Totals(total, sizes, content.digest(), shaped, held)


def _check_own(policy: Policy, surveyed: Survey) -> None:
    """Raise InputError for a field of individuals that no record has."""
    individual = policy.individual_rule
    for text in () if individual is None else individual.own:
        if surveyed.shape.find(policy.path(text).keys) is None:
            raise InputError("individual: no record has a value here: correct the path", path=text)


def _without_sample(surveyed: Surveyed) -> Surveyed:
    return replace(surveyed, sample=Sample(0))


def find_repeated(marks: Mapping[str, bytearray], policy: Policy) -> dict[str, int]:
    """Count by domain the pseudonyms that occur in several records, where the policy does not allow it."""
    linked = linked_domains(policy)
    counted = {domain: _count_marks(marks[domain])[1] for domain in marks if domain not in linked}
    return {domain: count for domain, count in counted.items() if count}


def count_repeats(marks: Mapping[PersonField, bytearray]) -> dict[PersonField, ValueRepeats]:
    """Count the records that say whose they are, and the values that repeat."""
    return {
        field: ValueRepeats(len(noted) // MARK, *_count_marks(noted))
        for field, noted in marks.items()
        if noted
    }


def _count_marks(marks: bytearray) -> tuple[int, int]:
    """Count the different marks, and those in several records; a record has each of its marks once."""
    halves = np.frombuffer(marks, np.uint64).reshape(-1, MARK // 8)
    order = np.lexsort(halves.T)
    same = (halves[order[1:]] == halves[order[:-1]]).all(axis=1)
    return len(halves) - int(same.sum()), int((same & ~np.append(False, same[:-1])).sum())


def _renumber_error(error: InputError, before: int) -> InputError:
    """Return the error with the record's number in the collection."""
    record = None if error.record is None else error.record + before
    return InputError(error.message, record=record, path=error.path, revealed=error.revealed)


@dataclass(frozen=True)
class Located:
    """A split and the number of records that come before it."""

    split: InputSplit
    before: int
