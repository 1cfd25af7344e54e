"""The pictures of report and summary, made from their figures. Each says in words what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from hierdata.release.charts import BarRow, Chart, Line, LineChart, Point, RowChart, TreeChart, TreeNode
from hierdata.release.charts.rows import describe_rows
from hierdata.release.report.models import StewardReport
from hierdata.release.report.names import Names
from hierdata.release.report.parts import Exact, Pictures
from hierdata.release.report.wording import (
    count,
    kept_share,
    least_that_fit,
    list_worst_types,
    of,
    place,
    plural,
    share,
)

_MOST_ROWS = 12
"""Rows of a picture; the tables have all."""


@dataclass(frozen=True)
class Picture:
    """A picture with its anchor, and a sentence on how to read it."""

    anchor: str
    title: str
    reading: str
    charts: tuple[Chart, ...]


def draw_kept(report: StewardReport) -> RowChart:
    """Draw what is kept by vertex type: of many types, those that lost most."""
    rows, names = [], Names.of(report)
    for path in list_worst_types(report, _MOST_ROWS):
        tally, kept = report.counts.vertices[path], report.kept.vertices.get(path)
        note = f"{kept_share(kept)} kept, {of(tally)}" if kept else of(tally)
        rows.append(BarRow(names.name(path), (kept.kept.value if kept else 0.0,), note))
    return RowChart("What is kept, by level of the tree", describe_rows(rows), tuple(rows))


def list_pictures(report: StewardReport) -> list[Picture]:
    """Return the pictures that there is something to show in."""
    pictures = (
        Picture(
            "depths",
            "How far fields are generalized",
            "A bar is all values of a field in the input: the fuller the colour, the finer it is published.",
            tuple(_draw_depths(report)),
        ),
        Picture(
            "tree",
            "What is kept of the records, field by field",
            "Round marks are parts of a record, squares are fields. A bar is the share of the worth that is "
            "kept.",
            tuple(_draw_tree(report)),
        ),
        Picture(
            "caps",
            "Levels against their limits",
            "The bar is the largest share of the level in any class, the mark is the limit of the policy.",
            tuple(_draw_caps(report)),
        ),
        Picture(
            "distributions",
            "Sensitive values before and after",
            "Shares of all values of the input and of all that are published. Values are not named.",
            tuple(_draw_distributions(report)),
        ),
        Picture(
            "discrimination",
            "What the published fields tell about sensitive values",
            "The discrimination rate: 0 if what is published of a person says nothing of the value, 1 if it "
            "determines it.",
            tuple(_draw_rates(report)),
        ),
        Picture(
            "risk",
            "Records by the size of their class",
            "Who finds the class of a person picks the right record with a chance of 1 in its size, at most.",
            tuple(_draw_sizes(report)),
        ),
    )
    return [picture for picture in pictures if picture.charts]


def _draw_depths(report: StewardReport) -> Iterator[RowChart]:
    depths = (report.pictures or Pictures()).depths
    rows, names = [], Names.of(report)
    for path, bands in list(depths.items())[:_MOST_ROWS]:
        total = max(sum(bands.values()), 1)
        said = ", ".join(f"{band} {share(number / total)}" for band, number in bands.items() if number)
        name = names.show(path)
        rows.append((BarRow(name, tuple(number / total for number in bands.values())), f"{name}: {said}"))
    if rows:
        bands_of_all = tuple(next(iter(depths.values())))
        description = "; ".join(said for _, said in rows)
        yield RowChart(
            "Values by how finely they are published",
            description,
            tuple(row for row, _ in rows),
            bands_of_all,
        )


def _draw_tree(report: StewardReport) -> Iterator[TreeChart]:
    """Draw vertex types and the fields with a share, each below the type that holds it."""
    types = [*report.counts.vertices]
    nodes, names = [], Names.of(report)
    for path in types:
        depth = sum(other != path and _is_below(path, other) for other in types)
        type_share = report.kept.vertices.get(path)
        above = max(
            (other for other in types if other != path and _is_below(path, other)), key=len, default=""
        )
        name = path[len(above) :].lstrip("./") if above else place(path)
        name = names.show(path) if path in report.labels else name
        nodes.append(_node(name, depth, type_share.kept if type_share else None, inner=True))
        for field, kept in report.kept.fields.items():
            holders = [other for other in types if _is_below(field, other)]
            if holders and max(holders, key=len) == path:
                own_name = field[len(path) :].lstrip("./") or field
                shown_name = names.show(field) if field in report.labels else own_name
                nodes.append(_node(shown_name, depth + 1, kept.kept))
    shown = tuple(nodes[:40])
    if report.kept.fields:
        said = "; ".join(f"{'  ' * node.depth}{node.name} {node.note}" for node in shown)
        yield TreeChart("The schema, with what is kept", said, shown)


def _is_below(path: str, holder: str) -> bool:
    return not holder or path == holder or path.startswith((f"{holder}.", f"{holder}[", f"{holder}/"))


def _node(name: str, depth: int, kept: Exact | None, *, inner: bool = False) -> TreeNode:
    value = None if kept is None else kept.value
    return TreeNode(name, depth, value, "" if value is None else share(value), inner)


def _draw_caps(report: StewardReport) -> Iterator[RowChart]:
    """Draw the achieved share of each level beside its cap, where a model gives one for each level."""
    names = Names.of(report)
    for promise in report.promises:
        caps = promise.parameters.get("alpha")
        if not isinstance(caps, list | tuple):
            continue
        for path, reached in promise.by_path.items():
            rows = []
            for level, cap in enumerate(caps, 1):
                achieved, most = reached.achieved.get(f"alpha_{level}"), float(Fraction(str(cap)))
                said = "not reached" if achieved is None else share(achieved.value)
                bar = (0.0 if achieved is None else achieved.value,)
                rows.append(BarRow(f"level {level}", bar, f"{said} of at most {share(most)}", most))
            yield RowChart(
                names.show(path), describe_rows(rows), tuple(rows), ("largest share in a class",), "limit"
            )


def _draw_distributions(report: StewardReport) -> Iterator[RowChart]:
    changes = (report.pictures or Pictures()).distributions
    names = Names.of(report)
    for path, listed in changes.items():
        before = max(sum(change.input for change in listed), 1)
        after = max(sum(change.published for change in listed), 1)
        rows = []
        for change in listed:
            name, then, now = change.name, change.input / before, change.published / after
            rows.append(BarRow(f"{name}, before", (then,), f"{share(then)} ({count(change.input)})"))
            rows.append(BarRow(f"{name}, after", (0, 0, now), f"{share(now)} ({count(change.published)})"))
        yield RowChart(names.show(path), describe_rows(rows), tuple(rows))


def _draw_rates(report: StewardReport) -> Iterator[RowChart]:
    measure = report.metrics.get("discrimination_rate")
    if measure is not None:
        names = Names.of(report)
        rows = [BarRow(names.show(path), (rate,), f"{rate:.3f}") for path, rate in measure.figures.items()]
        rows = rows[:_MOST_ROWS]
        yield RowChart("Discrimination rate by attribute", describe_rows(rows), tuple(rows))


def _draw_sizes(report: StewardReport) -> Iterator[LineChart]:
    """Draw the distribution of records by the size of their class, cumulated, where classes are the risk."""
    if least_that_fit(report) is not None:
        return
    pictures = report.pictures or Pictures()
    sizes = {int(size): number for size, number in pictures.class_sizes.items()}
    if not sizes:
        return
    total, below = sum(sizes.values()), 0
    points, said = [Point(min(sizes) - 1, 0.0)], []
    for size in sorted(sizes):
        points.append(Point(size, 100 * below / total))
        below += sizes[size]
        points.append(Point(size, 100 * below / total))
        said.append(f"{share(below / total)} in classes of at most {count(size)}")
    few = said if len(said) <= 8 else [said[step * (len(said) - 1) // 7] for step in range(8)]
    yield LineChart(
        "Records in classes of at most so many",
        f"{plural(total, 'record')}: {'; '.join(few)}. A class of 5 means a chance of 1 in 5.",
        "records in the class",
        "% of the published records",
        (Line("records", tuple(points)),),
        marked=False,
    )


def describe_risk(report: StewardReport) -> str:
    """Say the chances of picking the right record, for the worst placed and, of classes, on average.

    '' where classes do not bound them. Under bounded knowledge they are those of a reader who knows no more.
    """
    if (fewest := least_that_fit(report)) is not None:
        return (
            "someone who knows no more than that picks the right record with a chance of at most "
            f"{share(1 / fewest)}"
        )
    sizes = (report.pictures or Pictures()).class_sizes
    if not sizes:
        return ""
    total = sum(sizes.values())
    classes = sum((Fraction(number, int(size)) for size, number in sizes.items()), Fraction(0))
    worst = 1 / min(map(int, sizes))
    return (
        "someone who knows everything published about a person except sensitive values picks the right "
        f"record with a chance of at most {share(worst)}, {share(float(classes / total))} on average"
    )
