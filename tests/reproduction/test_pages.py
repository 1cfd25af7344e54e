"""Pages of all papers: everything numbered is there, readable by anybody, and appears whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html
from typer.main import get_command

from hierdata.ground.errors import TargetError
from hierdata.ground.pages import allow_only
from hierdata.reproduction import PAPERS
from hierdata.reproduction import reproduce as module
from hierdata.reproduction.exhibit import Exhibit, Grid, Paper
from hierdata.reproduction.reproduce import POINTS, UNFINISHED, Exhibits, reproduce
from hierdata.reproduction.study import Effort, Study, synthesize_adult
from tests.cases import naming

ROOT = Path(__file__).parents[2]
TINY = Effort("tiny", 1, 0.01)
Numbers = Mapping[str, dict[str, list[dict[str, str]]]]
FACTS = module.RunFacts("1.0", "2026-01-02", "quick", 2, 1, "A <table>.")
NUMBERED = {
    "ML": [*(f"Table {at}" for at in (1, 2)), *(f"Figure {at}" for at in range(1, 8))],
    "LE": [
        *(f"Table {at}" for at in ("I", "II", "III", "IV", "V", "VI")),
        *(f"Figure {at}" for at in range(1, 8)),
    ],
    "DL": [f"Figure {at}" for at in range(1, 4)],
    "TC": ["Table I", "Table II", *(f"Figure {at}" for at in range(1, 4))],
    "DR": [f"Table {at}" for at in range(1, 14)],
}
"""The numbered tables and figures of each paper; an exhibit may have a part of one."""


@pytest.fixture(
    scope="module",
    params=[("DL", "DR"), pytest.param(tuple(PAPERS), marks=pytest.mark.long)],
    ids=["two papers", "all papers"],
)
def codes(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The papers that pages are made of."""
    found: tuple[str, ...] = request.param
    return found


@pytest.fixture(scope="module")
def folder(codes: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("all") / "out"
    reproduce([PAPERS[code] for code in codes], TINY, synthesize_adult(1000), out, workers=1)
    return out


@pytest.fixture(scope="module")
def numbers(folder: Path, codes: tuple[str, ...]) -> Numbers:
    return {code: json.loads((folder / f"{code}.json").read_text("utf-8")) for code in codes}


def test_the_folder_has_the_pages_and_nothing_else(folder: Path, codes: tuple[str, ...]) -> None:
    pages = {f"{code}.{form}" for code in codes for form in ("html", "json")}
    assert {path.name for path in folder.iterdir()} == {*pages, "index.html", "reproduction.md"}


def test_every_numbered_table_and_figure_has_an_exhibit(
    numbers: Mapping[str, dict[str, list[dict[str, str]]]],
) -> None:
    for code, page in numbers.items():
        labels = [exhibit["label"] for exhibit in page["exhibits"]]
        assert len(labels) == len({*labels})
        lost = [own for own in NUMBERED[code] if not any(re.match(rf"{own}\b", label) for label in labels)]
        assert lost == [], code


def test_a_page_needs_nobody_and_nothing(folder: Path, codes: tuple[str, ...]) -> None:
    for code in (*codes, "index"):
        with naming(code=code):
            assert_needs_nothing(folder, code)


def assert_needs_nothing(folder: Path, code: str) -> None:
    text = (folder / f"{code}.html").read_text("utf-8")
    root = html.fromstring(text.encode())
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = root.xpath("//style/text()")
    assert policy == allow_only(style)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not root.xpath("//script | //link | //img | //iframe | //object | //form | //@style")
    assert not root.xpath("//@*[starts-with(name(), 'on')]")
    targets = root.xpath("//a/@href")
    ids = root.xpath("//@id")
    assert len(ids) == len({*ids})
    for target in targets:
        name, _, anchor = target.partition("#")
        assert not name or (folder / name).is_file(), target
        if anchor:
            there = html.fromstring((folder / (name or f"{code}.html")).read_bytes()).xpath("//@id")
            assert anchor in there, target
    assert not re.search(r"url\(\s*['\"]?(?!#)", text)
    assert "{{" not in text
    assert "object at 0x" not in text


def test_a_page_can_be_read_by_anybody(folder: Path, codes: tuple[str, ...]) -> None:
    for code in codes:
        with naming(code=code):
            assert_readable(folder, code)


def assert_readable(folder: Path, code: str) -> None:
    """What screen readers need: names of regions, heads of tables, order of headings, described charts."""
    root = html.fromstring((folder / f"{code}.html").read_bytes())
    assert root.get("lang") == "en"
    assert len(root.xpath("//h1")) == len(root.xpath("//main")) == len(root.xpath("//nav[@aria-label]")) == 1
    assert [int(own.tag[1]) for own in root.xpath("//h1 | //h2 | //h3")][:2] == [1, 2]
    for named in root.xpath("//@aria-labelledby"):
        assert all(root.xpath("//*[@id = $one]", one=one) for one in named.split())
    for table in root.xpath("//table"):
        assert table.xpath("./caption[normalize-space()]")
        assert table.xpath("./thead/tr/th[@scope = 'col']")
        assert all(len(row.xpath("./th[@scope = 'row']")) == 1 for row in table.xpath("./tbody/tr"))
    for wide in root.xpath("//*[@class = 'wide'] | //pre"):
        assert wide.get("tabindex") == "0"
        assert wide.get("aria-label")
    for chart in root.xpath("//*[local-name() = 'svg']"):
        assert chart.get("role") == "img"
        assert [bool((own.text or "").strip()) for own in chart[:2]] == [True, True]


def write(exhibits: Exhibits) -> tuple[str, str, str]:
    paper = Paper("ML", "Title", "Somebody", "multilevel-hierarchical.md", lambda study: [*exhibits])
    return (
        module.write_html(paper, exhibits, FACTS),
        module.write_json(paper, exhibits, FACTS),
        module.write_markdown({paper: exhibits}, FACTS),
    )


HOSTILE = "<script>alert(1)</script> | `x` \u202e\x1b"


def test_no_text_becomes_markup() -> None:
    grid = Grid((HOSTILE, "b"), ((HOSTILE, Fraction(1, 3)), ("c", None)))
    exhibit = Exhibit("Table 1", HOSTILE, HOSTILE, printed=grid, drawing=f"{HOSTILE}\nb", differs=HOSTILE)
    shown, data, marked = write([exhibit])
    assert "<script" not in shown
    assert "\\u202e\\x1b" in shown
    assert json.loads(data)["exhibits"][0]["printed"]["rows"][0] == [HOSTILE, "1/3"]
    shown_lines = [line for line in marked.splitlines() if not line.startswith("    ")]  # not in a drawing
    assert not re.search(
        r"(?<!\\)[<`]", "\n".join(shown_lines).replace("`hierdata reproduce ML --quick`", "")
    )
    assert "\u202e" not in marked
    rows = [line for line in marked.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
    (drawing,) = etree.HTML(shown).xpath("//pre")
    assert drawing.text.splitlines()[1] == "b"


def test_pages_say_how_they_were_made() -> None:
    shown, _, marked = write([Exhibit("Table 1", "t", "s")])
    assert "2 repeats, 1 processor." in re.sub(r"\s+", " ", shown)
    assert "1 processor, 2 repeats." in marked


def test_agreement_is_only_claimed_where_something_is_compared() -> None:
    grid = Grid(("a", "b"), (("x", 1),))
    assert module.verdict(Exhibit("Table 1", "t", "s", ours=grid)) == ""
    assert module.verdict(Exhibit("Table 1", "t", "s", printed=grid, ours=grid)) == "All agree."
    other = Grid(("a", "something else"), (("x", 1),))
    assert module.verdict(Exhibit("Table 1", "t", "s", printed=grid, ours=other)) == ""
    assert module.verdict(Exhibit("Table 1", "t", "s", ours=grid, differs="No.")) == "No."


def test_every_erratum_that_a_page_names_is_explained() -> None:
    shown, _, _ = write([Exhibit("Table 1", "t", "s", errata=("ML-2",))])
    assert etree.HTML(shown).xpath("//dt[@id = 'ml-2']")
    with pytest.raises(KeyError):
        write([Exhibit("Table 1", "t", "s", errata=("ML-99",))])


def test_a_grid_is_a_rectangle() -> None:
    with pytest.raises(ValueError, match="one cell a column"):
        Grid(("a", "b"), ((1,),))


def number_of_points(study: Study) -> list[Exhibit]:
    (found,) = study.measure(measure_point, [{"seed": 1}])
    if STOPPED:
        raise KeyboardInterrupt
    return [Exhibit("Table 1", "t", "s", ours=Grid(("a",), ((found,),)))]


STOPPED: list[bool] = []
MEASURED: list[int] = []


def measure_point(seed: int) -> int:
    MEASURED.append(seed)
    return seed


PAPER = Paper("ML", "Title", "Somebody", "multilevel-hierarchical.md", number_of_points)


@pytest.fixture
def _serial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in this process, whose lists tell what was done."""
    monkeypatch.setattr(module, "Resources", lambda workers: module_resources())
    STOPPED.clear()
    MEASURED.clear()


def module_resources() -> object:
    from hierdata.pipeline.resources import Resources

    return Resources("serial")


@pytest.mark.usefixtures("_serial")
def test_a_stopped_run_leaves_no_page_and_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    STOPPED.append(True)
    with pytest.raises(KeyboardInterrupt):
        reproduce([PAPER], TINY, synthesize_adult(10), out)
    assert {path.name for path in out.iterdir()} == {UNFINISHED, POINTS}
    STOPPED.clear()
    reproduce([PAPER], TINY, synthesize_adult(10), out)
    assert MEASURED == [1]
    assert {path.name for path in out.iterdir()} == {"ML.html", "ML.json", "index.html", "reproduction.md"}


@pytest.mark.usefixtures("_serial")
def test_what_is_no_unfinished_run_of_this_version_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    reproduce([PAPER], TINY, synthesize_adult(10), out)
    foreign, older, dangling, file = (tmp_path / name for name in ("foreign", "older", "dangling", "file"))
    foreign.mkdir()
    older.mkdir()
    (older / UNFINISHED).write_text(json.dumps({"unfinished": "hierdata reproduce", "version": "0.0.1"}))
    dangling.symlink_to(tmp_path / "nowhere")
    file.write_text("mine")
    for taken in (out, foreign, older, dangling, file):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(TargetError, match="not what an unfinished run of this version left"):
            reproduce([PAPER], TINY, synthesize_adult(10), taken)
        assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(TargetError, match="cannot be created"):
        reproduce([PAPER], TINY, synthesize_adult(10), tmp_path / "no" / "such" / "out")


def test_the_data_in_the_package_is_small() -> None:
    data = ROOT / "hierdata" / "reproduction"
    assert (
        sum(path.stat().st_size for part in ("data", "templates") for path in (data / part).iterdir())
        < 500_000
    )


QUICK_POINTS = {"ML": 20, "LE": 72, "DL": 66, "TC": 174, "DR": 0}
"""What ``--quick`` measures, by paper: the stated seconds were measured with it."""


@pytest.mark.long
def test_the_command_makes_all_pages_of_the_points_whose_time_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock is read: where a point is added, the seconds have to be measured anew, and this with them."""
    from hierdata.cli import main

    usual = Study._measure
    points = dict.fromkeys(PAPERS, 0)

    def measure(study: Study, function: Any, call: Any, arguments: Any, data: str) -> Any:
        points[function.__module__.rpartition(".")[2][:2].upper()] += len(arguments)
        return usual(study, function, call, arguments, data)

    monkeypatch.setattr(Study, "_measure", measure)
    out = tmp_path / "out"
    assert main(["reproduce", "all", "--quick", "--quiet", "--out", str(out)]) == 0
    made = {code: json.loads((out / f"{code}.json").read_text("utf-8")) for code in PAPERS}
    assert all(own["run"]["repeats"] == 2 for own in made.values())
    assert (out / "index.html").is_file()
    assert points == QUICK_POINTS


def test_the_command_and_its_page_state_one_time() -> None:
    from hierdata.cli import app

    command: Any = get_command(app)
    (said,) = (own.help for own in command.commands["reproduce"].params if own.name == "full")
    (stated,) = re.findall(r"up to (\d+) CPU seconds", said)
    page = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    ((promised, measured),) = re.findall(r"up to (\d+) CPU s for all papers \((\d+) measured", page)
    assert stated == promised
    assert 0.5 * int(promised) < int(measured) <= int(promised) <= 250
