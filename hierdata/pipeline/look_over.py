"""Look a collection over: what commands need before records are encoded, judged or measured."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hierdata.documents.document import Document
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.ground.secrets import Key
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data, load, name_positions
from hierdata.policy.plan.plan import Prepared, list_plugins, prepare
from hierdata.policy.plan.treatment import dry_treatment, treatment
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.sources import Collection, collect
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.pipeline.control import HeldOut
    from hierdata.pipeline.resources import RunContext
    from hierdata.pipeline.survey import Overview
    from hierdata.records.survey import Keys, Survey

PolicySource: TypeAlias = "str | os.PathLike[str] | Policy | Mapping[str, object]"
Notice: TypeAlias = Callable[[str], None]

log = logging.getLogger(__name__)


class LookedOver(NamedTuple):
    """A surveyed collection, the policy prepared for it, and the executor for the steps that follow.

    ``held_out`` are the individuals whom the policy's control keeps out, None without one. Records from
    ``first_control`` on are those of a control that was asked for with the collection.
    """

    overview: Overview
    prepared: Prepared
    collection: Collection
    spread: RunContext
    held_out: HeldOut | None = None
    first_control: int | None = None


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
    secret: bytes | None = None,
    with_control: bool = False,
    control: object | None = None,
) -> Iterator[LookedOver]:
    """Shape and survey a collection and prepare the policy for it; the executor stays open in the context.

    ``secret`` keys what the policy's shape and control draw at random. ``with_control`` puts the control
    after the records, to attack both: the policy's, or the individuals of the source ``control``.
    """
    from hierdata.pipeline.join import join_splits, list_splits
    from hierdata.pipeline.shape import shape_apart
    from hierdata.pipeline.survey import check_key, hints_of, survey_splits

    treated = treatment(policy, None if key is None else Key(key), again=again)
    collection = collect(source, policy, staging)
    count = len(list_splits(collection))
    resources = resources or Resources()
    check_key(treated, resources.kind(count))
    with resources.open_context(count, staging, progress or silent, list_plugins(policy)) as spread:
        with name_positions(policy):
            hints = hints_of(collection, policy)
            splits = join_splits(collection, spread)
            others = () if control is None else join_splits(collect(control, policy, staging), spread)
            shaped = shape_apart(splits, collection.form.format, policy, spread, secret, hints, others)
            last = shaped.control if with_control else ()
            splits = [*shaped.kept, *last]
            overview = survey_splits(collection, splits, policy, spread, treated, sampled=not again)
            prepared = prepare(overview.policy, overview.survey, overview.hints)
        log.info("surveyed: %d records", overview.survey.records)
        first = overview.splits[len(shaped.kept)].before if last else None
        yield LookedOver(overview, prepared, collection, spread, shaped.held_out, first)


def survey_collection(
    source: object, policy: PolicySource, *, progress: Progress | None = None
) -> tuple[Survey, frozenset[Keys]]:
    """Survey a collection for ``lint``: shape, values of all declared fields and identifiers.

    Also return the paths that the policy's XSD declares as repeatable.
    """
    from hierdata.pipeline.survey import count_repeats, find_repeated
    from hierdata.policy.checks.persons import watch_persons
    from hierdata.policy.lint.attainable import Shown, count_shown
    from hierdata.policy.lint.fields import Dependences, count_dependences
    from hierdata.policy.lint.traces import Owners, count_owners
    from hierdata.records.identifiers.treatment import Traces
    from hierdata.records.survey import survey

    policy = read_policy(policy)
    traces = Traces()
    with open_shaped(source, policy) as (documents, hints):
        watch = watch_persons(policy)
        documents = documents if watch is None else watch.watch_documents(documents)
        documents = dry_treatment(policy).documents(documents, traces=traces)
        documents = count_items(documents, "reading", None, progress or silent)
        shown: Shown = {}
        owners: Owners = {}
        documents = count_owners(count_shown(documents, policy, shown), policy, owners)
        dependences: Dependences = {}
        documents = count_dependences(documents, policy, dependences)
        keeps = isinstance(policy.unlisted, Keep)
        declared, derived = policy.declared_fields(identifiers=True), tuple(policy.derived_fields.values())
        surveyed = survey(documents, declared, holders=keeps, derived=derived)
    surveyed.shown, surveyed.owners, surveyed.dependences = shown, owners, dependences
    surveyed.pseudonyms.update(traces.made)
    surveyed.substitutes, surveyed.coarsened = traces.substitutes, traces.coarsened
    surveyed.repeated = find_repeated(traces.marks, policy)
    surveyed.persons = {} if watch is None else count_repeats(watch.marks)
    return surveyed, hints


@contextmanager
def open_shaped(source: object, policy: Policy) -> Iterator[tuple[Iterator[Document], frozenset[Keys]]]:
    """Open the shaped documents of a collection for ``lint``, with the paths that an XSD declares repeatable.

    What a shape draws at random is not what a release draws. Raises InputError after the last document if
    the shape could not be done.
    """
    from hierdata.pipeline.survey import hints_of

    with fetch_source(source, policy) as hand:
        collection = collect(hand.source, policy)
        hints = hints_of(collection, policy)
        with shape_collection(collection, policy, hints) as documents:
            yield documents, hints


@contextmanager
def shape_collection(
    collection: Collection, policy: Policy, hints: frozenset[Keys] = frozenset()
) -> Iterator[Iterator[Document]]:
    """Shape an open collection in this process; errors are those of ``open_shaped``."""
    from hierdata.pipeline.join import join_splits
    from hierdata.pipeline.shape import shape_apart
    from hierdata.records.shape.base import ShapeTally

    with Resources("serial").open_context(1, None, silent) as spread:
        splits = join_splits(collection, spread)
        splits = shape_apart(splits, collection.form.format, policy, spread, b"", hints).kept

        def documents() -> Iterator[Document]:
            total = ShapeTally()
            for split in splits:
                tally = ShapeTally()
                yield from split.tally_documents(tally)
                total.merge(tally)
            total.check([spec.step for spec in policy.shape])

        yield documents()
