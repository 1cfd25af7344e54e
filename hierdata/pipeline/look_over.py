"""Look a collection over: what commands need before records are encoded, judged or measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data, load, name_positions
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.plan.plugins import list_plugins
from hierdata.policy.plan.treatment import dry_treatment, treatment
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.progress import Progress, count_items, silent
from hierdata.records.identifiers.key import key_of
from hierdata.sources import Collection, collect
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.pipeline.resources import RunContext
    from hierdata.pipeline.survey import Overview
    from hierdata.records.survey import Keys, Survey

PolicySource: TypeAlias = "str | os.PathLike[str] | Policy | dict[str, object]"
Notice: TypeAlias = Callable[[str], None]


class LookedOver(NamedTuple):
    """A surveyed collection, the policy prepared for it, and the executor for the steps that follow."""

    overview: Overview
    prepared: Prepared
    collection: Collection
    spread: RunContext


def read_policy(policy: PolicySource) -> Policy:
    """Read a policy from a file, plain data or a Policy. Raises PolicyError, TargetError."""
    if isinstance(policy, str | os.PathLike):
        return load(Path(policy))
    return from_data(policy)


@contextmanager
def look_over(
    source: object,
    policy: Policy,
    key: bytes | None,
    resources: Resources | None,
    staging: Path | None,
    progress: Progress | None,
    *,
    again: bool = False,
) -> Iterator[LookedOver]:
    """Survey a collection and prepare the policy for it; the executor stays open inside the context."""
    from hierdata.pipeline.survey import check_key, survey_splits

    treated = treatment(policy, key_of(key), again=again)
    collection = collect(source, policy, staging)
    splits = collection.splits()
    resources = resources or Resources()
    check_key(treated, resources.kind(len(splits)))
    with resources.open_context(len(splits), staging, progress or silent, list_plugins(policy)) as spread:
        with name_positions(policy):
            overview = survey_splits(collection, splits, policy, spread, treated, sampled=not again)
            prepared = prepare(overview.policy, overview.survey, overview.hints)
        yield LookedOver(overview, prepared, collection, spread)


def survey_collection(
    source: object, policy: PolicySource, *, progress: Progress | None = None
) -> tuple[Survey, frozenset[Keys]]:
    """Survey a collection for ``lint``: shape, values of all declared fields and identifiers.

    Also return the paths that the policy's XSD declares as repeatable.
    """
    from hierdata.pipeline.survey import find_repeated, hints_of
    from hierdata.policy.lint.presence import Shown, count_shown
    from hierdata.records.identifiers.treatment import Traces
    from hierdata.records.survey import survey

    policy = read_policy(policy)
    traces = Traces()
    with fetch_source(source, policy) as hand:
        collection = collect(hand.source, policy)
        documents = dry_treatment(policy).documents(collection.documents(), traces=traces)
        documents = count_items(documents, "reading", None, progress or silent)
        shown: Shown = {}
        documents = count_shown(documents, policy, shown)
        keeps = isinstance(policy.unlisted, Keep)
        found = survey(documents, policy.declared_fields(identifiers=True), holders=keeps)
    found.shown = shown
    found.pseudonyms.update(traces.made)
    found.repeated = find_repeated(traces.marks, policy)
    return found, hints_of(collection, policy)
