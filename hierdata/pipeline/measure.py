"""The one file that knows all steps, from a collection and a policy to a verified release: read it first."""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.progress import Progress, counted, silent
from hierdata.release.gates import bind_attackers
from hierdata.release.layout import read_published, released
from hierdata.sources.open import at_hand

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
    """Every metric of a release, from the published records and the original alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements; ``original`` the
    input, as for ``anonymize``. Neither a report nor a seed is asked for, and no record is linked to its
    original: what the original has more was suppressed. ``key`` is that of the release where dates were
    moved. Nothing is judged: see ``verify``.

    Raises VerificationError where the release is none of this original under this policy, InputError for
    records that do not fit, PolicyError for attackers who do not.
    """
    from hierdata.measurement.release import rebuild
    from hierdata.measurement.release.measuring import measured
    from hierdata.pipeline.encode import whole

    policy = read_policy(policy)
    with (
        at_hand(original, policy) as hand,
        look_over(hand.source, policy, key, None, None, progress, again=True) as looked,
    ):
        overview, prepared, _, spread = looked
        bind_attackers(prepared.policy, prepared.schema, prepared.domains)
        forest = whole(overview, prepared, spread)
    with at_hand(published, prepared.policy, published=True) as hand:
        files = released(Path(hand.source), policy) if isinstance(hand.source, str | os.PathLike) else None
        documents, beside = read_published(hand.source, files, hand.policy)
        documents = counted(documents, "reading the release", None, progress or silent, itemgetter(1))
        return measured(rebuild(documents, beside, prepared, forest), prepared)
