"""``hierdata studio``: from a file to a signed release in the browser."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from hierdata.cli.arguments import Quiet
from hierdata.cli.session import Stopped, session
from hierdata.cli.terminal import say
from hierdata.ground.errors import missing_extra


def studio(
    source: Annotated[str | None, typer.Argument(metavar="[INPUT]", help="A file or a folder.")] = None,
    *,
    study: Annotated[
        Path | None, typer.Option(help="The folder of the study; by default INPUT's name and -study, here.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    quiet: Quiet = False,
) -> None:
    """Open a collection in the browser: roles, promise, preview, release, signature. Nothing leaves here."""
    with session(as_json=False):
        if any(find_spec(name) is None for name in ("starlette", "uvicorn", "python_multipart")):
            raise missing_extra("the studio needs starlette, uvicorn and python-multipart", "studio")
        from hierdata.studio.opening import continue_study, open_study
        from hierdata.studio.serve import serve

        opened = None if study is None or source is not None else continue_study(study)
        if source is not None:
            opened = open_study(source, study)
        if opened is None:
            where = "The first page asks for a collection"
        else:
            where = f"The study is in {opened.folder}"
        if not quiet:
            say(f"{where}. Ctrl-C ends the studio; nothing is lost.")
        try:
            serve(opened, port, browser=browser, tell=_tell)
        except Stopped as stop:
            begun = "what was begun is kept" if opened is None else f"the study is in {opened.folder}"
            stop.__notes__ = [f"{begun}: start the studio again to go on"]
            raise


def _tell(address: str) -> None:
    """Say where the studio is, also to a pipe that waits for it."""
    say(f"Open {address}")
    sys.stdout.flush()
