"""All steps to verify a release from its files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.ground.errors import MissingPluginError, VerificationError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.judging import judge_rules, rules_of
from hierdata.pipeline.look_over import LookedOver, PolicySource, look_over, read_policy
from hierdata.pipeline.release_files import check_bytes, read_parts, record_splits, records_format
from hierdata.pipeline.resources import Resources
from hierdata.policy.plan.compared import stated_scales
from hierdata.policy.plan.plan import list_plugins
from hierdata.policy.policy import Policy
from hierdata.release.layout import Released, check_plugins, find_release_files, published_files
from hierdata.release.verification import Facts, confirm, read_facts
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.executors import Held
    from hierdata.judge import JudgeRules, Verdict
    from hierdata.pipeline.judging import Judged
    from hierdata.pipeline.published import PartReading
    from hierdata.pipeline.resources import RunContext
    from hierdata.policy.plan.plan import Prepared
    from hierdata.sources import InputSplit

log = logging.getLogger(__name__)


@contextmanager
def plugins_needed(published: object) -> Iterator[None]:
    """Read the policy of a release inside this context, which checks the plug-ins that are needed.

    Raises VerificationError if a plug-in is missing or has another version than the release was made with.
    """
    try:
        check_plugins(published)
        yield
    except MissingPluginError as error:
        raise VerificationError(f"not judged: {line}" for line in str(error).split("\n")) from None


def verify(
    published: object,
    policy: PolicySource,
    *,
    original: object | None = None,
    facts: str | os.PathLike[str] | None = None,
    witness: str | os.PathLike[str] | None = None,
    key: bytes | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a release, or any file of records, by a policy's models, from the file alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements. The facts frozen at
    publication (levels by frequency) come from the folder's ``steward/verification.json`` or from
    ``facts``; with ``original`` they are computed again from the input. A model whose facts are missing is
    not judged and does not pass. If dates were moved, ``original`` needs the ``key`` of the release. The
    verdict does not depend on ``resources``.

    With ``original`` every published record is compared with its own: each value must generalize that of its
    original, and each sensitive value must be that of its original or of its group. The ``witness`` says
    which these are; it comes from the folder's ``steward/witness.bin``, and it is not trusted. Without one
    this is not judged, and the verdict does not pass.

    Raises VerificationError if frozen facts differ from those of ``original``, if the claims of
    ``release.json`` differ from what was found, and for the first record that is not true of the original;
    TargetError if a witness that is named cannot be read.
    """
    with plugins_needed(published):
        policy = read_policy(policy)
    with fetch_source(published, policy, published=True) as hand:
        served = hand.store is not None
        judged = (hand.source, hand.policy, served)
        verdict = _verdict(*judged, original, facts, witness, key, resources, progress)
    outcome = "passed" if verdict.passed else "not passed"
    log.info("judged: %s; %d records in %d classes", outcome, verdict.records, verdict.classes)
    return verdict


def _verdict(
    published: object,
    policy: Policy,
    served: bool,
    original: object | None,
    facts: str | os.PathLike[str] | None,
    witness: str | os.PathLike[str] | None,
    key: bytes | None,
    resources: Resources | None,
    progress: Progress | None,
) -> Verdict:
    """Run the steps of ``verify`` on fetched records; ``served``: they come from a server."""
    from hierdata.pipeline.judging import Judged
    from hierdata.pipeline.published import Wanted, judge_files, read_published

    stated = policy
    files = find_release_files(Path(published), policy) if isinstance(published, str | os.PathLike) else None
    facts_of_folder = None if files is None else files.facts
    frozen = read_facts(Path(facts) if facts is not None else facts_of_folder, policy)
    witness_file = Path(witness) if witness is not None else None if files is None else files.witness
    with ExitStack() as opened:
        looked = None
        if original is not None:
            secret = None if frozen is None else frozen.drawn_by
            hand = opened.enter_context(fetch_source(original, policy))
            looked = opened.enter_context(
                look_over(hand.source, hand.policy, key, resources, None, progress, again=True, secret=secret)
            )
            policy = looked.prepared.policy
            _compare_facts(frozen, looked.prepared)
        rules = _rules(policy, frozen) if looked is None else rules_of(looked.prepared)
        splits = record_splits(published, files, policy)
        spread = (
            opened.enter_context(
                (resources or Resources()).open_context(
                    len(splits), None, progress or silent, list_plugins(policy)
                )
            )
            if looked is None
            else looked.spread
        )
        claimed = files is not None and files.claims is not None
        linked = None if looked is None or witness_file is None else looked.prepared
        wanted = Wanted.by(stated, bytes=claimed, prepared=linked)
        read = read_published(splits, lambda: read_parts(files, policy), rules, wanted, spread)
        judged = Judged(rules, read, lambda by: judge_files(splits, read_parts(files, policy), by, spread))
        verdict = judged.verdict
        if frozen is not None and verdict.passed:
            frozen.check_tables(policy, verdict)
        has_facts = frozen is not None or original is not None
        if files is not None and verdict.passed and has_facts:
            _confirm(files, policy, stated, splits, judged, spread, frozen)
        if looked is not None and verdict.passed:
            verdict = _follow(witness_file, read.parts, files, served, looked, verdict)
        read.parts.release()
    return verdict


def _compare_facts(frozen: Facts | None, prepared: Prepared) -> None:
    """Raise VerificationError if frozen facts are not those of the original."""
    if frozen is not None and not frozen.are_of(prepared):
        raise VerificationError(
            "the facts frozen at publication differ from those of the original under this policy: "
            "the file was changed, or it belongs to another input"
        )


def _confirm(
    files: Released,
    policy: Policy,
    stated: Policy,
    splits: Sequence[InputSplit],
    judged: Judged,
    spread: RunContext,
    frozen: Facts | None,
) -> None:
    """Compute again what a release says of its files, and compare their bytes; a file alone says nothing."""
    from hierdata.pipeline.judging import read_back
    from hierdata.release.public import build_codebook, build_release_file

    if files.claims is None:
        return
    folder, format = files.claims.parent, records_format(files, policy).name
    back = read_back(folder, splits, stated, format, judged, spread)
    confirm(folder, build_release_file(back), build_codebook(back))
    check_bytes(files, policy, spread.folder, judged.published.rewritten)
    if frozen is not None:
        frozen.check_files(back.files)


def _rules(policy: Policy, frozen: Facts | None) -> JudgeRules:
    """Return the judge's rules from the policy and the frozen facts, if there are any."""
    if frozen is None:
        return judge_rules(policy, stated_scales(policy), {})
    return judge_rules(
        policy,
        frozen.scales,
        frozen.references,
        frozen.vertices,
        readings=frozen.readings,
        labels=frozen.labels,
    )


UNTOLD = "whether the release is true of its original (the witness)"
"""What is not judged without a witness."""


def _follow(
    file: Path | None,
    parts: Held[PartReading],
    files: Released | None,
    served: bool,
    looked: LookedOver,
    verdict: Verdict,
) -> Verdict:
    """Compare the release with its original by the witness; without one this is not judged."""
    from hierdata.pipeline.truth import TruthCheck
    from hierdata.release.witness import read_witness

    named = None if files is None or files.claims is None else published_files(files.claims.parent)
    witness = None if file is None else read_witness(file, named)
    if witness is None or not witness.words:
        return replace(verdict, passed=False, not_judged=(*verdict.not_judged, UNTOLD))
    policy = looked.prepared.policy
    shown = None if served or files is None else records_format(files, policy)
    formats = shown, looked.collection.form.format
    check = TruthCheck(looked.overview, looked.prepared, formats, verdict.tables)
    check.check(parts, witness, looked.spread)
    return verdict
