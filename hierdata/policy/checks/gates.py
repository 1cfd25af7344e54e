"""Gates of a policy: limits on figures of the release, and the attackers whom they have in mind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.spec.gates import AttackerModel

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.records.survey import Keys


def problems(policy: Policy) -> Iterator[Problem]:
    """What is wrong with the policy's attackers and gates beside its fields."""
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
        elif gate.measured.gated or gate.attacker in mistaken:
            continue
        elif not policy.sensitive:
            yield where, f"{gate.metric} measures sensitive fields, and there are none"
        else:
            attacker = gate.attacker_in(policy.attackers)
            yield from _attacker_problems(policy, where, attacker, alone=gate.attacker is not None)


def _attacker_problems(
    policy: Policy, where: tuple[int | str, ...], attacker: AttackerModel, alone: bool
) -> Iterator[Problem]:
    """What is wrong with an attacker; ``alone`` they are after all attributes that their keys belong to."""
    if attacker.on is not None and (
        reason := _stranger(policy, attacker.on, policy.sensitive, "sensitive field")
    ):
        yield (*where, "on"), reason
        return
    strangers = [
        ((*where, "keys"), reason)
        for key in attacker.paths
        if (reason := _stranger(policy, key, policy.quasi, "published quasi-identifier"))
    ]
    yield from strangers
    if strangers:
        return
    measured = [*policy.sensitive] if attacker.on is None else [keys_of(policy, attacker.on)]
    seeing = [keys for keys in measured if all(_sees(policy, keys, key) for key in attacker.paths)]
    if not seeing or (not alone and len(seeing) < len(measured)):
        yield from _out_of_sight(policy, where, attacker, measured)
    elif attacker.partition is not None and len(seeing if alone else measured) > 1:
        yield where, "a partition is of one attribute's values: name the attribute under on"
    elif attacker.partition is not None:
        path, rule = policy.by_keys[seeing[0]]
        if attacker.partition.depth is not None and getattr(rule, "taxonomy", None) is None:
            yield where, f"a partition by depth needs a taxonomy on {path}"
        if attacker.partition.levels and getattr(rule, "levels", None) is None:
            yield where, f"a partition by levels needs levels on {path}"


def keys_of(policy: Policy, text: str) -> Keys:
    """The keys of a path that the policy names outside its fields."""
    return policy.path(text).keys


def after(policy: Policy, attacker: AttackerModel) -> tuple[Keys, ...]:
    """The sensitive fields that an attacker of a policy is after: those that see all their keys."""
    if attacker.on is not None:
        return (keys_of(policy, attacker.on),)
    return tuple(keys for keys in policy.sensitive if all(_sees(policy, keys, key) for key in attacker.paths))


def _sees(policy: Policy, attribute: Keys, key: str) -> bool:
    """Whether a quasi-identifier belongs to the vertex of an attribute, or to one above it."""
    keys = keys_of(policy, key)
    above = (keys[:depth] for depth in range(len(keys), 0, -1))
    home = next((vertex for vertex in above if vertex in policy.vertices), ())
    return attribute[: len(home)] == home


def _out_of_sight(
    policy: Policy, where: tuple[int | str, ...], attacker: AttackerModel, measured: Iterable[Keys]
) -> Iterator[Problem]:
    """The keys that stand where the attributes that are measured do not."""
    for attribute in measured:
        for text in attacker.paths:
            if not _sees(policy, attribute, text):
                path = policy.by_keys[attribute][0]
                yield (
                    (*where, "keys"),
                    f"{text} belongs neither to the vertex of {path} nor to one above it",
                )


def _stranger(policy: Policy, text: str, fields: Mapping[Keys, object], what: str) -> str | None:
    """Why a path is none of these fields; None where it is."""
    try:
        if keys_of(policy, text) in fields:
            return None
    except PolicyError as error:
        return str(error)
    return f"{text} is no {what}{nearest(text, [str(policy.by_keys[keys][0]) for keys in fields])}"
