"""Whether the files of a release hold their documents and nothing else."""

from __future__ import annotations

import filecmp
from pathlib import Path

from hierdata.documents.private_folder import PrivateFolder
from hierdata.ground.errors import TargetError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.release.layout import RECORDS, Released, element_of
from hierdata.sources import form_of

PURPOSE = "a copy of the published files"


def check_bytes(files: Released, policy: Policy, place: Path, rewritten: bool | None) -> None:
    """Check that the parts of a release are, byte by byte, what is written for their documents.

    Spaces, quotes, blank lines and unused entries of dictionaries could tell something that no reader of the
    documents sees. ``rewritten`` tells whether this holds for the records. Where it is None, and for the
    other parts, files are written again in a private folder in ``place``. Raises VerificationError for a file
    that differs, TargetError if one cannot be read.
    """
    for part, path in files.parts.items():
        equal = rewritten if part == RECORDS else None
        if equal is None:
            equal = _is_rewritten(path, policy, element_of(part, policy), place)
        if not equal:
            raise VerificationError(
                "the file is not written as hierdata writes these documents: it could hold more than "
                "was judged (a Parquet file is compared by the version of pyarrow that wrote it)",
                path=str(path),
            )


def _is_rewritten(path: Path, policy: Policy, element: str | None, place: Path) -> bool:
    form = form_of(path, policy, element)
    with PrivateFolder(place, PURPOSE) as folder:
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
        raise TargetError(f"cannot be compared ({error.strerror})", path=str(file)) from None
