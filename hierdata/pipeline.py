"""The one file that knows all steps, from a collection and a policy to a verified release: read it first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hierdata.document import Document
from hierdata.errors import VerificationError
from hierdata.facts import confirm, read_facts
from hierdata.gates import bind_attackers, bind_gates, every_metric, pass_gates
from hierdata.identifiers.key import key_of
from hierdata.intake import Collection, collect
from hierdata.intake.stores import AtHand, at_hand
from hierdata.policy import Policy, from_data, load
from hierdata.policy.identifiers import looked_at, treatment
from hierdata.prepare import Prepared, judge_rules, many_keys, prepare, references, stated_scales
from hierdata.progress import Progress, counted, silent
from hierdata.published import read_beside, read_published, record_splits, released
from hierdata.run.spread import Resources
from hierdata.seeds import seed_of
from hierdata.stores import BATCH, store_at

if TYPE_CHECKING:
    from hierdata.judge import Verdict
    from hierdata.rebuilt.measuring import ReleaseMeasurement
    from hierdata.records.survey import Keys, Survey
    from hierdata.release import Release
    from hierdata.run.overview import Overview
    from hierdata.run.spread import Spread
    from hierdata.stores import Store

PolicySource: TypeAlias = "str | os.PathLike[str] | Policy | dict[str, object]"
Notice: TypeAlias = Callable[[str], None]


def anonymize(
    source: object,
    policy: PolicySource,
    *,
    to: object | None = None,
    batch: int = BATCH,
    out: str | os.PathLike[str] | None = None,
    seed: bytes | None = None,
    key: bytes | None = None,
    staging: Path | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Release:
    """Publish a collection under a policy: search, recode, write, verify what was written.

    ``source`` is a path (JSON, JSON Lines, XML, CSV, also gzipped, or Parquet), an iterable of dicts or lxml
    elements, a DataFrame or an Arrow table, the address of a store or a live object of its library (see
    ``hierdata.stores``); with ``tables`` in the policy a folder, or a dict of tables; ``policy`` a path, a
    Policy or a dict. ``seed`` decides every random choice: same input, policy, seed and build give the same
    bytes, whatever ``resources`` there are; by default 128 random bits. ``key`` is that of pseudonyms and
    shifts, at least 32 secret bytes, which no file ever holds. ``staging`` is an existing folder for the
    work, best on the file system where the release will be saved.

    ``to`` is a new place in a store, by its address or a live object. It appears, whole, when what was
    written there has been read back and judged too. ``batch`` is how many records travel together.

    The release is in a private folder until ``save``; with ``out`` it is saved there, before ``to`` appears.
    Raises PolicyError, InputError, TargetError, PromiseError where no class satisfies the policy,
    VerificationError should the judge not confirm what was written, GateError where a figure of the release
    does not keep a limit of the policy.
    """
    policy = _load(policy)
    seed = seed_of(seed)
    target = None if to is None else store_at(to, batch=batch)
    try:
        with at_hand(source, policy, batch=batch, beside=staging, target=target) as hand:
            return _released(hand, target, out, seed, key, staging, resources, progress, notice)
    finally:
        if target is not None and target is not to:
            target.close()


def verify(
    published: object,
    policy: PolicySource,
    *,
    original: object | None = None,
    facts: str | os.PathLike[str] | None = None,
    key: bytes | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a release, or any file of records, by a policy's models, from the file alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements. The facts frozen at
    publication (levels by frequency) come from the folder's ``steward/verification.json`` or from
    ``facts``; with ``original`` they are worked out again from the input, and frozen facts that differ
    raise VerificationError, as does a ``release.json`` that claims other than was found. A model whose facts
    are missing is not judged and does not pass. Where dates were moved, ``original`` needs the ``key`` of the
    release. The verdict is the same whatever ``resources`` there are.
    """
    policy = _load(policy)
    with at_hand(published, policy, published=True) as hand:
        return _verdict(hand.source, hand.policy, original, facts, key, resources, progress)


def measure_release(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> ReleaseMeasurement:
    """Every metric of a release, from the published records and the original alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements; ``original`` the
    input, as for ``anonymize``. Neither a report nor a seed is asked for, and no record is linked to its
    original: what the original has more was suppressed. ``key`` is that of the release where dates were
    moved. Nothing is judged: see ``verify``.

    Raises VerificationError where the release is none of this original under this policy, InputError for
    records that do not fit, PolicyError for attackers who do not.
    """
    from hierdata.rebuilt import rebuild
    from hierdata.rebuilt.measuring import measured
    from hierdata.run.blocks import whole

    policy = _load(policy)
    with (
        at_hand(original, policy) as hand,
        _looked_over(hand.source, policy, key, None, None, progress, again=True) as looked,
    ):
        overview, prepared, _, spread = looked
        bind_attackers(prepared.policy, prepared.schema, prepared.domains)
        forest = whole(overview, prepared, spread)
    with at_hand(published, prepared.policy, published=True) as hand:
        files = released(Path(hand.source), policy) if isinstance(hand.source, str | os.PathLike) else None
        documents, beside = read_published(hand.source, files, hand.policy)
        documents = counted(documents, "reading the release", None, progress or silent, itemgetter(1))
        return measured(rebuild(documents, beside, prepared, forest), prepared)


def survey(
    source: object, policy: PolicySource, *, progress: Progress | None = None
) -> tuple[Survey, frozenset[Keys]]:
    """Survey a collection as ``lint`` needs it: shape, values of all declared fields and identifiers.

    With it, the paths that an XSD of the policy says to be many.
    """
    from hierdata.identifiers.treatment import Traces
    from hierdata.records.survey import survey as survey_documents
    from hierdata.run.overview import hints_of, repeated

    policy = _load(policy)
    traces = Traces()
    with at_hand(source, policy) as hand:
        collection = collect(hand.source, policy)
        documents = looked_at(policy).documents(collection.documents(), traces=traces)
        documents = counted(documents, "reading", None, progress or silent)
        found = survey_documents(documents, policy.declared(identifiers=True))
    found.pseudonyms.update(traces.made)
    found.repeated = repeated(traces.marks, policy)
    return found, hints_of(collection, policy)


def _released(
    hand: AtHand,
    target: Store | None,
    out: str | os.PathLike[str] | None,
    seed: bytes,
    key: bytes | None,
    staging: Path | None,
    resources: Resources | None,
    progress: Progress | None,
    notice: Notice | None,
) -> Release:
    """The steps of ``anonymize``, once the input is at hand."""
    from hierdata.outcome import write_files
    from hierdata.recodings import RECODINGS
    from hierdata.release import Release, Staging
    from hierdata.run.blocks import in_blocks
    from hierdata.run.classes import clustered
    from hierdata.run.delivery import Delivery, form_in
    from hierdata.run.files import Publishing
    from hierdata.run.judging import judged
    from hierdata.run.overview import in_order

    policy = hand.policy
    with _looked_over(hand.source, policy, key, resources, staging, progress) as looked:
        overview, prepared, collection, spread = looked
        form = form_in(in_order(collection, overview), target)
        gates = bind_gates(prepared.policy, prepared.schema, prepared.domains)
        metrics = every_metric(prepared.policy, prepared.schema, prepared.domains, gates)
        recoding = RECODINGS[policy.recoding](prepared.policy.divided)
        blocks = in_blocks(overview, prepared, seed, spread)
        classes = clustered(blocks, prepared, recoding, seed, spread, notice)
        folder = Staging(staging)
        try:
            publishing = Publishing(recoding, prepared, form, folder.path / "public", seed, metrics)
            written, tallies = publishing.publish(classes)
            verdict = judged(*written.parts(form), prepared.rules, spread)
            if not verdict.passed:
                raise VerificationError("the judge did not confirm what was written; nothing was published")
            kept = pass_gates(gates, tallies)
            report = write_files(folder.path, form, prepared, tallies, verdict, kept, hand.limitations)
            elements = written.elements

            def read(place: Path, part: str) -> Iterator[Document]:
                return form.read(place / "public" / form.name(part), elements[part])

            release = Release(folder.path, report, tuple(elements), read, temporary=folder)
            save = None if out is None else partial(release.save, out)
            if target is not None:
                delivery = Delivery(target, hand.store, form, prepared, spread, notice)
                delivery.deliver(written, verdict, save)
            elif save is not None:
                save()
        except BaseException:
            folder.remove()
            raise
    return release


def _verdict(
    published: object,
    policy: Policy,
    original: object | None,
    facts: str | os.PathLike[str] | None,
    key: bytes | None,
    resources: Resources | None,
    progress: Progress | None,
) -> Verdict:
    """The steps of ``verify``, once the records are at hand."""
    from hierdata.run.judging import judged

    files = released(Path(published), policy) if isinstance(published, str | os.PathLike) else None
    found = None if files is None else files.facts
    frozen = read_facts(Path(facts) if facts is not None else found, policy)
    scales = stated_scales(policy) if frozen is None else frozen.scales
    known = {} if frozen is None else frozen.references
    vertices = frozenset() if frozen is None else frozen.vertices
    books = {} if frozen is None else frozen.file.quasi
    if original is not None:
        with (
            at_hand(original, policy) as hand,
            _looked_over(hand.source, hand.policy, key, resources, None, progress, again=True) as looked,
        ):
            prepared = looked[1]
            policy = prepared.policy
        scales, vertices, books = prepared.scales, many_keys(prepared.schema), prepared.codebooks
        known = references(prepared)
        if frozen is not None and not frozen.are_of(prepared):
            raise VerificationError(
                "the facts frozen at publication are not those of the original under this policy: the file "
                "was changed, or it belongs to another input"
            )
    rules = judge_rules(policy, scales, known, vertices, books)
    splits = record_splits(published, files, policy)
    with (resources or Resources()).spread(len(splits), None, progress or silent) as spread:
        verdict = judged(splits, read_beside(files, policy), rules, spread)
    if frozen is not None and verdict.passed:
        frozen.check_tables(policy, verdict)
    claims = None if files is None else files.claims
    if claims is not None and verdict.passed and (frozen is not None or original is not None):
        confirm(claims, policy, verdict)
    return verdict


def _load(policy: PolicySource) -> Policy:
    if isinstance(policy, str | os.PathLike):
        return load(Path(policy))
    return from_data(policy)


@contextmanager
def _looked_over(
    source: object,
    policy: Policy,
    key: bytes | None,
    resources: Resources | None,
    staging: Path | None,
    progress: Progress | None,
    *,
    again: bool = False,
) -> Iterator[tuple[Overview, Prepared, Collection, Spread]]:
    """A collection surveyed, what the policy comes to for it, and an executor for what follows."""
    from hierdata.run.overview import check_key, look_over

    treated = treatment(policy, key_of(key), again=again)
    collection = collect(source, policy, staging)
    splits = collection.splits()
    resources = resources or Resources()
    check_key(treated, resources.kind(len(splits)))
    with resources.spread(len(splits), staging, progress or silent) as spread:
        overview = look_over(collection, splits, policy, spread, treated)
        prepared = prepare(overview.policy, overview.survey, overview.hints)
        yield overview, prepared, collection, spread
