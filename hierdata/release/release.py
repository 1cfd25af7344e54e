"""A release before and after it is put into place."""

from __future__ import annotations

import html
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierdata.documents.document import Document
from hierdata.ground.errors import PolicyError, TargetError, file_error
from hierdata.ground.private_folder import PrivateFolder
from hierdata.release.report.models import StewardReport

if TYPE_CHECKING:
    from hierdata.documents.formats.arrow_tables import ArrowTable, DataFrame


class Staging:
    """A private folder in which a release is built; removed with the object unless it was put in place.

    ``path`` holds ``public/`` and ``steward/`` (closed to other users). Raises TargetError when it cannot be
    created.
    """

    def __init__(self, parent: Path | None) -> None:
        self._folder = PrivateFolder(parent, "the release")
        self.path, self.remove = self._folder.path, self._folder.remove
        try:
            (self.path / "public").mkdir()
            (self.path / "steward").mkdir(mode=0o700)
        except OSError as error:
            raise file_error(error, f"cannot create a folder for the release ({error.strerror})") from None


@dataclass(frozen=True, repr=False)
class Release:
    """A judged release: its folder, of which the public part will be given out, and its report.

    ``folder`` holds ``public/``, which is given out, and ``steward/``, which stays; until ``save`` it is a
    private temporary folder that is removed with the object. ``report`` is the steward's report as plain
    data, ``parts`` are the names of the published parts, ``records`` first; ``read`` reads the documents of
    a part of a folder.

    A release is a path, that of its folder, so that ``verify``, ``attack`` and ``measure_release`` take it.
    It also has the interface by which polars, DuckDB and others read Arrow tables (``to_arrow``).
    """

    folder: Path
    report: StewardReport
    parts: tuple[str, ...]
    read: Callable[[Path, str], Iterator[Document]]
    temporary: Any = None

    def records(self) -> Iterator[dict[str, Any]]:
        """Read the published records back from the file that was judged.

        Where the input was objects of Python, values that are published unchanged have the type that they
        had there (``date``, ``float``, ``UUID`` ...), if all values of their field had it.
        """
        return self.part(self.parts[0])

    def part(self, name: str) -> Iterator[dict[str, Any]]:
        """Read the documents of one of ``parts``; parts other than the records hold rows of sensitive values.

        Raises PolicyError for an unknown name.
        """
        if name not in self.parts:
            raise PolicyError(f"the release has no such part; it has {', '.join(self.parts)}")
        return self._read_kept(name)

    def _read_kept(self, name: str) -> Iterator[dict[str, Any]]:
        yield from self.read(self.folder, name)  # a generator keeps the release, and so the folder, alive

    def to_arrow(self, part: str | None = None) -> ArrowTable:
        """Return the published records, or another of ``parts``, as an Arrow table.

        A release that is Parquet is read as it is. In others a column has the type that all its values have,
        and is text where some are generalized; what is nested becomes lists and structs. Raises PolicyError
        for an unknown part, or if pyarrow is not installed.
        """
        from hierdata.documents.formats.arrow_tables import documents_table, read_table

        name = self.parts[0] if part is None else part
        documents = self.part(name)
        file = self.folder / "public" / f"{name}.parquet"
        return read_table(file) if file.is_file() else documents_table(documents)

    def to_pandas(self, part: str | None = None) -> DataFrame:
        """Return the published records, or another of ``parts``, as a DataFrame (see ``to_arrow``).

        Lists and objects are objects of Python. Raises PolicyError also if pandas is not installed.
        """
        from hierdata.documents.formats.arrow_tables import frame_of

        return frame_of(self.to_arrow(part))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def metrics(self) -> dict[str, float]:
        """All figures of the report by one flat name each, for tables and experiment trackers.

        The name is ``metric.figure``, where a figure may be the path of a sensitive attribute; the risk from
        an attacker of the policy is ``attackers.NAME.metric.figure``. Units, ranges and exact values are in
        ``report.metrics`` and ``report.attackers``.
        """
        attackers = self.report.attackers
        return {
            f"{prefix}{metric}.{figure}": value
            for prefix, measures in (
                ("", self.report.metrics),
                *((f"attackers.{name}.", risks) for name, risks in attackers.items()),
            )
            for metric, measure in measures.items()
            for figure, value in measure.figures.items()
        }

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Move the release to ``directory``, all or nothing. Raises TargetError if ``directory`` exists."""
        target = Path(directory)
        place(self.folder, target)
        object.__setattr__(self, "folder", target)
        object.__setattr__(self, "temporary", None)
        return target

    def __fspath__(self) -> str:
        return os.fspath(self.folder)

    def _repr_html_(self) -> str:
        """Return the summary for recipients (``public/summary.html``) in a frame, for notebooks."""
        from hierdata.release.layout import SUMMARY_FILE

        page = (self.folder / "public" / SUMMARY_FILE).read_text("utf-8")
        return (
            f'<iframe srcdoc="{html.escape(page)}" sandbox title="Summary of the release" '
            'style="width: 100%; height: 40em; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        counts = self.report.counts
        records, k = counts.records, counts.smallest_class
        where = "not saved" if self.temporary is not None else f"in {os.fspath(self.folder)!r}"
        return (
            f"<Release {self.report.dataset!r}: {records.published} of {records.input} records in "
            f"{counts.classes} classes of at least {k}, {where}>"
        )


def _set_times(public: Path) -> None:
    """Give all published files one time: differences would tell how long each step took."""
    now = int(time.time())
    for path in (*public.rglob("*"), public):
        os.utime(path, (now, now))


def place(staged: Path, target: Path) -> None:
    """Rename a finished folder to its name; from another file system, copy it next to the target first."""
    if target.exists() or target.is_symlink():
        raise TargetError("the output directory is already there; choose a new name", path=str(target))
    try:
        # As open as the user's new folders; steward/ stays closed.
        staged.chmod((staged / "public").stat().st_mode)
        for file in (staged / "steward").iterdir():
            file.chmod(0o600)
        _set_times(staged / "public")
        if staged.stat().st_dev == target.resolve().parent.stat().st_dev:
            staged.rename(target)
            return
        # Copy under a temporary private name: an existing target must not be overwritten or removed.
        with PrivateFolder(target.parent, "the release") as beside:
            shutil.copytree(staged, beside, dirs_exist_ok=True)
            beside.rename(target)
        shutil.rmtree(staged)
    except OSError as error:
        raise file_error(
            error, f"the release cannot be put in place ({error.strerror})", path=str(target)
        ) from None
