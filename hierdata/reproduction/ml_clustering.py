"""Algorithm 2 of ML step by step: in plain code, as the paper words it, and as our engine runs it.

The plain code reads the paper with errata ML-4, ML-5, ML-9 and ML-10; it expects that no value is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from hierdata.forest.partition import Partition
from hierdata.policy.load import from_data
from hierdata.privacy import LevelAlphaK
from hierdata.privacy.base import number
from hierdata.release.recodings.representatives import Representatives
from hierdata.reproduction.exhibit import Exhibit, Grid, describe_differences, read_printed
from hierdata.reproduction.ml_tables import level_of, loss_of, loss_of_value
from hierdata.reproduction.small_data import EncodedRecords, encode_records, find_classes

Label = int | str
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class PlainTree:
    """A vertex of a record or of a class representative, with what is below it.

    ``quasi`` are its labels by path, ``levels`` the multisets of its sensitivity levels (erratum ML-5).
    """

    path: str
    quasi: Mapping[str, Label]
    levels: Mapping[str, tuple[int, ...]]
    below: tuple[PlainTree, ...] = ()

    def count_labels(self) -> int:
        """Return what it costs to suppress this subtree: the number of its quasi-identifiers."""
        return len(self.quasi) + sum(child.count_labels() for child in self.below)

    def __str__(self) -> str:
        """Return the labels, and in parentheses those of the children, whose order says nothing."""
        labels = ", ".join(map(str, self.quasi.values()))
        return f"{labels} ({'; '.join(sorted(map(str, self.below)))})" if self.below else labels


def read_tree(document: Mapping[str, Any], fields: Fields, path: str = "$") -> PlainTree:
    """Read a record, or a representative, whose sensitive values are lists."""
    quasi: dict[str, Label] = {}
    levels: dict[str, tuple[int, ...]] = {}
    below: list[PlainTree] = []
    for key, value in document.items():
        field = f"{path}.{key}"
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            below += [read_tree(child, fields, f"{field}[*]") for child in value]
        elif fields[field]["role"] == "quasi":
            quasi[field] = value
        else:
            values = value if isinstance(value, list) else [value]
            levels[field] = tuple(level_of(fields[field], each) for each in values)
    return PlainTree(path, quasi, levels, tuple(below))


@dataclass(frozen=True)
class ExampleRules:
    """The fields of a policy, and k."""

    fields: Fields
    k: int

    @cached_property
    def _alpha(self) -> tuple[Fraction, ...]:
        return tuple(LevelAlphaK(k=self.k).alpha)

    def fit(self, a: PlainTree, b: PlainTree) -> bool:
        """Return check_cons: union-compatible, and at most k * alpha values of each level together."""
        if a.path != b.path or a.quasi.keys() != b.quasi.keys() or a.levels.keys() != b.levels.keys():
            return False
        return all(
            (values + b.levels[path]).count(level) <= self.k * alpha
            for path, values in a.levels.items()
            for level, alpha in enumerate(self._alpha, 1)
        )


@dataclass(frozen=True)
class Aligned:
    """What Algorithm 1 returns, and the representative of both records; None if they are suppressed."""

    loss: Fraction
    representative: PlainTree | None


def align(a: PlainTree, b: PlainTree, rules: ExampleRules) -> Aligned:
    """Run Algorithm 1 on a class representative and a record, without altering either (erratum ML-9)."""
    if not rules.fit(a, b):  # lines 2 to 4
        return Aligned(Fraction(a.count_labels() + b.count_labels()), None)
    quasi = {path: join(rules.fields[path], label, b.quasi[path]) for path, label in a.quasi.items()}
    loss = 2 * sum((loss_of_value(rules.fields[path], label) for path, label in quasi.items()), Fraction(0))
    pairs = _pair(a.below, b.below, rules)  # lines 12 to 25
    paired_b = {j for j, _ in pairs.values()}
    loss += sum(aligned.loss for _, aligned in pairs.values())
    loss += sum(child.count_labels() for i, child in enumerate(a.below) if i not in pairs)  # ML-10
    loss += sum(child.count_labels() for j, child in enumerate(b.below) if j not in paired_b)  # line 26
    shown = [pairs[i][1].representative for i in sorted(pairs)]
    below = tuple(child for child in shown if child is not None)
    levels = {path: values + b.levels[path] for path, values in a.levels.items()}
    return Aligned(loss, PlainTree(a.path, quasi, levels, below))


def _pair(
    a: Sequence[PlainTree], b: Sequence[PlainTree], rules: ExampleRules
) -> dict[int, tuple[int, Aligned]]:
    """Pair subtrees: each of the shorter side, in order, takes the first free partner of least loss."""
    pairs: dict[int, tuple[int, Aligned]] = {}
    first_chooses = len(a) <= len(b)
    free = list(range(max(len(a), len(b))))
    for position in range(min(len(a), len(b))):
        places = [(position, other) if first_chooses else (other, position) for other in free]
        tried = [(i, j, align(a[i], b[j], rules)) for i, j in places]
        i, j, aligned = min(tried, key=lambda each: each[2].loss)
        pairs[i] = j, aligned
        free.remove(j if first_chooses else i)
    return pairs


def join(field: Mapping[str, Any], label: Label, other: Label) -> Label:
    """Return the generalized value of two labels: the lowest node, or the first interval, with both."""
    if label == other:
        return label
    if "interval" in field:
        return _join_intervals(field["interval"]["steps"], label, other)
    first, second = (_path_to(field["taxonomy"]["tree"], str(each)) for each in (label, other))
    return [node for node, same in zip(first, second, strict=False) if node == same][-1]


def is_above(field: Mapping[str, Any], node: Label, label: Label) -> bool:
    """Return whether a published value may stand for a label: it is the label, or above it."""
    return join(field, node, label) == node


def _join_intervals(steps: Sequence[int], label: Label, other: Label) -> Label:
    if "*" in (label, other):
        return "*"
    ends = [int(end) for each in (label, other) for end in str(each).strip("[]").split(", ")]
    for step in steps:
        low = min(ends) // step * step
        if max(ends) < low + step:
            return f"[{low}, {low + step - 1}]"
    return "*"


def _path_to(tree: Mapping[str, Any], label: str) -> list[str]:
    """Return the labels from the root of a nested tree to a node, empty if it is not there."""
    for name, inner in tree.items():
        if name == label:
            return [name]
        if path := _path_to(inner or {}, label):
            return [name, *path]
    return []


@dataclass(frozen=True)
class GrowthStep:
    """Lines 12 to 14: the losses of the candidates against the representative, and who joins."""

    losses: Mapping[int, Fraction]
    joins: int


@dataclass(frozen=True)
class ClassSteps:
    """Lines 3 to 15: a seed, the losses of all others against it in ascending order, and the steps."""

    seed: int
    losses: Mapping[int, Fraction]
    steps: tuple[GrowthStep, ...]
    representative: PlainTree | None

    @property
    def members(self) -> tuple[int, ...]:
        """The records of the class, in the order in which they joined."""
        return (self.seed, *(step.joins for step in self.steps))


def cluster(
    records: Sequence[PlainTree], seeds: Sequence[int], rules: ExampleRules, window: int
) -> list[ClassSteps]:
    """Run Algorithm 2 with these seeds as the random picks of line 3; ``window`` is the paper's 50."""
    remaining = list(range(len(records)))
    classes = []
    for seed in seeds:
        remaining.remove(seed)
        losses = {record: align(records[seed], records[record], rules).loss for record in remaining}
        ordered = sorted(remaining, key=lambda record: losses[record])
        candidates = ordered[: max(window, rules.k - 1)]
        representative: PlainTree | None = records[seed]
        steps = []
        for _ in range(rules.k - 1):
            if representative is None:
                break
            tried = {record: align(representative, records[record], rules) for record in candidates}
            chosen = min(tried, key=lambda record: tried[record].loss)
            representative = tried[chosen].representative
            candidates.remove(chosen)
            remaining.remove(chosen)
            steps.append(GrowthStep({record: aligned.loss for record, aligned in tried.items()}, chosen))
        in_order = {record: losses[record] for record in ordered}
        classes.append(ClassSteps(seed, in_order, tuple(steps), representative))
    return classes


@dataclass(frozen=True)
class EngineRun:
    """What our engine makes of the collection: the records as arrays, its classes, and representatives."""

    data: EncodedRecords
    partition: Partition
    representatives: tuple[Mapping[str, Any], ...]

    @property
    def seeds(self) -> list[int]:
        """The seed of each class: the record whose vertices represent those of the others."""
        roots = self.data.forest.roots[:-1]
        shown = self.partition.representative[roots]
        return [
            int(self.data.forest.record_of[shown[self.partition.equivalence_class == class_][0]])
            for class_ in range(self.partition.class_count)
        ]

    def members_of(self, class_: int) -> list[int]:
        """Return the records of a class in ascending order."""
        return [int(record) for record in np.flatnonzero(self.partition.equivalence_class == class_)]


def run_engine(records: Sequence[Mapping[str, Any]], policy: Mapping[str, Any], seed: int) -> EngineRun:
    """Search the classes of records by the policy's only step, with the random numbers of a seed."""
    documents = json.loads(json.dumps(records), parse_float=Decimal)  # as a file is read
    data = encode_records(documents, from_data(dict(policy)))
    (stage,) = data.prepared.stages
    ((step, constraints),) = stage.work()
    partition = find_classes(data.forest, step, constraints, seed)
    order = np.argsort(partition.equivalence_class, kind="stable").tolist()
    published = Representatives().publish(data.forest, [partition], order)
    forms = tuple(document["representative"] for document in published.parts[0].documents())
    return EngineRun(data, partition, forms)  # type: ignore[arg-type]  # documents are dicts


def policy_of_example() -> dict[str, Any]:
    """Return the policy of the example: the preset's engine with a window that decides something."""
    data = read_printed("ML")
    example = data["algorithm 2"]
    step = {"kind": "clustree", "window": example["window"], "pairing": "greedy", "grow": False}
    models = [{"kind": "level-alpha-k", "k": example["k"]}]
    return {**data["policy"], "models": models, "engine": {"steps": [step]}}


@cache
def run_example() -> EngineRun:
    """Run our engine on the students of the example."""
    example = read_printed("ML")["algorithm 2"]
    return run_engine(example["students"], policy_of_example(), example["seed"])


def show_algorithm_2() -> Exhibit:
    """Return Algorithm 2 on the example: each step in plain code, and our engine's classes."""
    example, policy = read_printed("ML")["algorithm 2"], policy_of_example()
    students, run = example["students"], run_example()
    records = [read_tree(student, policy["fields"]) for student in students]
    steps = cluster(records, run.seeds, ExampleRules(policy["fields"], example["k"]), example["window"])
    columns = ("class", "seed", "members", "class representative", "information loss")
    derived = Grid(columns, tuple(_derived_rows(steps, students, policy)))
    ours = Grid(columns, tuple(_engine_rows(run, students, policy)))
    return Exhibit(
        "Algorithm 2",
        f"MLevCluTree step by step on {len(students)} students, k = {example['k']}",
        "The algorithm without an example. These students are ours, s1 to"
        f" s{len(students)}; {example['window']} candidates take the place of the paper's 50, so that they"
        " decide something. Line 3 picks at random: the plain code of the first table and of the steps picks"
        " the seeds that our engine drew, which represent the others in its partition. Losses are those of"
        " both sides, a member or the representative counting once (erratum ML-13).",
        derived=derived,
        ours=ours,
        drawing="\n".join(_step_lines(steps, len(students))),
        differs=describe_differences(derived, ours),
        errata=("ML-4", "ML-5", "ML-9", "ML-10", "ML-13", "ML-17"),
    )


def _derived_rows(
    steps: Sequence[ClassSteps], students: Sequence[dict[str, Any]], policy: Mapping[str, Any]
) -> Iterator[tuple[Any, ...]]:
    for ordinal, class_ in enumerate(steps, 1):
        loss = None
        if class_.representative is not None:
            shown = _write_document(class_.representative)
            loss = loss_of([students[member] for member in class_.members], shown, policy)
        text = "suppressed" if class_.representative is None else str(class_.representative)
        yield f"class {ordinal}", name(class_.seed), name_all(sorted(class_.members)), text, loss


def _engine_rows(
    run: EngineRun, students: Sequence[dict[str, Any]], policy: Mapping[str, Any]
) -> Iterator[tuple[Any, ...]]:
    for class_, (seed, representative) in enumerate(zip(run.seeds, run.representatives, strict=True)):
        members = run.members_of(class_)
        loss = loss_of([students[member] for member in members], dict(representative), policy)
        tree = read_tree(representative, policy["fields"])
        yield f"class {class_ + 1}", name(seed), name_all(members), str(tree), loss


def _write_document(tree: PlainTree) -> dict[str, Any]:
    document: dict[str, Any] = {path.rpartition(".")[2]: label for path, label in tree.quasi.items()}
    for child in tree.below:
        key = child.path.removesuffix("[*]").rpartition(".")[2]
        document.setdefault(key, []).append(_write_document(child))
    return document


def name(record: int) -> str:
    """Return what a record is called: s1 for the first."""
    return f"s{record + 1}"


def name_all(records: Sequence[int]) -> str:
    """Return the names of records."""
    return ", ".join(map(name, records))


def _step_lines(steps: Sequence[ClassSteps], count: int) -> Iterator[str]:
    for ordinal, class_ in enumerate(steps, 1):
        yield f"class {ordinal}"
        yield f"  lines 3, 4: picks {name(class_.seed)}"
        yield f"  lines 5 to 9: H by loss: {_write_losses(class_.losses)}"
        if class_.steps:
            yield f"  line 10: cand_set = {name_all([*class_.steps[0].losses])}"
        for j, step in enumerate(class_.steps, 2):
            yield f"  j = {j}: {_write_losses(step.losses)}; {name(step.joins)} joins"
    used = {member for class_ in steps for member in class_.members}
    remaining = [record for record in range(count) if record not in used]
    yield f"lines 16, 17: {f'suppresses {name_all(remaining)}' if remaining else 'nothing is left'}"


def _write_losses(losses: Mapping[int, Fraction]) -> str:
    return ", ".join(f"{name(record)} {number(loss)}" for record, loss in losses.items())
