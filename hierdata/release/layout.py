"""What lies in the public room of a release, and how it is read again (DECISIONS 1)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from hierdata.documents.document import SENSITIVE_PART, Document
from hierdata.errors import PolicyError, TargetError, VerificationError
from hierdata.plugins import require
from hierdata.policy.policy import Policy
from hierdata.release.report.models import PluginUse, PublishedFile
from hierdata.sources import FileForm, FilesForm, InputSplit, collect, form_of

Counted: TypeAlias = Iterator[tuple[Document, int]]
"""Documents, each with how many equal ones there are."""

FACTS_FILE = Path("steward") / "verification.json"
PUBLIC_FILES = ("release.json", "codebook.json")
"""What lies in public/ beside the records."""
XSD_FILE = "records.xsd"
"""What describes published XML."""
RECORDS = "records"
"""The part that holds the records."""


@dataclass(frozen=True)
class Released:
    """What was published: a file or folder of tables for each part, the records first.

    ``claims`` is the release.json beside them and ``facts`` the frozen facts, where there are any; ``xsd``
    describes them.
    """

    parts: Mapping[str, Path]
    claims: Path | None = None
    facts: Path | None = None
    xsd: Path | None = None

    @property
    def records(self) -> Path:
        """The records."""
        return self.parts[RECORDS]


def released(published: Path, policy: Policy) -> Released:
    """The files of a release folder; a file alone is one of records, and so is a folder of tables.

    Raises PolicyError for a folder that is no release, and for records alone where the policy publishes
    sensitive values apart; VerificationError where more lies in public/.
    """
    if not published.exists():
        raise TargetError("there is no such file or folder", path=str(published))
    folder = published / "public" if (published / "public").is_dir() else published
    tables = (policy.tables is not None or policy.depth == 1) and folder == published
    if not published.is_dir() or (tables and not (published / PUBLIC_FILES[0]).is_file()):
        if policy.recoding_traits.separates_values:
            raise PolicyError(
                "the records alone tell nothing of the sensitive values that are published apart: give the "
                "folder of the release",
                path=str(published),
            )
        return Released({RECORDS: published})
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
        raise PolicyError("this folder is no release: there is no file public/records.*", path=str(published))
    if strangers:
        raise VerificationError(
            f"the folder to be given out holds {strangers} more than a release under this policy, which "
            "nobody judges: take them away, or name the policy that it was made with",
            path=str(folder),
        )
    facts = folder.parent / FACTS_FILE
    return Released(parts, folder / PUBLIC_FILES[0], facts if facts.is_file() else None, xsd)


def check_plugins(published: object) -> None:
    """Raise MissingPluginError where a release was made with plug-ins that are not installed here.

    A ``release.json`` that is none is judged later, with all that it claims.
    """
    if not isinstance(published, str | os.PathLike) or not Path(published).is_dir():
        return
    folder = Path(published)
    claims = (folder / "public" if (folder / "public").is_dir() else folder) / PUBLIC_FILES[0]
    try:
        used = json.loads(claims.read_bytes())["plugins"]
        stated = [PluginUse.model_validate(use) for use in used]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    for use in stated:
        require(use.family, use.name, use.distribution, use.version)


def published_files(folder: Path) -> tuple[PublishedFile, ...]:
    """What lies in public/ beside release.json and codebook.json, each file by its SHA-256."""
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
    """The records and the documents of the parts beside them, as any reader would find them."""
    records = record_splits(published, files, policy)
    return chain.from_iterable(split.counted() for split in records), read_beside(files, policy)


def record_splits(published: object, files: Released | None, policy: Policy) -> Sequence[InputSplit]:
    """The records in parts that can be read side by side.

    Raises PolicyError where they tell nothing alone, VerificationError for an XSD that is not theirs.
    """
    if files is None:
        if policy.recoding_traits.separates_values:
            raise PolicyError("sensitive values are published apart: give the folder of the release")
        return collect(published, policy).splits()
    if files.xsd is not None:
        _check_described(files.xsd, files.parts, policy)
    element = _element(RECORDS, policy)
    return form_of(files.records, policy, element).splits(files.records, alone=True)


def read_beside(files: Released | None, policy: Policy) -> dict[str, Iterator[Document]]:
    """The documents of the parts beside the records, by their names."""
    parts = {} if files is None else files.parts
    return {
        part: form_of(path, policy, "value").read(path, alone=True)
        for part, path in parts.items()
        if part != RECORDS
    }


def _element(part: str, policy: Policy) -> str | None:
    """What an element of a part is called where it is no record."""
    if part != RECORDS:
        return "value"
    return "class" if policy.recoding_traits.publishes_classes else None


def description(parts: Mapping[str, Path], policy: Policy) -> bytes | None:
    """The XSD of the parts of a release; None where they are not XML.

    It is made of these files, the policy and the XSD that the policy names.
    """
    from hierdata.records.outline import outlined
    from hierdata.records.published_xsd import Types, release_xsd

    element = _element(RECORDS, policy)
    form = form_of(parts[RECORDS], policy, element)
    if not form.format.has_elements or not isinstance(form, FileForm | FilesForm):
        return None
    place = form.layout.records if element is None else (form.layout.records[0], element)
    types = Types()
    fields = [keys for keys, (_, rule) in policy.by_keys.items() if rule.role in ("quasi", "sensitive")]
    named = policy.record_schema
    if named is not None and element is None:
        from hierdata.records.xsd import types as types_of

        types = types_of(policy.folder / named, place, fields)
    types.generalized = frozenset(policy.quasi)
    records = outlined(form.read(parts[RECORDS], element), types.of)
    beside = {
        "value": outlined(
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
    """Raise VerificationError unless an XSD is that of these parts: it could say what they do not."""
    try:
        stated = xsd.read_bytes()
    except OSError as error:
        raise TargetError(f"the XSD cannot be read ({error.strerror})", path=str(xsd)) from None
    if stated != description(parts, policy):
        raise VerificationError("the XSD is not the one that these files have", path=str(xsd))
