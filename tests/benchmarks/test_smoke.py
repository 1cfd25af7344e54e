"""Every benchmark runs on tiny input and prints its tables.

No figure is looked at. Real collections are replaced by small random ones of the same shape.
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks import adult, checks, tables, worlds
from tests.benchmarks.made_up import write_collections
from tests.benchmarks.same_bytes import __main__ as same_bytes
from tests.benchmarks.test_commands_in_docs import module_of
from tests.executors.conftest import no_spark

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Smoke:
    """A small run of a benchmark, and the columns of the tables that it prints."""

    module: str
    options: str
    headers: tuple[str, ...]


LONG = {"comparison", "kills"}
"""Benchmarks whose smallest run takes 20 seconds and more."""
GROWN = "work | 300 s | exponent | LM 300"
READ = (
    "format | MiB | bare records/s | MiB/s | read records/s | MiB/s | read / bare"
    " | bound and encoded records/s | (bind + encode) / bare | at most | bare / msgspec"
)
WRITTEN = "format | bare records/s | MiB/s | written records/s | MiB/s | written / bare"
SMOKES = (
    Smoke(
        "anatomy",
        "--rows 100 300 --seeds 1 --copies 1",
        (
            "n | l | preset | suppressed | IL of published | IL, suppressed charged | DOT as printed"
            " | mean pair distance | CPU s",
            "preset | rows | s | exponent | reading s",
        ),
    ),
    Smoke(
        "attack",
        "--records 200 --victims 5 --facts 2 --ways classes",
        (
            "published by | records | forms | victims | facts | reading | drawing | index | release"
            " | index of original | original | risks | command CPU s | command s | MB",
        ),
    ),
    Smoke("mixed", "--records 30 --rounds 1", ("records | items | separate keys s | filters s | ratio",)),
    Smoke(
        "blocks",
        "--records 60 --sizes 30 --data A --correlation 0.8",
        (
            "data | correlation | blocks | size | number | smallest | largest | LM per record"
            " | against all at once | records lost | CPU s",
        ),
    ),
    Smoke(
        "closeness",
        "--rows 100 --t 0.3 --tables 1 --sizes 9 60 --rounds 2",
        (
            "records | class size | as it came | dealt | swarm | seeded swarm | swap | optimum",
            "steps | t | largest distance | GCP | additional loss | suppressed | disclosure | seconds",
        ),
    ),
    Smoke(
        "closeness_trees",
        "--records 30 --seeds 1",
        ("model | data | k-member, CPU ms a record | local-search | kept, %",),
    ),
    Smoke(
        "comparison",
        "--tools --rows 100 --only 'equal distance' --data A --records 40 --turns 1",
        (
            "tool | how | NCP | suppressed | promise | fewer than 5 | guessed | s | CPU s | peak MB",
            "check | k | l | t | s | CPU s | peak MB",
            "data | way | LM a value | vertices kept | suppressed | promise"
            " | unique, whole tree | unique, a few facts | gpa guessed | CPU s",
        ),
    ),
    Smoke(
        "ends_of_runs", "--worlds 8", ("recoding or model | published | PromiseError | PolicyError | find",)
    ),
    Smoke(
        "engine",
        "--students 40 --scans 60 --turns 1 --repeats 1 --data A --pairs 2",
        (
            "data | engine | twin | ratio | asked",
            "data | students | seconds | pair losses | of all | asked | twin s | times faster | asked",
            "command s | imports s | ratio | asked",
            "data | k | preset | LM per record | records lost | vertices lost | dissimilarity"
            " | pooled | level distance | seconds",
        ),
    ),
    Smoke("formats", "20 --rounds 1 --no-memory", (READ, WRITTEN)),
    Smoke("formats", "20 --rounds 1 --formats jsonl --factors 1", (READ, WRITTEN, "format | 20 records")),
    Smoke("fuzz_policies", "--seconds 3 --finds ../finds", ("ended in | policies",)),
    Smoke(
        "fuzz",
        "--formats jsonl --seconds 1 --finds ../finds",
        ("format | inputs | reached | kept | finds",),
    ),
    Smoke(
        "groups",
        "--rows 100",
        (
            "steps | models | s | NCP | suppressed | classes | largest",
            "preset | sensitive | l | CPU s | NCP | suppressed | classes | k with ids | worst guess",
        ),
    ),
    Smoke("init", "--records 50", ("records | MB of the file | init s | init MB | lint s | lint MB",)),
    Smoke(
        "judge_knowledge",
        "--persons 10 --widest 5 --alpha",
        ("records | widest | its patterns of 3 | all patterns of 3 | CPU s | MB before | MB",),
    ),
    Smoke(
        "fhir_questions",
        str(ROOT / "fixtures/fhir"),
        ("type | kept", "question | figures | median | nine in ten"),
    ),
    Smoke(
        "kills",
        "--kills 1 --only 'format jsonl' --ways KILL all",
        (
            "case | killed by | kills | while a folder was there | left at once | left later"
            " | other exit codes | left after a whole run",
        ),
    ),
    Smoke(
        "measured_risks",
        "--rows 2100 --attacks 20 --facts 2 --alone",
        (
            "published | facts | expected | ours | interval | control | anonymeter | interval | control "
            "| agree",
        ),
    ),
    Smoke(
        "knowledge",
        "B --records 60 --m 1",
        (
            "collection | records | m | clause | LM per value | mean of attributes | kept"
            " | vertices removed | root classes | CPU s",
        ),
    ),
    Smoke("lattice", "--print-only --only distinct", ("models | limit | NCP | suppressed | CPU s",)),
    Smoke(
        "lint",
        "--records 30 --shapes pupils",
        ("shape | records | lint CPU s | anonymize CPU s | lint / anonymize",),
    ),
    Smoke(
        "models",
        "--records 30 --only k-map l-e",
        (
            "model | clustree | smallest class | records lost | vertices lost | records in a union"
            " | vertices in a pool | LM per record | seconds",
        ),
    ),
    Smoke(
        "peers",
        "--rows 100 --only equal",
        (
            "setting | rows | NCP | suppressed | classes | largest t | s | CPU s | peak MB"
            " | bar: NCP, suppressed, time | another tool",
        ),
    ),
    Smoke(
        "quality",
        "--records 60 --seeds 1 --data A --models '= 3'",
        ("data | model | engine | LM | compared | records lost % | ms a record",),
    ),
    Smoke(
        "wide",
        "--records 20 --encounters 1 4",
        (
            "engine | vertices a record | CPU s | ratio | kept | LM per value | records lost | "
            "vertices published %",
        ),
    ),
    Smoke(
        "wide",
        "--records 20 --encounters 1 4 --flat",
        (
            "engine | vertices a record | CPU s | ratio | kept | LM per value | records lost | "
            "vertices published %",
        ),
    ),
    Smoke("wide", "--encounters 1 4 --whole 20", ("patients | seconds | peak MiB | LM per value",)),
    Smoke(
        "promise",
        "students A --records 60 --times 1",
        (
            "collection | records | models | readings | LM per value | records lost | vertices lost"
            " | at roots | given up | CPU s | ratio",
        ),
    ),
    Smoke(
        "rates",
        "--sizes 200",
        ("rows | reading s | measuring s | ratio | asked | values of all keys together",),
    ),
    Smoke(
        "real",
        "--records 30",
        (
            "collection | records | vertices | searched by | LM per value | ratio | records lost"
            " | vertices lost | classes | largest | CPU s",
        ),
    ),
    Smoke(
        "worth",
        "students patients",
        (
            "collection | minimized | vertex type | published | share | kept | kept in all | LM per value"
            " | CPU s",
        ),
    ),
    Smoke(
        "foresee",
        "patients",
        (
            "collection |  | records | published by type | kept in all | CPU s",
            "collection | change | published by type | kept by type | kept in all | mean loss of QI",
        ),
    ),
    Smoke(
        "scale",
        "--records 60 --data A --executor serial",
        ("records | seconds | CPU s | us a record | exponent | peak MiB | LM per value | suppressed",),
    ),
    Smoke(
        "spread",
        "--sizes 300",
        (
            "delta | l | bound | spread | LM | s | mondrian | LM | s",
            "and | LM per value | ARX 3.9.2, local recoding | suppressed | s",
            GROWN,
        ),
    ),
    Smoke(
        "tables",
        "--rows 200 --turns 1 --factors 1 --commands 1 --no-first-run",
        (
            "MBF s | reading into documents s | ratio | asked | csv module alone s | rows published",
            "reading s | grouping s | judging s | grouping and judging s | asked"
            " | the same without counting equal lines first s",
            "check | hierdata | pycanon | pycanon s | remark",
            "table | classes | all figures equal",
            "work | rows | s by the clock | CPU s | peak MB | NCP | rows suppressed | classes",
            "work | 200 rows | exponent of n | of n log n",
        ),
    ),
    Smoke(
        "studio",
        "--records 80 --reading 0",
        ("records | first page s | survey s | preview s | largest work MiB",),
    ),
)


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


@pytest.fixture
def elsewhere(collections: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """An empty working folder and an empty folder for temporary files, with small collections to be found."""
    folders = [tmp_path / "here", tmp_path / "temporary"]
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    monkeypatch.setenv("TMPDIR", str(folders[1]))
    monkeypatch.setattr(tempfile, "tempdir", str(folders[1]))
    monkeypatch.setenv("HIERDATA_COLLECTIONS", str(collections))
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # of the commands that a benchmark starts
    threshold = gc.get_threshold()
    gc.freeze()  # formats collects the garbage before each turn: not that of all tests
    yield folders
    gc.unfreeze()
    gc.set_threshold(*threshold)  # formats sets it


def files_of_checkout() -> set[Path]:
    """What a benchmark could leave behind: where it lies, what it reads, and beside them."""
    near = (*ROOT.iterdir(), *(ROOT / "fixtures").rglob("*"), *(ROOT / "tests" / "benchmarks").rglob("*"))
    return {path for path in near if "__pycache__" not in path.parts and not path.name.startswith(".")}


def tables_in(printed: str) -> dict[str, list[str]]:
    """The rows of each printed table by its head, as many cells in each as there."""
    found: dict[str, list[str]] = {}
    before, rows = "", None
    for line in printed.splitlines():
        if not line.startswith("| "):
            before, rows = "", None
        elif set(line) <= set("|- "):
            rows = found.setdefault(before, [])
        elif rows is None:
            before = line[2:-2]
        else:
            assert line.count(" | ") == before.count(" | "), line
            rows.append(line[2:-2])
    return found


def run(smoke: Smoke) -> None:
    module = importlib.import_module(module_of(f"tests.benchmarks.{smoke.module}"))
    module.main(shlex.split(smoke.options))


@pytest.mark.parametrize(
    "smoke",
    [
        pytest.param(one, id=one.module, marks=pytest.mark.long if one.module in LONG else pytest.mark.full)
        for one in SMOKES
    ],
)
def test_a_small_run_prints_its_tables_and_leaves_nothing(
    smoke: Smoke, elsewhere: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    if smoke.module == "fuzz" and importlib.util.find_spec("atheris") is None:
        with pytest.raises(SystemExit, match="atheris is not installed"):
            run(smoke)
        pytest.skip("atheris is not installed: pip install 'hierdata[fuzz]'")
    before = files_of_checkout()
    run(smoke)
    printed = capsys.readouterr().out
    assert "refused" not in printed
    found = tables_in(printed)
    assert tuple(found) == smoke.headers
    assert all(found.values()), "a table has no row"
    assert [[*folder.iterdir()] for folder in elsewhere] == [[], []]
    assert files_of_checkout() == before


@pytest.mark.long
def test_more_worlds(elsewhere: list[Path]) -> None:
    worlds.main(["--times", "2", "--only", "numbers_of_worlds", "test_cases.py"])
    with pytest.raises(SystemExit):
        worlds.main(["--only", "no_such_test", "test_cases.py"])


@pytest.mark.long
@pytest.mark.skipif(no_spark() is not None, reason=str(no_spark()))
def test_a_small_run_by_spark(elsewhere: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    (smoke,) = (one for one in SMOKES if one.module == "scale")
    run(Smoke(smoke.module, smoke.options.replace("serial", "spark"), smoke.headers))
    assert all(tables_in(capsys.readouterr().out).values())


def test_pycanon_answers(elsewhere: list[Path], tmp_path: Path) -> None:
    if importlib.util.find_spec("pycanon") is None:
        pytest.skip("pycanon is not installed: pip install 'hierdata[bench]'")
    published = tables.release(adult.table(adult.WITHOUT_MISSING), tmp_path)
    answers = checks.by_pycanon(Path(sys.executable), published.file)
    assert set(answers) == set(filter(None, checks.COUNTERPARTS.values()))


@pytest.mark.full
def test_releases_of_one_build_are_the_same(tmp_path: Path, elsewhere: list[Path]) -> None:
    folders = [str(tmp_path / "old"), str(tmp_path / "new")]
    making = ["make", "--python", sys.executable, "--only", "error-missing", "--out"]
    assert same_bytes.main([*making, folders[0]]) == 0
    shutil.copytree(*folders)
    assert same_bytes.main(["compare", *folders]) == 0
    (outcome,) = Path(folders[1]).glob("error-missing/outcome.json")
    outcome.write_text(f"{outcome.read_text('utf-8')} ", "utf-8")
    assert same_bytes.main(["compare", *folders]) == 1
    assert [[*folder.iterdir()] for folder in elsewhere] == [[], []]


def test_without_collections_benchmarks_say_so(
    elsewhere: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HIERDATA_COLLECTIONS", str(elsewhere[0]))
    for module in ("comparison", "lattice", "peers"):
        with pytest.raises(SystemExit, match="the Adult table does not lie beside the repository"):
            run(Smoke(module, "", ()))
    run(Smoke("real", "", ()))
    run(Smoke("groups", "--rows 50", ()))
    run(Smoke("spread", "--sizes 300", ()))
    printed = capsys.readouterr().out
    assert "oulad is skipped" in printed
    assert len(tables_in(printed)) == 3


def has_main(file: Path) -> bool:
    tree = ast.parse(file.read_text("utf-8"))
    return "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_no_benchmark_is_forgotten() -> None:
    runnable = {path.stem for path in FOLDER.glob("*.py") if has_main(path)}
    runnable |= {path.parent.name for path in FOLDER.glob("*/__main__.py")}
    with_tests_of_their_own = {"same_bytes", "worlds"}
    assert runnable == {smoke.module for smoke in SMOKES} | with_tests_of_their_own
