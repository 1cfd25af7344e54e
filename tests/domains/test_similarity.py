"""Semantic distance on random trees, beside the twin that walks up and compares all pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hierdata.domains.sensitive import path_in
from hierdata.domains.similarity import components, distance, is_transitive, least_distance
from hierdata.domains.taxonomy import Taxonomy
from tests import naive_semantics as naive
from tests.domains.hierarchies import nested_trees

HALVES = st.integers(0, 12).map(lambda half: Fraction(half, 2)) | st.fractions(0, 5, max_denominator=7)
Parents = dict[int, int | None]
Drawn = tuple[Parents, list[int], list[tuple[int, ...]]]


@st.composite
def trees(draw: st.DrawFn) -> Drawn:
    """Parents, some values (inner nodes too), and their paths from the root."""
    parents: Parents = {0: None}
    for node in range(1, draw(st.integers(2, 14))):
        parents[node] = draw(st.integers(0, node - 1))
    values = draw(st.lists(st.sampled_from(sorted(parents)), min_size=1, unique=True))
    return parents, values, [tuple(naive.way_up(parents, value)[::-1]) for value in values]


@st.composite
def even_trees(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], Fraction]:
    """Leaves of one depth, and a bound."""
    depth = draw(st.integers(1, 4))
    branches = st.tuples(*[st.integers(0, 2)] * depth)
    leaves = draw(st.lists(branches, min_size=1, unique=True))
    nodes: dict[tuple[int, ...], int] = {}
    paths = [tuple(nodes.setdefault(leaf[:down], len(nodes)) for down in range(depth + 1)) for leaf in leaves]
    return paths, draw(HALVES)


@given(trees())
def test_distances_are_half_the_path(drawn: Drawn) -> None:
    parents, values, paths = drawn
    for (a, left), (b, right) in combinations(zip(values, paths, strict=True), 2):
        assert distance(left, right) == distance(right, left) == naive.distance(parents, a, b) > 0
    assert distance(paths[0], paths[0]) == 0


@given(trees(), HALVES)
def test_components_are_what_chains_connect(drawn: Drawn, e: Fraction) -> None:
    parents, values, paths = drawn
    number = components(paths, e)
    by_number: dict[int, set[int]] = {}
    for value, own in zip(values, number, strict=True):
        by_number.setdefault(own, set()).add(value)
    assert list(by_number) == list(range(len(by_number))), "numbered as they first occur"
    assert list(by_number.values()) == naive.buckets(parents, values, e)


@given(trees(), HALVES)
def test_transitive_is_what_all_triples_say(drawn: Drawn, e: Fraction) -> None:
    parents, values, paths = drawn
    assert is_transitive(paths, e) == naive.is_transitive(parents, values, e)


@given(even_trees())
def test_at_one_depth_it_is_always_transitive(drawn: tuple[list[tuple[int, ...]], Fraction]) -> None:
    assert is_transitive(*drawn)


@given(trees(), st.data())
def test_the_least_distance_is_that_of_the_closest_pair(drawn: Drawn, data: st.DataObject) -> None:
    parents, values, _ = drawn
    some = data.draw(st.lists(st.sampled_from(values), max_size=6))
    pairs = [naive.distance(parents, a, b) for a, b in combinations(some, 2)]
    paths = [tuple(naive.way_up(parents, value)[::-1]) for value in some]
    assert least_distance(paths) == min(pairs, default=None)


def test_the_ragged_tree_of_the_erratum() -> None:
    x, z, y = (0, 1, 2), (0, 3, 4), (0, 5)
    e = Fraction(3, 2)
    assert [distance(x, y), distance(y, z), distance(x, z)] == [e, e, 2]
    assert components((x, y, z), e) == (0, 0, 0)
    assert components((x, z), e) == (0, 1), "without the value between them they are apart"
    assert not is_transitive((x, y, z), e)


def test_inner_values_fail_at_a_half() -> None:
    siblings_and_parent = ((0, 1), (0, 2), (0,))
    assert not is_transitive(siblings_and_parent, Fraction(1, 2))
    assert is_transitive(siblings_and_parent, Fraction(1))


def test_nothing_has_no_components() -> None:
    assert components((), Fraction(1)) == ()
    assert is_transitive((), Fraction(1))
    assert least_distance(()) is None


@given(nested_trees())
def test_paths_of_a_taxonomy_are_paths_of_its_tree(drawn: tuple[dict[str, Any], list[str]]) -> None:
    tree, leaves = drawn
    taxonomy = Taxonomy(tree=tree).compile({}, Path())
    parents: dict[str, str | None] = {"*": None}

    def walk(name: str, below: dict[str, Any]) -> None:
        for child, inner in below.items():
            parents[child] = name
            walk(child, inner)

    walk("*", tree["*"])
    for a, b in combinations(leaves, 2):
        assert distance(path_in(taxonomy, a), path_in(taxonomy, b)) == naive.distance(parents, a, b)
