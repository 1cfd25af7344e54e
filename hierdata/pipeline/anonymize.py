"""All steps from a collection and a policy to a verified release, in order. Read this file first."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.ground.errors import VerificationError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.look_over import Notice, PolicySource, look_over, read_policy
from hierdata.pipeline.resources import Resources
from hierdata.pipeline.seeds import order_key, seed_of
from hierdata.policy.checks.persons import require_individual
from hierdata.release.gates import bind_gates, every_metric, measures_risks, pass_gates
from hierdata.sources.open import AtHand, fetch_source
from hierdata.sources.stores import BATCH, store_at

if TYPE_CHECKING:
    from hierdata.judge import JudgeRules
    from hierdata.metrics.tallies import Tallies
    from hierdata.pipeline.judging import Judged
    from hierdata.pipeline.look_over import LookedOver
    from hierdata.pipeline.publish import Written
    from hierdata.pipeline.resources import RunContext
    from hierdata.policy.policy import Policy
    from hierdata.release.release import Release
    from hierdata.release.report.models import StewardReport
    from hierdata.release.report.parts import GateVerdict
    from hierdata.sources import Form
    from hierdata.sources.stores import Store

log = logging.getLogger(__name__)


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
    """Publish a collection under a policy: search, recode, write, verify the written files.

    ``source`` is a path (JSON, JSON Lines, XML, CSV, also gzipped, or Parquet), an iterable of dicts, rows of
    sqlite3 or lxml elements, a table in memory (a DataFrame, or anything with an Arrow stream), the address
    of a store or a live object of its library (see ``sources.stores``); with ``tables`` in the policy a
    folder, or a dict of tables; ``policy`` a path, a Policy or a dict. ``seed`` decides every random choice:
    the same input, policy, seed and build give the same bytes with any ``resources``; by default it is 128
    random bits. ``key`` is the secret key of pseudonyms and shifts, at least 32 bytes; it is never written to
    a file. ``staging`` is an existing folder for temporary files, best on the file system where the release
    will be saved.

    ``to`` is a new target in a store, given by its address or a live object. It appears all at once, after
    what was written there has been read back and judged too. ``batch`` is the number of records per request.

    The release is in a private folder until ``save``; with ``out`` it is saved there, before ``to`` appears.
    Raises PolicyError, InputError, TargetError, PromiseError if no class satisfies the policy,
    VerificationError if the judge does not confirm what was written, GateError if a figure of the release
    exceeds a limit of the policy.
    """
    policy = read_policy(policy)
    seed = seed_of(seed)
    target = None if to is None else store_at(to, batch=batch)
    try:
        with fetch_source(source, policy, batch=batch, beside=staging, target=target) as hand:
            return _release_records(hand, target, out, seed, key, staging, resources, progress, notice)
    finally:
        if target is not None and target is not to:
            target.close()


def _release_records(
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
    """Run the steps of ``anonymize`` on a fetched input."""
    from hierdata.pipeline.cluster import cluster_blocks
    from hierdata.pipeline.delivery import Delivery
    from hierdata.pipeline.encode import encode_blocks
    from hierdata.pipeline.judging import rules_of
    from hierdata.pipeline.publish import PartReader, Publishing, form_in, restoring
    from hierdata.pipeline.shape import derive_secret
    from hierdata.pipeline.survey import fit_form
    from hierdata.release.labels import Finished
    from hierdata.release.recodings import recoding_named
    from hierdata.release.release import Release, Staging

    policy = hand.policy
    secret = derive_secret(seed)
    with look_over(hand.source, policy, key, resources, staging, progress, secret=secret) as looked:
        overview, prepared, collection, spread, *_ = looked
        require_individual(policy, overview.survey)
        _check_control(looked, policy)
        form = form_in(fit_form(collection, overview), target)
        gates = bind_gates(prepared.policy, prepared.schema, prepared.domains)
        metrics = every_metric(prepared.policy, prepared.schema, prepared.domains, gates)
        recoding = recoding_named(policy.recoding)(prepared.policy.table_division)
        blocks = encode_blocks(overview, prepared, seed, spread)
        classes = cluster_blocks(blocks, prepared, recoding, seed, spread, notice)
        folder = Staging(staging)
        try:
            rules = rules_of(prepared)
            key_of_order = order_key(seed, prepared, overview.content)
            finished = Finished(recoding, rules.derived, policy.mixed_keys)
            publishing = Publishing(finished, prepared, form, folder.path, key_of_order, metrics)
            written, tallies = publishing.publish(classes)
            judged = _judge_written(written, form, rules, policy, spread)
            tallies = _attack_written(hand, written, form, key, secret, tallies, progress)
            kept = pass_gates(gates, tallies)
            _write_control(folder.path, looked)
            report = _write_report(folder.path, written, form, judged, tallies, kept, hand, looked, secret)
            read = PartReader(form, written.elements, restoring(collection, policy))
            _log_result(report)
            release = Release(folder.path, report, tuple(written.elements), read, temporary=folder)
            save = None if out is None else partial(release.save, out)
            if target is not None:
                delivery = Delivery(target, hand.store, form, prepared, spread, notice)
                delivery.deliver(written, judged.verdict, save)
            elif save is not None:
                save()
        except BaseException:
            folder.remove()
            raise
    return release


def _check_control(looked: LookedOver, policy: Policy) -> None:
    """Raise InputError where risks are measured and the control of the policy is too small for it."""
    if looked.held_out is not None and measures_risks(policy):
        from hierdata.pipeline.risks import require_control

        require_control(len(looked.held_out.ordinals))


def _write_control(folder: Path, looked: LookedOver) -> None:
    """Write for the steward who was held out, if the policy has a control."""
    if looked.held_out is not None:
        from hierdata.pipeline.control import write_held_out

        write_held_out(folder, looked.held_out)


def _attack_written(
    hand: AtHand,
    written: Written,
    form: Form,
    key: bytes | None,
    secret: bytes,
    tallies: Tallies,
    progress: Progress | None,
) -> Tallies:
    """Attack what was written where the policy asks for it; return the tallies with the risks."""
    if not measures_risks(hand.policy):
        return tallies
    from hierdata.metrics.attacked import answer_by_attack
    from hierdata.metrics.tallies import Tallies
    from hierdata.pipeline.attack import AttackPlan, attack_release
    from hierdata.pipeline.read_release import read_written
    from hierdata.pipeline.resources import Resources
    from hierdata.pipeline.risks import GATE_ATTACKS, GATE_FACTS, find_worst

    read = read_written(hand.source, hand.policy, written.parts(form), key, secret, progress or silent)
    plan = AttackPlan(GATE_FACTS, GATE_ATTACKS)
    findings = attack_release(read, plan, Resources("serial"), progress or silent)
    return Tallies({**tallies, answer_by_attack: find_worst(findings.measured)})


def _write_report(
    folder: Path,
    written: Written,
    form: Form,
    judged: Judged,
    tallies: Tallies,
    kept: tuple[GateVerdict, ...],
    hand: AtHand,
    looked: LookedOver,
    secret: bytes,
) -> StewardReport:
    """Write what is said of the published files, and bind the witness; return the steward's report."""
    from hierdata.pipeline.judging import read_back
    from hierdata.release.files import write_files
    from hierdata.release.report.shape import gather_facts
    from hierdata.release.witness import seal_witness

    overview, prepared, _, spread, *_ = looked
    policy, verdict, splits = hand.policy, judged.verdict, written.parts(form)[0]
    back = read_back(folder / "public", splits, policy, form.format.name, judged, spread)
    shaped = gather_facts(policy, overview.shaped, secret)
    facts = shaped, hand.limitations, overview.content
    report = write_files(folder, prepared, tallies, verdict, kept, back, *facts)
    seal_witness(folder, back.files, overview.content, overview.survey.records)
    return report


def _log_result(report: StewardReport) -> None:
    counts = report.counts
    log.info(
        "judged: passed; published %d of %d records in %d classes of at least %d",
        counts.records.published,
        counts.records.input,
        counts.classes,
        counts.smallest_class,
    )
    for warning in report.warnings:
        log.warning("%s", warning)


def _judge_written(
    written: Written, form: Form, rules: JudgeRules, policy: Policy, spread: RunContext
) -> Judged:
    """Judge what was written. Raises VerificationError if it does not pass."""
    from hierdata.pipeline.judging import Judged
    from hierdata.pipeline.published import Wanted, judge_files, read_published

    splits = written.parts(form)[0]
    read = read_published(splits, lambda: written.parts(form)[1], rules, Wanted.by(policy), spread)
    read.parts.release()
    judged = Judged(rules, read, lambda by: judge_files(*written.parts(form), by, spread))
    if not judged.verdict.passed:
        raise VerificationError("the judge did not confirm what was written; nothing was published")
    return judged
