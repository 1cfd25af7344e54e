"""Checks of the shape that a policy asks for, and of rules on fields that it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.policy.problems import Problem
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the shape, and what cannot be combined with it."""
    if policy.individual is not None:
        yield from _check_individual(policy)
    notation = ShapeNotation(policy.namespaces, policy.depth)
    usable = True
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
        yield from _check_lifts(policy, notation)
    if policy.tables is not None:
        yield from _check_tables(policy)


def _check_individual(policy: Policy) -> Iterator[Problem]:
    assert policy.individual is not None
    try:
        path = policy.path(policy.individual)
    except PolicyError as error:
        yield ("individual",), str(error)
        return
    if not path.steps or any(step.many for step in path.steps):
        yield ("individual",), f"{path} must be one value of the record, not the record itself or a list"


def _check_tables(policy: Policy) -> Iterator[Problem]:
    """Yield what would give a table other columns or another parent than it has."""
    if policy.individual is not None:
        yield ("individual",), "the key of the root table says already whose rows are whose: leave it out"
    for number, spec in enumerate(policy.shape):
        where = ("shape", number, spec.step.kind)
        if spec.step.table_problem is not None:
            key, reason = spec.step.table_problem
            yield (*where, key), reason


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
