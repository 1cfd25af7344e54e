"""``hierdata synth``: synthetic collections of any size, with a policy and taxonomies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from hierdata.cli.arguments import AsJson, Quiet
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say
from hierdata.errors import PolicyError

_EVERY = 256
"""Records between two calls of the progress callback."""


def synth(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to make: students.", show_default=False)],
    out: Annotated[
        Path, typer.Option(help="A new file: .json or .jsonl, also with .gz.", show_default=False)
    ],
    records: Annotated[int, typer.Option(help="Number of records.", min=0, max=10**9)] = 1000,
    depth: Annotated[
        int, typer.Option(help="2: students and courses; 3: instructors too.", min=2, max=3)
    ] = 2,
    seed: Annotated[
        int, typer.Option(help="The same seed makes the same records.", min=0, max=2**63 - 1)
    ] = 1,
    correlation: Annotated[
        float, typer.Option(help="0: courses are independent of majors; 1: all follow them.", min=0, max=1)
    ] = 0.8,
    skew: Annotated[
        float,
        typer.Option(
            help="0: the sensitivity levels are equally frequent; 1: most are at level 1.", min=0, max=1
        ),
    ] = 0.5,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write synthetic records, with a policy and taxonomies. They contain no real people."""
    with session(as_json):
        from hierdata.synth import GENERATORS, write

        if kind not in GENERATORS:
            raise PolicyError(f"there is no such collection; choose one of {', '.join(GENERATORS)}")
        made = GENERATORS[kind](records, depth=depth, seed=seed, correlation=correlation, skew=skew)
        with Feedback(quiet) as feedback:
            listener = feedback.listener
            write(made if listener is None else _count_records(made, records, listener), out, depth)
        if as_json:
            print_json({"file": str(out), "records": records})
        elif not quiet:
            say(f"{records} {kind} are in {out}; a policy and taxonomies are in the same folder.")


def _count_records(
    made: Iterator[dict[str, Any]], records: int, listener: Callable[[str, int, int | None], None]
) -> Iterator[dict[str, Any]]:
    """Yield the records and report their number."""
    for done, record in enumerate(made):
        if done % _EVERY == 0:
            listener("writing", done, records)
        yield record
