"""The house plan holds: floors, what may import which library, and what starting costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.sources import nodes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hierdata"
SOURCES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))

# Libraries that cost much to load or are pinned in one place, and the files that may name them.
HOMES = {
    "numba": ("engines/compiler/",),
    "llvmlite": ("engines/compiler/",),
    "skfuzzy": ("domains/membership.py",),
    "pyarrow": (
        "documents/formats/parquet.py",
        "documents/formats/arrow_tables.py",
        "documents/formats/nested_columns.py",
    ),
    "pandas": ("documents/formats/arrow_tables.py",),
    "cloudpickle": ("executors/spill.py", "executors/base.py", "executors/spark.py"),
    "psycopg": ("sources/stores/postgresql_",),
    "sqlalchemy": ("sources/stores/postgresql_",),
    "pymongo": ("sources/stores/mongodb_",),
    "bson": ("documents/formats/bson_", "sources/stores/mongodb_"),
    "pyspark": ("executors/spark.py", "executors/application.py"),
    "py4j": ("executors/spark.py",),
    "lxml": (
        "documents/formats/xmltree.py",
        "documents/formats/xml.py",
        "records/xsd.py",
        "records/published_xsd.py",
    ),
    "jsonschema": ("sources/json_schema/",),
    "re2": ("sources/json_schema/keywords.py",),
    "yaml": ("policy/load/yaml.py", "domains/taxonomy_files.py", "documents/limits.py"),
    "typer": ("cli/",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "starlette": ("studio/",),
    "uvicorn": ("studio/",),
}
HEAVY = (
    "numpy",
    "pyarrow",
    "pandas",
    "numba",
    "scipy",
    "skfuzzy",
    "networkx",
    "lxml",
    "jsonschema",
    "pydantic",
    "yaml",
    "rich",
)


@cache
def libraries(path: str) -> set[str]:
    """The packages that a file of ours imports from."""
    return {name.partition(".")[0] for name in imported(PACKAGE / path)}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever the import stands."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where a name comes from"
            assert node.module is not None
            yield node.module


def test_the_import_contracts_are_kept() -> None:
    # In a process of its own: the linter sets logging up, which would silence the loggers of this one.
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_known_to_its_home_only(library: str) -> None:
    strangers = [
        path for path in SOURCES if not path.startswith(HOMES[library]) and library in libraries(path)
    ]
    assert strangers == []


@pytest.mark.parametrize(
    ("start", "needed"),
    [
        ("hierdata", set()),
        ("hierdata.cli", set()),
        ("hierdata.policy.load", {"numpy", "pydantic", "yaml"}),
        ("hierdata.engines", {"numpy", "pydantic"}),
    ],
)
def test_starting_loads_nothing_heavy(start: str, needed: set[str]) -> None:
    code = f"import sys, {start}; print(*sorted({set(HEAVY) - needed!r} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.split() == []


def test_lint_without_data_loads_no_arrays_and_no_compiler(tmp_path: Path) -> None:
    """Degrees of fuzzy sets, which scikit-fuzzy computes with arrays, are computed where they are shown."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "version: 1\nmodels: [{kind: k-anonymity, k: 3}]\n"
        "fields: {$.job: {role: quasi, flat: true}, $.ill: {role: sensitive}}\n"
    )
    unneeded = {"numpy", "numba", "scipy"}
    for file in (policy, ROOT / "fixtures" / "policies" / "students.yaml"):
        code = (
            f"import sys; from hierdata.cli import main; found = main(['lint', {str(file)!r}]); "
            f"print(found, *sorted({unneeded!r} & sys.modules.keys()))"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1] == "0"
