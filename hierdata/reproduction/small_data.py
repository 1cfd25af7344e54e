"""hierdata's own steps on small data: a class of values judged by a model, records encoded for an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
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
    records: list[dict[str, Any]] = [dict(own) for own in documents]
    prepared = prepare(policy, survey(records, policy.declared_fields()))
    forest = encode(bind(records, prepared.binding), prepared.schema, prepared.hierarchies, prepared.domains)
    return EncodedRecords(prepared, forest)
