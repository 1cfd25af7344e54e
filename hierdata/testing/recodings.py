"""The contract of recodings: the judge, which knows only the promise, confirms the published documents."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hierdata.engines.enforce import coalesce
from hierdata.forest.publication import Publication
from hierdata.ground.errors import PolicyError
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.judge import judge
from hierdata.privacy import DistinctLDiversity, KAnonymity, PrivacyModel
from hierdata.release.recodings import Recoding
from hierdata.release.recodings.base import RECORDS
from hierdata.testing.contract import ContractError, require, send_to_worker
from hierdata.testing.worlds import World, find_partition, worlds

_MODELS: tuple[PrivacyModel, ...] = (KAnonymity(k=3), DistinctLDiversity(l=2))


def check_recoding(recoding: type[Recoding]) -> None:
    """Check a recoding against its contract, on tables and, if it can publish them by classes, on trees.

    Raises ContractError.
    """
    name = recoding.__name__
    traits = getattr(recoding, "traits", None)
    require(
        isinstance(traits, RecodingTraits) and traits.judged_as in TRAITS,
        f"{name} must state traits with a judged_as of {', '.join(TRAITS)}",
    )
    published = 0
    for world in worlds(flat=recoding.traits.partitions_each_type or recoding.traits.groups_each_table):
        for model in _MODELS:
            publication, again = (_publish(recoding, world, model) for _ in range(2))
            _check_parts(name, publication, again)
            published += _check_judged(recoding, world, model, publication)
    require(published, f"{name} must publish something if classes were found")


def _publish(recoding: type[Recoding], world: World, model: PrivacyModel) -> Publication:
    constraints = world.bind(model)
    forest, partition = world.forest, find_partition(world, constraints)
    received: Recoding = send_to_worker(recoding())
    if not recoding.traits.partitions_each_type:
        forest, partition = received.prepare(forest, partition)
        partition = coalesce(forest, partition, constraints)
    order = list(range(forest.record_count))
    random.Random(0).shuffle(order)  # noqa: S311  # not used for secrets
    # Where tables have groups of their own, any partition will do for these too.
    grouped = received.traits.groups_each_table
    tables = len(received.divide_attributes(forest, forest.schema.root)) if grouped else 0
    return received.publish(forest, [partition] * (1 + tables), order)


def _check_parts(name: str, publication: Publication, again: Publication) -> None:
    """Check that documents can be read repeatedly, and that their count is correct."""
    names = [part.name for part in publication.parts]
    require(
        names and names[0] == RECORDS and len({*names}) == len(names),
        f"{name} must publish the part {RECORDS} first, and every part under a name of its own",
    )
    for part, other in zip(publication.parts, again.parts, strict=True):
        documents = [*part.documents()]
        require(
            documents == [*part.documents()] == [*other.documents()],
            f"{name} must return the same documents every time, in the requested order",
        )
        require(part.count in (None, len(documents)), f"{name} must count the documents of a part")


def _check_judged(
    recoding: type[Recoding], world: World, model: PrivacyModel, publication: Publication
) -> int:
    name, judged_as = recoding.__name__, recoding.traits.judged_as
    parts = {part.name: [*part.documents()] for part in publication.parts}
    rules = world.promise(model, judged_as)
    records = parts.pop(RECORDS)
    if not records:
        return 0
    try:
        verdict = judge(records, rules, parts)
        turned = judge(records[::-1], rules, {part: rows[::-1] for part, rows in parts.items()})
    except (PolicyError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ContractError(f"the judge of {judged_as} cannot read what {name} publishes") from error
    shown = int((publication.shown[world.forest.roots[:-1]] >= 0).sum())
    require(
        verdict.passed and not verdict.malformed,
        f"the judge of {judged_as} does not confirm what {name} publishes under {model.kind}",
    )
    require(
        verdict.records == shown, f"{name} must publish the records that its publication shows, and no others"
    )
    require(
        _without_order(verdict) == _without_order(turned),
        f"{name} must publish documents for which the verdict does not depend on their order",
    )
    return shown


def _without_order(verdict: Any) -> Any:
    return replace(verdict, k_raw=0)
