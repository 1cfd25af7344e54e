"""Sets of sensitive values of which a record may have several."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.policy.checks.readings import is_limited, resolve_readings
from hierdata.policy.policy import Policy
from hierdata.records.survey import Keys


def judged_apart(policy: Policy) -> Iterator[tuple[Keys, str]]:
    """Yield each attribute that is read by presence at places, of which a record may have several."""
    if policy.recoding_traits.separates_values:
        return
    for keys, reading in resolve_readings(policy).items():
        at_places = reading.asks == "presence" and policy.sensitive[keys].within is None
        several = [step.many for step in policy.rules_by_keys[keys][0].steps].count(True) > 1
        if at_places and several and is_limited(policy, keys):
            yield (
                keys,
                "a record may have several of these lists, and each is judged by itself: state "
                "`within: record` to limit what all of them show, or `within: place`",
            )
