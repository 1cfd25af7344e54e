"""Other policies for the same collection that may lose less, each in words that a policy can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hierdata.ground.errors import HierdataError
from hierdata.ground.recodings import DEFAULT
from hierdata.policy.checks import find_problems
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.load import change_policy
from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule
from hierdata.records.shape import Lift

WEIGHT = Decimal(5)
"""The weight that is tried."""


@dataclass(frozen=True)
class LostPlace:
    """A vertex type, or a quasi-identifier, of which little is published.

    ``fields`` are the paths of what is published of it; ``nested`` says that it is a list in a list.
    """

    path: str
    fields: tuple[str, ...]
    nested: bool = False


@dataclass(frozen=True)
class Remedy:
    """A change of a policy in words, and the changed policy.

    ``lift`` is a step of the shape to do first: then what was at ``path`` is at ``moved``. A remedy without
    ``path`` concerns all of the release.
    """

    text: str
    policy: Policy
    path: str | None = None
    lift: Lift | None = None
    moved: str | None = None


def suggest_remedies(
    policy: Policy, lost: Sequence[LostPlace], *, may_show_sets: bool = True
) -> Iterator[Remedy]:
    """Yield what may help where little is published; only what the checks of a policy allow.

    ``may_show_sets``: no set of the values of a class would show what leads to one person.
    """
    for text, changes in _changes_of_all(policy, may_show_sets):
        changed = _try_change(policy, changes)
        if changed is not None:
            yield Remedy(text, changed)
    for lost_place in lost:
        weighed = {
            path: policy.fields[path].model_copy(update={"weight": WEIGHT}) for path in lost_place.fields
        }
        changed = _try_change(policy, {"fields": {**policy.fields, **weighed}}) if weighed else None
        if changed is not None:
            target = "it" if lost_place.fields == (lost_place.path,) else "its fields"
            yield Remedy(f"`weight: {WEIGHT}` on {target}", changed, lost_place.path)
        if lost_place.nested:
            yield from _lift_list(policy, lost_place)


def _changes_of_all(policy: Policy, may_show_sets: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield changes that concern all of a release."""
    if may_show_sets and policy.preset is None and policy.recoding == DEFAULT:
        yield "`recoding: sets_and_ranges`", {"recoding": "sets_and_ranges"}
    if policy.engine is not None:
        suppressed = "guarded" if policy.guards_suppressed else "as_published"
        dropped = "`engine`" if policy.preset is None else "`preset`, with its models"
        yield f"no {dropped}", {"engine": None, "suppressed": suppressed}
    roomy = largest_size(policy)
    if roomy is not None:
        models = [
            model.model_copy(update={"k": roomy}) if model.smallest_sizes() else model
            for model in policy.models
        ]
        yield f"`k: {roomy}`", {"models": models}
    read = {
        path: rule.model_copy(update={"asks": "value"})
        for path, rule in policy.fields.items()
        if rule.role == "sensitive" and rule.asks != "value"
    }
    if read:
        yield "`asks: value` (another promise)", {"fields": {**policy.fields, **read}}


def largest_size(policy: Policy) -> int | None:
    """Return the fewest records of a class that can hold every level, None if the smallest class can."""
    sizes = [size for model in policy.models for size in model.smallest_sizes() if size is not None]
    roomy = max(sizes, default=0)
    return roomy if roomy > class_size(policy) else None


def _lift_list(policy: Policy, lost: LostPlace) -> Iterator[Remedy]:
    """Yield the policy for records of which a nested list is their own."""
    if not lost.path.startswith("$."):
        return  # an element has a place in an order, and perhaps an XSD
    name = lost.path.removesuffix("[*]").rpartition(".")[2]
    moved = f"$.{name}[*]"
    if any(path.startswith(f"$.{name}") for path in policy.fields):
        return
    fields: dict[str, FieldRule] = {}
    for path, rule in policy.fields.items():
        inside = path.startswith(lost.path)
        fields[moved + path.removeprefix(lost.path) if inside else path] = rule
    changed = _try_change(policy, {"fields": fields})
    if changed is not None:
        lift = Lift.model_validate({"from": lost.path, "to": f"$.{name}"})
        yield Remedy(f"`shape`: lift it to $.{name}", changed, lost.path, lift, moved)


def _try_change(policy: Policy, changes: Mapping[str, Any]) -> Policy | None:
    """Return the changed policy, None if it contradicts itself."""
    try:
        changed = change_policy(policy, **changes)
        return None if find_problems(changed) else changed
    except (HierdataError, ValueError):
        return None
