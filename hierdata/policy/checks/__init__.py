"""What parts of a policy say against each other. ``load`` asks; a Policy itself knows nothing of it."""

from __future__ import annotations

from itertools import chain, islice

from hierdata.policy.checks import consistency, gates, identifiers, population, tables
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MOST_TOLD, Problem


def find_problems(policy: Policy) -> list[Problem]:
    """Every contradiction between parts of a policy, at most ``MOST_TOLD`` of them."""
    checks = (consistency, identifiers, tables, population, gates)
    # Each may look for the nearest name, so not more problems are found than are told.
    return list(islice(chain.from_iterable(check.problems(policy) for check in checks), MOST_TOLD))
