"""What all charts share: the element with title and description, axes, grid and legend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as escape_html

from hierdata.ground.escaping import escape
from hierdata.release.charts.scale import Scale, write_tick

WIDTH = 420
LEFT, RIGHT = 64, WIDTH - 12
TOP, BOTTOM = 12, 232
_LABELS, _X_LABEL, _LEGEND, _ROW = BOTTOM + 17, BOTTOM + 36, BOTTOM + 58, 19
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def text_of(text: str) -> str:
    """Return a text for SVG: no markup in it, and nothing that is not seen."""
    return escape_html(escape(text))


def number_of(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def draw_element(name: str, title: str, description: str, height: float, drawn: str) -> str:
    """Return an ``<svg>`` element with a title and a description. Raises ValueError if ``name`` is no id."""
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a chart has letters, digits, - and _ only, and begins with a letter")
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number_of(height)}" '
        f'role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{text_of(title)}</title>'
        f'<desc id="{name}-desc">{text_of(description)}</desc>{drawn}</svg>'
    )


@dataclass(frozen=True)
class Axes:
    """The frame of a chart: what it shows in words, and its vertical scale."""

    title: str
    description: str
    x_label: str
    y_label: str
    y: Scale

    def y_place(self, value: float) -> float:
        """Return the vertical coordinate of a value."""
        return self.y.place(value, BOTTOM, TOP)

    def draw(self, name: str, x_ticks: Sequence[tuple[float, str]], marks: str, legend: Sequence[str]) -> str:
        """Return the whole ``<svg>``: ``marks`` over the grid, ``legend`` has one symbol and text a series.

        ``x_ticks`` are coordinates with labels. Raises ValueError if ``name`` cannot be an id.
        """
        height = _LEGEND + _ROW * len(legend) - 4
        rows = "".join(
            f'<g transform="translate({LEFT} {_LEGEND + _ROW * at})">{row}</g>'
            for at, row in enumerate(legend)
        )
        drawn = f"{self._grid()}{self._x_axis(x_ticks)}{marks}{rows}"
        return draw_element(name, self.title, self.description, height, drawn)

    def _grid(self) -> str:
        lines = []
        for tick in self.y.ticks:
            at = number_of(self.y_place(tick))
            lines.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{at}" y2="{at}"/>')
            label = text_of(write_tick(tick))
            lines.append(
                f'<text x="{LEFT - 6}" y="{at}" text-anchor="end" dominant-baseline="middle">{label}</text>'
            )
        middle = (TOP + BOTTOM) / 2
        lines.append(
            f'<text x="13" y="{number_of(middle)}" text-anchor="middle" '
            f'transform="rotate(-90 13 {number_of(middle)})">{text_of(self.y_label)}</text>'
        )
        return "".join(lines)

    def _x_axis(self, ticks: Sequence[tuple[float, str]]) -> str:
        axis = f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
        labels = "".join(
            f'<path class="axis" d="M{number_of(at)} {BOTTOM}v4"/>'
            f'<text x="{number_of(at)}" y="{_LABELS}" text-anchor="middle">{text_of(label)}</text>'
            for at, label in ticks
        )
        middle = number_of((LEFT + RIGHT) / 2)
        named = f'<text x="{middle}" y="{_X_LABEL}" text-anchor="middle">{text_of(self.x_label)}</text>'
        return axis + labels + named
