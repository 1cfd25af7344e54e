"""The CSS of charts: eight colours that differ in brightness too, for light and dark backgrounds."""

from __future__ import annotations

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
svg.chart { display: block; width: 100%; height: auto; color: inherit; }
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
