"""How many records are clustered together: what the policy says, and what its promise allows."""

from __future__ import annotations

from hierdata.engines import Constraints
from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.records.schema import Schema

DEFAULT = 2000
"""Records per block where nothing is stated: what quality mode clusters together."""
ROOT_CLASSES = 10_000
"""The same under bounded knowledge, whose classes have hundreds of records."""
_FEWEST = 4
"""The number of smallest classes that a block must have room for."""


def block_size(policy: Policy, schema: Schema, constraints: Constraints) -> int | None:
    """Return about how many records a block should have; None if all records are clustered together.

    By default only trees are cut into blocks, and only if the policy names no engine. With ``blocks`` in the
    policy any engine works in blocks. Raises PolicyError if ``blocks`` is stated and cannot be followed.
    """
    stated = policy.blocks
    if stated == "whole":
        return None
    hindrance = _hindrance(policy, constraints)
    if stated is None:
        size = DEFAULT if constraints.knowledge is None else ROOT_CLASSES
        return None if hindrance or policy.steps or len(schema.types) == 1 else size
    if hindrance:
        raise PolicyError(f"blocks: {hindrance}: leave `blocks` out, or ask for `whole`")
    if stated < least(constraints):
        raise PolicyError(
            f"blocks: {stated} records are too few where a class has at least {constraints.min_class_size}: "
            f"use {least(constraints)} or more"
        )
    return stated


def may_be_cut(policy: Policy, flat: bool) -> bool:
    """Return whether the records may be cut into blocks, as far as is known before they are read.

    ``flat``: the records are rows without vertices below them.
    """
    if policy.blocks is None:
        return not (flat or policy.steps or not policy.recoding_traits.generalizes_each_value)
    return policy.blocks != "whole"


def least(constraints: Constraints) -> int:
    """Return the fewest records that a block may have."""
    return _FEWEST * constraints.min_class_size


def _hindrance(policy: Policy, constraints: Constraints) -> str:
    """Return why records must be clustered together; "" if they need not be."""
    if not policy.recoding_traits.generalizes_each_value:
        return f"recoding {policy.recoding} looks at all records at once"
    knowledge = constraints.knowledge
    if knowledge is not None:
        # Classes of two blocks differ in their root vectors, so no union is judged.
        return "counted roots: patterns are counted over all records" if knowledge.root == "counted" else ""
    if not all(constraint.closed_under_union for constraint in constraints.all()):
        return "a model that is not closed under unions must judge all records that look alike together"
    return ""
