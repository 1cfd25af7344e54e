"""What values and classes are compared with: levels, taxonomies, counts of the original, a population."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.domains.levels import LevelScale
from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.privacy.population import Compared, Population, read_population
from hierdata.records.survey import Keys, Survey

Scales = Mapping[Keys, LevelScale | None]
References = Mapping[Keys, Mapping[Scalar, int]]
"""By sensitive attribute, how often each value occurs in the original collection."""
LabelsKnown = Mapping[Keys, tuple[tuple[Scalar, Scalar], ...]]
"""By derived field the values of its source, each with its label."""


def compile_scales(policy: Policy, survey: Survey) -> Scales:
    """Compile the level scale of each sensitive attribute from the policy and the surveyed values."""
    return {keys: rule.scale(survey.values[keys], policy.folder) for keys, rule in policy.sensitive.items()}


def semantics(policy: Policy) -> dict[Keys, Hierarchy | None]:
    """Return the taxonomy of each sensitive attribute's values, None where the policy gives none."""
    return {keys: rule.semantics(policy.folder) for keys, rule in policy.sensitive.items()}


def stated_scales(policy: Policy) -> Scales:
    """Return the scales that the policy alone determines.

    A scale that depends on the collection is None, and the judge then rejects a model that asks for it.
    """
    return {
        keys: None if rule.levels is None or rule.levels.by == "frequency" else rule.scale({}, policy.folder)
        for keys, rule in policy.sensitive.items()
    }


def population_of(policy: Policy, vertices: Collection[Keys]) -> Population | None:
    """Read the policy's population table over the quasi-identifiers of the root; None if there is none.

    ``vertices`` are the paths of the vertex types below the root. Raises PolicyError for a column that is
    missing or belongs to no such quasi-identifier.
    """
    table = policy.population
    if table is None:
        return None
    below = policy.vertices | frozenset(vertices)
    at_root = [
        keys for keys in policy.quasi if not any(keys[:end] in below for end in range(1, len(keys) + 1))
    ]
    named = {keys: ".".join(key.removeprefix("@") for key in keys) for keys in at_root}
    if table.columns is not None:
        named = {policy.path(text).keys: column for text, column in table.columns.items()}
    for keys in named.keys() - set(at_root):
        raise PolicyError(
            "a population table is compared with the record itself, not with vertices below it",
            path=policy.spell_path(keys),
        )
    compared = [
        Compared(
            keys,
            policy.spell_path(keys),
            column,
            policy.quasi[keys],
            frozenset(policy.rules_by_keys[keys][1].missing),
        )
        for keys, column in named.items()
    ]
    return read_population(policy.folder / table.file, table.delimiter, compared, policy.folder)
