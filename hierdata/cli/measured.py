"""What ``hierdata measure`` found, for people: a few lines, and all tables if asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from hierdata.cli.terminal import say, say_folded, show
from hierdata.ground.escaping import quote

if TYPE_CHECKING:
    from hierdata.measurement.release.class_diversity import ClassDiversity
    from hierdata.measurement.release.measuring import ReleaseMeasurement
    from hierdata.measurement.table import KeyRates, Measurement
    from hierdata.metrics.rates import ValueRate
    from hierdata.release.report.parts import Measure

SHOWN = 20
"""Values of a key that are printed for a table; ``--json`` prints all."""
FEW = 5
"""Values and classes that are printed for a release, of each attacker and attribute."""
_MOST_METRICS = 9
"""Metrics with a line, unless all figures are asked for."""
_MOST_KEYS = 9
"""Keys with a row, unless all figures are asked for."""


def show_measurement(found: Measurement, metrics: bool) -> None:
    """Print the rates of a table or of trees; what single values reveal only with ``metrics``."""
    from hierdata.release.report.wording import plural

    # The last is all keys together.
    shown = found.keys if metrics else [*found.keys[:-1][: _MOST_KEYS - 1], *found.keys[-1:]]
    columns = ["keys", "values", "rate", "1 - rate", "H(X|Y)", "distance", "divergence"]
    asked = any(own.identity is not None for own in found.keys)
    show(
        f"What the keys reveal about {found.sensitive}: {plural(found.rows, found.unit)}, "
        f"{plural(found.categories, 'category', 'categories')}, H(X) = {_number(found.entropy)} bits",
        [*columns, "identity", "skewness"] if asked else columns,
        [_row(own)[: None if asked else len(columns)] for own in shown],
    )
    _tell_rest(len(found.keys) - len(shown), "keys")
    for own in shown if metrics else ():
        _show_values(f"Values of {', '.join(own.keys)}", f"{found.unit}s", own.values, SHOWN)
    if not metrics:
        say("What single values reveal: --metrics, or --json for all of them")
    for note in found.notes:
        say(f"Note: {note}.")


def show_release(found: ReleaseMeasurement, metrics: bool) -> None:
    """Print a line for each metric of a release; with ``metrics`` every figure, single values and classes."""
    if metrics:
        _show_figures(found)
    else:
        _show_ranges(found)
    left_out = [f"Left out: {name}, since {reason}." for name, reason in found.left_out.items()]
    if metrics or len(left_out) == 1:
        say_folded(*left_out)
    elif left_out:
        say_folded(f"Left out: {', '.join(found.left_out)}. --metrics says why.")


def _show_ranges(found: ReleaseMeasurement) -> None:
    """Print for each metric its figure, or the least and the largest of several."""
    from hierdata.cli.terminal import draw_bar
    from hierdata.release.report.wording import share

    say(f"{found.published:,} of {found.records:,} records are published.")
    kept = found.metrics.get("kept")
    if kept is not None:
        total = next(iter(kept.figures.values()))
        say(f"Kept of the input: {draw_bar(total)}  {share(total)}")
    others = {name: measure for name, measure in found.metrics.items() if name != "kept"}
    shown = dict(islice(others.items(), _MOST_METRICS))
    width = max(map(len, shown), default=0)
    for name, measure in shown.items():
        say(f"  {name.ljust(width)}  {_range(measure)} ({measure.better} is better)")
    if more := len(others) - len(shown):
        say(f"  and {more} more metrics")
    if found.attackers:
        say(f"Attackers of the policy: {len(found.attackers)}")
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


def _show_figures(found: ReleaseMeasurement) -> None:
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
    for own in found.values:
        keys = ", ".join(own.keys) or ("the whole record" if own.attacker else "nothing")
        who = f" ({quote(own.attacker)})" if own.attacker else ""
        title = f"What values of {keys} reveal about {own.path}{who}"
        _show_values(title, "vertices", own.values, FEW)
    for path, classes in found.classes.items():
        _show_classes(path, classes)


def _show_values(title: str, counted: str, values: Mapping[str, ValueRate], most: int) -> None:
    cells = [_value_row(label, one) for label, one in islice(values.items(), most)]
    heads = ["value", counted, "p(y)", "H(X|y)", "rate", "1 - H(X|y)/H(X)", "distance", "divergence"]
    show(title, heads, cells)
    _tell_rest(len(values) - most, "values")


def _show_classes(path: str, classes: Sequence[ClassDiversity]) -> None:
    cells = [
        [str(own.number), str(own.size), _number(own.diversity_degree), _number(own.mean_pair_distance)]
        for own in classes[:FEW]
    ]
    heads = ["class", "values", "diversity degree", "mean pair distance"]
    show(f"How far apart the values of {path} are in each class", heads, cells)
    _tell_rest(len(classes) - FEW, "classes")


def _tell_rest(number: int, what: str) -> None:
    if number > 0:
        say(f"and {number} more {what}: --json has them all", "")


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
