"""The one file that knows all steps, from a collection and a policy to a verified release: read it first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hierdata.document import Document
from hierdata.errors import InputError, PolicyError, PromiseError, VerificationError
from hierdata.facts import confirm, read_facts
from hierdata.gates import bind_attackers, bind_gates, every_metric, pass_gates
from hierdata.intake import Collection, FileForm, Form, checked, collect
from hierdata.policy import Policy, from_data, load
from hierdata.prepare import Prepared, judge_rules, many_keys, prepare, references, stated_scales
from hierdata.progress import Progress, counted, silent
from hierdata.published import Counted, read_published, released
from hierdata.seeds import generator, order_of, seed_of
from hierdata.shortfalls import largest

if TYPE_CHECKING:
    from hierdata.forest import Forest
    from hierdata.judge import Verdict
    from hierdata.publication import Publication
    from hierdata.rebuilt.measuring import ReleaseMeasurement
    from hierdata.records.survey import Keys, Survey
    from hierdata.release import Release

PolicySource: TypeAlias = "str | os.PathLike[str] | Policy | dict[str, object]"
Notice: TypeAlias = Callable[[str], None]


def anonymize(
    source: object,
    policy: PolicySource,
    *,
    seed: bytes | None = None,
    staging: Path | None = None,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Release:
    """Publish a collection under a policy: search, recode, write, verify what was written.

    ``source`` is a path (JSON, JSON Lines, XML, CSV, also gzipped, or Parquet), an iterable of dicts or lxml
    elements, a DataFrame or an Arrow table; with ``tables`` in the policy a folder, or a dict of tables;
    ``policy`` a path, a Policy or a dict. ``seed`` decides every random choice: same input, policy, seed
    and build give the same bytes; by default 128 random bits. ``staging`` is an existing folder for the
    work, best on the file system where the release will be saved.

    The release is in a private folder until ``save``. Raises PolicyError, InputError, TargetError,
    PromiseError where no class satisfies the policy, VerificationError should the judge not confirm what
    was written, GateError where a figure of the release does not keep a limit of the policy.
    """
    report_progress = progress or silent
    policy = _load(policy)
    collection = collect(source, policy)
    seed = seed_of(seed)

    surveyed, policy, hints = _survey(collection, policy, report_progress)
    prepared = prepare(policy, surveyed, hints)
    gates = bind_gates(policy, prepared.schema, prepared.domains)
    from hierdata.outcome import write_files
    from hierdata.recodings import RECODINGS
    from hierdata.release import Release, Staging
    from hierdata.search import search
    from hierdata.tallies import tally

    forest = _encode(collection, prepared, report_progress)
    recoding = RECODINGS[policy.recoding](policy.divided)
    forest, partitions = search(forest, prepared, recoding, generator(seed, 0), True, report_progress, notice)
    publication = recoding.publish(forest, partitions, order_of(seed, forest.record_count))

    folder = Staging(staging)
    form = collection.form  # and no more of the collection, which may hold a private file
    try:
        files = _write(publication, form, folder.path / "public", report_progress)
        verdict = _judge_written(files, publication, form, prepared, report_progress)
        tallies = tally(publication, forest, every_metric(policy, prepared.schema, prepared.domains, gates))
        kept = pass_gates(gates, tallies)
        report = write_files(folder.path, form, prepared, tallies, verdict, kept)
    except BaseException:
        folder.remove()
        raise

    elements = {part.name: part.element for part in publication.parts}

    def read(place: Path, part: str) -> Iterator[Document]:
        return form.read(place / "public" / form.name(part), elements[part])

    return Release(folder.path, report, tuple(elements), read, temporary=folder)


def verify(
    published: object,
    policy: PolicySource,
    *,
    original: object | None = None,
    facts: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a release, or any file of records, by a policy's models, from the file alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements. The facts frozen at
    publication (levels by frequency) come from the folder's ``steward/verification.json`` or from
    ``facts``; with ``original`` they are worked out again from the input, and frozen facts that differ
    raise VerificationError, as does a ``release.json`` that claims other than was found. A model whose facts
    are missing is not judged and does not pass.
    """
    from hierdata.judge import judge_counted

    report_progress = progress or silent
    policy = _load(policy)
    files = released(Path(published), policy) if isinstance(published, str | os.PathLike) else None
    found = None if files is None else files.facts
    frozen = read_facts(Path(facts) if facts is not None else found, policy)
    scales = stated_scales(policy) if frozen is None else frozen.scales
    known = {} if frozen is None else frozen.references
    vertices = frozenset() if frozen is None else frozen.vertices
    books = {} if frozen is None else frozen.file.quasi
    if original is not None:
        collection = collect(original, policy)
        surveyed, policy, hints = _survey(collection, policy, report_progress)
        prepared = prepare(policy, surveyed, hints)
        scales, vertices, books = prepared.scales, many_keys(prepared.schema), prepared.codebooks
        known = references(prepared)
        if frozen is not None and not frozen.are_of(prepared):
            raise VerificationError(
                "the facts frozen at publication are not those of the original under this policy: the file "
                "was changed, or it belongs to another input"
            )
    rules = judge_rules(policy, scales, known, vertices, books)
    documents, beside = read_published(published, files, policy)
    verdict = judge_counted(_verifying(documents, report_progress), rules, beside)
    if frozen is not None and verdict.passed:
        frozen.check_tables(policy, verdict)
    claims = None if files is None else files.claims
    if claims is not None and verdict.passed and (frozen is not None or original is not None):
        confirm(claims, policy, verdict)
    return verdict


def measure_release(
    published: object, policy: PolicySource, *, original: object, progress: Progress | None = None
) -> ReleaseMeasurement:
    """Every metric of a release, from the published records and the original alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements; ``original`` the
    input, as for ``anonymize``. Neither a report nor a seed is asked for, and no record is linked to its
    original: what the original has more was suppressed. Nothing is judged: see ``verify``.

    Raises VerificationError where the release is none of this original under this policy, InputError for
    records that do not fit, PolicyError for attackers who do not.
    """
    from hierdata.rebuilt import rebuild
    from hierdata.rebuilt.measuring import measured

    report_progress = progress or silent
    policy = _load(policy)
    files = released(Path(published), policy) if isinstance(published, str | os.PathLike) else None
    collection = collect(original, policy)
    surveyed, policy, hints = _survey(collection, policy, report_progress)
    prepared = prepare(policy, surveyed, hints)
    bind_attackers(policy, prepared.schema, prepared.domains)
    forest = _encode(collection, prepared, report_progress)
    documents, beside = read_published(published, files, policy)
    documents = counted(documents, "reading the release", None, report_progress, itemgetter(1))
    return measured(rebuild(documents, beside, prepared, forest), prepared)


def _verifying(documents: Counted, progress: Progress) -> Counted:
    return counted(documents, "verifying", None, progress, itemgetter(1))


def survey(
    source: object, policy: PolicySource, *, progress: Progress | None = None
) -> tuple[Survey, frozenset[Keys]]:
    """Survey a collection as ``lint`` needs it: shape, values of all declared fields and identifiers.

    With it, the paths that an XSD of the policy says to be many.
    """
    from hierdata.records.survey import survey as survey_documents

    policy = _load(policy)
    collection = collect(source, policy)
    documents = counted(collection.documents(), "reading", None, progress or silent)
    return survey_documents(documents, policy.declared(identifiers=True)), _hints(collection, policy)


def _load(policy: PolicySource) -> Policy:
    if isinstance(policy, str | os.PathLike):
        return load(Path(policy))
    return from_data(policy)


def _survey(
    collection: Collection, policy: Policy, progress: Progress
) -> tuple[Survey, Policy, frozenset[Keys]]:
    """Read once: shape and values, the JSON Schema checked; the policy with rules for kept fields."""
    from hierdata.records.survey import survey as survey_documents

    documents = collection.documents()
    hints = _hints(collection, policy)
    if policy.record_schema is not None and not policy.record_schema.lower().endswith(".xsd"):
        documents = checked(documents, policy.folder / policy.record_schema)
    surveyed = survey_documents(counted(documents, "reading", None, progress), policy.declared())
    extended = policy.with_unlisted(surveyed.shape, hints)
    if extended is not policy:  # the values of the kept fields have not been counted yet
        surveyed = survey_documents(collection.documents(), extended.declared())
    return surveyed, extended, hints


def _hints(collection: Collection, policy: Policy) -> frozenset[Keys]:
    """The paths that the policy's XSD says to be many. A JSON Schema goes with JSON, an XSD with XML."""
    named = policy.record_schema
    if named is None:
        return frozenset()
    form = collection.form
    is_xml = form.format.name == "xml"
    if named.lower().endswith(".xsd") != is_xml:
        kind = "an XSD" if is_xml else "a JSON Schema"
        raise PolicyError(f"the records are {form.format.name}: name {kind} under schema, or none")
    if not isinstance(form, FileForm) or not is_xml:
        return frozenset()
    from hierdata.records.xsd import many_hints

    root, record = form.layout.records
    return many_hints(policy.folder / named, (root, record))


def _encode(collection: Collection, prepared: Prepared, progress: Progress) -> Forest:
    from hierdata.encoding import encode
    from hierdata.records.binding import bind

    total = prepared.survey.records
    size = prepared.constraints.min_class_size
    if total < size:
        asking = " and ".join(largest(prepared.policy, prepared.survey, size))
        raise PromiseError(
            f"under {asking} a class needs at least {size} records and the collection has {total}: collect "
            "more records or ask for less"
        )
    documents = counted(collection.documents(), "encoding", total, progress)
    try:
        return encode(
            bind(documents, prepared.binding), prepared.schema, prepared.hierarchies, prepared.domains
        )
    except InputError as error:
        raise _counted(error, prepared) from None


def _counted(error: InputError, prepared: Prepared) -> InputError:
    """The error, with all values of the collection that are outside their domains where it is about one."""
    from hierdata.lint import lint

    outside = [
        finding
        for finding in lint(prepared.policy, prepared.survey)
        if finding.severity == "error" and finding.revealed
    ]
    if error.path not in [finding.path for finding in outside]:
        return error
    counts = "; ".join(f"{finding.path}: {finding.message}" for finding in outside)
    revealed = [value for finding in outside for value in finding.revealed]
    message = f"{error.message}; in the whole collection {counts}"
    return InputError(message, record=error.record, path=error.path, revealed=revealed)


def _write(publication: Publication, form: Form, folder: Path, progress: Progress) -> dict[str, Path]:
    """Write every part; answer their files by name."""
    files = {}
    for part in publication.parts:
        files[part.name] = folder / form.name(part.name)
        documents = counted(part.documents(), "writing", part.count, progress)
        form.write(documents, files[part.name], part.element)
    return files


def _judge_written(
    files: dict[str, Path], publication: Publication, form: Form, prepared: Prepared, progress: Progress
) -> Verdict:
    """Judge the files as any reader would find them. Raises VerificationError."""
    from hierdata.judge import judge_counted

    records, *others = publication.parts
    documents = form.counted(files[records.name], records.element, alone=True)
    beside = {part.name: form.read(files[part.name], part.element, alone=True) for part in others}
    rules = judge_rules(
        prepared.policy,
        prepared.scales,
        references(prepared),
        many_keys(prepared.schema),
        prepared.codebooks,
    )
    verdict = judge_counted(_verifying(documents, progress), rules, beside)
    if not verdict.passed:
        raise VerificationError("the judge did not confirm what was written; nothing was published")
    return verdict
