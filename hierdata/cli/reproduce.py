"""``hierdata reproduce``: the tables and figures of the papers, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierdata.cli.arguments import AsJson, Quiet, Workers
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say
from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import silent


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="[PAPER]", help="ML, LE, DL, TC, DR, or all of them.", show_default=True)
    ] = "all",
    *,
    out: Annotated[Path, typer.Option(help="A new folder for the pages, or that of an interrupted run.")],
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick",
            help="Ten repeats in up to 3 hours, or two on fewer records in up to 250 CPU seconds.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder with adult.data or adult.csv; without it a synthetic table takes its place."
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure each table and figure of the papers again, and write pages that show both."""
    with session(as_json, result=out / "index.html"):
        from hierdata.reproduction import PAPERS
        from hierdata.reproduction.reproduce import reproduce
        from hierdata.reproduction.study import EFFORTS, read_adult, synthesize_adult

        if paper != "all" and paper not in PAPERS:
            raise PolicyError(f"there is no such paper here; choose one of {', '.join(PAPERS)}, or all")
        papers = [*PAPERS.values()] if paper == "all" else [PAPERS[paper]]
        adult = synthesize_adult() if data is None else read_adult(data)
        with Feedback(quiet) as feedback:
            effort, progress = EFFORTS["full" if full else "quick"], feedback.listener or silent
            exhibits = reproduce(papers, effort, adult, out, workers=workers, progress=progress)
        if as_json:
            print_json(
                {
                    "page": str(out / "index.html"),
                    "exhibits": {each.code: len(shown) for each, shown in exhibits.items()},
                }
            )
        elif not quiet:
            count = sum(map(len, exhibits.values()))
            say(f"{count} tables and figures are in {out / 'index.html'}.")
            if any(each.uses_adult for each in papers):
                say(adult.origin)
