"""Read published records once: for the judge, for what is said of them, for their bytes, for the witness.

The files may be larger than memory: parts are read on workers, and the judge gets what its walks found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from operator import attrgetter, itemgetter
from typing import TypeAlias

from hierdata.documents.document import Document, Siblings, Value, single, whole
from hierdata.domains.base import ROOT_LABEL
from hierdata.executors import Held
from hierdata.ground.errors import InputError, VerificationError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.judge import JudgeHear, JudgeRules, JudgeWalk, Keys, Verdict, judge_counted, merge_verdicts
from hierdata.measurement.release.links import Shown, ShownEncoder
from hierdata.pipeline.resources import RunContext
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.policy import Policy
from hierdata.records.derived import DerivedField
from hierdata.records.mixed import UNMIXED, Mixed
from hierdata.records.survey import Survey, Surveyor
from hierdata.records.values import batches
from hierdata.sources import InputSplit

Beside: TypeAlias = "Mapping[str, Iterable[Document]]"
"""The documents of the parts of a release other than the records, by the name of the part."""
Pieces: TypeAlias = "list[tuple[int, bytes]]"
"""What a walk of the judge found, by the bucket of the classes."""


@dataclass(frozen=True)
class Wanted:
    """What is read from published records beside what the judge needs.

    The values of the ``declared`` fields are counted, and the labels of ``derived`` ones are found. With
    ``classes`` a document is a class, and its representative counts once for each record. ``bytes`` are
    compared with what is written for the documents. With ``prepared`` the records are encoded, to follow a
    witness to the original.
    """

    declared: Mapping[Keys, frozenset[str]]
    classes: bool
    bytes: bool = False
    prepared: Prepared | None = None
    derived: tuple[DerivedField, ...] = ()
    mixed: Mixed = UNMIXED

    @classmethod
    def by(cls, policy: Policy, *, bytes: bool = False, prepared: Prepared | None = None) -> Wanted:
        """Count the values of the policy's quasi-identifiers."""
        declared = {keys: frozenset(policy.rules_by_keys[keys][1].missing) for keys in policy.quasi}
        derived = tuple(field for field in policy.derived_fields.values() if field.source in policy.quasi)
        classes = policy.recoding_traits.publishes_classes
        return cls(declared, classes, bytes, prepared, derived, policy.mixed_keys)


@dataclass(frozen=True)
class PartReading:
    """What one reading of a part of the records found.

    ``judged`` is the verdict if the part is all records. ``rewritten`` tells whether the part has the bytes
    that are written for its documents; None if that was not asked, or needs the whole file. ``shown`` are the
    encoded records, or why they cannot be encoded.
    """

    number: int
    judged: Verdict | Pieces
    survey: Survey
    rewritten: bool | None
    shown: Shown | VerificationError | None


@dataclass(frozen=True)
class ReadPart:
    """Read some splits together, once; ``judge`` draws the documents, the others see them on their way."""

    judge: Callable[[Iterable[tuple[Document, int]]], Verdict | Pieces]
    wanted: Wanted
    beside: Callable[[], Beside] = dict
    progress: Progress = silent

    def __call__(self, numbered: tuple[int, tuple[InputSplit, ...]]) -> PartReading:
        """Read the part, given with its number."""
        number, splits = numbered
        watch = _Watch(self.wanted, self.beside)
        documents = chain.from_iterable(map(watch.pass_on, splits))
        judged = self.judge(zip(count_items(documents, "verifying", None, self.progress), repeat(1)))
        shown = None if watch.encoder is None else watch.encoder.take()
        known = len(watch.rewritten) == len(splits) and None not in watch.rewritten
        rewritten = all(watch.rewritten) if known else None
        survey = watch.surveyor.take()
        survey.empty = watch.empty
        return PartReading(number, judged, survey, rewritten, shown)


class _Watch:
    """What sees documents on their way to the judge (see ``PartReading``); ``rewritten`` is by split."""

    def __init__(self, wanted: Wanted, beside: Callable[[], Beside]) -> None:
        self.surveyor = Surveyor(wanted.declared, derived=wanted.derived)
        self.encoder = None if wanted.prepared is None else ShownEncoder(wanted.prepared, beside())
        self.rewritten: list[bool | None] = []
        self.empty = 0
        self._bytes = wanted.bytes
        self._classes = wanted.classes
        self._mixed = wanted.mixed

    def pass_on(self, split: InputSplit) -> Iterator[Document]:
        """Yield the documents of a split, batch by batch, after the others have seen the batch."""
        with ExitStack() as opened:
            rewriting = opened.enter_context(split.open_rewriting()) if self._bytes else None
            for batch in batches(split.documents()):
                shown = [*_separate(_members(batch) if self._classes else batch, self._mixed)]
                self.surveyor.add(shown)
                self.empty += sum(map(is_empty, shown))
                if rewriting is not None:
                    rewriting.add(batch)
                if self.encoder is not None:
                    self.encoder.add(batch)
                yield from batch
            self.rewritten.append(None if rewriting is None else rewriting.are_equal())


def _separate(documents: Iterable[Document], mixed: Mixed) -> Iterator[Document]:
    """Yield documents with the vertex types of a key apart, without those that the judge refuses."""
    for document in documents:
        with suppress(InputError):
            yield from mixed.separate([document])


def is_empty(value: Value | Siblings) -> bool:
    """Return whether a published record, or a part of it, shows nothing but the coarsest values.

    >>> is_empty({"major": "*", "home": {"zip": None}, "courses": []}), is_empty({"courses": [{"year": "*"}]})
    (True, False)
    """
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    if isinstance(value, Siblings):
        return len(value) == 1 and is_empty(value[0])
    return value is None or value == ROOT_LABEL or value == []


def _members(documents: Iterable[Document]) -> Iterator[Document]:
    for document in documents:
        inner = single(document.get("representative"))
        if isinstance(inner, dict):
            yield from repeat(inner, whole(single(document.get("@records", document.get("records")))) or 0)


def walk_part(rules: JudgeRules, buckets: int, documents: Iterable[tuple[Document, int]]) -> Pieces:
    """Run the judge's walk over records; return the pieces by bucket."""
    return list(JudgeWalk(rules, buckets)(documents))


def pieces_of(part: PartReading) -> Pieces:
    """Return what the judge's walk found."""
    assert not isinstance(part.judged, Verdict)
    return part.judged


@dataclass(frozen=True)
class PublishedReading:
    """Published records as they were read: the verdict, the survey, and the ``parts`` that were read.

    ``rewritten`` tells whether the records have the bytes that are written for them; None if that was not
    asked, or needs the whole file.
    """

    verdict: Verdict
    survey: Survey
    rewritten: bool | None
    parts: Held[PartReading]


def read_published(
    splits: Sequence[InputSplit],
    beside: Callable[[], Beside],
    rules: JudgeRules,
    wanted: Wanted,
    spread: RunContext,
) -> PublishedReading:
    """Read all splits of the records once, and judge them with the other parts, ``beside``.

    Splits are read apart, unless there is one, or groups of sensitive values span them.
    """
    tables = beside()
    if len(splits) == 1 or tables:
        judge = partial(judge_counted, rules=rules, beside=tables)
        part = ReadPart(judge, wanted, beside, spread.progress)((0, tuple(splits)))
        assert isinstance(part.judged, Verdict)
        return PublishedReading(part.judged, part.survey, part.rewritten, spread.executor.hold([part]))
    _, watch = spread.progress_callbacks("verifying", None, len(splits))
    apart = [(number, (split,)) for number, split in enumerate(splits)]
    read = ReadPart(partial(walk_part, rules, len(splits)), wanted)
    parts = spread.executor.hold(apart).map(read, watch)
    verdict = judge_walked(parts.exchange(pieces_of, len(splits)), rules)
    total = Survey(values={})
    rewritten: set[bool | None] = set()
    for survey, same in parts.map(attrgetter("survey", "rewritten")).collect():
        total.merge(survey)
        rewritten.add(same)
    return PublishedReading(verdict, total, None if None in rewritten else rewritten == {True}, parts)


def survey_published(splits: Sequence[InputSplit], wanted: Wanted, spread: RunContext) -> Survey:
    """Survey all splits of published records without judging them."""
    parts = spread.executor.hold([(0, (split,)) for split in splits]).map(ReadPart(_pass_over, wanted))
    total = Survey(values={})
    for survey in parts.map(attrgetter("survey")).collect():
        total.merge(survey)
    parts.release()
    return total


def _pass_over(documents: Iterable[tuple[Document, int]]) -> Pieces:
    """Draw all documents."""
    for _ in documents:
        pass
    return []


def judge_files(
    splits: Sequence[InputSplit],
    beside: Mapping[str, Iterator[Document]],
    rules: JudgeRules,
    spread: RunContext,
) -> Verdict:
    """Judge all splits of the records, and the other parts, ``beside``, by name.

    Records whose sensitive values are published apart are judged in one pass, since groups span the file.
    """
    if len(splits) == 1 or beside:
        documents = chain.from_iterable(split.count_documents() for split in splits)
        return judge_counted(
            count_items(documents, "verifying", None, spread.progress, itemgetter(1)), rules, beside
        )
    _, watch = spread.progress_callbacks("verifying", None, len(splits))
    walk = partial(walk_split, rules, len(splits))
    return judge_walked(spread.executor.hold(splits).exchange(walk, len(splits), watch), rules)


def walk_split(rules: JudgeRules, buckets: int, split: InputSplit) -> Iterator[tuple[int, bytes]]:
    """Run the judge's walk over the records of a split; yield pieces by bucket."""
    return JudgeWalk(rules, buckets)(split.count_documents())


def judge_walked(walked: Held[list[bytes]], rules: JudgeRules) -> Verdict:
    """Judge what the judge's walks found, by bucket; it is released."""
    heard = walked.map(JudgeHear(rules))
    walked.release()
    verdict = merge_verdicts(heard.collect(), rules)
    heard.release()
    return verdict
