"""One type for each attribute whose values have several: that of the widest among what is published.

A quasi-identifier of which some values are published as text, as generalized ones are, is text in all
records.

MongoDB tells 1, NumberLong(1) and 1.0 apart, which are one value. Which types occur is asked of published
vertices alone, so that a suppressed record cannot show by the types of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import TYPED_NUMBERS, Decimal128, Double, Int64
from hierdata.domains.base import ROOT_LABEL, Uncovered
from hierdata.domains.number import canonical, exact, spelling
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.publication import Publication
from hierdata.records.identifiers.base import text_of
from hierdata.records.schema import Role

TypesShown: TypeAlias = "dict[tuple[int, Role, int], frozenset[type]]"
"""The types of the published values, by vertex type, role, and position of the attribute."""

_WIDER = (Int64, Double, Decimal128)
"""Types of numbers in ascending order; a 32-bit integer is narrower than all."""


def find_types(forest: Forest, publication: Publication) -> TypesShown:
    """Return the types of published values. A node that only what is published has is a text."""
    shown, nodes = publication.shown, publication.nodes
    types: TypesShown = {}
    for kind in forest.schema.types:
        vertices = np.flatnonzero((forest.type == kind.index) & (shown >= 0))
        for position in range(forest.own_widths[kind.index]):
            labels = forest.hierarchies[kind.index][position].labels
            published = np.unique(nodes[forest.first_node[shown[vertices]] + position]).tolist()
            types[kind.index, Role.QUASI, position] = _types(
                labels[node] if node < len(labels) else ROOT_LABEL for node in published
            )
        for position in range(len(forest.domains[kind.index])):
            used = np.unique(forest.spelling[forest.first_sensitive[vertices] + position]).tolist()
            types[kind.index, Role.SENSITIVE, position] = _types(
                forest.spellings[number] for number in used if number >= 0
            )
        if kind.of_role(Role.CARRIED):
            rows = [forest.carried[vertex] for vertex in vertices.tolist()]
            for position, column in enumerate(zip(*rows, strict=True)):
                types[kind.index, Role.CARRIED, position] = _types(column)
    return types


def join_types(types: TypesShown, other: TypesShown) -> TypesShown:
    """Return the types of both."""
    return {key: types.get(key, frozenset()) | other.get(key, frozenset()) for key in types | other}


def unify_types(forest: Forest, types: TypesShown) -> Forest:
    """Return the forest with one type for each attribute whose published values have several."""
    texts = frozenset(
        (kind, position)
        for (kind, role, position), shown in types.items()
        if role is Role.QUASI and _is_text(shown, forest.hierarchies[kind][position].labels)
    )
    forest = replace(forest, texts=texts) if texts else forest
    unifiers = {
        key: _unifier(shown, _reads_numbers(forest, *key))
        for key, shown in types.items()
        if key[1] is not Role.QUASI
    }
    if not any(unifiers.values()):
        return forest
    spellings, spelling = list(forest.spellings), forest.spelling.copy()
    carried = dict(forest.carried)
    for (kind, role, position), unify in unifiers.items():
        if unify is None:
            continue
        vertices = np.flatnonzero(forest.type == kind)
        if role is Role.SENSITIVE:
            entries = forest.first_sensitive[vertices] + position
            entries = entries[spelling[entries] != MISSING]
            used, number = np.unique(spelling[entries], return_inverse=True)
            spelling[entries] = (len(spellings) + number.reshape(-1)).astype(np.int32)
            spellings += [unify(spellings[before]) for before in used.tolist()]
        else:
            for vertex in vertices.tolist():
                row = carried[vertex]
                carried[vertex] = (*row[:position], unify(row[position]), *row[position + 1 :])
    return replace(forest, spelling=spelling, spellings=tuple(spellings), carried=carried)


def _is_text(types: frozenset[type], labels: Sequence[Scalar]) -> bool:
    """Return whether labels are published as text: some are, others are not, and as text all still differ."""
    if len(types) < 2 or not any(issubclass(kind, str) for kind in types):
        return False
    return len({text_of(label) for label in labels if label is not None}) == len(
        {spelling(label) for label in labels if label is not None}
    )


def _reads_numbers(forest: Forest, kind: int, role: Role, position: int) -> bool:
    return role is Role.SENSITIVE and forest.domains[kind][position].number


def _types(values: Iterable[Scalar]) -> frozenset[type]:
    return frozenset(map(type, values)) - {type(None)}


def _unifier(types: frozenset[type], reads_numbers: bool) -> Callable[[Scalar], Scalar] | None:
    """Return the function that brings values to one type, None if they need none.

    With ``reads_numbers`` a text that spells a number is that number.
    """
    numbers = types & {int, Decimal, *TYPED_NUMBERS}
    texts = types - numbers
    typed = [kind for kind in _WIDER if kind in numbers]
    as_numbers = reads_numbers and bool(numbers) and bool(texts)
    if not as_numbers and len(texts) < 2 and (not typed or len(numbers) < 2):
        return None
    widest = _WIDER.index(typed[-1]) if typed else None
    # A number that the widest type cannot hold has a wider one, else a narrower one.
    order = () if widest is None else (*_WIDER[widest:], *_WIDER[:widest][::-1])

    def unify(value: Scalar) -> Scalar:
        if value is None or (type(value) in texts and not as_numbers):
            return value if value is None or len(texts) < 2 else text_of(value)
        try:
            number = exact(value)
        except Uncovered:
            return text_of(value) if len(texts) > 1 else value
        wide_enough = (held for kind in order if (held := kind.exactly(number)) is not None)
        return next(wide_enough, canonical(number))

    return unify
