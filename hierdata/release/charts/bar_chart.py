"""Bar charts: groups of bars, one group a category, each series with a colour and a pattern of its own."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.release.charts.axes import LEFT, RIGHT, Axes, number_of, text_of
from hierdata.release.charts.scale import Scale
from hierdata.release.charts.style import require_series

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
class BarChart:
    """Bars by category. ``description`` says in words what is to be seen; ``y_label`` has the unit."""

    title: str
    description: str
    x_label: str
    y_label: str
    categories: tuple[str, ...]
    bars: tuple[Bars, ...]

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        require_series(len(self.bars))
        if any(len(bars.heights) != len(self.categories) for bars in self.bars):
            raise ValueError("each series of a bar chart has one height a category")
        heights = [height for bars in self.bars for height in bars.heights if height is not None]
        axes = Axes(
            self.title, self.description, self.x_label, self.y_label, Scale.over(heights, from_zero=True)
        )
        group = (RIGHT - LEFT) / max(len(self.categories), 1)
        ticks = [(LEFT + group * (at + 0.5), label) for at, label in enumerate(self.categories)]
        marks = "".join(self._draw(name, at, bars, axes, group) for at, bars in enumerate(self.bars))
        legend = [self._entry(name, at, bars.name) for at, bars in enumerate(self.bars)]
        return axes.draw(name, ticks, self._patterns(name) + marks, legend)

    def _draw(self, name: str, at: int, bars: Bars, axes: Axes, group: float) -> str:
        width = group * 0.8 / len(self.bars)
        drawn = ""
        for category, height in enumerate(bars.heights):
            if height is not None:
                left = LEFT + group * (category + 0.1) + width * at
                top, bottom = sorted((axes.y_place(height), axes.y_place(0)))
                drawn += (
                    f'<rect class="bar" fill="{_fill(name, at)}" x="{number_of(left)}" y="{number_of(top)}" '
                    f'width="{number_of(width)}" height="{number_of(bottom - top)}"/>'
                )
        return f'<g class="series-{at + 1}">{drawn}</g>'

    def _entry(self, name: str, at: int, label: str) -> str:
        square = f'<rect class="bar" fill="{_fill(name, at)}" x="8" y="-6" width="12" height="12"/>'
        return (
            f'<g class="series-{at + 1}">{square}</g>'
            f'<text x="36" dominant-baseline="middle">{text_of(label)}</text>'
        )

    def _patterns(self, name: str) -> str:
        tiles = "".join(
            f'<pattern id="{name}-fill-{at + 1}" class="series-{at + 1}" width="6" height="6" '
            f'patternUnits="userSpaceOnUse"><path class="axis" d="{_HATCHES[at]}"/></pattern>'
            for at in range(1, len(self.bars))
        )
        return f"<defs>{tiles}</defs>" if tiles else ""


def _fill(name: str, at: int) -> str:
    return f"url(#{name}-fill-{at + 1})" if _HATCHES[at] else "currentColor"
