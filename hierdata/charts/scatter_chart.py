"""Scatter charts: numbered dots over two measures, those that matter filled."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.charts.axes import LEFT, RIGHT, TOP, Axes, number_of, text_of
from hierdata.charts.scale import Scale, write_tick


@dataclass(frozen=True)
class Dot:
    """A dot at ``x`` and ``y`` with a short ``label``; ``filled`` or hollow."""

    x: float
    y: float
    label: str
    filled: bool = True


@dataclass(frozen=True)
class ScatterChart:
    """Dots by two measures, both from 0. ``description`` says in words what is to be seen.

    ``filled`` and ``hollow`` say in the legend what these dots are.
    """

    title: str
    description: str
    x_label: str
    y_label: str
    dots: tuple[Dot, ...]
    filled: str
    hollow: str

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        x = Scale.over([dot.x for dot in self.dots], from_zero=True)
        y = Scale.over([dot.y for dot in self.dots], from_zero=True)
        axes = Axes(self.title, self.description, self.x_label, self.y_label, y)
        ticks = [(x.place(tick, LEFT, RIGHT), write_tick(tick)) for tick in x.ticks]
        marks = "".join(self._draw(dot, x, axes) for dot in self.dots)
        entries = [
            _entry(filled, words)
            for filled, words in ((True, self.filled), (False, self.hollow))
            if any(dot.filled is filled for dot in self.dots)
        ]
        return axes.draw(name, ticks, marks, entries)

    def _draw(self, dot: Dot, x: Scale, axes: Axes) -> str:
        across, up = x.place(dot.x, LEFT, RIGHT), axes.y_place(dot.y)
        # Labels stay inside the picture.
        end = across > RIGHT - 40
        lower = 12 if up < TOP + 12 else -6
        place = f'x="{number_of(across + (-7 if end else 7))}" y="{number_of(up + lower)}"'
        anchor = ' text-anchor="end"' if end else ""
        return f"{_mark(dot.filled, across, up)}<text {place}{anchor}>{text_of(dot.label)}</text>"


def _mark(filled: bool, across: float, up: float) -> str:
    series, kind = (1, "mark") if filled else (2, "line")
    return (
        f'<g class="series-{series}"><circle class="{kind}" cx="{number_of(across)}" cy="{number_of(up)}" '
        'r="4"/></g>'
    )


def _entry(filled: bool, words: str) -> str:
    return f'{_mark(filled, 14, 0)}<text x="36" dominant-baseline="middle">{text_of(words)}</text>'
