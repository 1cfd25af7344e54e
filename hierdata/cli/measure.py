"""``hierdata measure``: what a flat table reveals, without a policy; every metric of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AsJson, KeyFd, Root, key_for, with_format
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import reveal_values, session
from hierdata.cli.terminal import print_json, say, show
from hierdata.errors import PolicyError

if TYPE_CHECKING:
    from hierdata.measurement.release.measuring import ReleaseMeasurement
    from hierdata.measurement.table import KeyRates, Measurement
    from hierdata.metrics.rates import ValueRate
    from hierdata.policy.policy import Policy

SHOWN = 20
"""Values of a key that are printed in tables; ``--json`` prints all."""


def measure(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|RELEASE",
            help="A table (CSV, JSON, JSON Lines or Parquet), or the folder or records of a release.",
            show_default=False,
        ),
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(help="For a table: a column that an attacker knows; repeatable.", show_default=False),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="For a table: the column to keep unknown.", show_default=False)
    ] = None,
    partition: Annotated[
        Path | None,
        typer.Option(help="For a table: YAML or JSON, groups of values that an attacker treats as one."),
    ] = None,
    generalizes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=COLUMN", help="For a table: the column that a key generalizes; repeatable."
        ),
    ] = None,
    original: Annotated[str | None, typer.Option(help="For a release: the input it was made from.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="For a release: its policy, with the attackers to measure.")
    ] = None,
    key_fd: KeyFd = None,
    root: Root = None,
    as_format: Annotated[
        str | None,
        typer.Option("--format", help="The format of the file or input; by default by its suffix."),
    ] = None,
    as_json: AsJson = False,
    reveal: Annotated[
        Path | None,
        typer.Option(help="A new file for the values behind v1, v2 .. or an error, readable only by you."),
    ] = None,
) -> None:
    """Print what keys of a table reveal about a sensitive column, or every metric of a release.

    For a table this is the discrimination rate (DR) of the keys; with a partition the semantic one (SeDR).
    """
    with session(as_json, reveal):
        of_table = {"--key": key, "--sensitive": sensitive}
        only_of_table = {"--partition": partition, "--generalizes": generalizes}
        of_release = {"--original": original, "--policy": policy}
        _one_form(of_table, only_of_table, of_release)
        if original is not None and policy is not None:
            loaded = with_format(policy, as_format, root)
            _measure_release(what, original, loaded, key_for(loaded, key_fd), as_json)
        elif key_fd is not None:
            raise PolicyError("--key-fd is for a release, but --key and --sensitive are for a table")
        elif key and sensitive is not None:
            known = _ColumnKnowledge(partition, root, dict(map(_pair, generalizes or [])))
            _measure_table(what, key, sensitive, known, as_format, as_json, reveal)


def _one_form(
    of_table: Mapping[str, object], only_of_table: Mapping[str, object], of_release: Mapping[str, object]
) -> None:
    """Raise PolicyError unless the options are all for a table, or all for a release."""
    table = [name for name, value in {**of_table, **only_of_table}.items() if value]
    release = [name for name, value in of_release.items() if value]
    if table and release:
        raise PolicyError(
            f"{release[0]} is for a release, {table[0]} is for a table: use --original and --policy, or "
            "--key and --sensitive"
        )
    missing = [name for name in (of_release if release else of_table) if name not in (*table, *release)]
    if missing:
        other = "" if table or release else "; a release needs --original and --policy"
        kind = "a release" if release else "a table"
        raise PolicyError(f"{' and '.join(missing)} must be given to measure {kind}{other}")


@dataclass(frozen=True)
class _ColumnKnowledge:
    """What the options state about the columns of a table."""

    partition: Path | None
    root: Path | None
    originals: dict[str, str]


def _measure_table(
    table: str,
    keys: list[str],
    sensitive: str,
    known: _ColumnKnowledge,
    as_format: str | None,
    as_json: bool,
    reveal: Path | None,
) -> None:
    from hierdata.measurement import table as measurement
    from hierdata.progress import silent

    with Feedback(as_json) as feedback:
        found = measurement.measure(
            table,
            keys=keys,
            sensitive=sensitive,
            partition=known.partition,
            root=known.root,
            originals=known.originals,
            format=as_format,
            progress=feedback.listener or silent,
        )
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)
    if reveal is not None:
        reveal_values(reveal, list(_list_raw_values(found)))


def _measure_release(release: str, original: str, policy: Policy, key: bytes | None, as_json: bool) -> None:
    from hierdata.pipeline.measure import measure_release

    with Feedback(as_json) as feedback:
        found = measure_release(release, policy, original=original, key=key, progress=feedback.listener)
    if as_json:
        print_json(found.as_dict())
    else:
        _show_release(found)


def _pair(text: str) -> tuple[str, str]:
    key, equals, column = text.partition("=")
    if not equals:
        raise PolicyError("--generalizes takes KEY=COLUMN, such as --generalizes Decade=Age")
    return key, column


def _list_raw_values(found: Measurement) -> Iterator[str]:
    """Yield a line with column, label and value for each label."""
    for column, names in found.names.items():
        yield from (f"{column}\t{label}\t{value}" for label, value in names.items() if value is not None)


def _show(found: Measurement) -> None:
    from hierdata.release.report.wording import plural

    columns = ["keys", "values", "rate", "1 - rate", "H(X|Y)", "distance", "divergence"]
    asked = any(own.identity is not None for own in found.keys)
    show(
        f"What the keys reveal about {found.sensitive}: {plural(found.rows, 'row')}, "
        f"{plural(found.categories, 'category', 'categories')}, H(X) = {_number(found.entropy)} bits",
        [*columns, "identity", "skewness"] if asked else columns,
        [_row(own)[: None if asked else len(columns)] for own in found.keys],
    )
    for own in found.keys:
        cells = [_value_row(label, one) for label, one in islice(own.values.items(), SHOWN)]
        heads = ["value", "rows", "p(y)", "H(X|y)", "rate", "1 - H(X|y)/H(X)", "distance", "divergence"]
        show(f"Values of {', '.join(own.keys)}", heads, cells)
        if len(own.values) > SHOWN:
            say(f"and {len(own.values) - SHOWN} more values: --json has them all", "")
    for note in found.notes:
        say(f"Note: {note}.")


def _show_release(found: ReleaseMeasurement) -> None:
    from hierdata.release.report.wording import attacker_rows, risk_headings

    figures = [
        [name, figure, _number(value), measure.unit[figure], f"{measure.better} is better"]
        for name, measure in found.metrics.items()
        for figure, value in measure.figures.items()
    ]
    title = f"{found.published} of {found.records} records are published"
    show(title, ["metric", "figure", "value", "unit", ""], figures)
    if found.attackers:
        heads = ["attacker", "sensitive values", *risk_headings().values()]
        show("What attackers learn", heads, [[*row] for row in attacker_rows(found.attackers)])
    for name, reason in found.left_out.items():
        say(f"Left out: {name}, since {reason}.")


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
