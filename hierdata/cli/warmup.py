"""``hierdata warmup``: compile before the first run, for images of software."""

from __future__ import annotations

from typing import Annotated

import typer

from hierdata.cli.arguments import Quiet
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import say
from hierdata.ground.errors import TargetError
from hierdata.ground.progress import silent


def warmup(
    everything: Annotated[
        bool, typer.Option("--all", help="Every engine and attacks, not only searches without `engine`.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compile for this machine now, so that no later run waits for it."""
    with session(False):
        from hierdata.pipeline.warm_up import warm_up

        with Feedback(quiet) as feedback:
            folder = warm_up(everything=everything, progress=feedback.listener or silent)
        if folder is None:
            raise TargetError("no folder for compiled code can be written: set NUMBA_CACHE_DIR")
        if not quiet:
            say(f"Compiled code is in {folder}.")
