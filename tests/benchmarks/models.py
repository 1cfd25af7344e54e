"""What each model costs on the bundled students: ``python -m tests.benchmarks.models`` prints a table."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

import hierdata
from hierdata.ground.errors import PromiseError
from hierdata.policy.load import from_data
from hierdata.synth.students import students

FIXTURES = Path(__file__).parents[2] / "fixtures"
GPA, GRADE = "$.gpa", "$.courses[*].grade"
GRADES = {
    "*": {f"{letter} range": {letter + sign: {} for sign in ("+", "", "-")} for letter in "ABCD"} | {"E": {}}
}
# Model, the sensitive attributes it is limited to, parameters of clustree; None where no engine is named.
CASES: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
    ({"kind": "k-anonymity", "k": 5}, {}),
    ({"kind": "distinct-l-diversity", "l": 3}, {}),
    ({"kind": "frequency-l-diversity", "l": 3}, {}),
    ({"kind": "entropy-l-diversity", "l": 3}, {}),
    ({"kind": "recursive-cl-diversity", "c": 2, "l": 2}, {}),
    ({"kind": "alpha-k", "k": 5, "alpha": "0.5"}, {}),
    ({"kind": "level-alpha-k", "k": 5}, {}),
    ({"kind": "p-sensitive-k-anonymity", "p": 3, "k": 5}, {}),
    ({"kind": "l-e-diversity", "l": 3, "e": 1, "on": [GRADE]}, {}),
    ({"kind": "l-e-diversity", "l": 3, "e": 1, "on": [GRADE]}, None),
    ({"kind": "l-e-diversity", "l": 3, "e": "1/2", "on": [GRADE]}, {}),
    ({"kind": "l-e-diversity", "l": 3, "e": "1/2", "on": [GRADE]}, None),
    ({"kind": "l-e-diversity", "l": 3, "e": 1, "repeats": "allow", "on": [GRADE]}, {"size": 6}),
    ({"kind": "l-e-diversity", "l": 3, "e": 1, "repeats": "allow", "on": [GRADE]}, None),
    ({"kind": "delta-l-diversity", "delta": "0.1", "l": 3, "on": [GPA]}, {}),
    ({"kind": "epsilon-m-anonymity", "epsilon": "0.2", "m": 3, "on": [GPA]}, {"size": 6}),
    ({"kind": "epsilon-m-anonymity", "epsilon": "0.1", "m": 3, "relative": True, "on": [GPA]}, {}),
    ({"kind": "t-closeness", "t": "0.2", "distance": "ordered", "on": [GPA]}, {}),
    ({"kind": "t-closeness", "t": "0.2", "distance": "ordered", "on": [GPA]}, None),
    ({"kind": "t-closeness", "t": "0.3", "distance": "equal", "on": [GRADE]}, {}),
    ({"kind": "t-closeness", "t": "0.3", "distance": "equal", "on": [GRADE]}, {"size": 20}),
    ({"kind": "t-closeness", "t": "0.3", "distance": "equal", "on": [GRADE]}, None),
    ({"kind": "t-closeness", "t": "0.3", "distance": "hierarchical", "on": [GRADE]}, {"size": 10}),
    ({"kind": "t-closeness", "t": "0.3", "distance": "hierarchical", "on": [GRADE]}, None),
    ({"kind": "basic-beta-likeness", "beta": 2, "on": [GRADE]}, {}),
    ({"kind": "enhanced-beta-likeness", "beta": 2, "on": [GRADE]}, {"size": 10}),
    ({"kind": "delta-disclosure", "delta": 2, "absent": "ignore", "on": [GRADE]}, {"size": 10}),
    ({"kind": "delta-disclosure", "delta": 2, "on": [GRADE]}, {"size": 40}),
    ({"kind": "k-map", "k": 10}, {}),
    ({"kind": "delta-presence", "delta_max": "1/4"}, {}),
]


def policy(model: dict[str, Any], setting: dict[str, Any] | None, population: Path) -> hierdata.Policy:
    """The bundled policy under another model."""
    stated = yaml.safe_load((FIXTURES / "policies" / "students-multilevel.yaml").read_text())
    stated["models"] = [model]
    if setting is None:
        stated.pop("engine", None)
    else:
        stated["engine"] = {"steps": [{"kind": "clustree", **setting}]}
    stated["fields"][GRADE]["taxonomy"] = {"tree": GRADES}
    if model["kind"] in ("k-map", "delta-presence"):
        stated["population"] = {"file": str(population)}
    return from_data(stated, FIXTURES / "policies")


def write_students(file: Path, records: int | None) -> None:
    """The first of the bundled students."""
    lines = (FIXTURES / "students" / "students.jsonl").read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:records]), "utf-8")


def write_population(file: Path, source: Path) -> None:
    """The students among 2,400 more of the same kind."""
    own = [json.loads(line) for line in source.read_text().splitlines()]
    rows = [f"{one['major']},{one['birth_year']}" for one in (*own, *students(2400, 2, 5, 0.8, 0.5))]
    file.write_text("\n".join(["major,birth_year", *rows]) + "\n")


def row(*cells: object) -> None:
    sys.stdout.write("| " + " | ".join(map(str, cells)) + " |\n")
    sys.stdout.flush()


def described(model: dict[str, Any]) -> str:
    """The model in a word or two."""
    parameters = ", ".join(f"{key} {value}" for key, value in model.items() if key not in ("kind", "on"))
    on = f" on {model['on'][0].split('.')[-1]}" if "on" in model else ""
    return f"{model['kind']}: {parameters}{on}"


def measured(source: Path, asked: hierdata.Policy) -> tuple[object, ...]:
    """Smallest class, shares of records and vertices lost, what coalesce gave up, LM a record, seconds."""
    start = time.perf_counter()
    try:
        release = hierdata.anonymize(source, asked, seed=bytes(16))
    except PromiseError:
        return "none", "1.000", "1.000", "", "", "", f"{time.perf_counter() - start:.1f}"
    seconds = time.perf_counter() - start
    report = release.report
    lost = {name: cost.count for name, cost in report.costs.items()}
    gone, loss = report.metrics["suppression_ratio"], report.metrics["lm_cost"]
    return (
        report.counts.smallest_class,
        f"{gone.records:.3f}",
        f"{gone.vertices:.3f}",
        lost.get("records_lost_in_a_union", 0),
        lost.get("vertices_lost_in_a_pool", 0),
        f"{loss.per_record:.2f}",
        f"{seconds:.1f}",
    )


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, help="only the first of the bundled students")
    options.add_argument("--only", nargs="+", default=[""], help="models whose name has one of these texts")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        source, population = Path(folder) / "students.jsonl", Path(folder) / "population.csv"
        write_students(source, asked.records)
        write_population(population, source)
        row("model", "clustree", "smallest class", "records lost", "vertices lost", "records in a union",
            "vertices in a pool", "LM per record", "seconds")  # fmt: skip
        row(*("---" for _ in range(9)))
        for model, setting in CASES:
            if not any(text in model["kind"] for text in asked.only):
                continue
            stated = "no engine named"
            if setting is not None:
                stated = ", ".join(f"{key} {value}" for key, value in setting.items()) or "default"
            row(described(model), stated, *measured(source, policy(model, setting, population)))


if __name__ == "__main__":
    main()
