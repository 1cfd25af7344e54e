"""Files and functions stay small, everything public is explained, generated files are the generated ones."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from hierdata.policy.schema import text
from hierdata.release.report.models import json_schemas
from tests.architecture.sources import nodes, parsed
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hierdata"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 470
LONGEST_FUNCTION = 60


# Compiled loops are one function on purpose: a call that passes arrays costs more than what it would do.
def is_compiled(path: Path) -> bool:
    """Whether a file holds kernels."""
    return path.name.startswith("kernel") or path.parent.name == "kernels"


Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


each_source = for_each("path", SOURCES)


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Functions and classes with their dotted names; what lies inside a function is nobody's business."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            name = f"{above}{node.name}"
            yield name, node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node, f"{name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from definitions(node, above)


@each_source
def test_files_and_functions_are_small(path: Path) -> None:
    if is_compiled(path):
        return
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST_FILE
    for name, node in definitions(parsed(path)):
        if isinstance(node, Function):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, name


@each_source
def test_what_is_public_is_explained(path: Path) -> None:
    """A method may leave the explaining to the class it comes from."""
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    module = import_module(dotted)
    assert module.__doc__
    for name, _ in definitions(parsed(path)):
        if not any(part.startswith("_") for part in name.split(".")):
            assert inspect.getdoc(attrgetter(name)(module)), name


@each_source
def test_nothing_is_printed_past_the_outlet_of_the_terminal(path: Path) -> None:
    """Libraries that print would write values where nobody looks for them, and unescaped."""
    if path.name == "__main__.py" or path == PACKAGE / "cli" / "terminal.py":
        return
    calls = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
    names = [call.id for call in calls if isinstance(call, ast.Name)]
    names += [call.attr for call in calls if isinstance(call, ast.Attribute)]
    assert not {"print", "breakpoint", "echo", "secho", "print_exc", "warn"} & set(names)


def test_published_schemas_are_the_generated_ones() -> None:
    schemas = ROOT / "schemas"
    assert (schemas / "policy.schema.json").read_text("utf-8") == text()
    for name, schema in json_schemas().items():
        assert json.loads((schemas / f"{name}.schema.json").read_text("utf-8")) == schema
    by_hand = {"student.schema.json", "student.xsd"}  # of the bundled students
    generated = {"policy.schema.json", *(f"{name}.schema.json" for name in json_schemas())}
    assert {path.name for path in schemas.iterdir()} == by_hand | generated


TEXTS = {
    ".cfg",
    ".csv",
    ".json",
    ".jsonl",
    ".md",
    ".py",
    ".toml",
    ".txt",
    ".xml",
    ".xsd",
    ".yaml",
    ".yml",
    "",
}
KEPT = (".ci", "docs", "fixtures", "hierdata", "schemas", "tests")


def repository() -> list[Path]:
    """The text files that belong to the repository."""
    below = [
        path for folder in KEPT for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts
    ]
    return [path for path in [*ROOT.iterdir(), *below] if path.is_file() and path.suffix in TEXTS]


def test_nothing_names_a_path_of_somebodys_machine() -> None:
    places = re.compile(r"(?<![\w.])/(?:home/\w|Users/\w|tmp/\w|work/\w|root/\.)")
    found = {
        f"{name_of(path)}: {match.group()}"
        for path in repository()
        for match in places.finditer(path.read_text("utf-8", errors="replace"))
    }
    assert found == set()


def test_nothing_names_an_internal_document() -> None:
    """Who reads the code has the pages; decisions are said where they matter."""
    # Put together here, so that this file names none.
    names = "|".join(("DECIS" + "IONS", "BOUN" + "DED", "HO" + "USE", "PEE" + "RS", "[Ii]s" + "sue [0-9]"))
    found = {
        f"{name_of(path)}: {match.group()}"
        for path in repository()
        for match in re.finditer(rf"\b(?:{names})\b", path.read_text("utf-8", errors="replace"))
    }
    assert found == set()


def relative_paths(path: Path) -> list[str]:
    """What a file refers to beside itself: links of a page, files that a policy names."""
    if path.suffix not in {".md", ".yaml"}:
        return []
    content = path.read_text("utf-8")
    if path.suffix == ".md":
        links: list[str] = re.findall(r"\]\(([^)#\s]+)", content)
        return [link for link in links if "://" not in link and not link.startswith("mailto:")]
    return re.findall(r"(?:taxonomy|file|schema): ([\w./-]+)", content)


def test_every_relative_path_stays_inside_and_leads_somewhere() -> None:
    checked = 0
    for path in repository():
        for relative in relative_paths(path):
            target = (path.parent / relative).resolve()
            assert target.is_relative_to(ROOT), f"{name_of(path)} leaves the repository"
            assert target.exists(), f"{name_of(path)} names {relative}, which is not there"
            checked += 1
    assert checked
