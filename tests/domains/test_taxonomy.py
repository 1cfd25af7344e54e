"""Taxonomies: files and trees, what is refused, labels, losses."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hierdata.domains import Taxonomy
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.taxonomy import MAX_DEPTH
from hierdata.ground.errors import PolicyError

MAJORS = """\
CS;Computing;Engineering;*
Data;Computing;Engineering;*
EE;Electronics;Engineering;*
Law;Law school;Humanities;*
"""


def from_file(folder: Path, text: str, name: str = "t.csv", **spec: Any) -> Hierarchy:
    (folder / name).write_text(text, encoding="utf-8")
    return Taxonomy(file=name, **spec).compile({}, folder)


def joined(tree: Hierarchy, a: Any, b: Any) -> Any:
    return tree.labels[tree.join(tree.node_of(a), tree.node_of(b))]


@pytest.mark.parametrize("delimiter", [";", ","])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_csv_file_goes_from_leaf_to_root_and_its_delimiter_is_found(
    tmp_path: Path, delimiter: str, ending: str
) -> None:
    tree = from_file(tmp_path, "\ufeff" + MAJORS.replace(";", delimiter).replace("\n", ending))
    assert joined(tree, "CS", "Data") == "Computing"
    assert joined(tree, "CS", "EE") == "Engineering"
    assert joined(tree, "CS", "Law") == "*"
    assert tree.lm[tree.join(tree.node_of("CS"), tree.node_of("EE"))] == Fraction(2, 3)


def test_labels_may_hold_the_other_delimiter_or_be_quoted(tmp_path: Path) -> None:
    tree = from_file(tmp_path, 'Smith, A.;"x; y";*\nJones, B.;"x; y";*\n')
    assert joined(tree, "Smith, A.", "Jones, B.") == "x; y"
    tree = from_file(tmp_path, "a;1,b,*\nc;2,b,*\n", delimiter=",")
    assert joined(tree, "a;1", "c;2") == "b"


def test_an_empty_cell_skips_a_level(tmp_path: Path) -> None:
    tree = from_file(tmp_path, "CS201;CS2xx;CS;*\nCS305;;CS;*\nMATH101;;;*\n")
    assert tree.ancestors[tree.node_of("MATH101")] == (0, tree.node_of("MATH101"), -1, -1)
    assert joined(tree, "CS201", "CS305") == "CS"
    assert joined(tree, "CS201", "MATH101") == "*"


@pytest.mark.parametrize("name", ["t.yaml", "t.json"])
def test_a_nested_file_reads_every_scalar_as_text(tmp_path: Path, name: str) -> None:
    text = '{"ANY": {"Nordic": ["no", "se"], "years": ["1985", "2e3"]}}' if name == "t.json" else ""
    text = text or "ANY:\n  Nordic: [no, se]\n  years:\n    1985:\n    2e3: null\n"
    tree = from_file(tmp_path, text.replace("null", ""), name)
    assert joined(tree, "no", "se") == "Nordic"
    assert joined(tree, "1985", "2e3") == "years"
    assert tree.labels[0] == "*"


def test_spellings_of_a_policy() -> None:
    assert Taxonomy.model_validate("majors.csv") == Taxonomy(file="majors.csv")
    assert Taxonomy.model_validate({"file": "m.csv", "inner": True}).inner
    for broken in (
        {},
        {"file": "a", "tree": {}},
        {"file": "a", "delimiter": ";;"},
        {"tree": {"*": 1}, "delimiter": ";"},
    ):
        with pytest.raises(ValidationError):
            Taxonomy.model_validate(broken)


REFUSED = {
    "one label, two nodes": ("a;b;*\na;c;*\n", "'a' names two nodes"),
    "an inner label used twice": ("x;b;c;*\ny;b;d;*\n", "'b' names two nodes"),
    "a label above itself, with a sibling": ("a;a;*\nb;a;*\n", "'a' names two nodes"),
    "the root's spelling inside": ("a;*;x;*\nb;c;*;*\n", "'*' names two nodes"),
    "a leaf spelled like the root": ("*;*\n", "spelled like a generalized value"),
    "a leaf spelled like an interval": ("[0, 4];low;*\nb;low;*\n", "spelled like a generalized value"),
    "ragged rows": ("a;b;*\nc;r\n", "line 2: the rows differ in length"),
    "a row of one cell": ("a;b;*\n*\n", "line 2: the rows differ in length"),
    "two parents at the top": ("a: b, c\nd: e, f, g\n", "one root"),
    "a parent below itself": ("r: a, b\nc: d, e\nd: c, f\n", "lies below itself"),
    "a child of two parents": ("r: a, b\na: x\nb: x\n", "'x' names two nodes: rename"),
    "no delimiter": ("a\nb\n", "no delimiter"),
    "empty": ("\n\n", "the tree has no leaf"),
    "several roots": ("a;x\nb;y\n", "end in different roots"),
    "root first": ("*;Engineering;CS\n*;Engineering;EE\n", "rows go from leaf to root"),
    "a leaf that is an inner node": ("CS;;*\nCS201;CS;*\n", "line 1: the leaf of this line is an inner node"),
    "an empty leaf": (";b;*\nc;b;*\n", "line 1: the leaf is empty"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        from_file(tmp_path, text)
    assert message in str(refused.value)
    assert "t.csv" in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [b]\nc: [d]\n", "one key, the root"),
        ("- a\n", "one key, the root"),
        ("r: {a: [x], a: [y]}\n", "line 1: not usable YAML: a key occurs twice"),
        ("r: [unclosed\n", "not usable YAML"),
        ("r: &a {x: *a}\n", "nested beyond"),
        ("r: " + "{a: " * 70 + "}" * 70, f"deeper than {MAX_DEPTH}"),
        ("r: " + "[" * 5000, "nested beyond"),
        ("r: {a: &b [x, y], c: *b}\n", "names two nodes"),
        ("r: [[a]]\n", "neither text nor a number"),
    ],
)
def test_nested_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        from_file(tmp_path, text, "t.yaml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"gone\.csv: the file cannot be read: No such file"):
        Taxonomy(file="gone.csv").compile({}, tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9;*\n")
    with pytest.raises(PolicyError, match="not UTF-8"):
        Taxonomy(file="latin.csv").compile({}, tmp_path)


def test_an_inline_tree_takes_numbers_but_nothing_that_yaml_turned_into_a_boolean() -> None:
    tree = Taxonomy(tree={"*": {"old": [1985, Decimal("1.50")], "new": {2001: None}}}).compile({}, Path())
    assert tree.labels[tree.node_of("1985")] == "1985"
    assert tree.node_of("1.5") != tree.node_of("2001")
    with pytest.raises(PolicyError, match="put it in quotes"):
        Taxonomy(tree={"*": [True]}).compile({}, Path())


def test_a_chain_of_single_children_may_repeat_a_label_and_a_join_names_the_deepest_node() -> None:
    tree = Taxonomy(tree={"*": {"a": {"a": {"a": ["x", "y"]}}, "z": {"z": None}}}).compile({}, Path())
    join = tree.join(tree.node_of("x"), tree.node_of("y"))
    assert (tree.labels[join], tree.ancestors[join].index(join)) == ("a", 3)
    assert {tree.lm[node] for node in tree.ancestors[join][1:4]} == {Fraction(1, 2)}
    assert tree.ancestors[tree.node_of("z")].index(tree.node_of("z")) == 2
    assert tree.codebook["parents"] == {"a": "*", "x": "a", "y": "a", "z": "*"}


def test_a_root_that_the_file_repeats_or_names_is_published_as_the_root(tmp_path: Path) -> None:
    tree = from_file(tmp_path, "a;*;*\nb;*;*\n")
    assert joined(tree, "a", "b") == "*"
    assert joined(from_file(tmp_path, "a;ANY\nb;ANY\n"), "a", "b") == "*"


def test_values_at_inner_nodes_are_covered_where_the_policy_says_so() -> None:
    nested = {"*": {"CS": ["CS201", "CS305"], "MATH": None}}
    strict = Taxonomy(tree=nested).compile({}, Path())
    for value in ("CS", "*", "", "cs201", 5, True, Decimal("NaN")):
        with pytest.raises(Uncovered):
            strict.node_of(value)
    inner = Taxonomy(tree=nested, inner=True).compile({"CS": 1}, Path())
    assert joined(inner, "CS", "CS201") == "CS"
    assert inner.lm[inner.node_of("CS")] == Fraction(1, 2)
    with pytest.raises(Uncovered):
        inner.node_of("*")


def test_leaves_are_those_of_the_file_and_missing_is_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(MAJORS, encoding="utf-8")
    tree = Taxonomy(file="m.csv").compile({"CS": 3, None: 9}, tmp_path)
    assert tree.lm[0] == 1
    assert tree.lm[tree.join(tree.node_of("CS"), tree.node_of("Data"))] == Fraction(1, 3)


def test_a_label_is_spelled_as_the_file_has_it() -> None:
    domain = Taxonomy(tree={"*": {"few": ["1", "2.50", "true"], "many": ["7"]}})
    tree = domain.compile({1: 1, Decimal("2.5"): 1, "7": 1, Decimal("7.0"): 1}, Path())
    values = (1, Decimal("2.5"), True, 7)
    assert [tree.labels[tree.node_of(value)] for value in values] == ["1", "2.50", "true", "7"]


RAGGED = {"*": {"Engineering": {"Computing": ["CS", "Data"], "EE": None}, "Arts": ["Law"], "Music": None}}


@pytest.mark.parametrize(
    ("finest", "published"),
    [
        (0, {"CS": "CS", "EE": "EE", "Law": "Law", "Music": "Music"}),
        (1, {"CS": "Computing", "EE": "Engineering", "Law": "Arts", "Music": "*"}),
        (2, {"CS": "Engineering", "EE": "Engineering", "Law": "*", "Music": "*"}),
        (3, {"CS": "*", "EE": "*", "Law": "*", "Music": "*"}),
    ],
)
def test_finest_is_the_lowest_ancestor_of_that_height(finest: int, published: dict[str, str]) -> None:
    """The height is the longest way down to a leaf; the root is for what has no lower one."""
    domain = Taxonomy(tree=RAGGED, finest=finest)
    tree, whole = domain.compile({}, Path()), Taxonomy(tree=RAGGED).compile({}, Path())
    assert {value: tree.labels[tree.node_of(value)] for value in published} == published
    lost = dict(zip(whole.labels, whole.lm, strict=True))
    assert all(tree.lm[node] == lost[label] for node, label in enumerate(tree.labels))
    labels = domain.labels(Path())
    assert all(labels.is_finest(label) for label in published.values())
    assert not any(labels.is_finest(value) or labels.is_coarser(value) for value in published if finest)
    assert tree.codebook.get("finest", 0) == finest


def test_values_at_inner_nodes_are_their_own_finest_form_where_they_are_high_enough() -> None:
    tree = Taxonomy(tree=RAGGED, finest=1, inner=True).compile({}, Path())
    found = {value: tree.labels[tree.node_of(value)] for value in ("Computing", "Engineering", "CS")}
    assert found == {"Computing": "Computing", "Engineering": "Engineering", "CS": "Computing"}


def test_a_finest_form_above_the_root_is_refused() -> None:
    with pytest.raises(PolicyError, match="finest: 4 lies above the root, whose height is 3: state at most"):
        Taxonomy(tree=RAGGED, finest=4).compile({}, Path())


ACCEPTED = {
    "ARX, straight to the root": ("a;b;c;*\nx;*;*;*\nz;d;c;*\n", {"a": "b", "z": "d", "x": "*"}),
    "ARX, with the missing value": (";*;*\na;b;*\nx;b;*\n", {"a": "b", "x": "b"}),
    "the missing value alone": (";\na;*\n;*\n", {"a": "*"}),
    "a named root": ("a;Any;Any\nb;c;Any\n", {"a": "*", "b": "c"}),
    "ragged rows": ("a;b;c;*\nx;*\nz;d;*\n", {"a": "b", "x": "*", "z": "d"}),
    "empty cells behind the root": ("a;b;*;\nx;*;;\n", {"a": "b", "x": "*"}),
    "parents with children": (
        "Any:Europe,Asia\nEurope:Greece, Italy\nAsia:New Delhi\n",
        {"Greece": "Europe"},
    ),
    "parents below their children": (
        "Europe:Greece;Italy\nAny:Europe;Asia\n",
        {"Italy": "Europe", "Asia": "*"},
    ),
    "Amnesia": ("distinct\nstring\nname place\nheight 3\n\nAny: E A\nE: x y\n", {"x": "E", "A": "*"}),
}


@pytest.mark.parametrize(("text", "parents"), ACCEPTED.values(), ids=ACCEPTED)
def test_hierarchies_of_others(tmp_path: Path, text: str, parents: dict[str, str]) -> None:
    tree = from_file(tmp_path, text)
    for leaf, parent in parents.items():
        node = tree.node_of(leaf)
        above = [entry for entry in tree.ancestors[node] if entry not in (-1, node)]
        assert tree.labels[above[-1]] == parent
    assert tree.labels[tree.node_of(None)] is None
