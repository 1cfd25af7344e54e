"""``hierdata synth``: synthetic collections of any size, with a policy and taxonomies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierdata.cli.arguments import AsJson, Quiet
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say
from hierdata.ground.errors import PolicyError

if TYPE_CHECKING:
    from hierdata.synth import Companions

_EVERY = 256
"""Records between two calls of the progress callback."""


_OPTIONS: dict[str, dict[str, Any]] = {
    "students": {"depth": 2, "correlation": 0.8, "skew": 0.5, "levels": None},
    "patients": {"encounters": "1..160"},
}
"""By kind, the options that only it has, with their defaults."""


Levels = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C,D,E",
        help="Students: frequencies of levels 1 to 5 instead of --skew, such as 50,35,15,0,0.",
        show_default=False,
    ),
]


def synth(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="What to make: students or patients.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="A new file: .json or .jsonl, also with .gz.", show_default=False)
    ],
    records: Annotated[int, typer.Option(help="Number of records.", min=0, max=10**9)] = 1000,
    seed: Annotated[
        int, typer.Option(help="The same seed makes the same records.", min=0, max=2**63 - 1)
    ] = 1,
    depth: Annotated[
        int | None,
        typer.Option(help="Students: 2: students and courses (default); 3: instructors too.", min=2, max=3),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            help="Students: from 0, courses are independent of majors, to 1, all follow them (0.8).",
            min=0,
            max=1,
        ),
    ] = None,
    skew: Annotated[
        float | None,
        typer.Option(
            help="Students: from 0, the sensitivity levels are equally frequent, to 1, most are at level 1"
            " (0.5).",
            min=0,
            max=1,
        ),
    ] = None,
    levels: Levels = None,
    encounters: Annotated[
        str | None,
        typer.Option(
            metavar="FEWEST..MOST", help="Patients: encounters of a patient (1..160).", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write synthetic records, with a policy and taxonomies. They contain no real people."""
    own = {"depth": depth, "correlation": correlation, "skew": skew, "levels": levels}
    with session(as_json):
        from hierdata.synth import write

        made, companions = _make(kind, records, seed, own | {"encounters": encounters})
        with Feedback(quiet) as feedback:
            listener = feedback.listener
            write(made if listener is None else _count_records(made, records, listener), out, companions)
        if as_json:
            print_json({"file": str(out), "records": records})
        elif not quiet:
            say(f"{records} {kind} are in {out}; a policy and taxonomies are in the same folder.")


def _make(
    kind: str, records: int, seed: int, stated: Mapping[str, Any]
) -> tuple[Iterator[dict[str, Any]], Companions]:
    """Return the records of a kind and what is written with them; refuse options of another kind."""
    from hierdata.synth import GENERATORS, beside_patients, beside_students

    if kind not in GENERATORS:
        raise PolicyError(f"there is no such collection; choose one of {', '.join(GENERATORS)}")
    own = {**_OPTIONS[kind]}
    for name, value in stated.items():
        if value is not None and name not in own:
            raise PolicyError(
                f"--{name} is not for {kind}; {kind} have {', '.join(f'--{one}' for one in own)}"
            )
        if value is not None:
            own[name] = value
    if "encounters" in own:
        own["encounters"] = _bounds(own["encounters"])
    if own.get("levels") is not None:
        own["levels"] = _frequencies(own["levels"])
    made = GENERATORS[kind](records, seed=seed, **own)
    return made, beside_students(own["depth"]) if kind == "students" else beside_patients()


def _frequencies(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise PolicyError("--levels must be five numbers, such as 50,35,15,0,0") from None


def _bounds(text: str) -> tuple[int, int]:
    """Return two numbers written as 1..160."""
    fewest, dots, most = text.partition("..")
    if not (dots and all(re.fullmatch("[0-9]{1,9}", one) for one in (fewest, most))):
        raise PolicyError("--encounters must be two whole numbers, such as 1..160")
    return int(fewest), int(most)


def _count_records(
    made: Iterator[dict[str, Any]], records: int, listener: Callable[[str, int, int | None], None]
) -> Iterator[dict[str, Any]]:
    """Yield the records and report their number."""
    for done, record in enumerate(made):
        if done % _EVERY == 0:
            listener("writing", done, records)
        yield record
