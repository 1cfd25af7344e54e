"""What is wrong with filters of list items, and with rules for single values and objects at one path."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from hierdata.policy.problems import Problem

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.records.mixed import MixedKey
    from hierdata.records.path import Path


def check_mixed(policy: Policy) -> Iterator[Problem]:
    """Yield the contradictions between rules with filters, and what they cannot be combined with."""
    for mixed in policy.mixed_keys.keys:
        if mixed.is_filtered:
            yield from _check_siblings(policy, mixed)
            yield from _check_exclusive(policy, mixed)
        elif policy.recoding_traits.separates_values or policy.recoding_traits.publishes_classes:
            keys = (*mixed.holder, mixed.name)
            if keys in policy.sensitive:
                reason = (
                    f"with recoding {policy.recoding} sensitive single values become objects, like those "
                    "that the rules below this path are for: use generalization"
                )
                yield ("fields", policy.spell_path(keys)), reason
    yield from _check_compared(policy)


def _check_siblings(policy: Policy, mixed: MixedKey) -> Iterator[Problem]:
    """Yield the rules without a filter for a list that has filters."""
    filtered = {kind.key for kind in mixed.kinds}
    depth = len(mixed.holder)
    for text, path in zip(policy.fields, policy.paths, strict=True):
        if len(path.steps) > depth and path.keys[:depth] == mixed.holder:
            step = path.steps[depth]
            if step.document_key == mixed.name and step.key not in filtered:
                yield (
                    ("fields", text),
                    f"other rules have filters for {mixed.path}: give this one a filter too",
                )


def _check_exclusive(policy: Policy, mixed: MixedKey) -> Iterator[Problem]:
    """Yield the filters whose items another filter selects too."""
    for wider, narrower in permutations(mixed.kinds, 2):
        if set(wider.conditions) < set(narrower.conditions):
            reason = f"{wider.path} selects all items of this filter too: an item belongs to one filter"
            yield ("fields", _text_of(policy, (*mixed.holder, narrower.key))), reason


def _text_of(policy: Policy, keys: tuple[str, ...]) -> str:
    """Return the first rule at or below some keys."""
    return next(
        text for text, path in zip(policy.fields, policy.paths, strict=True) if path.keys[: len(keys)] == keys
    )


def _check_compared(policy: Policy) -> Iterator[Problem]:
    """Yield the rules that contradict what a filter compares, and fields of role kind without a filter."""
    compared = {path.keys: path for path in policy.compared_fields}
    for (text, rule), path in zip(policy.fields.items(), policy.paths, strict=True):
        if rule.role == "kind" and path.keys not in compared:
            yield ("fields", text), "role kind is for a field that a filter compares, and none does"
        for compared_path in compared.values():
            if reason := _contradict(path, compared_path, kind=rule.role == "kind", vertex=rule.vertex):
                yield ("fields", text), reason
                break


def _contradict(path: Path, compared: Path, *, kind: bool, vertex: bool) -> str | None:
    """Say why a rule at a path does not go with a field that a filter compares; None if it does."""
    depth = max(end for end, step in enumerate(compared.steps, 1) if step.conditions)
    if path.keys[:depth] != compared.keys[:depth] or len(path.steps) == depth:
        return None
    if path.keys == compared.keys:
        return (
            None if kind else "a filter compares this field, which is published as it is: leave the rule out"
        )
    pairs = zip(path.steps[depth:], compared.steps[depth:], strict=False)
    for end, (step, compared_step) in enumerate(pairs, depth + 1):
        if step.document_key != compared_step.document_key:
            return None
        if end == len(path.steps) and not vertex:
            return f"a filter compares {compared}, which is published: this rule cannot cover it"
        if step.many or step.apart or vertex:
            return f"a filter compares {compared}, which must be a value of the item itself"
        if end == len(compared.steps):
            return f"a filter compares {compared} with a text: it has no fields"
    return None
