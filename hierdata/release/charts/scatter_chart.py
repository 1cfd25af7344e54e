"""Scatter charts: numbered dots over two measures, those that matter filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hierdata.release.charts.axes import LEFT, RIGHT, TOP, Axes, number_of, text_of
from hierdata.release.charts.scale import Scale, write_tick


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
        places = [(x.place(dot.x, LEFT, RIGHT), axes.y_place(dot.y)) for dot in self.dots]
        labels = _place_labels(places, [dot.label for dot in self.dots])
        marks = "".join(
            _mark(dot.filled, *place) + label
            for dot, place, label in zip(self.dots, places, labels, strict=True)
        )
        entries = [
            _entry(filled, words)
            for filled, words in ((True, self.filled), (False, self.hollow))
            if any(dot.filled is filled for dot in self.dots)
        ]
        return axes.draw(name, ticks, marks, entries)


def _place_labels(dots: Sequence[tuple[float, float]], labels: Sequence[str]) -> list[str]:
    """Write each label beside its dot, inside the picture, where it hides no dot and no label if it can."""
    drawn: list[str] = []
    taken = [_Box(across - 4, up - 4, across + 4, up + 4) for across, up in dots]
    for (across, up), label in zip(dots, labels, strict=True):
        rows = [12] if up < TOP + 12 else [-6, 15]
        sides = [-7] if across > RIGHT - 40 else [7, -7]
        ways = [(across + side, up + row, side < 0) for row in rows for side in sides]
        boxes = [_box_of(label, *way) for way in ways]
        free = (at for at, box in enumerate(boxes) if not any(map(box.meets, taken)))
        chosen = next(free, 0)
        left, base, at_end = ways[chosen]
        taken.append(boxes[chosen])
        anchor = ' text-anchor="end"' if at_end else ""
        drawn.append(f'<text x="{number_of(left)}" y="{number_of(base)}"{anchor}>{text_of(label)}</text>')
    return drawn


class _Box(NamedTuple):
    """A part of the picture."""

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
    series, kind = (1, "mark") if filled else (2, "line")
    return (
        f'<g class="series-{series}"><circle class="{kind}" cx="{number_of(across)}" cy="{number_of(up)}" '
        'r="4"/></g>'
    )


def _entry(filled: bool, words: str) -> str:
    return f'{_mark(filled, 14, 0)}<text x="36" dominant-baseline="middle">{text_of(words)}</text>'
