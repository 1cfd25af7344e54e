"""Draft a policy for FHIR resources: in files of a bulk export, in Bundles, or in a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.fhir.elements import is_resource
from hierdata.drafting.build import ruleless_policy
from hierdata.drafting.fhir.draft import FhirDraft, NoPatientError, draft_resources
from hierdata.drafting.fhir.seen import read_resources
from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.foresee import foresee_promises
from hierdata.sources.bundles import holds_resources, read_documents
from hierdata.sources.stores import open_store


def is_fhir(source: object) -> bool:
    """Return whether each file of a source begins with a resource of FHIR R4."""
    # The address of a store is no path that exists; nothing is connected to find out.
    if not isinstance(source, str | os.PathLike):
        return False
    if not os.path.exists(source):  # noqa: PTH110 - Path.exists raises where an address is too long for a path
        return False
    path = Path(source)
    if path.is_fifo() or path.is_char_device():
        return False
    return holds_resources(path, ruleless_policy({}))


def init_fhir(
    source: object,
    stated: dict[str, Any] | None = None,
    progress: Progress | None = None,
    earliest: int | None = None,
    *,
    weighed: bool = True,
) -> FhirDraft:
    """Read resources once, and propose a policy by what FHIR R4 says of their elements.

    ``source`` is a file or a folder of NDJSON or of Bundles, or a store of Bundles or of resources in tables
    by type; ``stated`` are keys of the policy on the format of files, ``earliest`` is as of FhirDraft.
    ``weighed`` says what each promise keeps, by searches of a sample. Raises InputError for what is no
    resource, and NoPatientError where no patient is.
    """
    documents = count_items(_documents(source, stated or {}), "reading", None, progress or silent)
    draft = draft_resources(read_resources(documents), earliest)
    return draft.with_kept(foresee_promises(source, draft)) if weighed else draft


def find_patients(
    source: object,
    stated: dict[str, Any] | None = None,
    progress: Progress | None = None,
    earliest: int | None = None,
    *,
    weighed: bool = True,
) -> FhirDraft | None:
    """Do as ``init_fhir`` does where a source holds resources of patients; return None for other records.

    Resources without a patient, such as a file of conditions alone, are drafted as any records are.
    """
    if not is_fhir(source):
        return None
    try:
        return init_fhir(source, stated, progress, earliest, weighed=weighed)
    except NoPatientError:
        return None


def _documents(source: object, stated: dict[str, Any]) -> Iterator[Document]:
    with open_store(source) as store:
        if store is not None:
            yield from store.rows(is_resource)
        elif isinstance(source, str | os.PathLike):
            yield from read_documents(Path(source), ruleless_policy(stated))
        else:
            raise PolicyError("FHIR resources are drafted from a file, a folder or a store")
