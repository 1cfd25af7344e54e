"""Read a release and its original as arrays, to measure or attack it."""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hierdata.ground.errors import InputError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.release.gates import bind_attackers
from hierdata.release.layout import find_release_files, read_published
from hierdata.release.verification import read_facts
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.forest.forest import Forest
    from hierdata.measurement.release import Rebuilt
    from hierdata.policy.plan.plan import Prepared
    from hierdata.policy.policy import Policy


class ReadRelease(NamedTuple):
    """A release, its original as a forest, and what the policy means for it."""

    rebuilt: Rebuilt
    original: Forest
    prepared: Prepared


def read_release(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> ReadRelease:
    """Read a release and its original; parameters and errors are those of ``measure_release``."""
    from hierdata.measurement.release import rebuild
    from hierdata.pipeline.encode import whole

    policy = read_policy(policy)
    with (
        fetch_source(original, policy) as hand,
        look_over(
            hand.source, policy, key, None, None, progress, again=True, secret=_find_secret(published, policy)
        ) as looked,
    ):
        overview, prepared, _, spread = looked
        bind_attackers(prepared.policy, prepared.schema, prepared.domains)
        forest = whole(overview, prepared, spread)
    with fetch_source(published, prepared.policy, published=True) as hand:
        files = (
            find_release_files(Path(hand.source), policy)
            if isinstance(hand.source, str | os.PathLike)
            else None
        )
        documents, beside = read_published(hand.source, files, hand.policy)
        documents = count_items(documents, "reading the release", None, progress or silent, itemgetter(1))
        try:
            rebuilt = rebuild(documents, beside, prepared, forest)
        except InputError as error:
            raise InputError(
                f"{error.message}; this is in the release, not in the original",
                record=error.record,
                path=error.path,
                revealed=error.revealed,
            ) from None
        return ReadRelease(rebuilt, forest, prepared)


def _find_secret(published: object, policy: Policy) -> bytes | None:
    """Return the key of what a release drew at random, None where the release is not a folder with it."""
    drawn = any(spec.step.needs_secret for spec in policy.shape)
    if not drawn or not isinstance(published, str | os.PathLike) or not Path(published).is_dir():
        return None
    facts = read_facts(find_release_files(Path(published), policy).facts, policy)
    return None if facts is None else facts.drawn_by
