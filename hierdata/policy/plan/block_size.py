"""How many records are clustered together: what the policy says, and what its promise allows."""

from __future__ import annotations

from hierdata.engines import Constraints
from hierdata.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.records.schema import Schema

DEFAULT = 2000
"""Records of a block where nothing is stated: what quality mode clusters together."""
_FEWEST = 4
"""Classes of the least size that a block has room for."""


def block_size(policy: Policy, schema: Schema, constraints: Constraints) -> int | None:
    """About how many records a block should have; None where all records are clustered together.

    Trees are cut into blocks where the policy names no engine, since then it leaves the search to us; any
    engine works in blocks where the policy asks for them with ``blocks``. Raises PolicyError where it does
    and they cannot be.
    """
    stated = policy.blocks
    if stated == "whole":
        return None
    hindrance = _hindrance(policy, constraints)
    if stated is None:
        return None if hindrance or policy.steps or len(schema.types) == 1 else DEFAULT
    if hindrance:
        raise PolicyError(f"blocks: {hindrance}: leave `blocks` out, or ask for `whole`")
    if stated < least(constraints):
        raise PolicyError(
            f"blocks: {stated} records are too few where a class has at least {constraints.min_class_size}: "
            f"take {least(constraints)} or more"
        )
    return stated


def may_be_cut(policy: Policy, flat: bool) -> bool:
    """Whether the records may come in blocks, as far as can be told before they are read.

    ``flat``: they are rows, which have nothing below them.
    """
    if policy.blocks is None:
        return not (flat or policy.steps or not policy.recoding_traits.works_in_blocks)
    return policy.blocks != "whole"


def least(constraints: Constraints) -> int:
    """The fewest records that a block should have."""
    return _FEWEST * constraints.min_class_size


def _hindrance(policy: Policy, constraints: Constraints) -> str:
    """Why records must be clustered together; "" if they need not."""
    if not policy.recoding_traits.works_in_blocks:
        return f"recoding {policy.recoding} looks at all records at once"
    if not all(constraint.monotone for constraint in constraints.all()):
        return "a model that is not monotone must be asked about classes of all records that look alike"
    return ""
