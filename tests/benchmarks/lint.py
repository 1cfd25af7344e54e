"""What ``lint`` costs beside ``anonymize``: ``python -m tests.benchmarks.lint [--records N]``.

Twelve shapes of records: those of the table of inputs that failed in the field, wide records, and students.
Each is drafted and the draft is followed blindly, except where the shape has a policy of its own. Both
commands run as processes of their own with the kernels compiled. ``lint --data`` must not take more CPU than
``anonymize``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hierdata
from hierdata.synth.students import students
from tests.benchmarks.engine import header, row
from tests.benchmarks.scale import cpu_of_children, taken
from tests.drafting.made_up_people import registrations_en, visits_de
from tests.drafting.made_up_sectors import bare, fhir_patient, ward_de

Record = dict[str, Any]
RECORDS = 400
_ROOM = 1.1
"""Two runs of one command differ by as much."""


def pupil(n: int) -> Record:
    return {"sex": "FM"[n % 2], "address": "UR"[n % 2], "age": 15 + n % 4, "health": n % 5, "G1": n * 7 % 20}


def listed(n: int) -> Record:
    return {"age": 20 + n % 40, "tags": ["abc"[n % 3], "de"[n % 2]] if n % 3 else "abc"[n % 3]}


def coded(n: int) -> Record:
    return {"dept": f"d{n % 4}", "score_id": n % 3, "performance_score": ("Low", "Mid", "High")[n % 3]}


def event(n: int) -> Record:
    places = {
        place: {"type": f"{place}{n % 3}", **{f"a{(n * 3 + k * at) % 10}": "xy"[k % 2] for k in range(4)}}
        for at, place in enumerate(("object", "target", "group"))
    }
    return {"type": f"T{n % 3}", "eventTime": f"2018-11-0{n % 9 + 1}", **places}


def wide(n: int) -> Record:
    draw = random.Random(n)
    tags = [
        {"kind": draw.choice("abcdef"), "ward": draw.choice("uvwxyz")} for _ in range(draw.randint(8, 20))
    ]
    return {"sex": draw.choice("mf"), "tags": tags}


def leveled(n: int) -> Record:
    return {"job": f"j{n % 40}", "ill": ("flu", "asthma", "ulcer")[n % 3]}


def paired(n: int) -> Record:
    draw = random.Random(n)
    return {name: f"{name}{draw.randint(0, 5)}" for name in "abcd"}


POLICIES = {
    "levels of ARX": """
version: 1
models: [{kind: k-anonymity, k: 3}]
fields:
  $.job: {role: quasi, taxonomy: levels.csv}
  $.ill: {role: sensitive}
""",
    "every two columns": """
version: 1
models: [{kind: bounded-knowledge, k: 3, m: 2, root: counted}]
fields:
"""
    + "".join(f"  $.{name}: {{role: quasi, flat: true}}\n" for name in "abcd"),
}
"""Of the shapes that are not drafted."""
LEVELS = "".join(f"j{n};group{n // 8};{'office' if n < 24 else 'field'};*\n" for n in range(38))
LEVELS += "j38;*;*;*\nj39;*;*;*\n"
"""Levels as ARX writes them: suppressed values go straight to the root."""


def each(make: Callable[[int], Record]) -> Callable[[int], list[Record]]:
    return lambda count: [bare(make(n), set()) for n in range(count)]


SHAPES: dict[str, Callable[[int], list[Record]]] = {
    "rows of one person": visits_de,
    "a file for each record": registrations_en,
    "dates of other forms": each(ward_de),
    "a list or a value": each(listed),
    "patients of FHIR": each(fhir_patient),
    "codes with labels": each(coded),
    "pupils": each(pupil),
    "sparse events": each(event),
    "wide records": each(wide),
    "levels of ARX": each(leveled),
    "every two columns": each(paired),
    "students": lambda count: list(students(count, depth=2, seed=1, correlation=0.8, skew=0.5)),
}


def write(shape: str, records: list[Record], folder: Path) -> Path:
    """Write records as lines, or as a folder with a file for each."""
    if shape != "a file for each record":
        path = folder / "records.jsonl"
        path.write_text("".join(f"{json.dumps(one, default=str)}\n" for one in records), "utf-8")
        return path
    path = folder / "records"
    path.mkdir()
    for number, one in enumerate(records):
        (path / f"{number}.json").write_text(json.dumps(one, indent=1), "utf-8")
    return path


def follow_blindly(source: Path) -> str:
    """Return the draft of a policy without its line ``draft``."""
    drafted = str(hierdata.init(source)).splitlines(keepends=True)
    return "".join(line for line in drafted if not line.startswith("draft:"))


def cpu(command: list[str]) -> float:
    before = cpu_of_children()
    taken([sys.executable, "-m", "hierdata", *command])
    return cpu_of_children() - before


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=RECORDS)
    options.add_argument("--shapes", nargs="+", choices=SHAPES, default=[*SHAPES])
    return options


def main(argv: list[str] | None = None) -> None:
    """Print a line for each shape, and which are dearer."""
    given = parser().parse_args(argv)
    dear = []
    header("Lint", "shape", "records", "lint CPU s", "anonymize CPU s", "lint / anonymize")
    for shape in given.shapes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source, policy = write(shape, SHAPES[shape](given.records), folder), folder / "policy.yaml"
            (folder / "levels.csv").write_text(LEVELS, "utf-8")
            policy.write_text(POLICIES.get(shape) or follow_blindly(source), "utf-8")
            release = ["anonymize", str(source), "--policy", str(policy), "--quiet", "--out"]
            cpu([*release, str(folder / "first")])  # compiles
            lint = cpu(["lint", str(policy), "--data", str(source), "--quiet"])
            whole = cpu([*release, str(folder / "second")])
        row(shape, f"{given.records:,}", f"{lint:.1f}", f"{whole:.1f}", f"{lint / whole:.2f}")
        sys.stdout.flush()
        if lint > _ROOM * whole:
            dear.append(shape)
    sys.stdout.write(f"\nDearer than `anonymize`: {', '.join(dear) or 'none'}\n")


if __name__ == "__main__":
    main()
