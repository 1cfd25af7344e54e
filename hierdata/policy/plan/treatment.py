"""What a policy does to documents before anything looks at them: identifiers, dates and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.records.identifiers.key import Key, per_run
from hierdata.records.identifiers.treatment import Treated, Treatment
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


NO_KEY = (
    "the policy has pseudonyms or moves dates, and there is no key: give one of at least 32 bytes, in "
    "hexadecimal digits, in HIERDATA_KEY or through --key-fd, or say `key: per-run` in the policy"
)


def linked_domains(policy: Policy) -> dict[str, str]:
    """The domains whose pseudonyms may stand in several records, with the reason."""
    return {tokens.domain: tokens.links for tokens in policy.pseudonyms.values() if tokens.links is not None}


def unlinked(policy: Policy) -> dict[Keys, str]:
    """The fields whose pseudonyms stand in one record alone, each with its domain."""
    linked = linked_domains(policy)
    return {keys: tokens.domain for keys, tokens in policy.pseudonyms.items() if tokens.domain not in linked}


def looked_at(policy: Policy) -> Treatment:
    """What is done to documents that nobody publishes: pseudonyms are counted, dates tried; values stay."""
    return Treatment(tuple(policy.maps.items()), _fields(policy), _by(policy), per_run(), kept=True)


def treatment(policy: Policy, key: Key | None, *, again: bool = False) -> Treatment:
    """What the policy does to documents.

    ``again``: what was published before is worked out once more. Then pseudonyms do not matter, but days do:
    raises PolicyError where dates were moved and the key is not given. So it does without a key.
    """
    if not policy.keyed:
        return Treatment(tuple(policy.maps.items()), _fields(policy))
    moved = bool(policy.date_shifts)
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
    by = next((shift.by for shift in policy.date_shifts.values()), None)
    return None if by is None else policy.path(by).keys
