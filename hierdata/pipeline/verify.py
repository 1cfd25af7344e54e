"""All steps to verify a release from its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.errors import MissingPluginError, VerificationError
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.pipeline.resources import Resources
from hierdata.policy.plan.plan import judge_rules, many_keys, references, stated_scales
from hierdata.policy.plan.plugins import list_plugins
from hierdata.policy.policy import Policy
from hierdata.progress import Progress, silent
from hierdata.release.layout import (
    check_plugins,
    find_release_files,
    read_parts,
    record_splits,
    records_format,
)
from hierdata.release.verification import confirm, read_facts
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.judge import Verdict


@contextmanager
def plugins_needed(published: object) -> Iterator[None]:
    """Read the policy of a release inside this context, which checks the plug-ins that are needed.

    Raises VerificationError if a plug-in is missing or has another version than the release was made with.
    """
    try:
        check_plugins(published)
        yield
    except MissingPluginError as error:
        raise VerificationError(f"not judged: {error}") from None


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
    ``facts``; with ``original`` they are computed again from the input. A model whose facts are missing is
    not judged and does not pass. If dates were moved, ``original`` needs the ``key`` of the release. The
    verdict does not depend on ``resources``.

    Raises VerificationError if frozen facts differ from those of ``original``, or if the claims of
    ``release.json`` differ from what was found.
    """
    with plugins_needed(published):
        policy = read_policy(policy)
    with fetch_source(published, policy, published=True) as hand:
        return _verdict(hand.source, hand.policy, original, facts, key, resources, progress)


def _verdict(
    published: object,
    policy: Policy,
    original: object | None,
    facts: str | os.PathLike[str] | None,
    key: bytes | None,
    resources: Resources | None,
    progress: Progress | None,
) -> Verdict:
    """Run the steps of ``verify`` on fetched records."""
    from hierdata.pipeline.judge import judge_files
    from hierdata.pipeline.read_back import Judged, read_back
    from hierdata.release.public import build_codebook, build_release_file

    stated = policy
    files = find_release_files(Path(published), policy) if isinstance(published, str | os.PathLike) else None
    found = None if files is None else files.facts
    frozen = read_facts(Path(facts) if facts is not None else found, policy)
    scales = stated_scales(policy) if frozen is None else frozen.scales
    known = {} if frozen is None else frozen.references
    vertices = frozenset() if frozen is None else frozen.vertices
    books = {} if frozen is None else frozen.file.quasi
    readings = None if frozen is None else frozen.readings
    if original is not None:
        with (
            fetch_source(original, policy) as hand,
            look_over(hand.source, hand.policy, key, resources, None, progress, again=True) as looked,
        ):
            prepared = looked[1]
            policy = prepared.policy
        scales, vertices, books = prepared.scales, many_keys(prepared.schema), prepared.codebooks
        known, readings = references(prepared), prepared.readings
        if frozen is not None and not frozen.are_of(prepared):
            raise VerificationError(
                "the facts frozen at publication differ from those of the original under this policy: the "
                "file was changed, or it belongs to another input"
            )
    rules = judge_rules(policy, scales, known, vertices, books, readings=readings)
    splits = record_splits(published, files, policy)
    with (resources or Resources()).open_context(
        len(splits), None, progress or silent, list_plugins(policy)
    ) as spread:
        judged = Judged.by(rules, lambda own: judge_files(splits, read_parts(files, policy), own, spread))
        verdict = judged.verdict
        if frozen is not None and verdict.passed:
            frozen.check_tables(policy, verdict)
        has_facts = frozen is not None or original is not None
        if files is not None and files.claims is not None and verdict.passed and has_facts:
            folder = files.claims.parent
            back = read_back(folder, splits, stated, records_format(files, policy), judged, spread)
            confirm(folder, build_release_file(back), build_codebook(back))
    return verdict
