"""The one file that knows all steps, from a collection and a policy to a verified release: read it first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.documents.document import Document
from hierdata.errors import VerificationError
from hierdata.pipeline.look_over import Notice, PolicySource, look_over, read_policy
from hierdata.pipeline.resources import Resources
from hierdata.pipeline.seeds import seed_of
from hierdata.progress import Progress
from hierdata.release.gates import bind_gates, every_metric, pass_gates
from hierdata.sources.open import AtHand, at_hand
from hierdata.sources.stores import BATCH, store_at

if TYPE_CHECKING:
    from hierdata.release.release import Release
    from hierdata.sources.stores import Store


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
    ``sources.stores``); with ``tables`` in the policy a folder, or a dict of tables; ``policy`` a path, a
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
    policy = read_policy(policy)
    seed = seed_of(seed)
    target = None if to is None else store_at(to, batch=batch)
    try:
        with at_hand(source, policy, batch=batch, beside=staging, target=target) as hand:
            return _released(hand, target, out, seed, key, staging, resources, progress, notice)
    finally:
        if target is not None and target is not to:
            target.close()


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
    from hierdata.pipeline.cluster import clustered
    from hierdata.pipeline.delivery import Delivery, form_in
    from hierdata.pipeline.encode import in_blocks
    from hierdata.pipeline.judge import judged
    from hierdata.pipeline.publish import Publishing
    from hierdata.pipeline.survey import in_order
    from hierdata.release.files import write_files
    from hierdata.release.recodings import recoding_named
    from hierdata.release.release import Release, Staging

    policy = hand.policy
    with look_over(hand.source, policy, key, resources, staging, progress) as looked:
        overview, prepared, collection, spread = looked
        form = form_in(in_order(collection, overview), target)
        gates = bind_gates(prepared.policy, prepared.schema, prepared.domains)
        metrics = every_metric(prepared.policy, prepared.schema, prepared.domains, gates)
        recoding = recoding_named(policy.recoding)(prepared.policy.divided)
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
