"""Measures the exhibits of papers and writes their pages: HTML for people, JSON for programs, Markdown."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import combinations
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from hierdata.ground.errors import TargetError, file_error
from hierdata.ground.escaping import escape
from hierdata.ground.progress import Progress, silent
from hierdata.ground.version import __version__
from hierdata.pipeline.points import Points
from hierdata.pipeline.resources import Resources
from hierdata.release.report.page import read_styled
from hierdata.release.report.wording import plural
from hierdata.reproduction.exhibit import Exhibit, Grid, Paper, read_printed, write_cell
from hierdata.reproduction.study import Adult, Effort, Study

Exhibits = Sequence[Exhibit]
_STYLE = """
header { border-left: .4rem solid var(--line); }
h1 { color: inherit; }
nav ul { columns: 18rem; column-gap: 2.4rem; padding-left: 1.2rem; }
nav li { break-inside: avoid; }
section { border-top: 1px solid var(--line); margin-top: 2.4rem; }
section h2 { margin-top: 1.2rem; }
section p { max-width: 46rem; }
table { width: auto; min-width: min(100%, 24rem); }
figcaption { color: var(--quiet); }
pre { overflow-x: auto; line-height: 1.35; }
.found { border-left: .25rem solid var(--line); padding-left: .8rem; }
:target { scroll-margin-top: 1rem; }
@media print {
  nav { break-after: page; }
  figure, h2, pre, section p, .wide { break-inside: avoid; }
  h2, h2 + p { break-after: avoid; }
  .found { break-before: avoid; }
}
"""


@dataclass(frozen=True)
class RunFacts:
    """What every page says of the run: version, day (ISO), effort with repeats, processors, and the data."""

    version: str
    day: str
    effort: str
    repeats: int
    processors: int
    adult: str


def write_html(paper: Paper, exhibits: Exhibits, facts: RunFacts) -> str:
    """Return the page of a paper. Raises KeyError for an erratum that is not known."""
    resolutions = read_printed("errata")  # what is wrong or open, and how we read it, by code ("ML-15")
    errata = {code: resolutions[code] for exhibit in exhibits for code in exhibit.errata}
    page = _environment().get_template("paper.html")
    return page.render(paper=paper, exhibits=exhibits, facts=facts, errata=errata)


def write_index(papers: Mapping[Paper, Exhibits], facts: RunFacts) -> str:
    """Return the page that leads to the papers."""
    return _environment().get_template("index.html").render(papers=papers, facts=facts)


def write_json(paper: Paper, exhibits: Exhibits, facts: RunFacts) -> str:
    """Return the numbers of a page as JSON; fractions are texts such as "1/3"."""
    return json.dumps(
        {
            "paper": {"code": paper.code, "title": paper.title, "authors": paper.authors},
            "run": vars(facts),
            "exhibits": [
                {name: part for name, part in vars(exhibit).items() if name != "charts"}
                for exhibit in exhibits
            ],
        },
        default=lambda part: vars(part) if isinstance(part, Grid) else str(part),
        indent=1,
        allow_nan=False,
    )


def write_markdown(papers: Mapping[Paper, Exhibits], facts: RunFacts) -> str:
    """Return all papers as one page of Markdown, without pictures."""
    lines = ["# The papers' tables and figures, and ours", "", *_intro(papers, facts)]
    for paper, exhibits in papers.items():
        lines += ["", f"## {paper.code}: {_plain(paper.title)}", "", f"{_plain(paper.authors)}."]
        for exhibit in exhibits:
            lines += ["", *_exhibit_lines(exhibit)]
    return "\n".join(lines) + "\n"


def _intro(papers: Mapping[Paper, Exhibits], facts: RunFacts) -> Iterator[str]:
    asked = "all" if len(papers) > 1 else next(iter(papers)).code
    adult = f" {_plain(facts.adult)}" if any(paper.uses_adult for paper in papers) else ""
    yield (
        f"Made on {facts.day} by `hierdata reproduce {asked} --{facts.effort}`, hierdata {facts.version},"
        f" {plural(facts.processors, 'processor')}, {plural(facts.repeats, 'repeat')}.{adult}"
    )


def _exhibit_lines(exhibit: Exhibit) -> Iterator[str]:
    yield from (f"### {_plain(exhibit.label)}: {_plain(exhibit.title)}", "", _plain(exhibit.says))
    for heading, grid in grids(exhibit):
        yield from ("", f"{heading}:", "", _row(grid.columns), "|" + " --- |" * len(grid.columns))
        yield from (_row([write_cell(cell) for cell in row]) for row in grid.rows)
    if exhibit.drawing:
        yield from ("", *("    " + escape(line) for line in exhibit.drawing.splitlines()))
    if verdict(exhibit):
        yield from ("", _plain(verdict(exhibit)))
    if exhibit.errata:
        yield f"Errata: {', '.join(exhibit.errata)}."


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text without markup of Markdown in it."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", escape(text))


def grids(exhibit: Exhibit) -> list[tuple[str, Grid]]:
    """Return the grids of an exhibit that exist, with their headings."""
    headed = (
        ("The paper prints", exhibit.printed),
        ("The paper's formulas give", exhibit.derived),
        ("We get", exhibit.ours),
    )
    return [(heading, grid) for heading, grid in headed if grid is not None]


def verdict(exhibit: Exhibit) -> str:
    """Return the sentence on what differs; that all agree is only said where something was compared.

    Grids are compared where they share a column behind the first, which names the rows.
    """
    columns = [set(grid.columns[1:]) for _, grid in grids(exhibit)]
    compared = any(first & other for first, other in combinations(columns, 2))
    return exhibit.differs or ("All agree." if compared else "")


def anchor(label: str) -> str:
    """Return the id of an exhibit in its page.

    >>> anchor("Figure 5 (a)")
    'figure-5-a'
    """
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


@cache
def _environment() -> Environment:
    return read_styled(
        "hierdata.reproduction",
        _STYLE,
        grids=grids,
        verdict=verdict,
        anchor=anchor,
        plural=plural,
        write_cell=write_cell,
        newline=Markup("\n"),
    )


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
    (out / POINTS).mkdir(exist_ok=True)
    with Resources(workers=workers).open_context(2, out, progress) as context:
        study = Study(effort, adult, Points(out / POINTS, context.executor, progress))
        measured: dict[Paper, Exhibits] = {paper: paper.exhibits(study) for paper in papers}
    facts = RunFacts(
        __version__,
        date.today().isoformat(),
        effort.name,
        effort.repeats,
        context.executor.workers,
        adult.origin,
    )
    _write_pages(measured, facts, out)
    return measured


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
        raise file_error(error, f"cannot be created ({error.strerror})", path=str(out)) from None


def _write_pages(papers: Mapping[Paper, Exhibits], facts: RunFacts, out: Path) -> None:
    """Write all pages, then move them to their places, ``index.html`` last; then remove the points."""
    texts = {"reproduction.md": write_markdown(papers, facts)}
    for paper, exhibits in papers.items():
        texts[f"{paper.code}.json"] = write_json(paper, exhibits, facts)
        texts[f"{paper.code}.html"] = write_html(paper, exhibits, facts)
    texts["index.html"] = write_index(papers, facts)
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
