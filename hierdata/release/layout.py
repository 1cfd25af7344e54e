"""The files of a release, how they are read again, and whether they hold their documents and nothing else."""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from hierdata.documents.document import SENSITIVE_PART, Document
from hierdata.documents.formats import Format
from hierdata.documents.limits import regular_bytes
from hierdata.ground.errors import PolicyError, TargetError, VerificationError, file_error
from hierdata.ground.plugins import require
from hierdata.ground.private_folder import PrivateFolder
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import may_be_tables
from hierdata.release.report.models import PluginUse, PublishedFile
from hierdata.release.witness import WITNESS_FILE
from hierdata.sources import FileForm, FilesForm, InputSplit, collect, form_of

Counted: TypeAlias = Iterator[tuple[Document, int]]
"""Documents, each with the number of its equal copies."""

FACTS_FILE = Path("steward") / "verification.json"
RELEASE_FILE, CODEBOOK_FILE, SUMMARY_FILE = PUBLIC_FILES = ("release.json", "codebook.json", "summary.html")
"""The files in public/ other than published data and XSD."""
XSD_FILE = "records.xsd"
"""The schema of published XML."""
RECORDS = "records"
"""The part that holds the records."""


@dataclass(frozen=True)
class Released:
    """The files of a release: a file or folder of tables for each part, the records first.

    ``claims`` is the release.json (None for a folder that another program wrote), ``facts`` the file of
    frozen facts, ``xsd`` the schema of the parts and ``witness`` what links them to the original; each is
    None where it is missing.
    """

    parts: Mapping[str, Path]
    claims: Path | None = None
    facts: Path | None = None
    xsd: Path | None = None
    witness: Path | None = None

    @property
    def records(self) -> Path:
        """The file or folder of the records."""
        return self.parts[RECORDS]


def find_release_files(published: Path, policy: Policy) -> Released:
    """Find the files of a release folder; a single file, or a folder of tables, holds records alone.

    Raises TargetError where nothing exists at the path, PolicyError for a folder that is not a release and
    for records alone where the policy publishes sensitive values apart, VerificationError for unexpected
    files in public/.
    """
    if not published.exists():
        raise TargetError("there is no such file or folder", path=str(published))
    folder = published / "public" if (published / "public").is_dir() else published
    tables = (policy.depth == 1 or may_be_tables(policy)) and folder == published
    if not published.is_dir() or (tables and not (published / PUBLIC_FILES[0]).is_file()):
        if policy.recoding_traits.separates_values:
            raise PolicyError(
                "sensitive values are published apart from the records: give the folder of the release",
                path=str(published),
            )
        return Released({RECORDS: published})
    _refuse_special_files(folder)
    parts: dict[str, Path] = {}
    strangers = 0
    xsd: Path | None = None
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        beside = policy.recoding_traits.separates_values and name.partition("-")[0] == SENSITIVE_PART
        if path.name == XSD_FILE:
            xsd = path
        elif (name == RECORDS or beside) and name not in parts:
            parts[name] = path
        else:
            strangers += path.name not in PUBLIC_FILES or not path.is_file()
    if RECORDS not in parts:
        raise PolicyError("this folder is not a release: it has no public/records.*", path=str(published))
    if strangers:
        raise VerificationError(
            f"unexpected entries in the public folder ({strangers}): remove them, or name the policy that "
            "the release was made with",
            path=str(folder),
        )
    facts = folder.parent / FACTS_FILE
    witness = folder.parent / WITNESS_FILE
    return Released(
        parts,
        _find_claims(folder),
        facts if os.path.lexists(facts) else None,
        xsd,
        witness if os.path.lexists(witness) else None,
    )


def _find_claims(folder: Path) -> Path | None:
    """Return release.json, also where only that is missing; None for parts that another program wrote."""
    ours = (
        *(folder / name for name in PUBLIC_FILES),
        folder.parent / FACTS_FILE,
        folder.parent / WITNESS_FILE,
    )
    return ours[0] if any(map(os.path.lexists, ours)) else None


def _refuse_special_files(folder: Path) -> None:
    """Raise VerificationError for what is no file of the release.

    What a symbolic link leads to may change, or lie outside the folder. A pipe or a device may never end.
    """
    modes = [path.lstat().st_mode for path in (folder, *folder.rglob("*"))]
    links = sum(map(stat.S_ISLNK, modes))
    if links:
        raise VerificationError(
            f"symbolic links in the public folder ({links}): a release consists of its own files",
            path=str(folder),
        )
    special = sum(not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) for mode in modes)
    if special:
        raise VerificationError(
            f"pipes or devices in the public folder ({special}): a release consists of files",
            path=str(folder),
        )


def check_plugins(published: object) -> None:
    """Raise MissingPluginError where a release was made with plug-ins that are not installed here.

    A malformed ``release.json`` is accepted here; ``confirm`` refuses it later.
    """
    if not isinstance(published, str | os.PathLike) or not Path(published).is_dir():
        return
    folder = Path(published)
    claims = (folder / "public" if (folder / "public").is_dir() else folder) / PUBLIC_FILES[0]
    try:
        used = json.loads(regular_bytes(claims))["plugins"]
        stated = [PluginUse.model_validate(use) for use in used]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    for use in stated:
        require(use.family, use.name, use.distribution, use.version)


def published_files(folder: Path) -> tuple[PublishedFile, ...]:
    """List the files in public/ other than those that are written about them, each with its SHA-256."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).as_posix() not in PUBLIC_FILES:
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            found.append(PublishedFile(name=path.relative_to(folder).as_posix(), sha256=sha256))
    return tuple(found)


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
        names, others = (sorted(one.name for one in folder.iterdir()) for folder in (file, other))
        return names == others and all(
            filecmp.cmp(file / name, other / name, shallow=False) for name in names
        )
    except OSError as error:
        raise file_error(error, f"cannot be compared ({error.strerror})", path=str(file)) from None
