"""What a policy says of identifiers and maps as a whole, and what it does to the documents that come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.identifiers import Pseudonym, Shift
from hierdata.identifiers.key import Key, per_run
from hierdata.identifiers.treatment import Treated, Treatment
from hierdata.policy.problems import Problem
from hierdata.records.maps import KEY, in_maps
from hierdata.records.path import Path, parse
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.fields import FieldRule
    from hierdata.policy.model import Policy

NO_KEY = (
    "the policy has pseudonyms or moves dates, and there is no key: give one of at least 32 bytes, in "
    "hexadecimal digits, in HIERDATA_KEY or through --key-fd, or say `key: per-run` in the policy"
)


def maps_of(fields: Mapping[str, FieldRule], namespaces: Mapping[str, str]) -> dict[Keys, str]:
    """The maps that the rules name: their keys, and the path that names each. Raises PolicyError."""
    found: dict[Keys, str] = {}
    stated = [parse(text, namespaces) for text, rule in fields.items() if rule.map]
    for path in sorted(stated, key=lambda path: (len(path.steps), bool(path.steps and path.steps[-1].many))):
        if path.place or not path.steps:
            raise PolicyError(f"{path}: a map is an object of JSON below the record; XML has none")
        there = in_maps(path, found, whole=True)
        if path.steps[-1].many and there.keys[:-1] not in found:
            raise PolicyError(f"{path}: a map is named without [*]; its values are {path}")
        found[there.keys] = path.text
    return found


def problems(policy: Policy) -> Iterator[Problem]:
    """What rules on identifiers and maps say against each other, or against the rest of the policy."""
    for keys, text in policy.maps.items():
        if (*keys, KEY) not in policy.by_keys:
            yield ("fields", text), f"the keys of a map are values too: give them a rule, {text}[*]~"
    yield from _of_domains(policy)
    yield from _of_shifts(policy)
    if policy.key is not None and not is_keyed(policy):
        yield ("key",), "nothing is replaced by a key: no field has the action pseudonym or shift"
    if policy.recoding == "representatives" and policy.pseudonyms:
        yield ("recoding",), "representatives publishes classes, and a class has no pseudonym: drop it"


def _of_domains(policy: Policy) -> Iterator[Problem]:
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for text, rule in policy.fields.items():
        if isinstance(rule.acting, Pseudonym):
            lengths[rule.acting.domain_of(text)].add(rule.acting.length)
    for text, rule in policy.fields.items():
        if isinstance(rule.acting, Pseudonym) and len(lengths[rule.acting.domain_of(text)]) > 1:
            yield ("fields", text, "action"), "the pseudonyms of one domain have one length"


def _of_shifts(policy: Policy) -> Iterator[Problem]:
    shifts = {text: rule.acting for text, rule in policy.fields.items() if isinstance(rule.acting, Shift)}
    if len({(shift.days, shift.by) for shift in shifts.values()}) > 1:
        yield (
            ("fields", list(shifts)[-1], "action"),
            "all dates of a record are moved alike: days and by are the same wherever they stand",
        )
    for text, shift in shifts.items():
        where = ("fields", text, "action", "shift", "by")
        try:
            by = None if shift.by is None else policy.path(shift.by)
        except PolicyError as error:
            yield where, str(error)
            continue
        if by is not None and (
            by.place != policy.paths[0].place
            or any(by.keys[:end] in policy.vertices for end in range(1, len(by.keys) + 1))
        ):
            yield where, f"{shift.by} is no single value of the record"


def is_keyed(policy: Policy) -> bool:
    """Whether any field is replaced by a key."""
    return any(rule.acting is not None and rule.acting.keyed for rule in policy.fields.values())


def linked_domains(policy: Policy) -> dict[str, str]:
    """The domains whose pseudonyms may stand in several records, with the reason."""
    return {
        action.domain_of(str(policy.by_keys[keys][0])): action.links
        for keys, action in policy.pseudonyms.items()
        if action.links is not None
    }


def unlinked(policy: Policy) -> dict[Keys, str]:
    """The fields whose pseudonyms stand in one record alone, each with its domain."""
    linked = linked_domains(policy)
    domains = {
        keys: action.domain_of(str(policy.by_keys[keys][0])) for keys, action in policy.pseudonyms.items()
    }
    return {keys: domain for keys, domain in domains.items() if domain not in linked}


def path_in(policy: Policy, text: str, *, whole: bool = False) -> Path:
    """A path of the policy. Raises PolicyError."""
    return in_maps(parse(text, policy.namespaces, policy.depth), policy.maps, whole=whole)


def looked_at(policy: Policy) -> Treatment:
    """What is done to documents that nobody publishes: pseudonyms are counted, dates tried; values stay."""
    return Treatment(tuple(policy.maps.items()), _fields(policy), _by(policy), per_run(), kept=True)


def treatment(policy: Policy, key: Key | None, *, again: bool = False) -> Treatment:
    """What the policy does to documents.

    ``again``: what was published before is worked out once more. Then pseudonyms do not matter, but days do:
    raises PolicyError where dates were moved and the key is not given. So it does without a key.
    """
    if not is_keyed(policy):
        return Treatment(tuple(policy.maps.items()), _fields(policy))
    moved = any(isinstance(rule.acting, Shift) for rule in policy.fields.values())
    if policy.key == "per-run":
        if key is not None:
            raise PolicyError("the policy says `key: per-run`: no key is taken from anywhere else")
        if again and moved:
            raise PolicyError(
                "dates were moved by a key that ended with its run: what the original has cannot be compared"
            )
        key = per_run()
    elif key is None:
        if moved or not again:
            raise PolicyError(NO_KEY)
        key = per_run()
    return Treatment(tuple(policy.maps.items()), _fields(policy), _by(policy), key)


def _fields(policy: Policy) -> tuple[Treated, ...]:
    return tuple(
        Treated(keys, str(path), rule.acting, frozenset(rule.missing))
        for keys, (path, rule) in policy.by_keys.items()
        if rule.acting is not None and not rule.dropped
    )


def _by(policy: Policy) -> Keys | None:
    """The keys of the value that dates are moved by, None where all that a record holds decides."""
    stated = (rule.acting.by for rule in policy.fields.values() if isinstance(rule.acting, Shift))
    by = next(stated, None)
    return None if by is None else policy.path(by).keys
