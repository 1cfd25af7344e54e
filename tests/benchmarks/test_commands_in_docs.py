"""Commands ``python -m`` that the pages name: their modules exist, and benchmarks accept the options."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "fixtures").rglob("*.md")),
]


def commands_in(page: Path) -> list[tuple[str, str]]:
    """The modules of this repository that a page runs, with their options."""
    text = page.read_text("utf-8")
    return re.findall(r"python -m ((?:hierdata|tests)(?:\.\w+)*)([^`\n>|]*)", text)


def module_of(command: str) -> str:
    """The module that ``python -m`` runs."""
    spec = importlib.util.find_spec(command)
    assert spec is not None, command
    return command if spec.submodule_search_locations is None else f"{command}.__main__"


def test_commands_of_the_docs_name_modules_that_run() -> None:
    named = {name for page in PAGES for name, _ in commands_in(page)}
    assert "tests.benchmarks.engine" in named
    for name in named:
        spec = importlib.util.find_spec(module_of(name))
        assert spec is not None, name
        assert spec.origin is not None, name
        source = Path(spec.origin).read_text("utf-8")
        assert spec.name.endswith(".__main__") or 'if __name__ == "__main__":' in source, name


def test_benchmarks_accept_the_options_that_the_docs_give() -> None:
    for page in PAGES:
        for name, options in commands_in(page):
            if name.startswith("tests.benchmarks."):
                importlib.import_module(module_of(name)).parser().parse_args(
                    shlex.split(options, comments=True)
                )
