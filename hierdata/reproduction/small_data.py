"""hierdata's own steps on small data: a class of values judged by a model, records encoded for an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.engines import Constraints, Engine
from hierdata.engines.base import StepInput
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, PublishedPart, publish_generalized
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.policy import Policy
from hierdata.privacy.base import ClassView, PrivacyModel
from hierdata.records.binding import bind
from hierdata.records.survey import survey


@dataclass(frozen=True)
class ClassJudgement:
    """Whether a class satisfies a model, and the strongest parameters that it achieves, by letter."""

    holds: bool
    achieved: Mapping[str, Fraction]


def judge_class(
    model: PrivacyModel, values: Sequence[int | str], tree: Mapping[str, Any] | None = None
) -> ClassJudgement:
    """Judge a class with one sensitive value per record: numbers, or the labels of a taxonomy.

    ``tree`` is the taxonomy as a policy states it, nested from the root.

    >>> from hierdata.privacy import DeltaLDiversity
    >>> judge_class(DeltaLDiversity(delta=Fraction(15, 2), l=2), [40, 50, 60, 80]).achieved
    {'l': Fraction(4, 3)}
    """
    taxonomy = None if tree is None else Taxonomy(tree=tree, inner=True).compile({}, Path())
    domain = SensitiveDomain.build("$.value", Counter(values), number=tree is None, taxonomy=taxonomy)
    constraint = model.bind(domain)
    view = ClassView(len(values), Counter(map(domain.code_of, values)))
    return ClassJudgement(constraint.holds(view), constraint.achieved_parameters(view))


@dataclass(frozen=True)
class EncodedRecords:
    """A collection ready for the search: the policy applied to it, and its records as arrays."""

    prepared: Prepared
    forest: Forest


def encode_records(documents: Iterable[Mapping[str, Any]], policy: Policy) -> EncodedRecords:
    """Run the steps before the search on records in memory. Raises PolicyError and InputError."""
    records: list[dict[str, Any]] = [dict(document) for document in documents]
    prepared = prepare(policy, survey(records, policy.declared_fields()))
    forest = encode(bind(records, prepared.binding), prepared.schema, prepared.hierarchies, prepared.domains)
    return EncodedRecords(prepared, forest)


def find_classes(forest: Forest, step: Engine, constraints: Constraints, seed: int) -> Partition:
    """Return the classes that an engine finds; a seed breaks ties."""
    rng = np.random.default_rng(seed)
    return step.find_classes(StepInput(forest, Scope.of(forest), constraints, None, rng))


def publish_classes(forest: Forest, partition: Partition) -> Publication:
    """Return what is shown of classes, as metrics and adversaries need it; without documents."""
    return publish_generalized(forest, partition, PublishedPart("records", lambda: iter(()), 0))


def list_bucket_rows(sizes: Sequence[int]) -> list[dict[str, int | str]]:
    """Return the rows of a table whose sensitive values occur as often as ``sizes`` say."""
    return [{"row": 0, "value": f"value {number}"} for number, size in enumerate(sizes) for _ in range(size)]
