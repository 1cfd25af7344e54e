"""Drafts by HIPAA's Safe Harbor: which fields hold the 18 identifiers, and what of them may remain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hierdata.domains.base import OLDEST
from hierdata.drafting.draft import Draft, Drafted
from hierdata.drafting.fields import Field
from hierdata.drafting.promises import ModelProposal
from hierdata.drafting.seen import Proposal
from hierdata.policy.spec.safe_harbor import IDENTIFIERS
from hierdata.records.recognition.field_names import BORN
from hierdata.records.recognition.words import word_set, words_of

_BY_WORDS: dict[str, frozenset[str]] = {
    "faxes": word_set("fax telefax"),
    "phones": word_set("phone telephone tel mobile cell cellphone telecom"),
    "emails": word_set("email mail"),
    "social_security": word_set("ssn socialsecurity socialsecuritynumber sin"),
    "medical_records": word_set("mrn medicalrecord medicalrecordnumber chartnumber"),
    "health_plans": word_set("beneficiary insurance insured healthplan memberid policynumber subscriber mbi"),
    "accounts": word_set("account accounts iban"),
    "licenses": word_set("license licence licenses passport npi dea"),
    "vehicles": word_set("vin vehicle vehicles licenseplate plate"),
    "devices": word_set("device devices udi serial serialnumber implant imei"),
    "urls": word_set("url website homepage web"),
    "ips": word_set("ip ipaddress"),
    "biometrics": word_set("fingerprint voiceprint retina iris biometric biometrics dna"),
    "photos": word_set("photo photos picture portrait image avatar"),
    "places": word_set(
        "address addr street city town village county district precinct municipality zip zipcode postal "
        "postalcode postcode latitude longitude lat lon lng birthplace neighborhood tract"
    ),
}
"""Words in names of fields that hold an identifier. One too many costs a field, one too few a person."""
_BY_LOOKS = {"email": "emails", "ip": "ips", "url": "urls", "phone": "phones", "binary": "photos"}
_BY_CONTENTS = {"national": "social_security", "account": "accounts"}
_BY_MEANING = {"name": "names", "part": "names", "person": "names", "number": "social_security"}
_AGES = word_set("age ages")
_DATES = ("date", "compact_date", "other_date")
_SURELY = 0.9


def to_safe_harbor(draft: Draft, year: int) -> Draft:
    """Return the draft with the key ``safe_harbor``, and rules that the regulation allows, for a ``year``."""
    named = {row.field.keys: name for row in draft.fields if (name := _identify(row)) is not None}
    rows = [_adapt(row, named.get(row.field.keys), year) for row in draft.fields]
    dropped = {
        row.path for row in rows if not row.proposal.is_published and "derived" not in row.proposal.rule
    }
    rows = [
        _drop(row, "it follows from a field that is left out")
        if row.proposal.rule.get("derived") in dropped
        else row
        for row in rows
    ]
    held = {name: [row.path for row in rows if named.get(row.field.keys) == name] for name in IDENTIFIERS}
    sensitive = {row.path for row in rows if row.proposal.role == "sensitive"}
    return replace(
        draft,
        fields=tuple(rows),
        promises=tuple(_limit(draft.promises, sensitive)),
        stated={**draft.stated, "safe_harbor": held},
    )


def _limit(promises: Iterable[ModelProposal], sensitive: set[str]) -> Iterable[ModelProposal]:
    """Yield the promises about fields that are still sensitive."""
    for promise in promises:
        if "on" not in promise.model:
            yield promise
        elif on := [path for path in promise.model["on"] if path in sensitive]:
            yield replace(promise, model={**promise.model, "on": on})


def _identify(drafted: Drafted) -> str | None:
    """Return the identifier that a field holds, by its values, name and role; None if it holds none."""
    field, role = drafted.field, drafted.proposal.role
    words = {word for name in field.names for word in (*words_of(name), "".join(words_of(name)))}
    if (shown := _look(field)) is not None and not (shown == "urls" and drafted.proposal.is_published):
        return "faxes" if shown == "phones" and words & _BY_WORDS["faxes"] else shown
    if _is_date(field, words) or "date" in drafted.proposal.rule:
        return "dates"
    for name, words_of_name in _BY_WORDS.items():
        if words & words_of_name and not (role == "sensitive" and name in ("devices", "vehicles", "photos")):
            return name
    meaning = field.meaning
    if role == "identifier" and meaning is not None and meaning.identifies:
        if meaning.kind == "key" and meaning.whose == "subject":
            return "medical_records"
        return _BY_MEANING.get(meaning.kind, "other")
    return "other" if role in ("identifier", "free_text") else None


def _look(field: Field) -> str | None:
    if field.attribute is None:
        return None
    looks = field.attribute.looks
    for format, name in _BY_LOOKS.items():
        if looks.mostly(format):
            return name
    return next((name for kind, name in _BY_CONTENTS.items() if looks.share_like(kind) >= _SURELY), None)


def _is_date(field: Field, words: set[str]) -> bool:
    looks = field.attribute.looks if field.attribute is not None else None
    return bool(words & (BORN | _AGES)) or (looks is not None and looks.mostly(*_DATES))


def _adapt(drafted: Drafted, name: str | None, year: int) -> Drafted:
    """Return a field with a rule that the regulation allows for the identifier that it holds."""
    if name is None or not drafted.proposal.is_published:
        return drafted
    identifier = IDENTIFIERS[name]
    about = f"safe harbor ({identifier.letter}), {identifier.meaning}"
    if name != "dates":
        return _drop(drafted, about)
    rule = _coarsen(drafted, year)
    if rule is None:
        return _drop(drafted, about)
    return replace(drafted, proposal=Proposal(rule, about, drafted.proposal.confirm))


def _coarsen(drafted: Drafted, year: int) -> dict[str, Any] | None:
    """Return the rule for a date by years, or for an age up to 89; None if there is none."""
    stated: Mapping[str, Any] = drafted.proposal.rule
    missing = {"missing": stated["missing"]} if "missing" in stated else {}
    if "date" in stated:
        domain = {
            **stated["date"], "steps": ["year", "decade"],
            "earliest": year - OLDEST - 1,
        }  # fmt: skip
        return {"role": "quasi", "date": domain, **missing}
    looks = drafted.field.attribute.looks if drafted.field.attribute is not None else None
    is_age = any(not _AGES.isdisjoint(words_of(name)) for name in drafted.field.names[:1])
    if looks is not None and looks.numeric and is_age and "interval" in stated:
        ages = {"steps": [5, 10, 30], "domain": [0, OLDEST + 1], "outside": "clamp"}
        return {"role": "quasi", "interval": ages, **missing}
    return None


def _drop(drafted: Drafted, reason: str) -> Drafted:
    return replace(drafted, proposal=Proposal({"role": "identifier"}, reason))
