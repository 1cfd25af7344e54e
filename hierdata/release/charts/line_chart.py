"""Line charts: several series over numbers, each with a colour, a dash pattern and a mark of its own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hierdata.release.charts.axes import LEFT, RIGHT, Axes, number_of, text_of
from hierdata.release.charts.scale import Scale, write_tick
from hierdata.release.charts.style import require_series

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
class LineChart:
    """Series over a common x axis. ``description`` says in words what is to be seen; labels have units.

    ``marked`` is False for curves of many points, which are lines without marks.
    """

    title: str
    description: str
    x_label: str
    y_label: str
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
        axes = Axes(
            self.title,
            self.description,
            self.x_label,
            self.y_label,
            Scale.over(heights, from_zero=self.from_zero),
        )
        places = {point.x for point in points}
        x = Scale.at(places) if _have_room(places) else Scale.over(places, from_zero=False)
        ticks = [(x.place(tick, LEFT, RIGHT), write_tick(tick)) for tick in x.ticks]
        marks = "".join(self._draw(at, line, x, axes) for at, line in enumerate(self.lines))
        return axes.draw(
            name, ticks, marks, [self._entry(at, line.name) for at, line in enumerate(self.lines)]
        )

    def _draw(self, at: int, line: Line, x: Scale, axes: Axes) -> str:
        found = [
            (number_of(x.place(point.x, LEFT, RIGHT)), number_of(axes.y_place(point.y)))
            for point in line.points
        ]
        path = "L".join(f"{across} {up}" for across, up in found)
        drawn = f'<path class="line"{_dash(at)} d="M{path}"/>' if found else ""
        for (across, up), point in zip(found, line.points, strict=True):
            if point.low is not None and point.high is not None:
                low, high = number_of(axes.y_place(point.low)), number_of(axes.y_place(point.high))
                drawn += f'<path class="spread" d="M{across} {low}V{high}m-3 0h6M{across} {low}m-3 0h6"/>'
            if self.marked:
                drawn += _MARKS[at].format(x=across, y=up)
        return f'<g class="series-{at + 1}">{drawn}</g>'

    def _entry(self, at: int, name: str) -> str:
        mark = _MARKS[at].format(x=14, y=0) if self.marked else ""
        symbol = f'<g class="series-{at + 1}"><path class="line"{_dash(at)} d="M0 0H28"/>{mark}</g>'
        return f'{symbol}<text x="36" dominant-baseline="middle">{text_of(name)}</text>'


def _have_room(places: set[float]) -> bool:
    """Return whether each place can have a tick of its own."""
    listed = sorted(places)
    gaps = [right - left for left, right in pairwise(listed)]
    return 0 < len(listed) <= _FEW and all(gap >= (listed[-1] - listed[0]) / _CLOSEST for gap in gaps)


def _dash(at: int) -> str:
    return f' stroke-dasharray="{_DASHES[at]}"' if _DASHES[at] else ""
