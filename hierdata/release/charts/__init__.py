"""Charts as inline SVG: no script, nothing from outside, readable in light, in dark and without colours.

Libraries of plots bring scripts or large images, and do not give each series a shape and each picture a
description.

Charts know nothing of hierdata. ``chart.svg(name)`` returns one ``<svg>`` element; ``name`` makes the ids
in it unique in a page. The page includes ``STYLE``, which has the colours; without it the marks are black.
"""

from __future__ import annotations

from hierdata.release.charts.base import STYLE
from hierdata.release.charts.plots import BarChart, Bars, Line, LineChart, Point
from hierdata.release.charts.rows import BarRow, RowChart, TreeChart, TreeNode

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
