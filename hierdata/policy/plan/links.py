"""Which fields of a policy identify vertices, and which refer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.forest.references import LinkField, LinkFields
from hierdata.records.schema import Role, Schema
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def identities(policy: Policy) -> dict[Keys, str]:
    """Return the fields that identify their vertices, each with its domain of pseudonyms."""
    return {keys: spec.domain for keys, spec in policy.pseudonyms.items() if spec.is_identity}


def dropped_references(policy: Policy) -> dict[Keys, str]:
    """Return the fields in which no published reference leads to nothing, each with its domain."""
    identified = set(identities(policy).values())
    return {
        keys: spec.domain
        for keys, spec in policy.pseudonyms.items()
        if spec.domain in identified and not spec.is_identity and not spec.keeps_references
    }


def kept_references(policy: Policy) -> list[Keys]:
    """Return the fields whose references may lead to nothing published, by the choice of the policy."""
    return [keys for keys, spec in policy.pseudonyms.items() if spec.keeps_references]


def steady_references(policy: Policy) -> frozenset[Keys]:
    """Return the references that all records of a class have or lack: all but those that may be absent."""
    return frozenset(
        keys for keys in dropped_references(policy) if policy.rules_by_keys[keys][1].exempt is None
    )


def link_fields(policy: Policy, schema: Schema) -> LinkFields:
    """Return where the schema of a collection has the fields."""

    def fields(wanted: dict[Keys, str]) -> tuple[LinkField, ...]:
        return tuple(
            LinkField(kind.index, index, wanted[keys], not attribute.steps)
            for kind in schema.types
            for index, attribute in enumerate(kind.of_role(Role.CARRIED))
            if (keys := schema.keys(kind.index) + attribute.steps) in wanted
        )

    return LinkFields(fields(identities(policy)), fields(dropped_references(policy)))
