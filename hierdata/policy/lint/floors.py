"""Floors of quasi-identifiers: the finest form that may be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from hierdata.domains.base import Observed, Uncovered
from hierdata.ground.errors import HierdataError
from hierdata.policy.policy import Policy
from hierdata.records.survey import Keys, Survey


def nothing_published(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each quasi-identifier whose floor is the root of its domain for every value observed."""
    for keys, domain in policy.quasi.items():
        observed: Observed = survey.values.get(keys, {})
        with suppress(HierdataError, Uncovered):
            hierarchy = domain.compile(observed, policy.folder)
            nodes = {hierarchy.node_of(value) for value in observed if value is not None}
            if nodes == {0}:
                yield (
                    keys,
                    "the finest form is the root of the domain, so that every value is published as `*`: "
                    "state a lower `finest`, or drop the field",
                )
