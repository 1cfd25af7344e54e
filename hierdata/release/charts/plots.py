"""Charts with two axes: lines over numbers, bars by category, dots in the plane.

Each series has a colour and, for those who do not see it, a dash pattern, a hatch or a mark of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from hierdata.release.charts.base import (
    LEFT,
    RIGHT,
    TOP,
    Axes,
    Scale,
    Titles,
    colour,
    legend_entry,
    number_of,
    require_series,
    tag,
    text_of,
    write_text,
    write_tick,
)

_FEW = 8
"""Up to so many different x, each has its tick."""
_CLOSEST = 12
"""Ticks are at least this part of the axis from each other."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "10 4", "1 3", "12 3 2 3 2 3")
_MARKS = (
    '<circle class="mark" cx="{x}" cy="{y}" r="3.5"/>',
    '<path class="mark" d="M{x} {y}m-3.5-3.5h7v7h-7z"/>',
    '<path class="mark" d="M{x} {y}m0-4.5l4.2 7.5h-8.4z"/>',
    '<path class="mark" d="M{x} {y}m0-4.5l4.5 4.5-4.5 4.5-4.5-4.5z"/>',
    '<path class="line" d="M{x} {y}m-3.5-3.5l7 7m0-7l-7 7"/>',
    '<path class="line" d="M{x} {y}m-4.5 0h9m-4.5-4.5v9"/>',
    '<circle class="line" cx="{x}" cy="{y}" r="3.5"/>',
    '<path class="line" d="M{x} {y}m-3.5-3.5h7v7h-7z"/>',
)


@dataclass(frozen=True)
class Point:
    """A value ``y`` at ``x``; ``low`` and ``high`` are its spread, such as the least and most of repeats."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A series of a line chart: its name in the legend, and its points in the order of x."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class LineChart(Titles):
    """Series over a common x axis.

    ``marked`` is False for curves of many points, which are lines without marks.
    """

    lines: tuple[Line, ...]
    from_zero: bool = True
    marked: bool = True

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        require_series(len(self.lines))
        points = [point for line in self.lines for point in line.points]
        heights = [
            height for point in points for height in (point.y, point.low, point.high) if height is not None
        ]
        axes = Axes(self, Scale.over(heights, from_zero=self.from_zero))
        places = {point.x for point in points}
        x = Scale.with_ticks(places) if _have_room(places) else Scale.over(places, from_zero=False)
        ticks = [(x.place(tick, LEFT, RIGHT), write_tick(tick)) for tick in x.ticks]
        marks = "".join(self._draw(series, line, x, axes) for series, line in enumerate(self.lines))
        legend = [self._entry(series, line.name) for series, line in enumerate(self.lines)]
        return axes.draw(name, ticks, marks, legend)

    def _draw(self, series: int, line: Line, x: Scale, axes: Axes) -> str:
        places = [
            (number_of(x.place(point.x, LEFT, RIGHT)), number_of(axes.y_place(point.y)))
            for point in line.points
        ]
        path = "L".join(f"{across} {up}" for across, up in places)
        drawn = f'<path class="line"{_dash(series)} d="M{path}"/>' if places else ""
        for (across, up), point in zip(places, line.points, strict=True):
            if point.low is not None and point.high is not None:
                low, high = number_of(axes.y_place(point.low)), number_of(axes.y_place(point.high))
                drawn += f'<path class="spread" d="M{across} {low}V{high}m-3 0h6M{across} {low}m-3 0h6"/>'
            if self.marked:
                drawn += _MARKS[series].format(x=across, y=up)
        return colour(series, drawn)

    def _entry(self, series: int, name: str) -> str:
        mark = _MARKS[series].format(x=14, y=0) if self.marked else ""
        return legend_entry(colour(series, f'<path class="line"{_dash(series)} d="M0 0H28"/>{mark}'), name)


def _have_room(places: set[float]) -> bool:
    """Return whether each place can have a tick of its own."""
    listed = sorted(places)
    gaps = [right - left for left, right in pairwise(listed)]
    return 0 < len(listed) <= _FEW and all(gap >= (listed[-1] - listed[0]) / _CLOSEST for gap in gaps)


def _dash(series: int) -> str:
    return f' stroke-dasharray="{_DASHES[series]}"' if _DASHES[series] else ""


_HATCHES = (
    "",
    "M0 0",
    "M0 6L6 0",
    "M0 3H6",
    "M3 0V6",
    "M0 0L6 6",
    "M0 3H6M3 0V6",
    "M0 6L6 0M0 0L6 6",
)
"""What fills the bars of a series, in tiles of 6 by 6: the first is solid, the second empty."""


@dataclass(frozen=True)
class Bars:
    """A series of a bar chart: its name in the legend, and one height a category (None: no bar)."""

    name: str
    heights: tuple[float | None, ...]


@dataclass(frozen=True)
class BarChart(Titles):
    """Bars by category."""

    categories: tuple[str, ...]
    bars: tuple[Bars, ...]

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        require_series(len(self.bars))
        if any(len(bars.heights) != len(self.categories) for bars in self.bars):
            raise ValueError("each series of a bar chart has one height a category")
        heights = [height for bars in self.bars for height in bars.heights if height is not None]
        axes = Axes(self, Scale.over(heights, from_zero=True))
        group = (RIGHT - LEFT) / max(len(self.categories), 1)
        ticks = [(LEFT + group * (number + 0.5), label) for number, label in enumerate(self.categories)]
        marks = "".join(self._draw(name, series, bars, axes, group) for series, bars in enumerate(self.bars))
        legend = [self._entry(name, series, bars.name) for series, bars in enumerate(self.bars)]
        return axes.draw(name, ticks, self._patterns(name) + marks, legend)

    def _draw(self, name: str, series: int, bars: Bars, axes: Axes, group: float) -> str:
        width = group * 0.8 / len(self.bars)
        drawn = ""
        for category, height in enumerate(bars.heights):
            if height is not None:
                left = LEFT + group * (category + 0.1) + width * series
                top, bottom = sorted((axes.y_place(height), axes.y_place(0)))
                drawn += _draw_bar(name, series, left, top, width, bottom - top)
        return colour(series, drawn)

    def _entry(self, name: str, series: int, label: str) -> str:
        return legend_entry(colour(series, _draw_bar(name, series, 8, -6, 12, 12)), label)

    def _patterns(self, name: str) -> str:
        tiles = "".join(
            tag(
                "pattern",
                tag("path", class_="axis", d=_HATCHES[series]),
                id=f"{name}-fill-{series + 1}",
                class_=f"series-{series + 1}",
                width=6,
                height=6,
                patternUnits="userSpaceOnUse",
            )
            for series in range(1, len(self.bars))
        )
        return tag("defs", tiles) if tiles else ""


def _draw_bar(name: str, series: int, left: float, top: float, width: float, height: float) -> str:
    fill = f"url(#{name}-fill-{series + 1})" if _HATCHES[series] else "currentColor"
    return tag("rect", class_="bar", fill=fill, x=left, y=top, width=width, height=height)


@dataclass(frozen=True)
class Dot:
    """A dot at ``x`` and ``y`` with a short ``label``; ``filled`` or hollow.

    ``link`` is the address to which a click leads.
    """

    x: float
    y: float
    label: str
    filled: bool = True
    link: str = ""


@dataclass(frozen=True)
class ScatterChart(Titles):
    """Dots by two measures, both from 0.

    ``filled`` and ``hollow`` say in the legend what these dots are.
    """

    dots: tuple[Dot, ...]
    filled: str
    hollow: str

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        x = Scale.over([dot.x for dot in self.dots], from_zero=True)
        y = Scale.over([dot.y for dot in self.dots], from_zero=True)
        axes = Axes(self, y)
        ticks = [(x.place(tick, LEFT, RIGHT), write_tick(tick)) for tick in x.ticks]
        places = [(x.place(dot.x, LEFT, RIGHT), axes.y_place(dot.y)) for dot in self.dots]
        labels = _place_labels(places, [dot.label for dot in self.dots])
        marks = "".join(
            _link(dot, _mark(dot.filled, *place) + label)
            for dot, place, label in zip(self.dots, places, labels, strict=True)
        )
        entries = [
            legend_entry(_mark(filled, 14, 0), words)
            for filled, words in ((True, self.filled), (False, self.hollow))
            if any(dot.filled is filled for dot in self.dots)
        ]
        return axes.draw(name, ticks, marks, entries)


def _link(dot: Dot, drawn: str) -> str:
    return tag("a", drawn, href=text_of(dot.link), aria_label=text_of(dot.label)) if dot.link else drawn


def _place_labels(dots: Sequence[tuple[float, float]], labels: Sequence[str]) -> list[str]:
    """Write each label beside its dot, inside the picture, where it hides no dot and no label if it can."""
    drawn: list[str] = []
    taken = [_Box(across - 4, up - 4, across + 4, up + 4) for across, up in dots]
    for (across, up), label in zip(dots, labels, strict=True):
        rows = [12] if up < TOP + 12 else [-6, 15]
        sides = [-7] if across > RIGHT - 40 else [7, -7]
        ways = [(across + side, up + row, side < 0) for row in rows for side in sides]
        boxes = [_box_of(label, *way) for way in ways]
        free = (position for position, box in enumerate(boxes) if not any(map(box.meets, taken)))
        chosen = next(free, 0)
        left, base, at_end = ways[chosen]
        taken.append(boxes[chosen])
        drawn.append(write_text(label, left, base, **({"text_anchor": "end"} if at_end else {})))
    return drawn


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        """Return whether both have a point in common."""
        beside = self.right < other.left or other.right < self.left
        return not (beside or self.bottom < other.top or other.bottom < self.top)


def _box_of(label: str, across: float, base: float, at_end: bool) -> _Box:
    """Return about what a label covers that begins, or ends, at ``across``."""
    width = 6.5 * len(label)
    left = across - width if at_end else across
    return _Box(left, base - 9, left + width, base)


def _mark(filled: bool, across: float, up: float) -> str:
    series, kind = (0, "mark") if filled else (1, "line")
    return colour(series, tag("circle", class_=kind, cx=across, cy=up, r="4"))
