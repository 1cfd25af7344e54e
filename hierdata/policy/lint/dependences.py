"""Fields that tell each other: quasi-identifiers that determine sensitive values, and labels of no code.

A quasi-identifier is published with the record, so one that determines a sensitive value publishes it. Only
values that as many records share as the smallest class has are counted, since a unique one determines all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import TypeAlias

from hierdata.documents.document import Document
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.policy import Policy
from hierdata.records.dependence import Dependence
from hierdata.records.derived import DerivedField
from hierdata.records.survey import Keys, Survey

Dependences: TypeAlias = "dict[tuple[Keys, Keys], Dependence]"
"""By quasi-identifier and sensitive attribute of one object, which of their values occur together."""
_MOST = 200
"""The most pairs of fields that are compared."""


def count_dependences(
    documents: Iterable[Document], policy: Policy, found: Dependences
) -> Iterator[Document]:
    """Yield the documents; count in ``found`` which values of fields of one object occur together."""
    k = class_size(policy)
    for own, other in islice(_pairs(policy), _MOST):
        missing = (frozenset(policy.rules_by_keys[keys][1].missing) for keys in (own, other))
        found[own, other] = Dependence()
        documents = found[own, other].add(documents, DerivedField(own, other, *missing), max(k, 2))
    yield from documents


def _pairs(policy: Policy) -> Iterator[tuple[Keys, Keys]]:
    """Yield each quasi-identifier with each sensitive attribute next to it."""
    for own, other in product(policy.quasi, policy.sensitive):
        if own[:-1] == other[:-1] or own[:-2] == other[:-2]:
            yield own, other


def find_telling(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each quasi-identifier that determines a sensitive attribute, by values that k records share."""
    k = max(class_size(policy), 2)
    for (own, other), told in survey.dependences.items():
        if count := told.count_told(k):
            yield (
                own,
                f"this tells {policy.rules_by_keys[other][0]}, which is sensitive: {count} values that at "
                f"least {k} records share each go with one value there. Give it the role sensitive, "
                "or derive one from the other",
            )


def find_no_labels(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each derived field that does not follow from its source."""
    for keys, labels in survey.labels.items():
        if keys in policy.derived_fields and (what := labels.faults):
            source = policy.rules_by_keys[policy.derived_fields[keys].source][0]
            yield keys, f"this is not derived from {source}: {what}"
