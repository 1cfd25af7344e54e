"""Charts of rows, with room for long names: bars that are shares of a whole, and trees of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from hierdata.ground.escaping import escape
from hierdata.release.charts.base import colour, draw_element, tag, text_of

MOST_SHADES = 8
"""How many parts of a bar can be told apart."""
_ROW, _BAR, _LINE = 40, 14, 19
_ROOM = 44
"""Characters in a line of a chart on a small screen: a name and a note that have more stand in two lines."""
_MOST_LINES = 5
"""Lines of the longest name."""
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
        marks, top = "", 8
        for row in self.rows:
            names = _break(row.name, _ROOM - len(row.note) - bool(row.note))
            if not row.note and not names[-1]:
                names.pop()
            marks += self._draw(name, top - 8, row, names)
            top += _ROW + _LINE * (len(names) - 1)
        for position, text in enumerate(legend):
            marks += self._entry(name, position, text, top + _LINE * position + 8)
        height = top + _LINE * len(legend) + (4 if legend else -4)
        patterns = _PATTERNS.format(name=name)
        return draw_element(
            name, self.title, self.description, height, patterns + colour(0, marks), wide=True
        )

    def _draw(self, name: str, top: int, row: BarRow, names: Sequence[str]) -> str:
        """Draw a row: the lines of its name, its note at the end of the last, its bar below."""
        drawn = _write_lines(names, 1, top + 13)
        top += _LINE * (len(names) - 1)
        if row.note:
            drawn += tag("text", text_of(row.note), class_="ink", x="100%", y=top + 13, text_anchor="end")
        drawn += tag("rect", class_="frame", x=0, y=top + 19, width="100%", height=_BAR)
        left = 0.0
        for shade, part in enumerate(row.parts):
            width = max(part, 0.0)
            if width:
                drawn += _rect(name, shade, _percent(left), top + 19, _percent(width), _BAR)
            left += width
        if row.limit is not None:
            across = _percent(row.limit)
            drawn += tag("line", class_="limit", x1=across, x2=across, y1=top + 16, y2=top + _BAR + 22)
        return drawn

    def _entry(self, name: str, position: int, text: str, middle: int) -> str:
        if position < len(self.parts):
            mark = _rect(name, position, 1, middle - 6, 14, 12)
        else:
            mark = tag("path", class_="limit", d=f"M8 {middle - 8}v16")
        return mark + tag("text", text_of(text), class_="ink", x=24, y=middle, dominant_baseline="middle")


def _break(name: str, room: int, width: int = _ROOM) -> list[str]:
    """Return a name as it is where there is room for it; else its lines, and an empty one for what follows.

    Of a name of many lines the end is shown.

    >>> _break("short", 10), _break("a name of many words", 10)
    (['short'], ['a name of many words', ''])
    """
    if len(name) <= room:
        return [name]
    lines = wrap(escape(name), width)
    return [*(lines if len(lines) <= _MOST_LINES else ["...", *lines[1 - _MOST_LINES :]]), ""]


def _write_lines(lines: Sequence[str], left: float, top: float, **attributes: str) -> str:
    """Write lines below each other; an empty one takes its place only."""
    return "".join(
        tag("text", text_of(line), class_="ink", x=left, y=top + _LINE * number, **attributes)
        for number, line in enumerate(lines)
        if line
    )


def _percent(share: float) -> str:
    """Return a share of the width of a chart."""
    return f"{100 * share:.2f}%"


def _rect(name: str, shade: int, left: float | str, top: float, width: float | str, height: float) -> str:
    fill, opacity = _SHADES[shade]
    box = {"x": left, "y": top, "width": width, "height": height}
    return tag("rect", class_="bar", fill=fill.format(name=name), fill_opacity=opacity, **box)


def describe_rows(rows: Sequence[BarRow]) -> str:
    """Describe rows in words, for readers who cannot see them: each name with its note."""
    return "; ".join(f"{row.name}: {row.note}" for row in rows if row.note)


_TREE_ROW, _INDENT = 30, 16
_NOTE, _TREE_BAR = 0.74, 0.25
"""Where the note of a node ends, and how long its bar may be, as shares of the width."""
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
        drawn, middles, top = "", list[int](), 0
        for node in self.nodes:
            indent = 3 + 2 * min(node.depth, _DEEPEST)
            names = _break(node.name, _ROOM // 2 + 6 - indent, _ROOM - indent)
            drawn += self._draw(top, node, names, middles)
            top += _TREE_ROW + _LINE * (len(names) - 1)
        height = top + 4
        return draw_element(name, self.title, self.description, height, colour(2, drawn), wide=True)

    def _draw(self, top: int, node: TreeNode, names: Sequence[str], middles: list[int]) -> str:
        """Draw a node and add the middle of its mark to those of the nodes before."""
        left = 6 + _INDENT * min(node.depth, _DEEPEST)
        middle = top + _TREE_ROW // 2
        drawn = ""
        if node.depth:
            position = len(middles)
            above = next(back for back in range(position - 1, -1, -1) if self.nodes[back].depth < node.depth)
            line = f"M{left - _INDENT + 3} {middles[above] + 6}V{middle}h{_INDENT - 8}"
            drawn += tag("path", class_="grid", fill="none", d=line)
        middles.append(middle)
        opacity = 0.0 if node.share is None else max(node.share, 0.0)
        drawn += tag(
            "rect", class_="bar", fill="currentColor", fill_opacity=opacity,
            x=left - 4, y=middle - 7, width=14, height=14, rx=7 if node.inner else 1,
        )  # fmt: skip
        weight = {"font_weight": "600"} if node.inner else {}
        drawn += _write_lines(names, left + 16, middle, dominant_baseline="middle", **weight)
        middle += _LINE * (len(names) - 1)
        drawn += tag(
            "text", text_of(node.note), class_="ink", x=_percent(_NOTE), y=middle,
            text_anchor="end", dominant_baseline="middle",
        )  # fmt: skip
        if node.share is not None:
            start, top, width = _percent(1 - _TREE_BAR), middle - 6, _percent(node.share * _TREE_BAR)
            drawn += tag("rect", class_="frame", x=start, y=top, width=_percent(_TREE_BAR), height=12)
            drawn += tag("rect", class_="bar", fill="currentColor", x=start, y=top, width=width, height=12)
        return drawn
