"""Checks of a policy's gates, which limit figures of the release, and of the attackers they refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.spec.gates import AttackerModel

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.records.survey import Keys


def check_gates(policy: Policy) -> Iterator[Problem]:
    """Yield where the policy's attackers and gates do not match its fields."""
    mistaken = set()
    for name, attacker in policy.attackers.items():
        for where, reason in _attacker_problems(policy, ("attackers", name), attacker, alone=True):
            mistaken.add(name)
            yield where, reason
    for index, gate in enumerate(policy.gates):
        where = ("gates", index)
        if gate.attacker is not None and gate.attacker not in policy.attackers:
            hint = nearest(gate.attacker, policy.attackers)
            yield (*where, "attacker"), f"there is no attacker {gate.attacker}{hint}"
        elif gate.metric_class.gated or gate.attacker in mistaken:
            continue
        elif not policy.sensitive:
            yield where, f"{gate.metric} measures sensitive fields, and there are none"
        else:
            attacker = gate.attacker_in(policy.attackers)
            yield from _attacker_problems(policy, where, attacker, alone=gate.attacker is not None)


def _attacker_problems(
    policy: Policy, where: tuple[int | str, ...], attacker: AttackerModel, alone: bool
) -> Iterator[Problem]:
    """Yield what is wrong with an attacker; ``alone`` skips the attributes that do not see all its keys."""
    if attacker.on is not None and (reason := explain_not_sensitive(policy, attacker.on)):
        yield (*where, "on"), reason
        return
    strangers = [
        ((*where, "keys"), reason)
        for key in attacker.paths
        if (reason := _explain_stranger(policy, key, policy.quasi, "published quasi-identifier"))
    ]
    yield from strangers
    if strangers:
        return
    measured = [*policy.sensitive] if attacker.on is None else [policy.path(attacker.on).keys]
    seeing = [keys for keys in measured if all(_sees(policy, keys, key) for key in attacker.paths)]
    if not seeing or (not alone and len(seeing) < len(measured)):
        yield from _check_visibility(policy, where, attacker, measured)
    elif attacker.partition is not None and len(seeing if alone else measured) > 1:
        yield where, "a partition covers the values of one attribute: name it under `on`"
    elif attacker.partition is not None:
        path, rule = policy.rules_by_keys[seeing[0]]
        if attacker.partition.depth is not None and getattr(rule, "taxonomy", None) is None:
            yield where, f"a partition by depth needs a taxonomy on {path}"
        if attacker.partition.levels and getattr(rule, "levels", None) is None:
            yield where, f"a partition by levels needs levels on {path}"


def after(policy: Policy, attacker: AttackerModel) -> tuple[Keys, ...]:
    """Return the sensitive fields that an attacker targets: ``on``, else those that see all its keys."""
    if attacker.on is not None:
        return (policy.path(attacker.on).keys,)
    return tuple(keys for keys in policy.sensitive if all(_sees(policy, keys, key) for key in attacker.paths))


def _sees(policy: Policy, attribute: Keys, key: str) -> bool:
    """Return whether a quasi-identifier belongs to the vertex of an attribute or to an ancestor."""
    keys = policy.path(key).keys
    above = (keys[:depth] for depth in range(len(keys), 0, -1))
    home = next((vertex for vertex in above if vertex in policy.vertices), ())
    return attribute[: len(home)] == home


def _check_visibility(
    policy: Policy, where: tuple[int | str, ...], attacker: AttackerModel, measured: Iterable[Keys]
) -> Iterator[Problem]:
    """Yield the keys that a measured attribute does not see."""
    for attribute in measured:
        for text in attacker.paths:
            if not _sees(policy, attribute, text):
                path = policy.rules_by_keys[attribute][0]
                yield (
                    (*where, "keys"),
                    f"{text} belongs neither to the vertex of {path} nor to one above it",
                )


def _explain_stranger(policy: Policy, text: str, fields: Mapping[Keys, object], kind: str) -> str | None:
    """Return why the path ``text`` is not one of ``fields``, which are of this kind; None if it is."""
    try:
        if policy.path(text).keys in fields:
            return None
    except PolicyError as error:
        return str(error)
    return f"{text} is not a {kind}{nearest(text, map(policy.spell_path, fields))}"


def explain_not_sensitive(policy: Policy, text: str) -> str | None:
    """Return why a path is not that of a sensitive field; None if it is."""
    return _explain_stranger(policy, text, policy.sensitive, "sensitive field")
