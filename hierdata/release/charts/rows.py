"""Charts of rows, with room for long names: bars that are shares of a whole, and trees of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hierdata.release.charts.base import WIDTH, colour, draw_element, number_of, tag, text_of

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
        return draw_element(name, self.title, self.description, height, patterns + colour(0, marks))

    def _draw(self, name: str, top: int, row: BarRow) -> str:
        """Draw a row: its name and note in one line, its bar below."""
        room = int(WIDTH / _CHARACTER) - len(row.note) - 1
        label = row.name if len(row.name) <= room else f"...{row.name[3 - room :]}"
        drawn = tag("text", text_of(label), class_="ink", x=1, y=top + 13)
        if row.note:
            drawn += tag("text", text_of(row.note), class_="ink", x=WIDTH - 1, y=top + 13, text_anchor="end")
        drawn += tag("rect", class_="frame", x=1, y=top + 19, width=WIDTH - 2, height=_BAR)
        left = 1.0
        for at, part in enumerate(row.parts):
            width = max(part, 0.0) * (WIDTH - 2)
            if width:
                drawn += _rect(name, at, left, top + 19, width, _BAR)
            left += width
        if row.limit is not None:
            across = number_of(1 + row.limit * (WIDTH - 2))
            drawn += tag("path", class_="limit", d=f"M{across} {top + 16}v{_BAR + 6}")
        return drawn

    def _entry(self, name: str, position: int, text: str, middle: int) -> str:
        if position < len(self.parts):
            mark = _rect(name, position, 1, middle - 6, 14, 12)
        else:
            mark = tag("path", class_="limit", d=f"M8 {middle - 8}v16")
        return mark + tag("text", text_of(text), class_="ink", x=24, y=middle, dominant_baseline="middle")


def _rect(name: str, shade: int, left: float, top: float, width: float, height: float) -> str:
    fill, opacity = _SHADES[shade]
    place = {"x": left, "y": top, "width": width, "height": height}
    return tag("rect", class_="bar", fill=fill.format(name=name), fill_opacity=opacity, **place)


def describe_rows(rows: Sequence[BarRow]) -> str:
    """Describe rows in words, for readers who cannot see them: each name with its note."""
    return "; ".join(f"{row.name}: {row.note}" for row in rows if row.note)


_TREE_ROW, _INDENT, _TREE_BAR = 30, 16, 120
_DEEPEST = 6
"""Levels that are indented; what is deeper is drawn at the last of them."""


@dataclass(frozen=True)
class TreeNode:
    """A name in a tree, ``depth`` steps below the root, before what is below it; its share, None without one.

    ``inner`` are the nodes that have others below them.
    """

    name: str
    depth: int
    share: float | None
    note: str
    inner: bool = False


@dataclass(frozen=True)
class TreeChart:
    """The nodes of a tree from the top, each with a bar. ``description`` says in words what is to be seen."""

    title: str
    description: str
    nodes: tuple[TreeNode, ...]

    def svg(self, name: str) -> str:
        """Return the chart as an ``<svg>`` element whose ids begin with ``name``. Raises ValueError."""
        drawn = "".join(self._draw(at, node) for at, node in enumerate(self.nodes))
        height = _TREE_ROW * len(self.nodes) + 4
        return draw_element(name, self.title, self.description, height, colour(2, drawn))

    def _draw(self, position: int, node: TreeNode) -> str:
        left = 6 + _INDENT * min(node.depth, _DEEPEST)
        middle = _TREE_ROW * position + _TREE_ROW // 2
        drawn = ""
        if node.depth:
            above = next(back for back in range(position - 1, -1, -1) if self.nodes[back].depth < node.depth)
            start = _TREE_ROW * above + _TREE_ROW // 2 + 6
            line = f"M{left - _INDENT + 3} {start}V{middle}h{_INDENT - 8}"
            drawn += tag("path", class_="grid", fill="none", d=line)
        opacity = 0.0 if node.share is None else max(node.share, 0.0)
        drawn += tag(
            "rect", class_="bar", fill="currentColor", fill_opacity=opacity,
            x=left - 4, y=middle - 7, width=14, height=14, rx=7 if node.inner else 1,
        )  # fmt: skip
        most = int((WIDTH - _TREE_BAR - left - 80) / 7.8)
        label = node.name if len(node.name) <= most else f"...{node.name[3 - most :]}"
        weight = {"font_weight": "600"} if node.inner else {}
        drawn += tag(
            "text", text_of(label), class_="ink", x=left + 16, y=middle, dominant_baseline="middle", **weight
        )
        drawn += tag(
            "text", text_of(node.note), class_="ink", x=WIDTH - _TREE_BAR - 8, y=middle,
            text_anchor="end", dominant_baseline="middle",
        )  # fmt: skip
        if node.share is not None:
            start, top, width = WIDTH - _TREE_BAR - 1, middle - 6, node.share * _TREE_BAR
            drawn += tag("rect", class_="frame", x=start, y=top, width=_TREE_BAR, height=12)
            drawn += tag("rect", class_="bar", fill="currentColor", x=start, y=top, width=width, height=12)
        return drawn
