"""Collections for the benchmarks: the papers' synthetic data sets, encoded as the pipeline encodes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hierdata.forest.encoding import encode_records
from hierdata.forest.forest import Forest
from hierdata.policy.load import from_data, load
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.policy import Policy
from hierdata.records.binding import bind
from hierdata.records.record import bind_by_column
from hierdata.records.survey import survey
from hierdata.sources import collect
from hierdata.synth import beside_students, students, write

DATA_SETS = {"A": 2, "B": 3}
"""Depth of the data sets of ML section 5: A students and courses, B also instructors."""


@dataclass(frozen=True)
class Encoded:
    """A collection ready for an engine."""

    prepared: Prepared
    forest: Forest


def written(
    folder: Path, name: str, records: int, *, seed: int = 1, correlation: float = 0.8, skew: float = 0.5
) -> Path:
    """Write a data set with its policy beside it."""
    file = folder / f"{name}.jsonl"
    depth = DATA_SETS[name]
    write(students(records, depth, seed, correlation, skew), file, beside_students(depth))
    return file


def policy_for(
    file: Path, *, models: list[dict[str, object]] | None = None, preset: str | None = None
) -> Policy:
    """The policy beside a data set, with other models or another preset, "" for no engine."""
    policy = load(file.with_suffix(".policy.yaml"))
    if models is None and preset is None:
        return policy
    stated = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if models is not None:
        stated["models"] = models
    if preset is not None:
        stated.pop("engine", None)
    if preset:
        stated["engine"] = {"preset": preset}
    return from_data(stated, policy.folder)


def encoded(file: Path, policy: Policy) -> Encoded:
    """Everything up to the search, which minimizes what the command's would (see ``Prepared.frame``)."""
    collection = collect(file, policy)
    prepared = prepare(policy, survey(collection.documents(), policy.declared_fields()))
    records = bind_by_column(bind(collection.documents(), prepared.binding), prepared.schema)
    (every,) = encode_records(records, prepared.frame)
    return Encoded(prepared, prepared.frame.forest(every))


def by_lm(data: Encoded) -> Encoded:
    """The same, searched by LM whatever the policy weighs."""
    return replace(data, forest=replace(data.forest, sought=None))
