"""A class name means one class, and functions are named by what they do."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.architecture.sources import nodes

PACKAGE = Path(__file__).parents[2] / "hierdata"
SOURCES = sorted(PACKAGE.rglob("*.py"))

PARTICIPLE = re.compile(
    r"_*([a-z]+ed|[a-z]+own|[a-z]+ung"
    r"|begun|beside|bound|brought|built|dealt|done|drawn|found|given|gone|heard|held|kept|known|left|lost|made|met"
    r"|seen|sent|shared|spent|spoken|stood|swept|taken|told|torn|unbound|written)"
)
ALLOWED = {
    "confirmed": "Draft.confirmed is documented",
    "joined": "hierdata.records.flatten.joined is documented",
    "_feed": "to feed is a verb",
    "_seed": "a noun: the seed of a run",
    "shared": "an adjective: a kind of kernel, as lean",
}


def test_a_class_name_is_defined_once() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_function_is_named_by_a_participle_alone() -> None:
    """``bind_records``, not ``bound``; ``is_published``, not ``published``."""
    riddles = [
        f"{path.relative_to(PACKAGE).as_posix()}:{node.lineno} {node.name}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if PARTICIPLE.fullmatch(node.name) and node.name not in ALLOWED
    ]
    assert riddles == []
