"""Charts as inline SVG: no script, nothing from outside, readable in light, in dark and without colours.

Libraries of plots bring scripts or large images, and do not give each series a shape and each picture a
description.

Charts know nothing of hierdata. ``chart.svg(name)`` returns one ``<svg>`` element; ``name`` makes the ids
in it unique in a page. The page includes ``STYLE``, which has the colours; without it the marks are black.
"""

from __future__ import annotations

from hierdata.release.charts.bar_chart import BarChart, Bars
from hierdata.release.charts.line_chart import Line, LineChart, Point
from hierdata.release.charts.row_chart import BarRow, RowChart
from hierdata.release.charts.style import STYLE
from hierdata.release.charts.tree_chart import TreeChart, TreeNode

Chart = LineChart | BarChart | RowChart | TreeChart

__all__ = [
    "STYLE",
    "BarChart",
    "BarRow",
    "Bars",
    "Chart",
    "Line",
    "LineChart",
    "Point",
    "RowChart",
    "TreeChart",
    "TreeNode",
]
