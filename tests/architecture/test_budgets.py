"""The house stays as light as it is: lines by room, rooms and arrows, what README's first command runs.

``python -m tests.architecture.test_budgets`` prints the figures. A commit that needs more lines in a room
than its budget names what the new capability replaces, and sets the budget to the new figure and 2 %.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.sources import nodes, parsed

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hierdata"
SOURCES = sorted(PACKAGE.rglob("*.py"))
START = ("__init__", "__main__")  # names of the package, which may import anything
MOST_ENTRIES, MOST_ARROWS, MOST_FLOORS = 24, 120, 13
MOST_FILES_RUN = 200
MOST_FRAMES = 20
MOST_PARAMETERS = 7
LEAST_LINES = 60

BUDGETS: dict[str, int] = {
    "__init__": 165,
    "__main__": 20,
    "cli": 2780,
    "comparison": 777,
    "documents": 6048,
    "domains": 4802,
    "drafting": 4270,
    "engines": 21485,
    "executors": 1754,
    "forest": 2040,
    "ground": 993,
    "judge": 5070,
    "measurement": 5154,
    "metrics": 2829,
    "pipeline": 7148,
    "policy": 7562,
    "privacy": 3335,
    "records": 8026,
    "release": 6753,
    "reproduction": 6354,
    "sources": 5028,
    "synth": 2154,
    "studio": 2966,
    "testing": 1462,
}
"""Lines of each room: those of the day on which they were set, and 2 %."""

SMALL = {
    "cli/plugins.py": "one command a file",
    "cli/schema.py": "one command a file",
    "cli/studio.py": "one command a file",
    "cli/warmup.py": "one command a file",
    "engines/buckets/kernel.py": "compiled loops are apart from what calls them",
    "engines/compose/engine.py": "one engine a file, which loads nothing heavy",
    "engines/jit.py": "the names by which kernels are declared",
    "engines/mondrian/engine.py": "one engine a file, which loads nothing heavy",
    "engines/spread/engine.py": "one engine a file, which loads nothing heavy",
    "engines/sweep/engine.py": "one engine a file, which loads nothing heavy",
    "forest/partition.py": "the noun that most rooms import",
    "ground/pages.py": "every room may import it, so each file is for itself",
    "ground/parents.py": "every room may import it, so each file is for itself",
    "ground/progress.py": "every room may import it, so each file is for itself",
    "ground/version.py": "every room may import it, so each file is for itself",
    "pipeline/plugins.py": "one command's step",
    "policy/spec/safe_harbor.py": "the identifiers of a regulation, apart from what checks them",
    "policy/schema.py": "writes the JSON Schema; a command of its own",
    "testing/contract.py": "the base of all contracts",
    "release/report/plain.py": "what pages, terminal and sentences read alike",
}
"""Files of fewer lines than LEAST_LINES that are no ``__init__``, each with the reason."""

LONG_CALLS = {
    "comparison/compare.py:compare": "the public function",
    "engines/local_search/run.py:descend_partition": "not divided yet",
    "measurement/adversary/embedding.py:_has_space": "a kernel, compiled",
    "measurement/adversary/embedding.py:_list_choices": "a kernel, compiled",
    "measurement/adversary/embedding.py:_place_children": "a kernel, compiled",
    "pipeline/anonymize.py:_release_records": "not divided yet",
    "pipeline/anonymize.py:_write_report": "not divided yet",
    "pipeline/anonymize.py:anonymize": "the public function",
    "pipeline/attack.py:attack": "the public function",
    "pipeline/look_over.py:look_over": "not divided yet",
    "pipeline/measure.py:measure": "the public function",
    "pipeline/read_release.py:read_release": "not divided yet",
    "pipeline/verify.py:_verdict": "not divided yet",
    "pipeline/verify.py:verify": "the public function",
    "release/files.py:write_files": "not divided yet",
}
"""Functions outside kernels and the command line that take more parameters, each with the reason."""

README = """
import inspect, os, sys, hierdata

home = os.path.dirname(hierdata.__file__) + os.sep
files, deepest = set(), 0

def own(code):
    return code.co_filename.startswith(home) and code.co_flags & inspect.CO_OPTIMIZED  # functions only

def note(frame, event, argument):
    global deepest
    if event != "call" or not own(frame.f_code):
        return
    files.add(frame.f_code.co_filename)
    if frame.f_code.co_qualname != "Kernel.__call__":
        return
    count, above = 0, frame.f_back
    while above is not None:
        count, above = count + bool(own(above.f_code)), above.f_back
    deepest = max(deepest, count)

from hierdata.cli import main
sys.argv = ["hierdata", "anonymize", *sys.argv[1:]]
sys.setprofile(note)
try:
    main()
except SystemExit as exit:
    assert not exit.code
sys.setprofile(None)
print(len(files), deepest)
"""
"""Counts the files with a function that runs, and the most frames of ours above a kernel."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def count_lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


@cache
def lines() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for path in SOURCES:
        found[room_of(path)] = found.get(room_of(path), 0) + count_lines(path)
    return found


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms that a file imports from, for type checkers too."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (
                [node.module] if node.module != "hierdata" else [f"hierdata.{own.name}" for own in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [own.name for own in node.names]
        else:
            continue
        for name in names:
            if name.startswith("hierdata.") and (room := name.split(".")[1]) in lines():
                yield room


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Which room imports from which."""
    return frozenset(
        (room_of(path), room)
        for path in SOURCES
        for room in imported_rooms(path)
        if room_of(path) not in (room, *START)
    )


@cache
def floor_of(room: str) -> int:
    """The number of rooms on the longest way down from a room, itself included."""
    return 1 + max((floor_of(below) for above, below in arrows() if above == room), default=0)


def test_every_room_keeps_to_its_budget_of_lines() -> None:
    assert lines().keys() == BUDGETS.keys()
    assert {room: count for room, count in lines().items() if count > BUDGETS[room]} == {}


def test_rooms_arrows_and_floors_are_few() -> None:
    entries = {path.name for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert len(entries - {"__pycache__"}) <= MOST_ENTRIES
    assert len(arrows()) <= MOST_ARROWS
    assert max(map(floor_of, lines())) <= MOST_FLOORS


def test_no_file_is_small_without_a_reason() -> None:
    small = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if path.stem not in START and count_lines(path) < LEAST_LINES
    }
    assert small == SMALL.keys()


def long_calls() -> Iterator[str]:
    for path in SOURCES:
        if path.name.startswith("kernel") or "kernels" in path.parts or room_of(path) == "cli":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = [own.arg for own in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > MOST_PARAMETERS:
                    yield f"{path.relative_to(PACKAGE).as_posix()}:{node.name}"


def test_functions_take_few_parameters() -> None:
    assert set(long_calls()) == LONG_CALLS.keys()


def trace_readme(folder: Path) -> tuple[int, int]:
    """Files with a function that README's first command runs, and the most frames above a kernel."""
    policy = ROOT / "fixtures/policies/students.yaml"
    command = ["fixtures/students/students.json", "--policy", str(policy), "--out", str(folder / "release")]
    ran = subprocess.run(
        [sys.executable, "-c", README, *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files, frames = ran.stdout.split()[-2:]
    return int(files), int(frames)


@pytest.mark.full
def test_the_first_command_runs_few_files_and_reaches_kernels_soon(tmp_path: Path) -> None:
    files, frames = trace_readme(tmp_path)
    assert files <= MOST_FILES_RUN
    assert frames <= MOST_FRAMES


def show_figures() -> None:
    """Print what the budgets are about."""
    for room, count in sorted(lines().items()):
        print(f'    "{room}": {count},')
    small = [path for path in SOURCES if path.stem not in START and count_lines(path) < LEAST_LINES]
    print(f"{len(SOURCES)} files, {sum(lines().values())} lines, {len(arrows())} arrows", end=", ")
    print(f"{max(map(floor_of, lines()))} floors, {len(small)} files below {LEAST_LINES} lines")
    for path in small:
        print("    ", path.relative_to(PACKAGE).as_posix(), count_lines(path))
    print(*sorted(long_calls()), sep="\n")


if __name__ == "__main__":
    show_figures()
