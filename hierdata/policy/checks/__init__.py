"""Contradictions between parts of a policy. ``load`` looks for them; a Policy itself does not."""

from __future__ import annotations

from itertools import chain, islice

from hierdata.policy.checks import (
    consistency,
    gates,
    group_ids,
    identifiers,
    knowledge,
    population,
    readings,
    shape,
    tables,
)
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MOST_TOLD, Problem


def find_problems(policy: Policy) -> list[Problem]:
    """Return the contradictions between parts of a policy, at most ``MOST_TOLD``."""
    checks = (consistency, shape, group_ids, readings, identifiers, tables, population, knowledge, gates)
    # Each check may search for the nearest name, so stop at the number that is reported.
    return list(islice(chain.from_iterable(check.problems(policy) for check in checks), MOST_TOLD))
