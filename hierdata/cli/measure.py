"""``hierdata measure``: what the columns of a flat table tell of a sensitive one, without a policy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AsJson
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import print_json, reveal_values, session
from hierdata.errors import PolicyError

if TYPE_CHECKING:
    from hierdata.measurement import KeyRates, Measurement
    from hierdata.metrics.rates import ValueRate

SHOWN = 20
"""Values of a key that are printed for people; ``--json`` has all."""


def measure(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV, JSON, JSON Lines or Parquet.", show_default=False)
    ],
    key: Annotated[
        list[str], typer.Option(help="A column that is known; may be repeated.", show_default=False)
    ],
    sensitive: Annotated[str, typer.Option(help="The column that is to stay unknown.", show_default=False)],
    partition: Annotated[
        Path | None, typer.Option(help="YAML or JSON: the values that are all one to an attacker.")
    ] = None,
    generalizes: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=COLUMN", help="The column that a key generalizes; may be repeated."),
    ] = None,
    as_format: Annotated[
        str | None,
        typer.Option("--format", help="csv, json, jsonl or parquet, where the name does not tell."),
    ] = None,
    as_json: AsJson = False,
    reveal: Annotated[
        Path | None, typer.Option(help="A new file for the values behind v1, v2 .., for your eyes only.")
    ] = None,
) -> None:
    """Print what keys tell of a sensitive attribute: discrimination rates, entropies, divergences."""
    with session(as_json, reveal):
        from hierdata import measurement
        from hierdata.progress import silent

        with Feedback(as_json) as feedback:
            found = measurement.measure(
                table,
                keys=key,
                sensitive=sensitive,
                partition=partition,
                originals=dict(map(_pair, generalizes or ())),
                format=as_format,
                progress=feedback.listener or silent,
            )
        if as_json:
            print_json(found.as_dict())
        else:
            _show(found)
        if reveal is not None:
            reveal_values(reveal, list(_revealed(found)))


def _pair(text: str) -> tuple[str, str]:
    key, equals, column = text.partition("=")
    if not equals:
        raise PolicyError("--generalizes takes KEY=COLUMN, such as --generalizes Decade=Age")
    return key, column


def _revealed(found: Measurement) -> Iterator[str]:
    """The value behind each label: one a line, after its column."""
    for column, names in found.names.items():
        yield from (f"{column}\t{label}\t{value}" for label, value in names.items() if value is not None)


def _show(found: Measurement) -> None:
    from hierdata.cli.tables import show

    columns = ["keys", "values", "rate", "1 - rate", "H(X|Y)", "distance", "divergence"]
    asked = any(own.identity is not None for own in found.keys)
    show(
        f"What is told of {found.sensitive}: {found.rows} rows, {found.categories} categories, "
        f"H(X) = {_number(found.entropy)} bits",
        [*columns, "identity", "skewness"] if asked else columns,
        [_row(own)[: None if asked else len(columns)] for own in found.keys],
    )
    for own in found.keys:
        cells = [_value_row(label, one) for label, one in islice(own.values.items(), SHOWN)]
        heads = ["value", "rows", "p(y)", "H(X|y)", "rate", "1 - H(X|y)/H(X)", "distance", "divergence"]
        show(f"Values of {', '.join(own.keys)}", heads, cells)
        if len(own.values) > SHOWN:
            typer.echo(f"and {len(own.values) - SHOWN} more values: --json has them all\n")
    for note in found.notes:
        typer.echo(f"Note: {note}.")


def _row(own: KeyRates) -> list[str]:
    figures = (len(own.values), own.rate, own.resistance, own.entropy, own.distance, own.divergence)
    return [", ".join(own.keys), *map(_number, (*figures, own.identity, own.skewness))]


def _value_row(label: str, own: ValueRate) -> list[str]:
    figures = (own.share, own.entropy, own.rate, own.refinement, own.distance, own.divergence)
    return [label, *map(_number, (own.count, *figures))]


def _number(value: Fraction | float | None) -> str:
    if value is None or isinstance(value, int):
        return "" if value is None else str(value)
    return f"{float(value):.4g}"
