"""All steps to measure a release from its files and the original."""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.progress import Progress, count_items, silent
from hierdata.release.gates import bind_attackers
from hierdata.release.layout import find_release_files, read_published
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.measurement.release.measuring import ReleaseMeasurement


def measure_release(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> ReleaseMeasurement:
    """Measure every metric of a release, from the published records and the original alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements; ``original`` is the
    input, as for ``anonymize``. Neither report nor seed is needed, and no record is linked to its original:
    records that only the original has were suppressed. ``key`` is the key of the release, needed if dates
    were moved. Nothing is judged: see ``verify``.

    Raises VerificationError if the release does not belong to this original and policy, InputError for
    records that do not fit, PolicyError for attackers that do not fit.
    """
    from hierdata.measurement.release import rebuild
    from hierdata.measurement.release.measuring import measure_rebuilt
    from hierdata.pipeline.encode import whole

    policy = read_policy(policy)
    with (
        fetch_source(original, policy) as hand,
        look_over(hand.source, policy, key, None, None, progress, again=True) as looked,
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
        return measure_rebuilt(rebuild(documents, beside, prepared, forest), prepared)
