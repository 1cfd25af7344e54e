"""Slow, obvious twin of the measured risks: predicates are tested on plain documents, one by one.

A fact is (path, sign, label). ``$.a[*].b`` reads the values of all items, as a reader of the file would.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Told = tuple[str, str, Any]
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def values_at(document: Any, path: str) -> list[Any]:
    """The values of all vertices of a path; None where a vertex has none."""
    holders = [document]
    *steps, last = path.removeprefix("$.").split(".")
    for step in steps:
        holders = [item for holder in holders for item in holder.get(step.removesuffix("[*]"), [])]
    return [holder.get(last) for holder in holders]


def is_below(value: Any, label: Any, parents: Mapping[Any, Any]) -> bool:
    """Whether a label is a value's, or one above it; everything is below the root."""
    above = value
    while above is not None:
        if above == label:
            return True
        above = parents.get(above)
    return label == "*" or (label is None and value is None)


def satisfies(value: Any, sign: str, label: Any, parents: Mapping[Any, Any], quasi: bool) -> bool:
    """Whether a value of the input satisfies a fact."""
    if sign in SIGNS:
        return value is not None and SIGNS[sign](float(value), float(label))
    if not quasi:
        return value is not None and (value == label) is (sign == "=")
    below = is_below(value, label, parents)
    return below if sign == "=" else value is not None and not below


def count_true(
    documents: Sequence[Any], predicate: Sequence[Told], parents: Mapping[Any, Any], quasi: set[str]
) -> int:
    """How many documents have, for each fact, a vertex that satisfies it."""
    return sum(
        all(
            any(satisfies(value, sign, label, parents, path in quasi) for value in values_at(document, path))
            for path, sign, label in predicate
        )
        for document in documents
    )


def link(
    shown: Sequence[Any],
    people: Sequence[Any],
    readers: Sequence[Sequence[str]],
    facts: int,
    draw: int,
    parents: Mapping[Any, Any],
    number: Callable[[str, Any], tuple[int, int]],
) -> tuple[list[int], list[int]]:
    """How many victims are linked, and for how many a reader has no clue, by number of facts.

    ``number`` orders the values as the arrays do.
    """
    rng = np.random.default_rng([draw, 2])
    linked, refused = [0] * facts, [0] * facts
    for victim in rng.permutation(len(people)).tolist():
        known = []
        for own in readers:
            every = sorted(
                {(path, value) for path in own for value in values_at(people[victim], path)},
                key=lambda pair: number(*pair),
            )
            known.append([every[at] for at in rng.permutation(len(every))[:facts].tolist()])
        for count in range(facts):
            picked, clues = [], []
            for own in known:
                score = [
                    sum(
                        any(is_below(value, label, parents) for label in values_at(document, path))
                        for path, value in own[: count + 1]
                    )
                    for document in shown
                ]
                best = [at for at, reached in enumerate(score) if reached == max(score)]
                picked.append(best[int(rng.integers(len(best)))])
                clues.append(max(score))
            refused[count] += not all(clues)
            linked[count] += all(clues) and picked[0] == picked[1]
    return linked, refused


def downcode(
    shown: Sequence[Any],
    people: Sequence[Any],
    path: str,
    parents: Mapping[Any, Any],
    order: Callable[[Any], int],
) -> tuple[int, int]:
    """How many labels of a path were made coarser, and behind how many is the finer value shown most often.

    Each published record is that of the person at its place; of several values as frequent, the first by
    ``order`` is guessed.
    """
    labels = [label for document in shown for label in values_at(document, path)]
    values = [value for document in people for value in values_at(document, path)]
    finest = sorted((set(parents) | set(values)) - set(parents.values()), key=order)
    coarser = right = 0
    for label, value in zip(labels, values, strict=True):
        if label != value:
            below = [leaf for leaf in finest if is_below(leaf, label, parents)]
            coarser += 1
            right += max(below, key=labels.count) == value
    return coarser, right
