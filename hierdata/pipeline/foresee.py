"""Foresee what a release would keep, and what would help: searches of a sample of the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hierdata.documents.document import Document
from hierdata.drafting.standard import StandardDraft
from hierdata.forest.encoded import Encoded, part
from hierdata.forest.encoding import encode_records
from hierdata.ground.errors import HierdataError, InputError, PromiseError
from hierdata.metrics.kept import KeptWorth, WorthShares
from hierdata.metrics.tallies import count_part
from hierdata.pipeline.block import Block, Load
from hierdata.pipeline.cluster import ClusterBlock, estimate_seconds
from hierdata.pipeline.look_over import open_shaped
from hierdata.pipeline.publish import TallyBlock
from hierdata.pipeline.search import NO_CLASS, nothing_holds
from hierdata.policy.lint.remedies import LostPlace, Remedy, suggest_remedies
from hierdata.policy.lint.traces import leads_to_persons
from hierdata.policy.load import add_unlisted, from_data, without_required_fields
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.plan.treatment import dry_treatment
from hierdata.policy.policy import Policy
from hierdata.records.binding import bind_records
from hierdata.records.identifiers.treatment import Traces
from hierdata.records.schema import Role
from hierdata.records.shape.base import ShapeTally, Shaping
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.survey import Keys, Survey, survey
from hierdata.release.recodings import recoding_named

_WEIGHED = 100
"""The most records that are searched to choose among the promises of a draft."""
SAMPLE = 400
"""The most records that are searched: beyond that the shares hardly change."""
_FEWEST = 100
_SECONDS = 1.0
"""About how long one search may take; of wide records fewer are searched."""
_PATTERNS = 10**6
"""The most patterns of facts that one search counts, which takes some seconds."""
_MOST_PATTERNS = 3 * 10**6
"""The most, about a minute's, where as few records as tell something have more."""
_SEED = bytes(16)
_LITTLE = 0.9
"""A vertex type of which less is published is named."""
_BARE = 0.1
"""A quasi-identifier of which less is kept is published as `*` nearly everywhere."""
_MOST = 3
"""The most places for each of which remedies are tried."""


class VertexNumbers(NamedTuple):
    """How many vertices of a type a record has: the most, and what half of the records have at most."""

    most: int
    median: int


@dataclass(frozen=True)
class Searched:
    """What a search of some records keeps; ``refusal`` says why ``anonymize`` would publish nothing.

    ``published`` has by vertex type the published vertices and all; ``numbers`` are vertices in a record,
    ``fields`` the paths of what is published of a type, ``quasi`` those that are quasi-identifiers.
    """

    records: int
    shares: WorthShares
    published: dict[str, tuple[int, int]]
    numbers: dict[str, VertexNumbers]
    fields: dict[str, tuple[str, ...]]
    quasi: frozenset[str]
    nested: frozenset[str]
    refusal: str | None = None

    def share_published(self, path: str) -> float | None:
        """Return the share of the vertices of a type that is published, None for fields."""
        count, total = self.published.get(path, (0, 0))
        return count / total if total else None

    def share_kept(self, path: str) -> float | None:
        """Return the share of the worth of a vertex type or of a field that is kept."""
        share = self.shares.vertices.get(path) or self.shares.fields.get(path)
        return None if share is None else float(share.kept)


@dataclass(frozen=True)
class Help:
    """What a remedy would bring at a place: the shares published and kept there, as far as they are known."""

    text: str
    published: float | None
    kept: float | None


@dataclass(frozen=True)
class ForeseenPlace:
    """A vertex type or a field of which little is kept, with what would help, the most helpful first."""

    path: str
    published: float | None
    kept: float | None
    numbers: VertexNumbers | None
    helps: tuple[Help, ...]


@dataclass(frozen=True)
class Forecast:
    """What a release would keep, by a search of ``searched`` of ``records`` records; the worst places first.

    ``failure`` says why nothing can be foreseen, ``refusal`` that ``anonymize`` would refuse, and why: with
    all records searched it is what ``anonymize`` would say, else a guess by the sample.
    """

    searched: int = 0
    records: int = 0
    kept: float | None = None
    places: list[ForeseenPlace] = field(default_factory=list)
    failure: str | None = None
    refusal: str | None = None


def foresee_loss(
    source: object, policy: Policy, survey: Survey, hints: frozenset[Keys], *, remedies: bool = False
) -> Forecast:
    """Search a sample of a surveyed collection as the policy says; with ``remedies`` once more with each."""
    try:
        stated = without_required_fields(add_unlisted(policy, survey.shape, hints))
        with open_shaped(source, policy) as (documents, _):
            sample = take_sample(documents, survey.records)
        first = search_sample(sample, stated, hints, survey, survey.records)
    except HierdataError as error:
        return Forecast(failure=str(error))
    lost = find_lost(first)
    tried: list[tuple[Remedy, Searched]] = []
    if remedies:
        may_show_sets = not leads_to_persons(stated, survey)
        suggested = suggest_remedies(stated, lost[:_MOST], may_show_sets=may_show_sets)
        tried = [*_try_remedies(suggested, sample, hints, survey)]
    places = [_describe(lost_place, first, tried) for lost_place in lost]
    total = first.shares.total
    # Without a value that counts, all or nothing is kept.
    kept = float(not stated.publishes_nothing) if total is None else float(total.kept)
    return Forecast(first.records, survey.records, kept, places, refusal=first.refusal)


def foresee_kept(sample: Sequence[Document], policy: Policy, total: int) -> float | None:
    """Return the share that a release keeps by a search of shaped documents, None where none comes of it."""
    try:
        searched = search_sample(sample, without_required_fields(policy), frozenset(), None, total)
    except HierdataError:
        return None
    worth = searched.shares.total
    return None if searched.refusal is not None or worth is None else float(worth.kept)


def foresee_promises(source: object, draft: StandardDraft) -> dict[str, float | None]:
    """Return what a sample of patients keeps under each promise, None where no release comes of it.

    Of few patients a search says little: then nothing is returned.
    """
    if draft.records < _WEIGHED:
        return {}
    try:
        policies = {promise.name: from_data(draft.policy(promise.model)) for promise in draft.promises}
        with open_shaped(source, policies["draft"]) as (documents, _):
            sample = take_few(documents, draft.records)
    except HierdataError:
        return {}
    return {name: foresee_kept(sample, policy, draft.records) for name, policy in policies.items()}


def take_few(documents: Iterable[Document], count: int) -> list[Document]:
    """Return at most ``_WEIGHED`` of ``count`` documents, evenly spread."""
    return take_sample(documents, count)[:: -(-min(count, SAMPLE) // _WEIGHED)]


def take_sample(documents: Iterable[Document], count: int) -> list[Document]:
    """Return at most ``SAMPLE`` of ``count`` documents, evenly spread."""
    wanted = {number * count // SAMPLE for number in range(SAMPLE)} if count > SAMPLE else None
    return [document for number, document in enumerate(documents) if wanted is None or number in wanted]


def search_sample(
    documents: Sequence[Document],
    policy: Policy,
    hints: frozenset[Keys],
    whole: Survey | None,
    total: int,
) -> Searched:
    """Search documents of a collection of ``total``; ``whole`` is its survey, if it is known.

    The suppressed of a sample are not guarded: of few records some would be refused whose collection is not.
    Raises HierdataError where the documents do not fit the policy.
    """
    traces = Traces()
    treated = [*dry_treatment(policy).documents(iter(deepcopy(documents)), traces=traces)]
    sampled = survey(treated, policy.declared_fields(), derived=tuple(policy.derived_fields.values()))
    sampled.pseudonyms.update(traces.made)
    sampled.coarsened = traces.coarsened
    if whole is not None:
        sampled.shape, sampled.pseudonyms, sampled.coarsened = whole.shape, whole.pseudonyms, whole.coarsened
    prepared = prepare(policy, sampled, hints)
    encoded = _limit_work(
        next(iter(encode_records(bind_records(treated, prepared.binding), prepared.frame))), prepared
    )
    least = prepared.constraints.min_class_size
    if encoded.record_count < least:
        if encoded.record_count == total:
            raise InputError(f"the collection has too few records for a class, which needs {least}")
        raise InputError(
            f"a class needs {least} records, more than the {encoded.record_count} that are searched"
        )
    recoding = recoding_named(policy.recoding)(policy.table_division)
    frame, metric = prepared.frame, KeptWorth()
    heaviest = frame.heaviest(encoded)
    cluster = ClusterBlock(prepared, recoding, _SEED, heaviest, alone=True)
    block, refusal = _search_block(cluster, encoded, total)
    tallies, _ = TallyBlock(recoding, frame, heaviest, (metric,))(block)
    counted, types = tallies[count_part], prepared.schema.types
    roles = (Role.QUASI, Role.SENSITIVE)
    return Searched(
        encoded.record_count,
        metric.shares(tallies),
        {kind.path: (counted.published[kind.index], counted.vertices[kind.index]) for kind in types},
        {kind.path: _count_vertices(encoded, kind.index) for kind in types},
        {
            kind.path: tuple(attribute.path for role in roles for attribute in kind.of_role(role))
            for kind in types
        },
        frozenset(attribute.path for kind in types for attribute in kind.quasi),
        frozenset(kind.path for kind in types if kind.many and kind.parent and types[kind.parent].many),
        refusal,
    )


def _search_block(cluster: ClusterBlock, encoded: Encoded, total: int) -> tuple[Block, str | None]:
    """Search records as ``cluster`` does; return also why ``anonymize`` would refuse."""
    count = encoded.record_count
    refusal = None
    if count == total:
        try:
            return cluster([encoded]), None
        except PromiseError as error:
            refusal = str(error)
    block = replace(cluster, alone=False)([encoded])
    if refusal is None and any(partition.class_count == 0 for partition in block.partitions):
        reason = nothing_holds(cluster.prepared) or NO_CLASS
        refusal = f"{reason}, in a search of {count:,} of {total:,} records"
    return block, refusal


def _limit_work(encoded: Encoded, prepared: Prepared) -> Encoded:
    """Return as many of the records as can be searched in about a second, evenly spread."""
    total, vertices = encoded.record_count, len(encoded.type)
    heaviest, count = prepared.frame.heaviest(encoded), encoded.record_count
    fewest = max(_FEWEST, prepared.constraints.min_class_size)
    patterns = _count_patterns(encoded, prepared)
    while count > fewest:
        load = Load(0, count, vertices * count // total, heaviest)
        few = patterns * count <= _PATTERNS * total
        if few and estimate_seconds([load], prepared) <= _SECONDS:
            break
        count = max(fewest, count * 3 // 4)
    if patterns * count > _MOST_PATTERNS * total:
        raise InputError(
            f"{count:,} records, the fewest that tell something, have about {patterns * count / total:.1g} "
            f"combinations of facts, and at most {_MOST_PATTERNS:.1g} are searched: `cap` long lists under "
            "`shape`, or state a smaller m"
        )
    if count == total:
        return encoded
    return part(prepared.frame.forest(encoded), encoded.ordinals, np.arange(count) * total // count)


def _count_patterns(encoded: Encoded, prepared: Prepared) -> float:
    """Return about how many patterns of facts bounded knowledge counts in all records; 0 without it."""
    knowledge = prepared.policy.knowledge
    if knowledge is None:
        return 0
    each = np.array([0, *(max(1, len(kind.quasi)) for kind in prepared.schema.types[1:])])
    record = np.repeat(np.arange(encoded.record_count), encoded.size)
    facts = np.bincount(record, each[encoded.type], minlength=encoded.record_count)
    ways = np.ones(len(facts))
    total = 0.0
    for taken in range(1, knowledge.m + 1):
        ways = ways * np.maximum(facts - taken + 1, 0) / taken
        total += float(ways.sum())
    return total


def _count_vertices(encoded: Encoded, kind: int) -> VertexNumbers:
    """Return how many vertices of a type the records have."""
    record = np.repeat(np.arange(encoded.record_count), encoded.size)
    counts = np.bincount(record[encoded.type == kind], minlength=encoded.record_count)
    return VertexNumbers(int(counts.max()), int(np.quantile(counts, 0.5, method="lower")))


def find_lost(searched: Searched) -> list[LostPlace]:
    """Return the vertex types of which little is published, and the fields of which little is kept.

    Those with the most values that are lost come first.
    """
    lost: list[tuple[float, LostPlace]] = []
    for path, (count, total) in searched.published.items():
        fields = searched.fields[path]
        if total and count < _LITTLE * total:
            lost.append(((total - count) * len(fields), LostPlace(path, fields, path in searched.nested)))
        for field_path in searched.quasi.intersection(fields):
            kept = searched.share_kept(field_path)
            if kept is not None and kept < _BARE and count >= _LITTLE * total:
                lost.append(((1 - kept) * total, LostPlace(field_path, (field_path,))))
    return [place for _, place in sorted(lost, key=lambda entry: (-entry[0], entry[1].path))]


def _try_remedies(
    remedies: Iterable[Remedy],
    sample: Sequence[Document],
    hints: frozenset[Keys],
    whole: Survey,
) -> Iterator[tuple[Remedy, Searched]]:
    """Yield each remedy with what a search of the sample keeps, without those that fail or are refused."""
    for remedy in remedies:
        try:
            if remedy.lift is None:
                searched = search_sample(sample, remedy.policy, hints, whole, whole.records)
            else:
                shaping = Shaping((remedy.lift,), ShapeNotation())
                lifted = [*shaping.documents(deepcopy(sample), ShapeTally())]
                searched = search_sample(lifted, remedy.policy, hints, None, whole.records)
        except HierdataError:
            continue
        if searched.refusal is None:
            yield remedy, searched


def _describe(lost: LostPlace, first: Searched, tried: Sequence[tuple[Remedy, Searched]]) -> ForeseenPlace:
    """Return a place with the remedies that help there, by what is then kept."""
    before = first.share_kept(lost.path)
    helps = []
    for remedy, searched in tried:
        if remedy.path not in (None, lost.path):
            continue
        path = remedy.moved or lost.path
        kept = searched.share_kept(path)
        if kept is not None and before is not None and kept >= before + 0.01:
            helps.append(Help(remedy.text, searched.share_published(path), kept))
    helps.sort(key=lambda help_: -(help_.kept or 0))
    numbers = first.numbers.get(lost.path)
    return ForeseenPlace(lost.path, first.share_published(lost.path), before, numbers, tuple(helps))
