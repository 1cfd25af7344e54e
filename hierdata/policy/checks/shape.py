"""Checks of the shape that a policy asks for, and of rules on fields that it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem
from hierdata.policy.shaped_tables import nested_tables
from hierdata.policy.spec.individual import IndividualRule, read_individual
from hierdata.records.path import Path
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the shape, and what cannot be combined with it."""
    individual = read_individual(policy.individual)
    wrong = [] if individual is None else [*_check_individual(policy, individual)]
    yield from wrong
    usable = not wrong
    notation = ShapeNotation(policy.namespaces, policy.depth)
    for number, spec in enumerate(policy.shape):
        where = ("shape", number, spec.step.kind)
        try:
            for key, reason in spec.step.problems(notation):
                usable = False
                yield (*where, key), reason
        except PolicyError as error:
            usable = False
            yield where, str(error)
    if usable:
        if individual is not None and individual.nest is not None:
            yield from _check_nested(policy, individual, policy.path(individual.nest), notation)
        wrong = [*_check_lifts(policy, notation)]
        yield from wrong or _check_tables(policy, notation)


def _check_individual(policy: Policy, individual: IndividualRule) -> Iterator[Problem]:
    where: tuple[str, ...] = ("individual",)
    try:
        path = policy.path(individual.by)
        own = [policy.path(text) for text in individual.own]
        nest = None if individual.nest is None else policy.path(individual.nest)
    except PolicyError as error:
        yield where, str(error)
        return
    if not path.steps or any(step.many for step in path.steps):
        yield where, f"{path} must be one value of the record, not the record itself or a list"
    elif nest is None:
        if policy.tables is not None:
            yield where, "the rows of the root table differ in their keys: state `nest` with `by`"
    elif len(nest.keys) != 1 or nest.keys[0].startswith("@"):
        yield (*where, "nest"), f"{nest} must be a list of the individual itself, such as $.visits"
    elif nest.keys[0] in {path.keys[0], *(one.keys[0] for one in own if one.keys)}:
        yield (*where, "nest"), f"{nest} is a field of the individual: name a list that does not exist"
    for one in own:
        if len(one.keys) != 1:
            yield (*where, "own"), f"{one} must be a field directly in the record"


def _check_nested(
    policy: Policy, individual: IndividualRule, nest: Path, notation: ShapeNotation
) -> Iterator[Problem]:
    """Yield rules on fields where they are no more, since the records were nested."""
    kept = {policy.path(text).keys[0] for text in (individual.by, *individual.own)}
    for spec in policy.shape:
        new = (spec.step.target, spec.step.new_field)
        kept |= {notation.read(text)[0] for text in new if text is not None}
    for path, text in zip(policy.paths, policy.fields, strict=True):
        if path.keys and path.keys[0] not in {*kept, *nest.keys}:
            here = f"`individual` nests this field below {nest}"
            yield ("fields", text), f"{here}: name it there, or list it under `own`"


def _check_tables(policy: Policy, notation: ShapeNotation) -> Iterator[Problem]:
    """Yield what tables cannot hold after the shape."""
    if policy.tables is None:
        return
    where: tuple[str | int, ...] = ("individual", "nest")
    try:
        tables = nested_tables(policy)
        for number, spec in enumerate(policy.shape):
            where = ("shape", number, spec.step.kind)
            tables = spec.step.change_tables(tables, notation)
    except PolicyError as error:
        yield where, str(error)


def _check_lifts(policy: Policy, notation: ShapeNotation) -> Iterator[Problem]:
    """Yield lists with two parents, and rules on fields where they are no more."""
    moved: dict[Keys, str] = {}
    targets = set[Keys]()
    for number, spec in enumerate(policy.shape):
        step, where = spec.step, ("shape", number, spec.step.kind)
        if step.target is None:
            continue
        source, target = notation.read(step.source), notation.read(step.target)
        if source in moved:
            yield (*where, "from"), f"{step.source} is lifted twice: a list has one parent"
        if target in targets:
            yield (*where, "to"), f"two lists are lifted to {step.target}: a list has one parent"
        moved[source] = step.target
        targets.add(target)
    for path, text in zip(policy.paths, policy.fields, strict=True):
        for source, there in moved.items():
            if path.keys[: len(source)] == source and source not in targets:
                yield ("fields", text), f"`shape` lifts this list to {there}: name the field there"
