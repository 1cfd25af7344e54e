"""Tables of what ``hierdata measure`` found, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from hierdata.cli.terminal import say, show
from hierdata.escaping import quote

if TYPE_CHECKING:
    from hierdata.measurement.release.class_diversity import ClassDiversity
    from hierdata.measurement.release.measuring import ReleaseMeasurement
    from hierdata.measurement.table import KeyRates, Measurement
    from hierdata.metrics.rates import ValueRate

SHOWN = 20
"""Values of a key that are printed for a table; ``--json`` prints all."""
FEW = 5
"""Values and classes that are printed for a release, of each attacker and attribute."""


def show_measurement(found: Measurement) -> None:
    """Print the rates of a table or of trees."""
    from hierdata.release.report.wording import plural

    columns = ["keys", "values", "rate", "1 - rate", "H(X|Y)", "distance", "divergence"]
    asked = any(own.identity is not None for own in found.keys)
    show(
        f"What the keys reveal about {found.sensitive}: {plural(found.rows, found.unit)}, "
        f"{plural(found.categories, 'category', 'categories')}, H(X) = {_number(found.entropy)} bits",
        [*columns, "identity", "skewness"] if asked else columns,
        [_row(own)[: None if asked else len(columns)] for own in found.keys],
    )
    for own in found.keys:
        _show_values(f"Values of {', '.join(own.keys)}", f"{found.unit}s", own.values, SHOWN)
    for note in found.notes:
        say(f"Note: {note}.")


def show_release(found: ReleaseMeasurement) -> None:
    """Print the metrics of a release, and what single values and classes show."""
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
    for name, reason in found.left_out.items():
        say(f"Left out: {name}, since {reason}.")


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
