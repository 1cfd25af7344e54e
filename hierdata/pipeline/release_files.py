"""Read the files of a release again, and check that they hold their documents and nothing else."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from hierdata.documents.document import Document
from hierdata.documents.formats import Format
from hierdata.documents.limits import regular_bytes
from hierdata.ground.errors import PolicyError, VerificationError, file_error
from hierdata.ground.private_folder import PrivateFolder
from hierdata.policy.policy import Policy
from hierdata.release.layout import RECORDS, Released
from hierdata.sources import FileForm, FilesForm, InputSplit, collect, form_of

Counted: TypeAlias = Iterator[tuple[Document, int]]
"""Documents, each with the number of its equal copies."""


def read_published(
    published: object, files: Released | None, policy: Policy
) -> tuple[Counted, dict[str, Iterator[Document]]]:
    """Read the records, and the documents of each other part by its name, as any reader would."""
    records = record_splits(published, files, policy)
    return chain.from_iterable(split.count_documents() for split in records), read_parts(files, policy)


def record_splits(published: object, files: Released | None, policy: Policy) -> Sequence[InputSplit]:
    """Split the records into parts that can be read in parallel.

    Raises PolicyError where sensitive values are published apart and no folder is given, VerificationError
    for an XSD that does not belong to the files.
    """
    if files is None:
        if policy.recoding_traits.separates_values:
            raise PolicyError("sensitive values are published apart: give the folder of the release")
        return collect(published, policy).splits()
    if files.xsd is not None:
        _check_described(files.xsd, files.parts, policy)
    element = element_of(RECORDS, policy)
    return form_of(files.records, policy, element).splits(files.records, alone=True)


def records_format(files: Released, policy: Policy) -> Format:
    """Return the format of the published records."""
    return form_of(files.records, policy, element_of(RECORDS, policy)).format


def read_parts(files: Released | None, policy: Policy) -> dict[str, Iterator[Document]]:
    """Read the documents of all parts but the records, by the name of the part."""
    parts = {} if files is None else files.parts
    return {
        part: form_of(path, policy, "value").read(path, alone=True)
        for part, path in parts.items()
        if part != RECORDS
    }


def element_of(part: str, policy: Policy) -> str | None:
    """Return the name of a part's elements; None where they are records."""
    if part != RECORDS:
        return "value"
    return "class" if policy.recoding_traits.publishes_classes else None


def description(parts: Mapping[str, Path], policy: Policy) -> bytes | None:
    """Build the XSD of the parts of a release; None where they are not XML.

    It depends on these files, the policy and the XSD that the policy names.
    """
    from hierdata.records.published_xsd import Types, outline_records, release_xsd

    element = element_of(RECORDS, policy)
    form = form_of(parts[RECORDS], policy, element)
    if not form.format.has_elements or not isinstance(form, FileForm | FilesForm):
        return None
    place = form.layout.records if element is None else (form.layout.records[0], element)
    types = Types()
    fields = [keys for keys, (_, rule) in policy.rules_by_keys.items() if rule.role in ("quasi", "sensitive")]
    named = policy.record_schema
    if named is not None and element is None:
        from hierdata.records.xsd import types as types_of

        types = types_of(policy.folder / named, policy.place or place, fields)
    types.generalized = frozenset(policy.quasi)
    records = outline_records(form.read(parts[RECORDS], element), types.of)
    beside = {
        "value": outline_records(
            document
            for part, path in parts.items()
            if part != RECORDS
            for document in form_of(path, policy, "value").read(path, "value")
        )
    }
    if len(parts) == 1:
        beside = {}
    return release_xsd(place, {place[-1]: records}, beside, types)


def _check_described(xsd: Path, parts: Mapping[str, Path], policy: Policy) -> None:
    """Raise VerificationError unless the XSD is that of these parts: another one could reveal more."""
    try:
        stated = regular_bytes(xsd)
    except OSError as error:
        raise file_error(error, f"the XSD cannot be read ({error.strerror})", path=str(xsd)) from None
    if stated != description(parts, policy):
        raise VerificationError("the XSD does not belong to these files", path=str(xsd))


PURPOSE = "a copy of the published files"


def check_bytes(files: Released, policy: Policy, staging: Path, rewritten: bool | None) -> None:
    """Check that the parts of a release are, byte by byte, what is written for their documents.

    Spaces, quotes, blank lines and unused entries of dictionaries could carry information that no reader
    of the documents sees. ``rewritten`` says whether this holds for the records. If it is None, and for the
    other parts, files are written again in a private folder in ``staging``. Raises VerificationError for a
    file that differs, TargetError if one cannot be read.
    """
    for part, path in files.parts.items():
        equal = rewritten if part == RECORDS else None
        if equal is None:
            equal = _is_rewritten(path, policy, element_of(part, policy), staging)
        if not equal:
            raise VerificationError(
                "the file is not written as hierdata writes these documents: it could hold more than "
                "was judged (a Parquet file is compared by the version of pyarrow that wrote it)",
                path=str(path),
            )


def _is_rewritten(path: Path, policy: Policy, element: str | None, staging: Path) -> bool:
    form = form_of(path, policy, element)
    with PrivateFolder(staging, PURPOSE) as folder:
        again = folder / path.name
        form.write(form.read(path, element, alone=True), again, element)
        return _are_equal(path, again)


def _are_equal(file: Path, other: Path) -> bool:
    """Return whether two files, or two folders of files, have the same bytes."""
    try:
        if not file.is_dir():
            return filecmp.cmp(file, other, shallow=False)
        names, others = (sorted(path.name for path in folder.iterdir()) for folder in (file, other))
        return names == others and all(
            filecmp.cmp(file / name, other / name, shallow=False) for name in names
        )
    except OSError as error:
        raise file_error(error, f"cannot be compared ({error.strerror})", path=str(file)) from None
