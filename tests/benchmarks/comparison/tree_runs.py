"""Students by hierdata, as trees and as one wide row each, and masked only."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import hierdata
from hierdata.policy.load import from_data, read_file
from tests.benchmarks.collections import written
from tests.benchmarks.commands import anonymize, watched
from tests.benchmarks.comparison.outcomes import Run, middle, promise
from tests.benchmarks.comparison.shapes import SHAPES, Kept, attributes, kept, total, tree
from tests.benchmarks.comparison.tree_linkage import Levels, Published
from tests.benchmarks.comparison.wide import flattened, rebuilt, rules
from tests.benchmarks.peers import K

Models = list[dict[str, Any]]
LEVELS: dict[str, Any] = {"kind": "level-alpha-k", "k": 5, "alpha": ["0.8", "0.6", "0.4", "0.2", "0.1"]}
MODELS: dict[str, Models] = {"k = 5": [K], "level-alpha-k, k = 5": [LEVELS]}
VICTIMS = 1000
SUPPRESSED = {"guarded": {}, "as published": {"suppressed": "as_published"}}
CANNOT = 3
"""The exit code of hierdata where the promise cannot be met."""


class Students:
    """A data set as a file, as records, and with its policy as plain data without engine and models."""

    def __init__(self, folder: Path, name: str, records: int) -> None:
        self.name, self.folder, self.shape = name, folder, SHAPES[name]
        self.file = written(folder, name, records)
        self.records = read(self.file)
        stated = dict(read_file(self.file.with_suffix(".policy.yaml")).data)
        self.policy = {key: value for key, value in stated.items() if key not in ("engine", "models")}
        for rule in self.policy["fields"].values():
            if "taxonomy" in rule:
                rule["taxonomy"] = str(folder / rule["taxonomy"])
        self.levels: Levels = attributes(folder, self.shape)

    def kept(self, records: Sequence[Mapping[str, Any]]) -> Kept:
        """What records keep together."""
        return total(kept(tree(record, self.shape), self.levels) for record in records)

    def victims(self) -> list[dict[str, Any]]:
        """At most ``VICTIMS`` records, evenly spread."""
        return self.records[:: max(1, len(self.records) // VICTIMS)][:VICTIMS]


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def write(records: Sequence[Mapping[str, Any]], file: Path) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file


def run(took: tuple[float, float, float], published: Path, students: Students, models: Models) -> Run:
    """A run with the figures of the file of trees that it published."""
    before, after = students.kept(students.records), students.kept(read(published))
    loss = float(1 - after.sum / before.values)
    share = after.vertices / before.vertices
    return Run(took, loss, lambda: {"vertices_kept": share, **figures(published, students, models)})


def figures(published: Path, students: Students, models: Models) -> dict[str, Any]:
    """Suppression, promise and attacks, from the published file alone."""
    records = read(published)
    policy = from_data({**students.policy, "models": models}, students.folder)
    verdict = promise(hierdata.verify(published, policy))
    target = Published(records, students.shape, students.levels)
    whole = target.attack(students.victims(), K["k"], whole=True)
    facts = target.attack(students.victims(), K["k"], whole=False)
    return {
        "suppressed": len(students.records) - len(records),
        "classes": len(target.forms),
        "kept": verdict.kept,
        "achieved": dict(verdict.achieved),
        "attack": {**whole.linkage.plain(), "child_guessed": whole.child_guessed},
        "facts": {**facts.linkage.plain(), "child_guessed": facts.child_guessed},
    }


def by_mask(students: Students, models: Models, more: Mapping[str, Any]) -> Run:
    """The identifier dropped; there is nothing to ask ``more`` of."""
    out = Path(tempfile.mkdtemp(dir=students.folder)) / "masked.jsonl"
    script = Path(__file__).parent / "by_masking.py"
    took = watched([sys.executable, script, students.file, out])
    return run(took, out, students, models)


def by_rows(students: Students, models: Models, more: Mapping[str, Any]) -> Run:
    """The wide table by hierdata's own table engine; only its command is timed."""
    place = Path(tempfile.mkdtemp(dir=students.folder))
    rows = flattened(students.records, students.shape)
    fields = rules(rows, students.policy["fields"])
    file = write(rows, place / "wide.jsonl")
    policy = {**students.policy, "models": models, "fields": fields, **more}
    taken = anonymize(file, policy, place, root=students.folder)
    trees = [rebuilt(row, students.shape) for row in read(place / "release" / "public" / "records.jsonl")]
    took = taken.seconds, taken.cpu, taken.megabytes
    return run(took, write(trees, place / "trees.jsonl"), students, models)


def by_trees(students: Students, models: Models, more: Mapping[str, Any]) -> Run:
    """hierdata's own command on the trees, without an engine named, its verification included."""
    place = Path(tempfile.mkdtemp(dir=students.folder))
    policy = {**students.policy, "models": models, **more}
    taken = anonymize(students.file, policy, place, root=students.folder)
    took = taken.seconds, taken.cpu, taken.megabytes
    published = place / "release" / "public" / "records.jsonl"
    return run(took, published, students, models)


WAYS = {"mask only": by_mask, "one wide row": by_rows, "hierdata, trees": by_trees}


def compare(names: Sequence[str], sizes: Sequence[int], folder: Path, turns: int) -> Iterator[dict[str, Any]]:
    """One line for each data set, size, promise and way."""
    for name in names:
        for size in sizes:
            place = Path(tempfile.mkdtemp(dir=folder))
            students = Students(place, name, size)
            for promised, models in MODELS.items():
                for way, work in WAYS.items():
                    line = {"data": name, "records": size, "promise": promised, "way": way}
                    yield line | released(partial(work, students, models), turns)


def released(work: Callable[[Mapping[str, Any]], Run], turns: int) -> dict[str, Any]:
    """Under the default first, which promises something to the suppressed; if that is refused, without."""
    for suppressed, more in SUPPRESSED.items():
        try:
            return {"suppressed_are": suppressed, **middle(partial(work, more), turns)}
        except subprocess.CalledProcessError as error:
            if error.returncode != CANNOT:
                raise
    return {"refused": "cannot: no class satisfies the models (exit code 3)"}
