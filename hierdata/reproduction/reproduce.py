"""Measures the exhibits of papers and writes their pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from hierdata.executors import processors
from hierdata.ground.errors import TargetError
from hierdata.ground.progress import Progress, silent
from hierdata.ground.version import __version__
from hierdata.pipeline.resources import Resources
from hierdata.reproduction.adult import Adult
from hierdata.reproduction.exhibit import Paper
from hierdata.reproduction.page import Exhibits, RunFacts, write_html, write_index, write_json, write_markdown
from hierdata.reproduction.study import Effort, Study

UNFINISHED = ".unfinished.json"
"""Lies in the folder until all pages are there, and says whose the folder is."""
POINTS = "points"


def reproduce(
    papers: Sequence[Paper],
    effort: Effort,
    adult: Adult,
    out: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> dict[Paper, Exhibits]:
    """Measure every exhibit of the papers, write the pages to the folder ``out``, and return the exhibits.

    ``workers`` is the number of processes, by default one for each processor. A run that was interrupted goes
    on where it was: each point that was measured lies in ``out`` until the pages are there. Points of another
    build of the package are measured again (see ``Study``). Raises TargetError if ``out`` exists and is not
    what an unfinished run of the same version left.
    """
    _open_folder(out)
    points = out / POINTS
    points.mkdir(exist_ok=True)
    with Resources(workers=workers).open_context(2, out, progress) as context:
        study = Study(effort, adult, context.executor, points, progress)
        found: dict[Paper, Exhibits] = {paper: paper.exhibits(study) for paper in papers}
    facts = RunFacts(
        __version__,
        date.today().isoformat(),
        effort.name,
        effort.repeats,
        workers or processors(),
        adult.origin,
    )
    _write_pages(found, facts, out)
    return found


def _open_folder(out: Path) -> None:
    """Create the folder, or check that it is what an unfinished run left."""
    label = json.dumps({"unfinished": "hierdata reproduce", "version": __version__})
    mark = out / UNFINISHED
    if out.exists() or out.is_symlink():
        if not mark.is_file() or mark.read_bytes() != label.encode():
            raise TargetError(
                "exists, and is not what an unfinished run of this version left; name a new folder",
                path=str(out),
            )
        return
    try:
        out.mkdir()
        mark.write_text(label, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"cannot be created ({error.strerror})", path=str(out)) from None


def _write_pages(found: Mapping[Paper, Exhibits], facts: RunFacts, out: Path) -> None:
    """Write all pages, then move them to their places, ``index.html`` last; then remove the points."""
    texts = {"reproduction.md": write_markdown(found, facts)}
    for paper, exhibits in found.items():
        texts[f"{paper.code}.json"] = write_json(paper, exhibits, facts)
        texts[f"{paper.code}.html"] = write_html(paper, exhibits, facts)
    texts["index.html"] = write_index(found, facts)
    beside = out / ".pages"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    for name, text in texts.items():
        (beside / name).write_text(text, encoding="utf-8")
    for name in texts:
        (beside / name).replace(out / name)
    beside.rmdir()
    shutil.rmtree(out / POINTS)
    (out / UNFINISHED).unlink()
