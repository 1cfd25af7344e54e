"""``hierdata verify``: check that published records keep the promise of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierdata.cli import arguments
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import explain, session
from hierdata.cli.terminal import print_json, say_folded


def verify(
    published: Annotated[
        str,
        typer.Argument(
            metavar="PUBLISHED",
            help="The folder of a release, a file of records, a folder of tables, or the address of a store.",
        ),
    ],
    policy: Annotated[Path, typer.Option(help="The policy whose models are judged.")],
    original: Annotated[
        str | None,
        typer.Option(help="The input: facts are computed again, and each record is compared with its own."),
    ] = None,
    facts: Annotated[
        Path | None, typer.Option(help="verification.json, if it is not in the folder of the release.")
    ] = None,
    witness: Annotated[
        Path | None, typer.Option(help="witness.bin, if it is not in the folder of the release.")
    ] = None,
    key_fd: arguments.KeyFd = None,
    executor: arguments.ExecutorName = None,
    workers: arguments.Workers = None,
    memory: arguments.Memory = None,
    master: arguments.Master = None,
    root: arguments.Root = None,
    as_format: arguments.FormatName = None,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
    reveal: arguments.Reveal = None,
) -> None:
    """Judge published records by a policy, from the file alone; exit code 4 if the promise fails."""
    with session(as_json, reveal):
        resources = arguments.resources_of(executor, workers, memory, master)
        from hierdata.pipeline.verify import plugins_needed, verify

        with plugins_needed(published):
            loaded = arguments.with_format(policy, as_format, root)
        key = None if original is None and key_fd is None else arguments.key_for(loaded, key_fd)
        with Feedback(quiet or as_json) as feedback:
            verdict = verify(
                published,
                loaded,
                original=original,
                key=key,
                facts=facts,
                witness=witness,
                resources=resources,
                progress=feedback.listener,
            )
        if as_json:
            print_json(verdict.as_dict())
        elif not quiet:
            from hierdata.release.report.text import describe_verdict

            exempt = [*map(loaded.spell_path, loaded.exempt)]
            say_folded(*describe_verdict(verdict, exempt, loaded.labels))
        if not verdict.passed:
            raise typer.Exit(explain("VerificationError", "the promise does not hold", 4, as_json=False))
