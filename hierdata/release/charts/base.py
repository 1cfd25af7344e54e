"""What all charts share: colours, scales, the element with title and description, axes and legend."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape as escape_html

from hierdata.ground.escaping import escape

_ROUND = (1, 2, 5, 10)
_ABOUT = 5
"""About how many steps an axis has."""


@dataclass(frozen=True)
class Scale:
    """A linear scale from ``low`` to ``high``; ``ticks`` are round numbers from one end to the other."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Iterable[float], *, from_zero: bool) -> Scale:
        """Make the scale that shows all values, and 0 if ``from_zero``. Without values it is 0 to 1.

        >>> Scale.over([3, 18], from_zero=True).ticks
        (0.0, 5.0, 10.0, 15.0, 20.0)
        """
        shown = [*values, *([0.0] if from_zero else [])]
        low, high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        if low == high:
            low, high = (low - 1, high + 1) if low and not from_zero else (min(low, 0.0), max(high, 1.0))
        step = _round_step((high - low) / _ABOUT)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple(float(step * multiple) for multiple in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks)

    @classmethod
    def with_ticks(cls, values: Iterable[float]) -> Scale:
        """Make a scale with a tick at each of the values, such as few whole numbers."""
        ticks = tuple(sorted(set(values)))
        margin = (ticks[-1] - ticks[0]) / 20 or 1
        return cls(ticks[0] - margin, ticks[-1] + margin, ticks)

    def place(self, value: float, start: float, end: float) -> float:
        """Return where a value lies between the places of ``low`` and ``high``."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def _round_step(least: float) -> Fraction:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least ``least``."""
    power = Fraction(10) ** math.floor(math.log10(least))
    return next(power * digit for digit in _ROUND if power * digit >= least * (1 - 1e-9))


def write_tick(value: float) -> str:
    """Return a tick's label, short.

    >>> [write_tick(value) for value in (0.0, 0.25, 1500, 2_000_000, 1e-7)]
    ['0', '0.25', '1,500', '2,000,000', '1e-07']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


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


def tag(name: str, content: str | None = None, /, **attributes: float | str) -> str:
    """Return an element; ``content`` is markup, and attributes are named with _ for - (``class_`` is class).

    >>> tag("rect", x=1.25, text_anchor="end")
    '<rect x="1.2" text-anchor="end"/>'
    """
    stated = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number_of(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{stated}/>" if content is None else f"<{name}{stated}>{content}</{name}>"


def write_text(text: str, x: float, y: float, **attributes: float | str) -> str:
    """Return a text at a place."""
    return tag("text", text_of(text), x=x, y=y, **attributes)


def colour(series: int, drawn: str) -> str:
    """Return what is drawn in the colour of a series, from 0."""
    return tag("g", drawn, class_=f"series-{series + 1}")


def legend_entry(symbol: str, text: str) -> str:
    """Return a line of a legend."""
    return symbol + tag("text", text_of(text), x=36, dominant_baseline="middle")


def draw_element(
    name: str, title: str, description: str, height: float, drawn: str, *, wide: bool = False
) -> str:
    """Return an ``<svg>`` element with a title and a description. Raises ValueError if ``name`` is no id.

    ``wide``: what is drawn states its places across in percent, so that it is as wide as the page while its
    texts keep their size.
    """
    size = {"height": number_of(height)} if wide else {"viewBox": f"0 0 {WIDTH} {number_of(height)}"}
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a chart has letters, digits, - and _ only, and begins with a letter")
    return tag(
        "svg",
        tag("title", text_of(title), id=f"{name}-title")
        + tag("desc", text_of(description), id=f"{name}-desc")
        + drawn,
        class_="chart wide-chart" if wide else "chart",
        xmlns="http://www.w3.org/2000/svg",
        **size,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


@dataclass(frozen=True)
class Titles:
    """What a chart with two axes says: ``description`` has in words what is to be seen; labels have units."""

    title: str
    description: str
    x_label: str
    y_label: str


class Axes:
    """The frame of a chart: its titles, and its vertical scale."""

    def __init__(self, titles: Titles, y: Scale) -> None:
        self._titles = titles
        self.y = y

    def y_place(self, value: float) -> float:
        """Return the vertical coordinate of a value."""
        return self.y.place(value, BOTTOM, TOP)

    def draw(self, name: str, x_ticks: Sequence[tuple[float, str]], marks: str, legend: Sequence[str]) -> str:
        """Return the whole ``<svg>``: ``marks`` over the grid, ``legend`` has one symbol and text a series.

        ``x_ticks`` are coordinates with labels. Raises ValueError if ``name`` cannot be an id.
        """
        height = _LEGEND + _ROW * len(legend) - 4
        rows = "".join(
            tag("g", row, transform=f"translate({LEFT} {_LEGEND + _ROW * position})")
            for position, row in enumerate(legend)
        )
        drawn = f"{self._grid()}{self._x_axis(x_ticks)}{marks}{rows}"
        return draw_element(name, self._titles.title, self._titles.description, height, drawn)

    def _grid(self) -> str:
        lines = ""
        for tick in self.y.ticks:
            up = self.y_place(tick)
            lines += tag("line", class_="grid", x1=LEFT, x2=RIGHT, y1=up, y2=up)
            lines += write_text(write_tick(tick), LEFT - 6, up, text_anchor="end", dominant_baseline="middle")
        middle = (TOP + BOTTOM) / 2
        turned = f"rotate(-90 13 {number_of(middle)})"
        return lines + write_text(self._titles.y_label, 13, middle, text_anchor="middle", transform=turned)

    def _x_axis(self, ticks: Sequence[tuple[float, str]]) -> str:
        drawn = tag("path", class_="axis", d=f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}")
        for across, label in ticks:
            drawn += tag("path", class_="axis", d=f"M{number_of(across)} {BOTTOM}v4")
            drawn += write_text(label, across, _LABELS, text_anchor="middle")
        return drawn + write_text(self._titles.x_label, (LEFT + RIGHT) / 2, _X_LABEL, text_anchor="middle")


STYLE = """
:root {
  --series-1: #0b62b0; --series-2: #b3470b; --series-3: #0b6b3a; --series-4: #8a2f8f;
  --series-5: #6b5b00; --series-6: #a3234a; --series-7: #3d4f5c; --series-8: #00707a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --series-1: #7cb8ff; --series-2: #ffb077; --series-3: #6fd69b; --series-4: #e3a4e8;
    --series-5: #e0cf6b; --series-6: #ff9db5; --series-7: #b9c7d1; --series-8: #6fd7e0;
  }
}
svg.chart { display: block; width: 100%; color: inherit; }
svg.chart:not(.wide-chart) { height: auto; max-width: 40rem; }
svg.chart text { fill: currentColor; font: 12px system-ui, sans-serif; }
svg.chart .grid { stroke: currentColor; stroke-opacity: .18; }
svg.chart .axis { stroke: currentColor; fill: none; }
svg.chart .line { fill: none; stroke: currentColor; stroke-width: 2; }
svg.chart .spread { stroke: currentColor; stroke-opacity: .6; fill: none; }
svg.chart .mark { fill: currentColor; stroke: currentColor; }
svg.chart .bar { stroke: currentColor; }
svg.chart .frame { fill: none; stroke: currentColor; stroke-opacity: .35; }
svg.chart .limit { stroke: var(--series-2); stroke-width: 3; fill: none; }
svg.chart .ink { fill: var(--ink, currentColor); font-size: 14px; }
svg.chart .series-1 { color: var(--series-1); } svg.chart .series-2 { color: var(--series-2); }
svg.chart .series-3 { color: var(--series-3); } svg.chart .series-4 { color: var(--series-4); }
svg.chart .series-5 { color: var(--series-5); } svg.chart .series-6 { color: var(--series-6); }
svg.chart .series-7 { color: var(--series-7); } svg.chart .series-8 { color: var(--series-8); }
"""
MOST_SERIES = 8
"""How many series have a colour and a shape of their own."""


def require_series(count: int) -> None:
    """Raise ValueError if there are more series than colours and shapes, or none."""
    if not 1 <= count <= MOST_SERIES:
        raise ValueError(f"a chart has from 1 to {MOST_SERIES} series")
