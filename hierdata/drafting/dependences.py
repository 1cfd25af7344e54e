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
    found = dict(proposals)
    by_object: defaultdict[Keys, list[Field]] = defaultdict(list)
    for one in fields:
        if one.attribute is not None and not one.is_map and one.attribute.values.distinct > 1:
            by_object[one.keys[:-1]].append(one)
    for own in by_object.values():
        for pair in combinations(own[:_MOST], 2):
            if _count(pair[0]) == _count(pair[1]) and _are_one_to_one(*pair, found, sample):
                _pair_up(*_in_order(*pair, found), found)
        for first, second in permutations(own[:_MOST], 2):
            if found[second.keys].role == "sensitive" and found[first.keys].role in ("quasi", "insensitive"):
                _propose_telling(first, second, found, sample)
    return found


def _count(field: Field) -> int:
    return 0 if field.attribute is None else field.attribute.values.distinct


def _depend(first: Field, second: Field, found: Proposals, sample: Sequence[Document]) -> Dependence:
    told = Dependence()
    for _ in count_pairs(sample, _together(first, second, found), told):
        pass
    return told


def _together(first: Field, second: Field, found: Proposals) -> DerivedField:
    missing = (frozenset(map(str, found[one.keys].rule.get("missing", ()))) for one in (first, second))
    return DerivedField(first.keys, second.keys, *missing)


def _are_one_to_one(first: Field, second: Field, found: Proposals, sample: Sequence[Document]) -> bool:
    """Return whether two fields are a code and its label, and one of them would be published."""
    usable = [_may_be_label(one, found[one.keys]) for one in (first, second)]
    if not all(usable) or not any(found[one.keys].is_published for one in (first, second)):
        return False
    if "sensitive" not in (found[first.keys].role, found[second.keys].role) and not _are_named_alike(
        first, second
    ):
        return False
    told = _depend(first, second, found, sample)
    return told.is_one_to_one and told.count_told(K) > 0


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
    one, other = _words(first), _words(second)
    if (one | other).isdisjoint(_CODES | _TEXTS):
        return False
    begun = {word[:3] for word in one if len(word) > 2} & {word[:3] for word in other if len(word) > 2}
    return len(first.keys) > 1 or bool(begun)


def _words(field: Field) -> set[str]:
    return set(words_of(field.names[0])) if field.names else set()


def _in_order(first: Field, second: Field, found: Proposals) -> tuple[Field, Field]:
    """Return two fields, the source before its label."""

    def rank(field: Field) -> tuple[bool, bool, bool]:
        own = found[field.keys]
        return own.is_published, not _words(field).isdisjoint(_CODES), "flat" not in own.rule

    return (second, first) if rank(second) > rank(first) else (first, second)


def _pair_up(source: Field, label: Field, found: Proposals) -> None:
    """Propose a label with its source, which is sensitive where the label would be."""
    own, other = found[source.keys], found[label.keys]
    if "derived" in own.rule or "derived" in other.rule:
        return
    if other.role == "sensitive" != own.role:
        found[source.keys] = _sensitive(source, own, f"it is the code of {label.path}, which is sensitive")
    missing = {"missing": other.rule["missing"]} if "missing" in other.rule else {}
    found[label.keys] = Proposal(
        {"derived": source.path, **missing}, f"each value of {source.path} has one value here"
    )


def _propose_telling(first: Field, second: Field, found: Proposals, sample: Sequence[Document]) -> None:
    """Propose a field as sensitive that determines a sensitive one."""
    if _depend(first, second, found, sample).count_told(K):
        reason = f"it determines {second.path}, which is sensitive"
    elif _correlate(sample, _together(first, second, found)) >= _ALIKE:
        reason = f"its ranks are nearly those of {second.path}, which is sensitive"
    else:
        return
    changed = _sensitive(first, found[first.keys], reason)
    question = "who knows it knows the other: may others know it all the same?"
    found[first.keys] = replace(changed, confirm=question)


def _sensitive(field: Field, own: Proposal, reason: str) -> Proposal:
    rule: dict[str, object] = {"role": "sensitive"}
    if "interval" in own.rule and field.attribute is not None and field.attribute.looks.texts:
        rule["number"] = True
    if "missing" in own.rule:
        rule["missing"] = own.rule["missing"]
    return Proposal(rule, reason)


def _correlate(sample: Sequence[Document], fields: DerivedField) -> float:
    """Return the correlation of the ranks of two numbers; 0 where they are not numbers, or few."""
    rows: list[list[float]] = []
    for document in sample:
        for pair in pairs_of(document, fields):
            try:
                numbers = [float(exact(one)) for one in pair if one is not None]
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
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: NDArray[np.float64] = ends - (counts - 1) / 2
    return means[place.reshape(-1)]
