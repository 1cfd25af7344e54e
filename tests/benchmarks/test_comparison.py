"""The comparison's parts: labels, attacks against slow twins, wide rows, and the page from its figures."""

from __future__ import annotations

import json
import random
import shlex
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

import hierdata
from tests.benchmarks.comparison import __main__ as command
from tests.benchmarks.comparison import page, tools, tree_runs
from tests.benchmarks.comparison.labels import Attribute, of_hierarchy, of_numbers
from tests.benchmarks.comparison.linkage import link
from tests.benchmarks.comparison.shapes import SHAPES, Tree
from tests.benchmarks.comparison.tree_linkage import Vertices
from tests.benchmarks.comparison.wide import flattened, rebuilt

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def towns(tmp_path: Path) -> Attribute:
    file = tmp_path / "towns.csv"
    file.write_text("a;north;*\nb;north;*\nc;south;*\nd;south;*\n", "utf-8")
    return of_hierarchy(file)


@pytest.mark.parametrize(
    ("label", "leaves", "loss"),
    [
        ("a", "a", 0),
        ("north", "ab", Fraction(1, 3)),
        ("*", "abcd", 1),
        ("", "abcd", 1),
        ("{a, c}", "ac", Fraction(1, 3)),
        ("a,c,d", "acd", Fraction(2, 3)),
    ],
)
def test_a_label_covers_its_leaves(towns: Attribute, label: str, leaves: str, loss: Fraction) -> None:
    assert (towns.covered(label), towns.loss(label)) == (frozenset(leaves), loss)


@pytest.mark.parametrize("label", ["3-5", "[3, 5]", "{3, 4, 5}"])
def test_a_range_is_read_in_any_spelling(label: str) -> None:
    numbers = of_numbers(1, 9)
    assert (numbers.covered(label), numbers.loss(label)) == (frozenset("345"), Fraction(1, 4))


def test_an_unknown_label_is_refused_without_being_shown(towns: Attribute) -> None:
    with pytest.raises(ValueError, match="neither a node nor a set nor a range") as caught:
        towns.covered("Mr. Miller")
    assert "Miller" not in str(caught.value)


def test_the_attack_on_tables_is_that_of_a_slow_twin(towns: Attribute) -> None:
    rng = random.Random(3)
    columns = {"x": towns, "y": towns}
    for _ in range(30):
        labels = ["a", "b", "c", "d", "north", "south", "*"]
        published = [
            {"x": rng.choice(labels), "y": rng.choice(labels), "s": rng.choice("uvw")}
            for _ in range(rng.randrange(1, 12))
        ]
        original = [
            {"x": rng.choice("abcd"), "y": rng.choice("abcd"), "s": rng.choice("uvw")} for _ in range(9)
        ]
        found = link(published, original, columns, "s", 3)
        sizes, certain, guessed = [], 0, Fraction(0)
        for person in original:
            own = [
                row["s"]
                for row in published
                if all(person[name] in towns.covered(row[name]) for name in columns)
            ]
            sizes.append(len(own))
            certain += len(set(own)) == 1
            counts = Counter(own or [row["s"] for row in published])
            best = [value for value in counts if counts[value] == max(counts.values())]
            guessed += Fraction(best.count(person["s"]), len(best))
        assert found.below == sum(0 < size < 3 for size in sizes) / 9
        assert found.unique == sizes.count(1) / 9
        assert found.certain == certain / 9
        assert found.guessed == float(guessed / 9)


def drawn(rng: random.Random, labels: list[str], depth: int) -> Tree:
    below = [drawn(rng, labels, depth - 1) for _ in range(rng.randrange(3))] if depth else []
    return Tree((rng.choice(labels),), tuple(below))


def may_be_left_of(published: Tree, known: Tree, towns: Attribute) -> bool:
    """The definition, by all ways to give each published child another known one."""
    return known.labels[0] in towns.covered(published.labels[0]) and any(
        all(may_be_left_of(one, other, towns) for one, other in zip(published.children, chosen, strict=True))
        for chosen in permutations(known.children, len(published.children))
    )


def test_the_attack_on_trees_is_that_of_a_slow_twin(towns: Attribute) -> None:
    rng = random.Random(5)
    levels, answers = ((towns,),) * 3, Counter[bool]()
    for _ in range(3000):
        published = drawn(rng, ["a", "c", "north", "*"], 2)
        known = drawn(rng, ["a", "b", "c"], 2)
        found = Vertices([published], levels).agrees(published, known)
        assert found == may_be_left_of(published, known, towns)
        answers[found] += 1
    assert min(answers.values()) > 100


def test_wide_rows_hold_the_whole_record(tmp_path: Path) -> None:
    students = tree_runs.Students(tmp_path, "B", 5)
    for record, row in zip(students.records, flattened(students.records, SHAPES["B"]), strict=True):
        again = rebuilt(row, SHAPES["B"])
        for one in (record, again):
            one.pop("id", None)
            one["courses"].sort(key=lambda course: course["code"])
            for course in one["courses"]:
                course["evaluations"].sort(key=lambda own: own["instructor"])
        assert again == record


def test_the_loss_is_that_of_the_report_and_nobody_is_found(tmp_path: Path) -> None:
    students = tree_runs.Students(tmp_path, "A", 40)
    policy = {**students.policy, "models": tree_runs.MODELS["k = 5"]}
    release = hierdata.anonymize(students.file, tree_runs.from_data(policy, tmp_path), seed=bytes(16))
    release.save(tmp_path / "release")
    published = tmp_path / "release" / "public" / "records.jsonl"
    run = tree_runs.run((0, 0, 0), published, students, tree_runs.MODELS["k = 5"])
    found = run.figures()
    report = json.loads((tmp_path / "release" / "steward" / "report.json").read_text("utf-8"))
    assert run.loss == pytest.approx(report["metrics"]["lm_cost"]["per_value"], abs=1e-9)
    assert found["kept"]
    assert (found["attack"]["below"], found["facts"]["below"]) == (0, 0)


def test_masking_alone_finds_everybody(tmp_path: Path) -> None:
    students = tree_runs.Students(tmp_path, "A", 40)
    found = tree_runs.by_mask(students, tree_runs.MODELS["k = 5"], {}).figures()
    assert not found["kept"]
    assert found["attack"]["unique"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--render", "--render and --parts need --out"),
        ("--parts adult", "--render and --parts need --out"),
        ("--out nowhere/page.md", "--out: name a file that ends in .md, in a folder that is there"),
        ("--turns 0", "--turns must be 1 or more"),
        ("--tools pycanon --python pycanon=nowhere", "write TOOL=PYTHON, where TOOL is one of"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(
    options: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "adult").mkdir()
    monkeypatch.setenv("HIERDATA_COLLECTIONS", str(tmp_path))
    with pytest.raises(SystemExit, match=message):
        command.main(shlex.split(options))


def test_another_version_of_a_tool_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(tools.VERSIONS, "pytest", "0")
    with pytest.raises(SystemExit, match="is installed there; this comparison is with 0"):
        tools.made(["pytest"], {"pytest": Path(sys.executable)}, tmp_path)


def test_the_page_is_made_from_the_figures_beside_it() -> None:
    figures = json.loads((DOCS / "comparison.json").read_text("utf-8"))
    assert page.page(figures) == (DOCS / "comparison.md").read_text("utf-8")


def test_the_page_follows_its_figures() -> None:
    figures = json.loads((DOCS / "comparison.json").read_text("utf-8"))
    figures["adult"][0]["loss"] = figures["adult"][0]["least_loss"] = figures["adult"][0]["largest_loss"] = (
        0.9876
    )
    figures["students"][-1]["kept"] = not figures["students"][-1]["kept"]
    before, after = (DOCS / "comparison.md").read_text("utf-8"), page.page(figures)
    assert "| 0.9876 |" in after
    assert before.count("**broken**") != after.count("**broken**")


def test_every_feature_has_a_source_that_is_listed() -> None:
    features = json.loads((page.HERE / "features.json").read_text("utf-8"))
    used = set()
    for _, cells in features["rows"]:
        assert set(cells) <= set(features["tools"])
        used |= {source for _, *sources in cells.values() for source in sources}
    assert used == set(features["sources"])
