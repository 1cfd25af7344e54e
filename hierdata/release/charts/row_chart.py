"""Rows of bars from left to right: shares of one whole, by category, with room for long names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hierdata.release.charts.axes import WIDTH, draw_element, number_of, text_of

MOST_SHADES = 8
"""How many parts of a bar can be told apart."""
_ROW, _BAR, _LINE = 40, 14, 19
_CHARACTER = 7.2
"""About the width of a character."""
_SHADES = (
    ("currentColor", "1"),
    ("currentColor", ".72"),
    ("currentColor", ".48"),
    ("currentColor", ".28"),
    ("currentColor", ".12"),
    ("url(#{name}-slant)", "1"),
    ("none", "1"),
    ("url(#{name}-cross)", "1"),
)
"""The fill and the opacity of each part of a bar: from full to light, then patterns."""
_PATTERNS = (
    '<defs><pattern id="{name}-slant" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path class="axis" d="M0 6L6 0"/></pattern>'
    '<pattern id="{name}-cross" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path class="axis" d="M0 6L6 0M0 0L6 6"/></pattern></defs>'
)


@dataclass(frozen=True)
class BarRow:
    """A bar under its name: its parts as shares of 1, a text at its right end, and a limit that is marked."""

    name: str
    parts: tuple[float, ...]
    note: str = ""
    limit: float | None = None


@dataclass(frozen=True)
class RowChart:
    """Bars over a scale from 0 to 1, one a row. ``parts`` name what each part of a bar is, in the legend.

    ``limit`` names the mark of a limit, if rows have one. ``description`` says in words what is to be seen.
    """

    title: str
    description: str
    rows: tuple[BarRow, ...]
    parts: tuple[str, ...] = ()
    limit: str = ""

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        if any(len(row.parts) > MOST_SHADES for row in self.rows) or len(self.parts) > MOST_SHADES:
            raise ValueError(f"a row has at most {MOST_SHADES} parts")
        legend = [*map(str, self.parts), *([self.limit] if self.limit else [])]
        top = len(self.rows) * _ROW + 8
        marks = "".join(self._draw(name, at * _ROW, row) for at, row in enumerate(self.rows))
        marks += "".join(self._entry(name, at, text, top + _LINE * at + 8) for at, text in enumerate(legend))
        height = top + _LINE * len(legend) + (4 if legend else -4)
        patterns = _PATTERNS.format(name=name)
        drawn = f'{patterns}<g class="series-1">{marks}</g>'
        return draw_element(name, self.title, self.description, height, drawn)

    def _draw(self, name: str, top: int, row: BarRow) -> str:
        """Draw a row: its name and note in one line, its bar below."""
        room = int(WIDTH / _CHARACTER) - len(row.note) - 1
        label = row.name if len(row.name) <= room else f"...{row.name[3 - room :]}"
        drawn = f'<text class="ink" x="1" y="{top + 13}">{text_of(label)}</text>'
        if row.note:
            place = f'x="{WIDTH - 1}" y="{top + 13}" text-anchor="end"'
            drawn += f'<text class="ink" {place}>{text_of(row.note)}</text>'
        drawn += f'<rect class="frame" x="1" y="{top + 19}" width="{WIDTH - 2}" height="{_BAR}"/>'
        left = 1.0
        for at, part in enumerate(row.parts):
            width = max(part, 0.0) * (WIDTH - 2)
            if width:
                drawn += _rect(name, at, left, top + 19, width, _BAR)
            left += width
        if row.limit is not None:
            across = number_of(1 + row.limit * (WIDTH - 2))
            drawn += f'<path class="limit" d="M{across} {top + 16}v{_BAR + 6}"/>'
        return drawn

    def _entry(self, name: str, at: int, text: str, middle: int) -> str:
        if at < len(self.parts):
            mark = _rect(name, at, 1, middle - 6, 14, 12)
        else:
            mark = f'<path class="limit" d="M8 {middle - 8}v16"/>'
        return (
            f'{mark}<text class="ink" x="24" y="{middle}" dominant-baseline="middle">{text_of(text)}</text>'
        )


def _rect(name: str, shade: int, left: float, top: float, width: float, height: float) -> str:
    fill, opacity = _SHADES[shade]
    return (
        f'<rect class="bar" fill="{fill.format(name=name)}" fill-opacity="{opacity}" x="{number_of(left)}" '
        f'y="{number_of(top)}" width="{number_of(width)}" height="{number_of(height)}"/>'
    )


def describe_rows(rows: Sequence[BarRow]) -> str:
    """Say rows in words, for who does not see them: each name with its note."""
    return "; ".join(f"{row.name}: {row.note}" for row in rows if row.note)
