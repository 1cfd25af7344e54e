"""``hierdata measure``: what a flat table reveals, without a policy; every metric of a release.

People get a few lines, and all tables if asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AllMetrics, AsJson, KeyFd, Root, key_for, with_format
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import reveal_values, session
from hierdata.cli.terminal import print_json, say, say_folded, show
from hierdata.ground.errors import PolicyError
from hierdata.ground.escaping import quote
from hierdata.ground.progress import silent

if TYPE_CHECKING:
    from hierdata.measurement.release.measuring import ClassDiversity, ReleaseMeasurement
    from hierdata.measurement.table import KeyRates, Measurement, ValueRate
    from hierdata.release.report.parts import Measure


Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE|RELEASE",
        help="A table (CSV, JSON, JSON Lines or Parquet), records that are trees or keyed tables, or the "
        "folder or records of a release.",
    ),
]
KeyNames = Annotated[
    list[str] | None, typer.Option(help="For a table: a column, or path, that an attacker knows; repeatable.")
]
SensitiveName = Annotated[str | None, typer.Option(help="For a table: the column, or path, to keep unknown.")]
PartitionFile = Annotated[
    Path | None,
    typer.Option(help="For a table: YAML or JSON, groups of values that an attacker treats as one."),
]
Generalized = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=COLUMN", help="For a table: the column that a key generalizes; repeatable."),
]
OriginalInput = Annotated[str | None, typer.Option(help="For a release: the input it was made from.")]
ReadingPolicy = Annotated[
    Path | None,
    typer.Option(
        help="For a release: its policy, with the attackers to measure. For a table: a policy that says "
        "how its records are read, such as keyed tables."
    ),
]
InputFormat = Annotated[
    str | None, typer.Option("--format", help="The format of the file or input; by default by its suffix.")
]
RevealNames = Annotated[
    Path | None,
    typer.Option(help="A new file for the values behind v1, v2 .. or an error, readable only by you."),
]


def measure(
    source: Source,
    key: KeyNames = None,
    sensitive: SensitiveName = None,
    partition: PartitionFile = None,
    generalizes: Generalized = None,
    original: OriginalInput = None,
    policy: ReadingPolicy = None,
    key_fd: KeyFd = None,
    root: Root = None,
    as_format: InputFormat = None,
    metrics: AllMetrics = False,
    as_json: AsJson = False,
    reveal: RevealNames = None,
) -> None:
    """Print what keys of a table or of trees reveal, or every metric of a release.

    For a table this is the discrimination rate (DR) of the keys for the sensitive column; with a partition
    the semantic one (SeDR). Keys and sensitive column of trees and keyed tables are paths, such as
    $.courses[*].grade; persons count, not the items of their lists. A release has DR for all that is
    published, for each attacker of its policy, and for single values.
    """
    with session(as_json, reveal):
        of_table = {"--key": key, "--sensitive": sensitive}
        only_of_table = {"--partition": partition, "--generalizes": generalizes}
        of_release = {"--original": original, "--policy": None if key or sensitive else policy}
        _one_form(of_table, only_of_table, of_release)
        from hierdata.pipeline import measure as measuring

        measured: Measurement | ReleaseMeasurement
        show_figures: Callable[[], None]
        with Feedback(as_json) as feedback:
            if original is not None and policy is not None:
                loaded = with_format(policy, as_format, root)
                secret = key_for(loaded, key_fd)
                measured = measuring.measure_release(
                    source, loaded, original=original, key=secret, progress=feedback.listener
                )
                show_figures = partial(show_release, measured, metrics)
            elif key_fd is not None:
                raise PolicyError("--key-fd is for a release, but --key and --sensitive are for a table")
            else:
                measured = measuring.measure(
                    source,
                    keys=key or (),
                    sensitive=sensitive or "",
                    partition=partition,
                    root=root,
                    originals=dict(map(_pair, generalizes or [])),
                    policy=None if policy is None else with_format(policy, as_format, root),
                    format=as_format,
                    progress=feedback.listener or silent,
                )
                show_figures = partial(show_measurement, measured, metrics)
        if as_json:
            print_json(measured.as_dict())
        else:
            show_figures()
        if reveal is not None:
            reveal_values(reveal, list(_list_raw_values(measured.names)))


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


def _pair(text: str) -> tuple[str, str]:
    key, equals, column = text.partition("=")
    if not equals:
        raise PolicyError("--generalizes takes KEY=COLUMN, such as --generalizes Decade=Age")
    return key, column


def _list_raw_values(names: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yield a line with column or path, label and value for each label."""
    for column, values in names.items():
        yield from (f"{column}\t{label}\t{value}" for label, value in values.items() if value is not None)


SHOWN = 20
"""Values of a key that are printed for a table; ``--json`` prints all."""
FEW = 5
"""Values and classes that are printed for a release, of each attacker and attribute."""
_MOST_METRICS = 9
"""Metrics with a line, unless all figures are asked for."""
_MOST_KEYS = 9
"""Keys with a row, unless all figures are asked for."""


def show_measurement(measurement: Measurement, metrics: bool) -> None:
    """Print the rates of a table or of trees; what single values reveal only with ``metrics``."""
    from hierdata.release.report.wording import plural

    # The last is all keys together.
    shown = (
        measurement.keys if metrics else [*measurement.keys[:-1][: _MOST_KEYS - 1], *measurement.keys[-1:]]
    )
    columns = ["keys", "values", "rate", "1 - rate", "H(X|Y)", "distance", "divergence"]
    asked = any(rates.identity is not None for rates in measurement.keys)
    show(
        f"What the keys reveal about {measurement.sensitive}: {plural(measurement.rows, measurement.unit)}, "
        f"{plural(measurement.categories, 'category', 'categories')}, "
        f"H(X) = {_number(measurement.entropy)} bits",
        [*columns, "identity", "skewness"] if asked else columns,
        [_row(rates)[: None if asked else len(columns)] for rates in shown],
    )
    _tell_rest(len(measurement.keys) - len(shown), "keys")
    for rates in shown if metrics else ():
        _show_values(f"Values of {', '.join(rates.keys)}", f"{measurement.unit}s", rates.values, SHOWN)
    if not metrics:
        say("What single values reveal: --metrics, or --json for all of them")
    for note in measurement.notes:
        say(f"Note: {note}.")


def show_release(measurement: ReleaseMeasurement, metrics: bool) -> None:
    """Print a line for each metric of a release; with ``metrics`` every figure, single values and classes."""
    if metrics:
        _show_every_figure(measurement)
    else:
        _show_ranges(measurement)
    left_out = [f"Left out: {name}, since {reason}." for name, reason in measurement.left_out.items()]
    if metrics or len(left_out) == 1:
        say_folded(*left_out)
    elif left_out:
        say(f"Left out: {len(left_out)} metrics. --metrics says which and why.")


def _show_ranges(measurement: ReleaseMeasurement) -> None:
    """Print for each metric its figure, or the least and the largest of several."""
    from hierdata.cli.terminal import draw_bar
    from hierdata.release.report.wording import share

    say(f"{measurement.published:,} of {measurement.records:,} records are published.")
    kept = measurement.metrics.get("kept")
    if kept is not None:
        total = next(iter(kept.figures.values()))
        say(f"Kept of the input: {draw_bar(total)}  {share(total)}")
    others = {name: measure for name, measure in measurement.metrics.items() if name != "kept"}
    shown = dict(islice(others.items(), _MOST_METRICS))
    width = max(map(len, shown), default=0)
    for name, measure in shown.items():
        say(f"  {name.ljust(width)}  {_range(measure)} ({measure.better} is better)")
    if more := len(others) - len(shown):
        say(f"  and {more} more metrics")
    if measurement.attackers:
        say(f"Attackers of the policy: {len(measurement.attackers)}")
    say("Every figure, single values and classes: --metrics, or --json")


def _range(measure: Measure) -> str:
    """Write the figures that are shares, or those in the unit of the first: the least and the largest."""
    shares = [name for name in measure.figures if measure.high[name] == 1]
    alike = shares or [
        name for name in measure.figures if measure.unit[name] == next(iter(measure.unit.values()))
    ]
    values = sorted(measure.figures[name] for name in alike)
    unit = "" if shares else f" {measure.unit[alike[0]]}"
    if values[0] == values[-1]:
        return f"{_number(values[0])}{unit}"
    return f"{_number(values[0])} to {_number(values[-1])}{unit} in {len(values)} figures"


def _show_every_figure(measurement: ReleaseMeasurement) -> None:
    from hierdata.release.report.wording import attacker_rows, risk_headings

    figures = [
        [name, figure, _number(value), measure.unit[figure], f"{measure.better} is better"]
        for name, measure in measurement.metrics.items()
        for figure, value in measure.figures.items()
    ]
    title = f"{measurement.published} of {measurement.records} records are published"
    show(title, ["metric", "figure", "value", "unit", ""], figures)
    if measurement.attackers:
        heads = ["attacker", "sensitive values", *risk_headings().values()]
        show("What attackers learn", heads, [[*row] for row in attacker_rows(measurement.attackers)])
    for rates in measurement.values:
        keys = ", ".join(rates.keys) or ("the whole record" if rates.attacker else "nothing")
        who = f" ({quote(rates.attacker)})" if rates.attacker else ""
        title = f"What values of {keys} reveal about {rates.path}{who}"
        _show_values(title, "vertices", rates.values, FEW)
    for path, classes in measurement.classes.items():
        _show_classes(path, classes)


def _show_values(title: str, counted: str, values: Mapping[str, ValueRate], most: int) -> None:
    cells = [_value_row(label, rate) for label, rate in islice(values.items(), most)]
    heads = ["value", counted, "p(y)", "H(X|y)", "rate", "1 - H(X|y)/H(X)", "distance", "divergence"]
    show(title, heads, cells)
    _tell_rest(len(values) - most, "values")


def _show_classes(path: str, classes: Sequence[ClassDiversity]) -> None:
    cells = [
        [*map(_number, (class_.number, class_.size, class_.diversity_degree, class_.mean_pair_distance))]
        for class_ in classes[:FEW]
    ]
    heads = ["class", "values", "diversity degree", "mean pair distance"]
    show(f"How far apart the values of {path} are in each class", heads, cells)
    _tell_rest(len(classes) - FEW, "classes")


def _tell_rest(number: int, noun: str) -> None:
    if number > 0:
        say(f"and {number} more {noun}: --json has them all", "")


def _row(rates: KeyRates) -> list[str]:
    figures = (rates.rate, rates.resistance, rates.entropy, rates.distance, rates.divergence)
    others = (rates.identity, rates.skewness)
    return [", ".join(rates.keys), *map(_number, (len(rates.values), *figures, *others))]


def _value_row(label: str, rate: ValueRate) -> list[str]:
    figures = (rate.share, rate.entropy, rate.rate, rate.refinement, rate.distance, rate.divergence)
    return [label, *map(_number, (rate.count, *figures))]


def _number(value: Fraction | float | None) -> str:
    if value is None or isinstance(value, int):
        return "" if value is None else str(value)
    return f"{float(value):.4g}"
