"""The slow, obvious twin of mbf and of the metrics of LE, from the paper's text with its errata."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.naive_semantics import buckets, distance

Parents = Mapping[str, str | None]
Accepts = Callable[[Sequence[int]], bool]
"""Whether records, by their indices, may be a class."""


def draw(bucket_of: Sequence[Hashable], least: int, rng: random.Random) -> list[list[int]]:
    """Algorithm 1, steps 1 and 2: sort the buckets, take one record of each of the largest, repeat."""
    found: dict[Hashable, list[int]] = {}
    for record, bucket in enumerate(bucket_of):
        found.setdefault(bucket, []).append(record)
    classes: list[list[int]] = []
    while sum(1 for bucket in found.values() if bucket) >= least:
        order = list(found.values())
        rng.shuffle(order)
        order.sort(key=len, reverse=True)
        classes.append([bucket.pop(rng.randrange(len(bucket))) for bucket in order[:least]])
    return classes


def attach(
    classes: list[list[int]],
    leftovers: Sequence[int],
    accepts: Accepts,
    far: Callable[[int, Sequence[int]], Any],
    nearest_only: bool = False,
) -> list[list[int]]:
    """Step 3: each leftover joins the nearest class that accepts it (LE-4); printed: the nearest or none."""
    classes = [list(own) for own in classes]
    for record in leftovers:
        order = sorted(classes, key=lambda own: (far(record, own), len(own)))
        for own in order[:1] if nearest_only else order:
            if accepts([*own, record]):
                own.append(record)
                break
    return classes


def mbf(
    parents: Parents, values: Sequence[str], least: int, e: Fraction, rng: random.Random
) -> list[list[int]]:
    """All steps, on records of one value each; all classes are as near as any other."""
    number = {value: at for at, bucket in enumerate(buckets(parents, values, e)) for value in bucket}

    def accepts(own: Sequence[int]) -> bool:
        return is_class(parents, [values[record] for record in own], least, e)

    classes = draw([number[value] for value in values], least, rng)
    assert all(map(accepts, classes))
    left = [record for record in range(len(values)) if not any(record in own for own in classes)]
    return attach(classes, left, accepts, lambda record, own: 0)


def is_class(parents: Parents, values: Sequence[str], least: int, e: Fraction) -> bool:
    """Definition 3 under LE-1: at least l records, any two more than e apart."""
    pairs = [(a, b) for at, a in enumerate(values) for b in values[:at]]
    return len(values) >= least and all(distance(parents, a, b) > e for a, b in pairs)


def most_publishable(values: Sequence[Any], accepts: Callable[[Sequence[Any]], bool]) -> int:
    """By exhaustion: the most records that classes can publish together, every split tried.

    Records of equal values are not told apart, so the state is how many of each value remain.
    """
    known: dict[frozenset[tuple[Any, int]], int] = {}

    def best(left: Counter[Any]) -> int:
        left = +left
        state = frozenset(left.items())
        if not left:
            return 0
        if state not in known:
            first = min(left)
            found = best(left - Counter([first]))  # the first one suppressed
            for own in _with(first, left):
                if accepts(list(own.elements())):
                    found = max(found, own.total() + best(left - own))
            known[state] = found
        return known[state]

    return best(Counter(values))


def _with(first: Any, left: Counter[Any]) -> list[Counter[Any]]:
    """Every multiset of what is left that holds the first value."""
    found = [Counter({first: count}) for count in range(1, left[first] + 1)]
    for value in left:
        if value != first:
            found = [own + Counter({value: n}) for own in found for n in range(left[value] + 1)]
    return found


def closed_form(sizes: Sequence[int], least: int) -> int:
    """LE-3: S(g) = sum of min(c, g) for the largest g with S(g) >= l g."""

    def published(g: int) -> int:
        return sum(min(size, g) for size in sizes)

    return published(max(g for g in range(sum(sizes) + 1) if published(g) >= least * g))


def information_loss(own: Sequence[Any], value: Any, true_point_only: bool = False) -> Fraction:
    """Formula 5: the squared difference at every point (LE-5), or at the true one, as in the print."""
    points = {value} if true_point_only else {*own, value}
    return sum(
        ((Fraction(list(own).count(point), len(own)) - (point == value)) ** 2 for point in points),
        Fraction(0),
    )


def information_loss_total(classes: Sequence[Sequence[Any]], suppressed: int) -> Fraction:
    """Formula 6, a suppressed record charged 1 (LE-6)."""
    losses = (information_loss(own, value) for own in classes for value in own)
    return sum(losses, Fraction(suppressed))


def diversity_degree(parents: Parents, own: Sequence[str]) -> Fraction:
    """Formula 9, as printed: divided by the number of records."""
    return _pair_sum(parents, own) / len(own)


def mean_pair_distance(parents: Parents, own: Sequence[str]) -> Fraction:
    """The same sum divided by the number of pairs (LE-8)."""
    return _pair_sum(parents, own) / (len(own) * (len(own) - 1) // 2)


def _pair_sum(parents: Parents, own: Sequence[str]) -> Fraction:
    return sum((distance(parents, own[i], own[j]) for j in range(len(own)) for i in range(j)), Fraction(0))
