"""The identifiers that the Safe Harbor of HIPAA removes: 45 CFR 164.514(b)(2)(i)(A) to (R)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from hierdata.domains.bounds import MOST_PARTS
from hierdata.policy.spec.values import PathText


class SafeHarborIdentifier(NamedTuple):
    """One of the identifiers: its letter in the regulation, and what it is."""

    letter: str
    meaning: str


IDENTIFIERS: dict[str, SafeHarborIdentifier] = {
    "names": SafeHarborIdentifier("A", "names"),
    "places": SafeHarborIdentifier(
        "B", "places smaller than a state, such as streets, cities, counties and ZIP codes"),
    "dates": SafeHarborIdentifier(
        "C", "dates of the person, such as of birth, admission, discharge and death, and ages"),
    "phones": SafeHarborIdentifier("D", "telephone numbers"),
    "faxes": SafeHarborIdentifier("E", "fax numbers"),
    "emails": SafeHarborIdentifier("F", "e-mail addresses"),
    "social_security": SafeHarborIdentifier("G", "social security numbers"),
    "medical_records": SafeHarborIdentifier("H", "medical record numbers"),
    "health_plans": SafeHarborIdentifier("I", "numbers of beneficiaries of health plans"),
    "accounts": SafeHarborIdentifier("J", "account numbers"),
    "licenses": SafeHarborIdentifier("K", "numbers of certificates and licenses"),
    "vehicles": SafeHarborIdentifier("L", "vehicle identifiers, serial numbers and license plates"),
    "devices": SafeHarborIdentifier("M", "device identifiers and serial numbers"),
    "urls": SafeHarborIdentifier("N", "web addresses (URLs)"),
    "ips": SafeHarborIdentifier("O", "IP addresses"),
    "biometrics": SafeHarborIdentifier("P", "biometric identifiers, such as finger and voice prints"),
    "photos": SafeHarborIdentifier("Q", "photographs of the face and comparable images"),
    "other": SafeHarborIdentifier("R", "any other unique identifying number, characteristic or code"),
}  # fmt: skip
"""By their names in a policy, in the order of the regulation."""

if TYPE_CHECKING:
    IdentifierName: TypeAlias = str
else:
    IdentifierName = Literal[tuple(IDENTIFIERS)]
SafeHarbor: TypeAlias = Annotated[
    dict[IdentifierName, Annotated[tuple[PathText, ...], Field(max_length=MOST_PARTS)]],
    Field(max_length=len(IDENTIFIERS)),
]
"""The paths of the fields and objects that hold each identifier."""
