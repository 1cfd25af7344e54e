"""What the policy says its values and vertices are worth."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.errors import PolicyError
from hierdata.forest.worth import Worth
from hierdata.policy.policy import Policy
from hierdata.records.schema import Role, Schema
from hierdata.records.survey import Keys


def worth_of(policy: Policy, schema: Schema) -> Worth:
    """Return the weights of a policy for the vertex types of a collection, in lowest terms.

    Raises PolicyError if nothing has a weight.
    """
    kinds = range(len(schema.types))
    worth = Worth(
        tuple(tuple(_weights(policy, schema, kind, Role.QUASI)) for kind in kinds),
        tuple(tuple(_weights(policy, schema, kind, Role.SENSITIVE)) for kind in kinds),
        tuple(_weigh_presence(policy, schema, kind) for kind in kinds),
    ).in_lowest_terms()
    stated = stated_weights(policy)
    if stated and not worth.by_type.any():
        first = next(iter(stated))
        raise PolicyError(
            "all weights are 0, so nothing is worth keeping: state a weight above 0 for at least one field",
            path=str(policy.rules_by_keys[first][0]),
        )
    return worth


def stated_weights(policy: Policy) -> dict[Keys, int]:
    """Return the weights that the policy states, in hundredths, in the order of its fields."""
    return {
        keys: rule.hundredths for keys, (_, rule) in policy.rules_by_keys.items() if rule.weight is not None
    }


def _weights(policy: Policy, schema: Schema, kind: int, role: Role) -> Iterator[int]:
    base = schema.keys(kind)
    for attribute in schema.types[kind].of_role(role):
        yield policy.rules_by_keys[base + attribute.steps][1].hundredths


def _weigh_presence(policy: Policy, schema: Schema, kind: int) -> int:
    found = policy.rules_by_keys.get(schema.keys(kind))
    return 0 if found is None or found[1].role is not None else found[1].hundredths
