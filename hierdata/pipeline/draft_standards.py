"""Draft a policy by a standard that a collection follows, or that its release must follow."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hierdata.domains.base import OLDEST
from hierdata.drafting.build import ruleless_policy
from hierdata.drafting.standard import StandardDraft
from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.foresee import foresee_promises
from hierdata.sources import collect

if TYPE_CHECKING:
    from hierdata.drafting.cda.draft import CdaDraft

SAFE_HARBOR = "hipaa-safe-harbor"
STANDARDS = ("fhir-r4", "c-cda", SAFE_HARBOR)
"""What ``hierdata init --as`` takes."""


def init_standard(
    source: object, standard: str | None, stated: dict[str, Any], progress: Progress
) -> StandardDraft | None:
    """Draft a policy by a standard; None where the records are to be drafted as any others are.

    Without a ``standard`` resources of FHIR are found by themselves. ``stated`` are keys of the policy on the
    format of files. Raises PolicyError for an unknown standard, InputError where the input is not of the
    standard.
    """
    if standard is not None and standard not in STANDARDS:
        raise PolicyError(f"--as must be one of {', '.join(STANDARDS)}")
    if standard == "c-cda":
        return init_cda(source, stated, progress)
    from hierdata.pipeline.draft_fhir import find_patients, init_fhir

    if standard == "fhir-r4":
        return init_fhir(source, {key: value for key, value in stated.items() if key != "records"}, progress)
    if "records" in stated:
        return None
    earliest = this_year() - OLDEST - 1 if standard == SAFE_HARBOR else None
    return find_patients(source, stated, progress, earliest)


def init_cda(
    source: object, stated: dict[str, Any] | None = None, progress: Progress | None = None
) -> CdaDraft:
    """Read documents of C-CDA once, and propose a policy by what HL7 says of their elements.

    ``source`` is a folder or a pattern of XML files, each a document of one patient; ``stated`` are keys of
    the policy on the format of files. Raises InputError where the files are no such documents.
    """
    from hierdata.drafting.cda.draft import STATED, draft_documents

    collection = collect(source, ruleless_policy({**STATED, **(stated or {})}))
    draft = draft_documents(count_items(collection.documents(), "reading", None, progress or silent))
    return draft.with_kept(foresee_promises(source, draft))


def this_year() -> int:
    """Return the year in which a draft is made."""
    return datetime.now(UTC).year
