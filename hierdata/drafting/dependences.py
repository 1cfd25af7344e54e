"""Fields that tell each other: a label is proposed with its code, and what tells a sensitive field as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document
from hierdata.domains.base import Uncovered
from hierdata.domains.number import exact
from hierdata.drafting.fields import Field
from hierdata.drafting.seen import ENOUGH, K, Proposal
from hierdata.records.dependence import Dependence, count_pairs, pairs_of
from hierdata.records.derived import DerivedField
from hierdata.records.recognition.words import words_of
from hierdata.records.survey import Keys

Proposals: TypeAlias = "dict[Keys, Proposal]"
_MOST = 40
"""The most fields of one object that are compared."""
_ALIKE = 0.8
"""The correlation of ranks from which a number tells another."""
_CODES = frozenset(["code", "codes", "id", "key", "no", "nr", "number", "ref", "value"])
_TEXTS = frozenset(["description", "display", "label", "text", "title"])
"""Words of fields that hold codes, and of those that hold what codes mean."""


def relate_fields(
    fields: Sequence[Field], proposals: Mapping[Keys, Proposal], sample: Sequence[Document]
) -> Proposals:
    """Return the proposals, changed for fields that determine others of their object in a sample."""
    related = dict(proposals)
    by_object: defaultdict[Keys, list[Field]] = defaultdict(list)
    for field in fields:
        if field.attribute is not None and not field.is_map and field.attribute.values.distinct > 1:
            by_object[field.keys[:-1]].append(field)
    for of_object in by_object.values():
        for pair in combinations(of_object[:_MOST], 2):
            if _count(pair[0]) == _count(pair[1]) and _are_one_to_one(*pair, related, sample):
                _pair_up(*_in_order(*pair, related), related)
        for first, second in permutations(of_object[:_MOST], 2):
            of_first, of_second = related[first.keys].role, related[second.keys].role
            if of_second == "sensitive" and of_first in ("quasi", "insensitive"):
                _propose_telling(first, second, related, sample)
    return related


def _count(field: Field) -> int:
    return 0 if field.attribute is None else field.attribute.values.distinct


def _depend(first: Field, second: Field, proposals: Proposals, sample: Sequence[Document]) -> Dependence:
    dependence = Dependence()
    for _ in count_pairs(sample, _together(first, second, proposals), dependence):
        pass
    return dependence


def _together(first: Field, second: Field, proposals: Proposals) -> DerivedField:
    missing = (
        frozenset(map(str, proposals[field.keys].rule.get("missing", ()))) for field in (first, second)
    )
    return DerivedField(first.keys, second.keys, *missing)


def _are_one_to_one(first: Field, second: Field, proposals: Proposals, sample: Sequence[Document]) -> bool:
    """Return whether two fields are a code and its label, and one of them would be published."""
    usable = [_may_be_label(field, proposals[field.keys]) for field in (first, second)]
    if not all(usable) or not any(proposals[field.keys].is_published for field in (first, second)):
        return False
    if "sensitive" not in (proposals[first.keys].role, proposals[second.keys].role) and not _are_named_alike(
        first, second
    ):
        return False
    dependence = _depend(first, second, proposals, sample)
    return dependence.is_one_to_one and dependence.count_told(K) > 0


def _may_be_label(field: Field, proposal: Proposal) -> bool:
    """Return whether a field may be published with its code: names of persons may not."""
    if proposal.is_published:
        return True
    meaning = field.meaning
    if proposal.role not in ("identifier", "free_text") or (meaning is not None and meaning.identifies):
        return False
    return not _words(field).isdisjoint(_CODES if proposal.role == "identifier" else _TEXTS)


def _are_named_alike(first: Field, second: Field) -> bool:
    """Return whether names look like those of a code and its label: ``dept_id`` and ``department``."""
    words, others = _words(first), _words(second)
    if (words | others).isdisjoint(_CODES | _TEXTS):
        return False
    begun = {word[:3] for word in words if len(word) > 2} & {word[:3] for word in others if len(word) > 2}
    return len(first.keys) > 1 or bool(begun)


def _words(field: Field) -> set[str]:
    return set(words_of(field.names[0])) if field.names else set()


def _in_order(first: Field, second: Field, proposals: Proposals) -> tuple[Field, Field]:
    """Return two fields, the source before its label."""

    def rank(field: Field) -> tuple[bool, bool, bool]:
        proposal = proposals[field.keys]
        return proposal.is_published, not _words(field).isdisjoint(_CODES), "flat" not in proposal.rule

    return (second, first) if rank(second) > rank(first) else (first, second)


def _pair_up(source: Field, label: Field, proposals: Proposals) -> None:
    """Propose a label with its source, which is sensitive where the label would be."""
    of_source, of_label = proposals[source.keys], proposals[label.keys]
    if "derived" in of_source.rule or "derived" in of_label.rule:
        return
    if of_label.role == "sensitive" != of_source.role:
        reason = f"it is the code of {label.path}, which is sensitive"
        proposals[source.keys] = _sensitive(source, of_source, reason)
    missing = {"missing": of_label.rule["missing"]} if "missing" in of_label.rule else {}
    proposals[label.keys] = Proposal(
        {"derived": source.path, **missing}, f"each value of {source.path} has one value here"
    )


def _propose_telling(first: Field, second: Field, proposals: Proposals, sample: Sequence[Document]) -> None:
    """Propose a field as sensitive that determines a sensitive one."""
    if _depend(first, second, proposals, sample).count_told(K):
        reason = f"it determines {second.path}, which is sensitive"
    elif _correlate(sample, _together(first, second, proposals)) >= _ALIKE:
        reason = f"its ranks are nearly those of {second.path}, which is sensitive"
    else:
        return
    changed = _sensitive(first, proposals[first.keys], reason)
    question = "who knows it knows the other: may others know it all the same?"
    proposals[first.keys] = replace(changed, confirm=question)


def _sensitive(field: Field, proposal: Proposal, reason: str) -> Proposal:
    rule: dict[str, object] = {"role": "sensitive"}
    if "interval" in proposal.rule and field.attribute is not None and field.attribute.looks.texts:
        rule["number"] = True
    if "missing" in proposal.rule:
        rule["missing"] = proposal.rule["missing"]
    return Proposal(rule, reason)


def _correlate(sample: Sequence[Document], fields: DerivedField) -> float:
    """Return the correlation of the ranks of two numbers; 0 where they are not numbers, or few."""
    rows: list[list[float]] = []
    for document in sample:
        for pair in pairs_of(document, fields):
            try:
                numbers = [float(exact(value)) for value in pair if value is not None]
            except Uncovered:
                return 0.0
            if len(numbers) == 2:
                rows.append(numbers)
    table = np.array(rows or [[0.0, 0.0]])
    if len(table) < ENOUGH or min(len(np.unique(column)) for column in table.T) < K:
        return 0.0
    ranks = np.array([_rank(column) for column in table.T])
    return abs(float(np.corrcoef(ranks)[0, 1]))


def _rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of values, equal ones with the mean of theirs."""
    _, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: NDArray[np.float64] = ends - (counts - 1) / 2
    return means[positions.reshape(-1)]
