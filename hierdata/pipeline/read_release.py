"""Read a finished release: with its original as arrays, to measure or attack it, or part by part."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, PolicyError, VerificationError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.pipeline.release_files import read_published
from hierdata.records.shape.individuals import digest_individual
from hierdata.release.gates import bind_attackers
from hierdata.release.layout import find_release_files
from hierdata.release.report.shape import draws_at_random
from hierdata.release.verification import read_facts
from hierdata.release.witness import ROOT_WORDS, read_witness
from hierdata.sources import collect
from hierdata.sources.open import fetch_source
from hierdata.sources.splits import documents_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hierdata.forest.forest import Forest
    from hierdata.measurement.release import Rebuilt
    from hierdata.pipeline.look_over import LookedOver
    from hierdata.pipeline.survey import Overview
    from hierdata.policy.plan.plan import Prepared
    from hierdata.policy.policy import Policy
    from hierdata.release.layout import Released
    from hierdata.sources import InputSplit


class ReadRelease(NamedTuple):
    """A release, its original as a forest, and what the policy means for it.

    ``is_control`` marks the records of ``original`` that are those of the control, None without one;
    ``links`` has the vertex of the original that each vertex of the rebuilt release shows, -1 for those that
    none does, None where no witness says so.
    """

    rebuilt: Rebuilt
    original: Forest
    prepared: Prepared
    persons: PersonNumbers | None = None
    is_control: NDArray[np.bool_] | None = None
    links: NDArray[np.int64] | None = None


class PersonNumbers(NamedTuple):
    """Whose records are, as numbers of persons: those of the original, and those of the rebuilt release."""

    original: NDArray[np.int64]
    published: NDArray[np.int64]


def read_release(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    key: bytes | None = None,
    person: str | None = None,
    progress: Progress | None = None,
    with_control: bool = False,
    control: object | None = None,
    as_data: bool = False,
) -> ReadRelease:
    """Read a release and its original; parameters and errors are those of ``measure_release``.

    ``person`` is the path of the value that says whose a record of the original is. ``with_control`` reads
    the control too: the policy's, or the source ``control``. ``as_data`` reads records of any origin, which
    may show values that the original lacks. Raises PolicyError where the policy unites records itself,
    InputError for a record that does not say whose it is, and for a control that does not fit.
    """
    from hierdata.pipeline.encode import encode_whole

    policy = read_policy(policy)
    if as_data:
        policy = policy.model_copy(update={"control": None})  # whom another tool left out is not known
    if person is not None and policy.individual_rule is not None:
        raise PolicyError("the policy has `individual`, so that each record is a person: state no `person`")
    with (
        fetch_source(original, policy) as hand,
        look_over(
            hand.source,
            policy,
            key,
            None,
            None,
            progress,
            again=True,
            secret=_find_secret(published, policy, as_data),
            with_control=with_control,
            control=control,
        ) as looked,
    ):
        prepared = looked.prepared
        bind_attackers(prepared.policy, prepared.schema, prepared.domains)
        forest = encode_whole(looked)
        whose = None if person is None else _number_persons(looked.overview, policy, person)
    is_control = _mark_control(looked, forest)
    if as_data:
        rebuilt = _read_data(published, prepared, forest, progress)
        return ReadRelease(rebuilt, forest, prepared, None, is_control)
    rebuilt, files = _read_files(published, policy, prepared, forest, progress)
    persons = None if whose is None else PersonNumbers(whose, _find_persons(rebuilt, files, whose))
    links = None if files is None or files.witness is None else _link_vertices(rebuilt, files.witness, forest)
    return ReadRelease(rebuilt, forest, prepared, persons, is_control, links)


def _read_data(published: object, prepared: Prepared, original: Forest, progress: Progress | None) -> Rebuilt:
    """Read records of any origin."""
    from hierdata.measurement.release.data import read_data

    with fetch_source(published, prepared.policy, published=True) as hand:
        documents = documents_of(collect(hand.source, hand.policy).splits())
        counted = count_items(documents, "reading the data", None, progress or silent)
        return read_data(counted, prepared, original)


def _read_files(
    published: object, policy: Policy, prepared: Prepared, original: Forest, progress: Progress | None
) -> tuple[Rebuilt, Released | None]:
    """Read a release, and where its files are if it is a folder."""
    from hierdata.measurement.release import rebuild

    with fetch_source(published, prepared.policy, published=True) as hand:
        is_path = isinstance(hand.source, str | os.PathLike)
        files = find_release_files(Path(hand.source), policy) if is_path else None  # type: ignore[arg-type]
        documents, beside = read_published(hand.source, files, hand.policy)
        documents = count_items(documents, "reading the release", None, progress or silent, itemgetter(1))
        try:
            return rebuild(documents, beside, prepared, original), files
        except InputError as error:
            raise InputError(
                f"{error.message}; this is in the release, not in the original",
                record=error.record,
                path=error.path,
                revealed=error.revealed,
            ) from None


def read_written(
    source: object,
    policy: Policy,
    written: tuple[Iterable[InputSplit], Mapping[str, Iterator[Document]]],
    key: bytes | None,
    secret: bytes,
    progress: Progress,
) -> ReadRelease:
    """Read a release that was just written, by its splits and other parts, with its original and control."""
    from hierdata.measurement.release import rebuild
    from hierdata.pipeline.encode import encode_whole

    splits, beside = written
    with look_over(
        source, policy, key, None, None, progress, again=True, secret=secret, with_control=True
    ) as looked:
        forest = encode_whole(looked)
    documents = chain.from_iterable(split.count_documents() for split in splits)
    rebuilt = rebuild(documents, beside, looked.prepared, forest)
    return ReadRelease(rebuilt, forest, looked.prepared, None, _mark_control(looked, forest))


def _mark_control(looked: LookedOver, original: Forest) -> NDArray[np.bool_] | None:
    """Return by record of the original whether it is of the control, None without one."""
    first = looked.first_control
    return None if first is None else np.arange(original.record_count) >= first


class RecordLinks(NamedTuple):
    """The witness of a rebuilt release: its ``words``, and by record where they begin and what they say.

    ``shown`` are the vertices that a record shows, ``ordinals`` the records of the original, of which there
    were ``records``.
    """

    records: int
    words: NDArray[np.int64]
    heads: NDArray[np.int64]
    shown: NDArray[np.int64]
    ordinals: NDArray[np.int64]

    @classmethod
    def read(cls, rebuilt: Rebuilt, file: Path) -> RecordLinks | None:
        """Read the witness in a file; None if it is of another release."""
        witness = read_witness(file, None)
        is_shown, count = rebuilt.publication.shown >= 0, len(rebuilt.places)
        shown = np.add.reduceat(is_shown, rebuilt.forest.roots[:-1], dtype=np.int64)[:count]
        sizes = np.empty(count, np.int64)
        sizes[rebuilt.places] = ROOT_WORDS + shown
        if witness.words != sizes.sum():
            return None
        words, heads = witness.read(0, witness.words), (np.cumsum(sizes) - sizes)[rebuilt.places]
        return cls(witness.records, words, heads, shown, words[heads] | words[heads + 1] << 32)


def _number_persons(overview: Overview, policy: Policy, person: str) -> NDArray[np.int64]:
    """Return by record of the original whose it is."""
    path = policy.path(person)
    if any(step.conditions or step.apart for step in path.steps):
        raise PolicyError(f"{person} must be one value of the record, not of items that a filter selects")
    keys = path.keys
    numbers: dict[bytes, int] = {}
    persons = []
    for located in overview.splits:
        for number, document in enumerate(located.split.documents(), located.before + 1):
            whose = digest_individual(document, (keys,))
            if whose is None:
                raise InputError("no value says whose this record is", record=number, path=person)
            persons.append(numbers.setdefault(whose, len(numbers)))
    return np.array(persons, np.int64)


def _find_persons(rebuilt: Rebuilt, files: Released | None, whose: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return by record of the rebuilt release whose it is, by the witness; -1 for those not published."""
    if files is None or files.witness is None:
        raise PolicyError(
            "to count persons, published records are linked to the original by steward/witness.bin: give the "
            "folder of a release that has it"
        )
    links = RecordLinks.read(rebuilt, files.witness)
    if links is None or links.records != len(whose):
        raise VerificationError("the witness is of another release or of another original")
    if (links.ordinals >= len(whose)).any():
        raise VerificationError("the witness was changed: it links to records that the original lacks")
    persons = np.full(rebuilt.forest.record_count, -1)
    persons[: len(links.ordinals)] = whose[links.ordinals]
    return persons


def _link_vertices(rebuilt: Rebuilt, file: Path, original: Forest) -> NDArray[np.int64] | None:
    """Return by vertex of the rebuilt release the one of the original that it shows; -1 if none is known.

    None where the witness does not fit: it is not checked here (see ``verify``).
    """
    links = RecordLinks.read(rebuilt, file)
    if links is None or (links.ordinals >= original.record_count).any():
        return None
    vertex_links = np.full(rebuilt.forest.vertex_count, -1)
    vertices = np.flatnonzero(rebuilt.publication.shown >= 0)
    record = rebuilt.forest.record_of[vertices]
    before = np.cumsum(links.shown) - links.shown
    positions = links.heads[record] + ROOT_WORDS + np.arange(len(vertices)) - before[record]
    linked = original.roots[links.ordinals[record]] + links.words[positions]
    vertex_links[vertices] = np.where(linked < original.roots[links.ordinals[record] + 1], linked, -1)
    return vertex_links


def _find_secret(published: object, policy: Policy, as_data: bool) -> bytes | None:
    """Return the key of what a release drew at random, None where the release is not a folder with it."""
    if as_data:
        return b""  # it was made of other individuals, whoever they are
    if (
        not draws_at_random(policy)
        or not isinstance(published, str | os.PathLike)
        or not Path(published).is_dir()
    ):
        return None
    facts = read_facts(find_release_files(Path(published), policy).facts, policy)
    return None if facts is None else facts.drawn_by
