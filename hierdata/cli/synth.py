"""``hierdata synth``: synthetic collections of any size, with a policy and taxonomies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hierdata.cli.arguments import AsJson, Quiet
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say
from hierdata.ground.errors import PolicyError

_EVERY = 256
"""Records between two calls of the progress callback."""


_OPTIONS: dict[str, dict[str, Any]] = {
    "students": {"depth": 2, "correlation": 0.8, "skew": 0.5, "levels": None},
    "patients": {"encounters": "1..160"},
    "fhir": {"as": "ndjson", "years": 10},
}
"""By kind, the options that only it has, with their defaults."""


Levels = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C,D,E",
        help="Students: frequencies of levels 1 to 5 instead of --skew, such as 50,35,15,0,0.",
    ),
]

Encounters = Annotated[
    str | None, typer.Option(metavar="FEWEST..MOST", help="Patients: encounters of a patient (1..160).")
]
ExportForm = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="FORM",
        help="fhir: ndjson, a file a resource type (default), or bundles, a file a patient.",
    ),
]
Years = Annotated[
    int | None, typer.Option(help="fhir: years of history up to the end of 2024 (10).", min=1, max=100)
]


def synth(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to make: students, patients or fhir.")],
    out: Annotated[
        Path, typer.Option(help="A new file: .json or .jsonl, also with .gz; for fhir a new folder.")
    ],
    records: Annotated[
        int, typer.Option("--records", "--patients", help="Number of records.", min=0, max=10**9)
    ] = 1000,
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
    encounters: Encounters = None,
    form: ExportForm = None,
    years: Years = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write synthetic records, with a policy and taxonomies. They contain no real people."""
    stated: dict[str, Any] = {"depth": depth, "correlation": correlation, "skew": skew, "levels": levels}
    with session(as_json, result=out):
        stated |= {"encounters": encounters, "as": form, "years": years}
        chosen = _choose_options(kind, stated)
        with Feedback(quiet) as feedback:
            if kind == "fhir":
                _write_fhir(records, out, seed, chosen["as"], chosen["years"], feedback.listener)
            else:
                _write(kind, records, out, {"seed": seed} | chosen, feedback.listener)
        if as_json:
            print_json({"file": str(out), "records": records})
        elif not quiet:
            beside = "" if kind == "fhir" else "; a policy and taxonomies are in the same folder"
            say(f"{records} {'patients' if kind == 'fhir' else kind} are in {out}{beside}.")


Listener = Callable[[str, int, int | None], None]


def _write(kind: str, records: int, out: Path, options: dict[str, Any], listener: Listener | None) -> None:
    from hierdata.synth import GENERATORS, beside_patients, beside_students, write

    made = GENERATORS[kind](records, **options)
    companions = beside_students(options["depth"]) if kind == "students" else beside_patients()
    write(made if listener is None else _count_records(made, records, listener), out, companions)


def _write_fhir(records: int, out: Path, seed: int, form: str, years: int, listener: Listener | None) -> None:
    from hierdata.synth.fhir import write_fhir

    written = 0

    def count() -> None:
        nonlocal written
        written += 1
        if listener is not None and written % _EVERY == 0:
            listener("writing", written, records)

    write_fhir(records, out, seed, form, years, count)


def _choose_options(kind: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a kind with their defaults; refuse those of another kind."""
    if kind not in _OPTIONS:
        raise PolicyError(f"there is no such collection; choose one of {', '.join(_OPTIONS)}")
    options = {**_OPTIONS[kind]}
    for name, value in stated.items():
        if value is not None and name not in options:
            raise PolicyError(
                f"--{name} is not for {kind}; {kind} have {', '.join(f'--{option}' for option in options)}"
            )
        if value is not None:
            options[name] = value
    if "encounters" in options:
        options["encounters"] = _bounds(options["encounters"])
    if options.get("levels") is not None:
        options["levels"] = _frequencies(options["levels"])
    return options


def _frequencies(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise PolicyError("--levels must be five numbers, such as 50,35,15,0,0") from None


def _bounds(text: str) -> tuple[int, int]:
    """Return two numbers written as 1..160."""
    fewest, dots, most = text.partition("..")
    if not (dots and all(re.fullmatch("[0-9]{1,9}", number) for number in (fewest, most))):
        raise PolicyError("--encounters must be two whole numbers, such as 1..160")
    return int(fewest), int(most)


def _count_records(
    made: Iterator[dict[str, Any]], records: int, listener: Listener
) -> Iterator[dict[str, Any]]:
    for done, record in enumerate(made):
        if done % _EVERY == 0:
            listener("writing", done, records)
        yield record
