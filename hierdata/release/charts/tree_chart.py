"""A tree of names, each with a share as the length of its bar."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.release.charts.axes import WIDTH, draw_element, number_of, text_of

_ROW, _INDENT, _BAR = 30, 16, 120
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
        height = _ROW * len(self.nodes) + 4
        return draw_element(name, self.title, self.description, height, f'<g class="series-3">{drawn}</g>')

    def _draw(self, at: int, node: TreeNode) -> str:
        left = 6 + _INDENT * min(node.depth, _DEEPEST)
        middle = _ROW * at + _ROW // 2
        drawn = ""
        if node.depth:
            above = next(back for back in range(at - 1, -1, -1) if self.nodes[back].depth < node.depth)
            start = _ROW * above + _ROW // 2 + 6
            drawn += (
                f'<path class="grid" fill="none" d="M{left - _INDENT + 3} {start}V{middle}h{_INDENT - 8}"/>'
            )
        opacity = "0" if node.share is None else number_of(max(node.share, 0.0))
        shape = "7" if node.inner else "1"
        drawn += (
            f'<rect class="bar" fill="currentColor" fill-opacity="{opacity}" x="{left - 4}" y="{middle - 7}" '
            f'width="14" height="14" rx="{shape}"/>'
        )
        most = int((WIDTH - _BAR - left - 80) / 7.8)
        label = node.name if len(node.name) <= most else f"...{node.name[3 - most :]}"
        weight = ' font-weight="600"' if node.inner else ""
        drawn += (
            f'<text class="ink" x="{left + 16}" y="{middle}" dominant-baseline="middle"{weight}>'
            f"{text_of(label)}</text>"
            f'<text class="ink" x="{WIDTH - _BAR - 8}" y="{middle}" text-anchor="end" '
            f'dominant-baseline="middle">{text_of(node.note)}</text>'
        )
        if node.share is not None:
            width = number_of(node.share * _BAR)
            drawn += (
                f'<rect class="frame" x="{WIDTH - _BAR - 1}" y="{middle - 6}" width="{_BAR}" height="12"/>'
                f'<rect class="bar" fill="currentColor" x="{WIDTH - _BAR - 1}" y="{middle - 6}" '
                f'width="{width}" height="12"/>'
            )
        return drawn
