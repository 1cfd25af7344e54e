"""The files of a release: their names and places, and what else must not lie there."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hierdata.documents.document import SENSITIVE_PART
from hierdata.documents.limits import regular_bytes
from hierdata.ground.errors import PolicyError, TargetError, VerificationError
from hierdata.ground.plugins import require
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import may_be_tables
from hierdata.release.report.models import PluginUse
from hierdata.release.report.parts import PublishedFile
from hierdata.release.witness import WITNESS_FILE

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
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).as_posix() not in PUBLIC_FILES:
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            files.append(PublishedFile(name=path.relative_to(folder).as_posix(), sha256=sha256))
    return tuple(files)
