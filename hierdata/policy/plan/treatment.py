"""What a policy does to documents before anything else reads them: identifiers, dates and maps.

Also: which of the fields that are left identify vertices, and which refer to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.forest.references import LinkField, LinkFields
from hierdata.ground.errors import PolicyError
from hierdata.ground.secrets import Key, random_key
from hierdata.policy.checks.records import needs_key
from hierdata.policy.checks.tables import closed_references
from hierdata.records.identifiers.treatment import Treated, Treatment
from hierdata.records.schema import Role, Schema
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.domains.sensitive_forms import SensitiveForm
    from hierdata.policy.policy import Policy


NO_KEY = (
    "the policy has pseudonyms or moves dates, and there is no key: give one of at least 32 bytes, in "
    "hexadecimal digits, in HIERDATA_KEY or through --key-fd, or say `key: per-run` in the policy"
)


def linked_domains(policy: Policy) -> dict[str, str]:
    """Return the domains whose pseudonyms may occur in several records, with the reason."""
    return {tokens.domain: tokens.links for tokens in policy.pseudonyms.values() if tokens.links is not None}


def unlinked_domains(policy: Policy) -> dict[Keys, str]:
    """Return the fields whose pseudonyms may occur in one record only, each with its domain."""
    linked = linked_domains(policy)
    return {keys: tokens.domain for keys, tokens in policy.pseudonyms.items() if tokens.domain not in linked}


def dry_treatment(policy: Policy) -> Treatment:
    """Build the treatment of documents that are not published: count pseudonyms, try dates, keep values."""
    return _treatment(policy, random_key(), kept=True)


def treatment(policy: Policy, key: Key | None, *, again: bool = False) -> Treatment:
    """Build the treatment that the policy asks for.

    ``again``: recompute what was published before. Then pseudonyms do not matter, but shifted dates and
    substitutes do. Raises PolicyError if the key is missing; with ``again`` only if there are any of these.
    """
    if not needs_key(policy):
        return _treatment(policy, None)
    moved = bool(policy.date_shifts) or any(spec.keeps_form for spec in policy.pseudonyms.values())
    if policy.key == "per-run":
        if key is not None:
            raise PolicyError("the policy says `key: per-run`: give no other key")
        if again and moved:
            raise PolicyError(
                "dates were moved, or substitutes made, by a key that ended with its run: the original "
                "cannot be compared"
            )
        key = random_key()
    elif key is None:
        if moved or not again:
            raise PolicyError(NO_KEY)
        key = random_key()
    return _treatment(policy, key)


def _treatment(policy: Policy, key: Key | None, *, kept: bool = False) -> Treatment:
    maps, links = tuple(policy.maps.items()), closed_references(policy)
    return Treatment(maps, _fields(policy), _by(policy), key, kept, policy.mixed_keys, links)


def _fields(policy: Policy) -> tuple[Treated, ...]:
    return tuple(
        Treated(
            keys,
            str(path),
            rule.stated_action,
            frozenset(rule.missing),
            same=rule.sameness,
            form=_form(policy, keys),
        )
        for keys, (path, rule) in policy.rules_by_keys.items()
        if (rule.stated_action is not None or rule.same or rule.publish) and not rule.is_dropped
    )


def _form(policy: Policy, keys: Keys) -> SensitiveForm | None:
    """Return the published form of a sensitive field. Raises PolicyError with its path."""
    path, rule = policy.rules_by_keys[keys]
    try:
        return rule.form(policy.folder)
    except PolicyError as error:
        raise PolicyError(str(error), path=str(path)) from None


def _by(policy: Policy) -> Keys | None:
    """Return the keys of the value that determines the date shift, None if the whole record does."""
    by = next((shift.by for shift in policy.date_shifts.values()), None)
    return None if by is None else policy.path(by).keys


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
