"""Contradictions between parts of a policy. ``load`` looks for them; a Policy itself does not."""

from __future__ import annotations

from itertools import chain, islice

from hierdata.policy.checks.gates import check_gates
from hierdata.policy.checks.knowledge import check_knowledge
from hierdata.policy.checks.mixed import check_mixed
from hierdata.policy.checks.models import check_combinations, check_group_ids, check_population
from hierdata.policy.checks.persons import check_accepted
from hierdata.policy.checks.records import (
    check_derived,
    check_identifiers,
    check_shape,
)
from hierdata.policy.checks.safe_harbor import check_safe_harbor
from hierdata.policy.checks.sensitive import check_readings
from hierdata.policy.checks.tables import check_tables
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MOST_TOLD, Problem

_CHECKS = (
    check_combinations,
    check_shape,
    check_group_ids,
    check_accepted,
    check_readings,
    check_identifiers,
    check_tables,
    check_mixed,
    check_derived,
    check_population,
    check_knowledge,
    check_safe_harbor,
    check_gates,
)


def find_problems(policy: Policy) -> list[Problem]:
    """Return the contradictions between parts of a policy, at most ``MOST_TOLD``."""
    # Each check may search for the nearest name, so stop at the number that is reported.
    return list(islice(chain.from_iterable(check(policy) for check in _CHECKS), MOST_TOLD))
