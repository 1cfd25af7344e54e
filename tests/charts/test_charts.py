"""Charts are whole, well-formed elements, and say in words and shapes what they show in colours."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from lxml import etree

from hierdata.release.charts import BarChart, Bars, Chart, Line, LineChart, Point
from hierdata.release.charts.plots import Dot, ScatterChart
from hierdata.release.charts.rows import BarRow, RowChart, TreeChart, TreeNode

LINES = LineChart(
    "Loss <by> k",
    "Two series & their spread",
    "k",
    "LM a record",
    (
        Line("a < b", (Point(2, 1.0, 0.5, 1.5), Point(3, 2.0))),
        Line("\u202eother\n", (Point(2, 3.0), Point(3, 4.0))),
    ),
)
BARS = BarChart(
    "Loss", "Two bars a group", "k", "LM", ("2", "3"), (Bars("a", (1, None)), Bars("b", (2.5, -1)))
)


def parsed(chart: Chart) -> etree._Element:
    return etree.fromstring(chart.svg("one"))


def texts(chart: Chart, name: str) -> list[str | None]:
    return [found.text for found in parsed(chart).iter(f"{{*}}{name}")]


@pytest.mark.parametrize("chart", [LINES, BARS])
def test_a_chart_is_named_and_described_and_scales(chart: Chart) -> None:
    root = parsed(chart)
    ids = [found.get("id") for found in root.iter() if found.get("id") is not None]
    assert len(ids) == len({*ids})
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby") or "").split() == ["one-title", "one-desc"]
    assert [found.tag.rpartition("}")[2] for found in list(root)[:2]] == ["title", "desc"]
    assert (texts(chart, "title"), texts(chart, "desc")) == ([chart.title], [chart.description])
    assert root.get("viewBox") is not None
    assert {root.get("width"), root.get("height")} == {None}
    assert {chart.x_label, chart.y_label} <= {*texts(chart, "text")}


def test_texts_are_no_markup_and_hide_nothing() -> None:
    assert {"a < b", "\\u202eother\\n"} <= {*texts(LINES, "text")}


def test_series_differ_in_shape_and_in_dashes() -> None:
    root = parsed(LINES)
    first, second = (root.findall(f".//{{*}}g[@class='series-{at}']")[0] for at in (1, 2))
    assert {found.tag for found in first} != {found.tag for found in second}
    dashes = [found.find("{*}path").get("stroke-dasharray") for found in (first, second)]  # type: ignore[union-attr]
    assert dashes == [None, "6 3"]


def test_bars_are_filled_differently_and_none_is_left_out() -> None:
    bars = parsed(BARS).findall(".//{*}rect")
    assert {found.get("fill") for found in bars} == {"currentColor", "url(#one-fill-2)"}
    assert len(bars) == 3 + len(BARS.bars)  # and one a series in the legend
    assert all(float(found.get("height") or -1) > 0 for found in bars)


def test_marks_lie_where_the_numbers_are() -> None:
    chart = LineChart("t", "d", "x", "y", (Line("a", (Point(0, 0), Point(10, 5), Point(20, 10))),))
    circles = parsed(chart).findall(".//{*}g[@class='series-1']/{*}circle")[:3]
    places = [(float(found.get("cx") or 0), float(found.get("cy") or 0)) for found in circles]
    assert places[1] == pytest.approx([sum(axis) / 2 for axis in zip(places[0], places[2], strict=True)])
    assert places[0][0] < places[2][0]
    assert places[0][1] > places[2][1]


@pytest.mark.parametrize("other", [(53.0, 53.0), (48.0, 52.0), (50.0, 54.0), (53.0, 50.0)])
def test_labels_of_dots_side_by_side_hide_none(other: tuple[float, float]) -> None:
    """A label begins, or ends, beside its dot; about 6 units are a character, 11 its height."""
    dots = (Dot(50.0, 50.0, "here"), Dot(*other, "there"), Dot(100.0, 100.0, "at the edge"))
    drawn = etree.fromstring(ScatterChart("t", "d", "x", "y", dots, "yes", "no").svg("one"))
    boxes = []
    for label in drawn.iter("{*}text"):
        if label.text in ("here", "there"):
            left, base, width = float(label.get("x")), float(label.get("y")), 6 * len(label.text)
            left -= width if label.get("text-anchor") == "end" else 0
            boxes.append((left, base - 9, left + width, base))
    boxes += [(x - 3, y - 3, x + 3, y + 3) for x, y in _circles(drawn)[: len(dots)]]
    for one, two in combinations(boxes, 2):
        assert one[2] < two[0] or two[2] < one[0] or one[3] < two[1] or two[3] < one[1], (one, two)


def _circles(drawn: etree._Element) -> list[tuple[float, float]]:
    return [(float(own.get("cx")), float(own.get("cy"))) for own in drawn.iter("{*}circle")]


@pytest.mark.parametrize("values", [(), (0.0,), (5.0,), (1e-9, 2e-9), (-3.0, 1e12)])
def test_any_numbers_can_be_drawn(values: tuple[float, ...]) -> None:
    line = Line("a", tuple(Point(at, value) for at, value in enumerate(values)))
    for from_zero in (True, False):
        chart = LineChart("t", "d", "x", "y", (line,), from_zero)
        assert not re.search(r"\b-?(nan|inf)\b", chart.svg("one"))


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to 8 series"):
        LineChart("t", "d", "x", "y", ()).svg("one")
    with pytest.raises(ValueError, match="one height a category"):
        BarChart("t", "d", "x", "y", ("2",), (Bars("a", ()),)).svg("one")
    with pytest.raises(ValueError, match="name of a chart"):
        LINES.svg('"one')


def test_charts_of_rows_are_as_wide_as_the_page_and_keep_the_size_of_their_texts() -> None:
    long = BarRow("a name of thirty characters 30", (0.25, 0.5), "a note of 20 letters", 0.75)
    rows = RowChart("t", "d", (BarRow("short", (1.0,), "all"), long, BarRow("last", (0.0,), "")), ("a", "b"))
    tree = TreeChart(
        "t", "d", (TreeNode("root", 0, 0.5, "50 %", inner=True), TreeNode("leaf", 1, 1.0, "100 %"))
    )
    for chart in (rows, tree):
        root = etree.fromstring(chart.svg("one"))
        assert root.get("viewBox") is None
        assert float(root.get("height") or 0) > 50
        assert "wide-chart" in (root.get("class") or "")
        for bar in root.iter("{*}rect"):
            if (across := bar.get("width") or "").endswith("%"):
                assert float(across[:-1]) + float((bar.get("x") or "0").rstrip("%")) <= 100.01
    drawn = [found for found in etree.fromstring(rows.svg("one")).iter("{*}text") if found.text]
    heights = {str(found.text): float(found.get("y") or 0) for found in drawn}
    assert heights["short"] == heights["all"]
    assert heights[long.note] == heights[long.name] + 19, "where there is no room, the note is below the name"
    assert heights["last"] > heights[long.note] + 20
    tree = TreeChart("t", "d", (TreeNode("root", 0, 0.5, "50 %"), TreeNode("word " * 30, 1, 1.0, "100 %")))
    said = [found.text or "" for found in etree.fromstring(tree.svg("one")).iter("{*}text")]
    assert " ".join(said).split().count("word") == 30, "a long name is broken, not cut"
    assert max(map(len, said)) <= 44
