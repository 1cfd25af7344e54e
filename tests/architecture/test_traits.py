"""What differs between the members of a family is asked of the member: nobody compares names or classes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.formats import FORMATS
from hierdata.engines import ENGINES
from hierdata.executors import EXECUTORS
from hierdata.ground.recodings import TRAITS
from hierdata.privacy import MODELS
from hierdata.release.recodings import RECODINGS
from tests.architecture import sources
from tests.architecture.families import FAMILIES, PACKAGE
from tests.cases import for_each

# The folder of each family whose names nobody compares, with them.
NAMED: dict[str, Collection[str]] = {
    "release/recodings": RECODINGS,
    "engines": ENGINES,
    "documents/formats": FORMATS,
    "privacy": MODELS,
    "executors": EXECUTORS,
}
# The judge shares no code with what it judges, a preset is an algorithm written down as data, and the traits
# of recodings lie below the policy.
MAY_NAME = ("judge/", "policy/presets.py", "ground/recodings.py")
# Where a word that is also the name of a member means something else.
OTHER_MEANINGS = {
    ("documents/formats", "sources/stores/postgresql_types.py"),  # types of columns
    ("documents/formats", "records/path.py"),  # the prefix that every XML document knows
}

MEMBERS: dict[str, Mapping[str, Any]] = {
    "engines": ENGINES,
    **{folder: family.members(folder) for folder, family in FAMILIES.items() if family.kind is not None},
}
SOURCES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


def names(node: ast.AST) -> Iterator[str]:
    """Constant texts, single or listed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from names(element)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant):
                yield from names(key)


@cache
def listed_names(file: Path) -> list[tuple[int, frozenset[str], int]]:
    """The line of each comparison and list of texts, the texts, and how many members of a family tell."""
    return [*_listed_names(sources.nodes(file))]


def _listed_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, frozenset[str], int]]:
    for node in nodes:
        found: list[str] = []
        least = 1
        if isinstance(node, ast.Compare):
            found = [name for side in (node.left, *node.comparators) for name in names(side)]
        elif isinstance(node, ast.MatchValue):
            found = [*names(node.value)]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):  # Literal["a", "b"] has a tuple
            found, least = [*names(node)], 2
        if found:
            yield getattr(node, "lineno", 0), frozenset(found), least


def named_members(
    listed: Iterable[tuple[int, frozenset[str], int]], members: Collection[str]
) -> Iterator[str]:
    """Members of a family that are compared by name, or listed, at least two of them."""
    for line, found, least in listed:
        known = found.intersection(members)
        if len(known) >= least:
            yield f"line {line}: {', '.join(sorted(known))}"


def asked_classes(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, Any]]:
    """What is imported from the package and asked for by isinstance, issubclass or a class pattern."""
    imported = {
        alias.asname or alias.name: getattr(import_module(node.module), alias.name, None)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("hierdata")
        for alias in node.names
    }
    for node in nodes:
        asked: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            asked = node.args[1] if node.func.id in ("isinstance", "issubclass") else None
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        for inner in ast.walk(asked) if asked is not None else ():
            if isinstance(inner, ast.Name) and inner.id in imported:
                yield inner.lineno, imported[inner.id]


def test_the_traits_of_recodings_are_those_of_their_classes() -> None:
    assert list(RECODINGS) == list(TRAITS)
    for name, recoding in RECODINGS.items():
        assert recoding.traits is TRAITS[name]
        assert recoding.traits.judged_as == name


@pytest.mark.parametrize("family", NAMED)
def test_nobody_compares_the_names_of_members(family: str) -> None:
    told = {
        f"{path}, {found}"
        for path, file in SOURCES.items()
        if not path.startswith((f"{family}/", *MAY_NAME)) and (family, path) not in OTHER_MEANINGS
        for found in named_members(listed_names(file), NAMED[family])
    }
    assert told == set()


@for_each("path", SOURCES)
def test_nobody_asks_for_the_class_of_a_member(path: str) -> None:
    for line, asked in asked_classes(sources.nodes(SOURCES[path])):
        for family, members in MEMBERS.items():
            if not path.startswith((f"{family}/", "judge/")):
                assert all(asked is not member for member in members.values()), f"line {line}"


def test_the_traits_of_a_recoding_are_looked_up_by_one_function() -> None:
    """Only ``traits_of`` finds those of other distributions too."""
    readers = {
        path
        for path, file in SOURCES.items()
        for node in sources.nodes(file)
        if isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "TRAITS"
    }
    assert {path for path in readers if not path.startswith("release/recodings/")} == {"ground/recodings.py"}


@pytest.mark.parametrize(
    "source",
    [
        'policy.recoding == "anatomy"',
        'policy.recoding in ("anatomy", other)',
        '"slicing" != recoding',
        'TEXTS = {"anatomy": 1, "slicing": 2}',
        'Literal["anatomy", "slicing"]',
        'match recoding:\n    case "anatomy" | "other":\n        pass',
    ],
)
def test_every_way_to_compare_a_name_is_found(source: str) -> None:
    assert [*named_members(_listed_names(ast.walk(ast.parse(source))), RECODINGS)]


@pytest.mark.parametrize(
    "use", ["isinstance(x, Csv)", "isinstance(x, int | Csv)", "match x:\n    case Csv():\n        pass"]
)
def test_every_way_to_ask_for_a_class_is_found(use: str) -> None:
    source = f"from hierdata.documents.formats.csv import Csv\n{use}"
    assert [asked for _, asked in asked_classes([*ast.walk(ast.parse(source))])] == [FORMATS["csv"]]
