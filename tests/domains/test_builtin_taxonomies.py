"""The taxonomies of the package are what the script makes, and policies name them without a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hierdata.domains.taxonomy import Taxonomy
from hierdata.domains.taxonomy_files import locate_tree, read_tree
from hierdata.ground.errors import PolicyError
from tests.builtin_taxonomies import FOLDER, FROM_PACKAGES, MADE_HERE, text_of

LARGE = {"icd-10-cm", "postal-5", "zip-3"}
NAMES = sorted(path.name.removesuffix(".csv.gz") for path in FOLDER.glob("*.csv.gz"))


def stored(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes()).decode()


def test_every_taxonomy_is_made_by_the_script_and_has_its_source() -> None:
    assert {*NAMES} == MADE_HERE.keys() | FROM_PACKAGES.keys()
    sources = (FOLDER / "SOURCES.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in sources] == []
    for name, make in MADE_HERE.items():
        assert stored(name) == text_of(make())


@pytest.mark.full
def test_those_from_packages_are_made_from_them() -> None:
    for name, (package, make) in FROM_PACKAGES.items():
        pytest.importorskip(package)
        assert stored(name) == text_of(make())


def check(names: list[str]) -> None:
    for name in names:
        tree = read_tree(locate_tree(Path("none"), f"builtin/{name}"), None, name)
        lines = stored(name).splitlines()
        assert tree.child_counts.count(0) == len(lines) == len({line.split(";")[0] for line in lines})


def test_small_ones_are_trees_with_a_leaf_a_line() -> None:
    check([name for name in NAMES if name not in LARGE])


@pytest.mark.full
def test_large_ones_are_trees_with_a_leaf_a_line() -> None:
    check(sorted(LARGE))


@pytest.mark.parametrize(
    ("name", "values", "joined"),
    [
        ("ages", (31, 34), "30-34"),
        ("ages", (31, 38), "30-39"),
        ("ages", (90, 117), "90 and over"),
        ("ages", (89, 90), "*"),
        ("countries", ("DE", "FR"), "Western Europe"),
        ("countries", ("AU", "FJ"), "Oceania"),
        ("countries-3", ("DEU", "POL"), "Europe"),
        ("postal-4", ("3000", "3099"), "30**"),
        ("zip-3", ("02138", "02199"), "021"),
        ("zip-3", ("03601", "89399"), "000"),
        ("icd-10", ("E11.0", "E11.9"), "E11"),
        ("icd-10", ("E10.0", "E11.9"), "E10-E14"),
        ("icd-10", ("E03.9", "E11.9"), "Chapter IV"),
        ("marital-status", ("D", "W"), "no longer married"),
        ("administrative-gender", ("other", "unknown"), "other or unknown"),
        ("encounter-class", ("IMP", "ACUTE"), "inpatient"),
        ("encounter-class", ("AMB", "EMER"), "*"),
        ("weekday", ("Saturday", "Sunday"), "weekend"),
        ("season", (12, 2), "winter"),
    ],
)
def test_values_meet_where_people_expect(name: str, values: tuple[str, str], joined: str) -> None:
    tree = Taxonomy.model_validate(f"builtin/{name}").compile(dict.fromkeys(values, 1), Path("none"))
    first, second = map(tree.node_of, values)
    assert tree.labels[tree.join(first, second)] == joined


def test_only_names_without_suffix_are_of_the_package(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="it has administrative-gender, ages"):
        Taxonomy(file="builtin/aegs").compile({}, tmp_path)
    with pytest.raises(PolicyError, match="cannot be read"):
        Taxonomy(file="builtin/ages.csv").compile({}, tmp_path)
    with pytest.raises(PolicyError, match="cannot be read"):
        Taxonomy(file="builtin/../ages").compile({}, tmp_path)
    assert Taxonomy(file="builtin/ages").named_file is None
    assert Taxonomy(file="builtin/ages.csv").named_file == "builtin/ages.csv"
