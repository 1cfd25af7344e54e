"""The command line. Each command is a file of its own and imports what it needs when it runs."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any

import typer

from hierdata.cli.anonymize import anonymize
from hierdata.cli.attack import attack
from hierdata.cli.compare import compare
from hierdata.cli.init import init
from hierdata.cli.lint import lint
from hierdata.cli.measure import measure
from hierdata.cli.plugins import plugins
from hierdata.cli.reproduce import reproduce
from hierdata.cli.schema import schema
from hierdata.cli.session import EXIT_CODES, explain, explain_lost, keep_signal_handlers
from hierdata.cli.studio import studio
from hierdata.cli.synth import synth
from hierdata.cli.terminal import LostOutputError, guard_streams, say
from hierdata.cli.verify import verify
from hierdata.cli.warmup import warmup

app = typer.Typer(
    name="hierdata",
    help="Publish collections of hierarchical records (JSON, XML) with a stated, verified privacy promise.",
    epilog="\n\n".join(["Exit codes:", *(f"{code}: {meaning}" for code, meaning in EXIT_CODES.items())]),
    add_completion=False,
    # A traceback would show the lines and values it passed through.
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from hierdata.ground.version import __version__

        say(f"hierdata {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Handle the options before the command."""


_COMMANDS = {
    command.__name__: command
    for command in (
        init,
        lint,
        anonymize,
        verify,
        measure,
        attack,
        compare,
        studio,
        reproduce,
        synth,
        schema,
        plugins,
        warmup,
    )
}

for command in _COMMANDS.values():
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    >>> main(["--version"]) # doctest: +ELLIPSIS
    hierdata ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with _own_process() if arguments is None else keep_signal_handlers():
        try:
            code = _parser()(words, prog_name="hierdata", standalone_mode=False)
            sys.stdout.flush()
        except LostOutputError as lost:  # by help and version; commands end their own session
            return explain_lost(lost)
        except Exception as error:  # noqa: BLE001  # what is no usage error is raised again
            return _explain_usage(error, words)
    return code or 0


@contextmanager
def _own_process() -> Iterator[None]:
    """Set up a process that ends with the command.

    Records are trees, so they have no cycles; the search for cycles takes 10 % of a run, and happens at its
    end too.
    """
    gc.disable()
    atexit.register(gc.freeze)
    guard_streams()
    yield


@cache
def _parser() -> Any:
    return typer.main.get_command(app)


def _explain_usage(error: Exception, words: Sequence[str]) -> int:
    """Print what is wrong with the arguments, and return the exit code; raise other errors again.

    Usage errors are click's; newer versions of typer contain a copy of click.
    """
    message = getattr(error, "format_message", None)
    if message is None:
        raise error
    helping = f"see 'hierdata {words[0]} --help'" if words[0] in _COMMANDS else "see 'hierdata --help'"
    said = " ".join(message().split())  # click lists choices below each other
    said = said.replace(": Value error, ", ": ", 1)  # pydantic's, which typer asks
    return explain("UsageError", f"{said} ({helping})", 2, "--json" in words)
