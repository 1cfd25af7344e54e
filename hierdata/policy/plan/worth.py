"""What the policy says its values and vertices are worth."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.forest.worth import Worth
from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.records.schema import Role, Schema
from hierdata.records.survey import Keys, Survey

_MOST = 20
"""The largest weight of a value that the policy gives none."""


def worth_of(policy: Policy, schema: Schema, survey: Survey) -> Worth:
    """Return the weights of a policy for the vertex types of a collection, in lowest terms.

    Under bounded knowledge the values of the root are few beside facts, and would be given up for these: one
    without a stated weight has the mean number of facts of a record, 1 to 20. Raises PolicyError if nothing
    has a weight.
    """
    kinds = range(len(schema.types))
    at_root = 100 if policy.knowledge is None else _weigh_root(schema, survey)
    worth = Worth(
        tuple(tuple(_weights(policy, schema, kind, Role.QUASI, 100 if kind else at_root)) for kind in kinds),
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


def _weights(policy: Policy, schema: Schema, kind: int, role: Role, unstated: int = 100) -> Iterator[int]:
    base = schema.keys(kind)
    for attribute in schema.types[kind].of_role(role):
        rule = policy.rules_by_keys[base + attribute.steps][1]
        yield unstated if rule.weight is None else rule.hundredths


def _weigh_root(schema: Schema, survey: Survey) -> int:
    """Return the mean number of facts of a record, 1 to 20, in hundredths."""
    facts = 0
    for kind in schema.types[1:]:
        found = survey.shape.find(schema.keys(kind.index))
        vertices = 0 if found is None else found.objects + found.scalars + found.texts + found.empties
        facts += vertices * max(1, len(kind.of_role(Role.QUASI)))
    return min(max(100 * facts // max(survey.records, 1), 100), 100 * _MOST)


def _weigh_presence(policy: Policy, schema: Schema, kind: int) -> int:
    found = policy.rules_by_keys.get(schema.keys(kind))
    return 0 if found is None or found[1].role is not None else found[1].hundredths
