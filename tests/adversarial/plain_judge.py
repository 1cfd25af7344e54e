"""Models by their definitions, on the values of a class themselves: nothing of the judge or the engines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

GROUP_OF = {1: "few", 2: "few", 4: "some", 5: "some", 9: "many"}
"""The taxonomy of the sensitive values: groups right below the root."""


def distance(by: str, values: Sequence[int], original: Sequence[int]) -> Fraction:
    """The earth mover's distance, by the closed forms of Li et al."""
    if not values:
        return Fraction(0)
    own, all_ = Counter(values), Counter(original)
    more = {v: Fraction(own[v], len(values)) - Fraction(all_[v], len(original)) for v in sorted(all_)}
    if by == "equal":
        return sum(map(abs, more.values()), Fraction(0)) / 2
    if by == "ordered":
        below = [sum(list(more.values())[:at], Fraction(0)) for at in range(1, len(more))]
        return sum(map(abs, below), Fraction(0)) / max(1, len(more) - 1)
    cost, extra = Fraction(0), []
    for group in set(GROUP_OF.values()):
        held = [share for value, share in more.items() if GROUP_OF[value] == group]
        cost += min(sum(s for s in held if s > 0), -sum(s for s in held if s < 0)) * Fraction(1, 2)
        extra.append(sum(held, Fraction(0)))
    return cost + sum(e for e in extra if e > 0)


def bins(partition: dict[str, Any], original: Sequence[int]) -> dict[int, int]:
    """The block of each number of the original."""
    numbers = sorted(set(original))
    if "equal_width" in partition:
        count, low, wide = partition["equal_width"], numbers[0], numbers[-1] - numbers[0]
        return {n: min(count - 1, (n - low) * count // wide) if wide else 0 for n in numbers}
    counts, found = Counter(original), dict[int, int]()
    left, start, to_fill = len(original), 0, min(partition["equal_frequency"], len(numbers))
    for block in range(to_fill):
        others = to_fill - block - 1
        ends = range(start + 1, len(numbers) - others + 1) if others else [len(numbers)]
        held = {end: sum(counts[n] for n in numbers[start:end]) for end in ends}
        end = min(held, key=lambda end: abs(held[end] - Fraction(left, others + 1)))
        found |= dict.fromkeys(numbers[start:end], block)
        left, start = left - held[end], end
    return found


def holds(model: dict[str, Any], records: int, values: Sequence[int], original: Sequence[int]) -> bool:
    """Whether a class of so many records with these values keeps a model."""
    kind, counts = model["kind"], Counter(values)
    if kind == "k-anonymity" or (kind == "alpha-k" and records < model["k"]):
        return bool(records >= model["k"])
    if not values:
        return True
    if "partition" in model:
        block = bins(model["partition"], original)
        values, original = [block[value] for value in values], [block[value] for value in original]
        counts = Counter(values)
    if kind in ("t-closeness", "delta-disclosure"):
        return _like(model, values, original)
    if kind in ("l-e-diversity", "delta-l-diversity"):
        return _far_apart(model, values)
    most = Fraction(max(counts.values()), len(values))
    if kind == "alpha-k":
        return most <= Fraction(model["alpha"])
    if kind == "distinct-l-diversity":
        return bool(len(counts) >= model["l"] <= records)
    assert kind == "frequency-l-diversity"
    return most * Fraction(model["l"]) <= 1


def _like(model: dict[str, Any], values: Sequence[int], original: Sequence[int]) -> bool:
    """Whether the values are distributed as in the original."""
    if model["kind"] == "t-closeness":
        by = model.get("distance", "ordered" if "partition" in model else "hierarchical")
        return distance(by, values, original) <= Fraction(model["t"])
    own, all_ = Counter(values), Counter(original)
    shares = [own[value] / len(values) / (all_[value] / len(original)) for value in own]
    return all(abs(math.log(share)) <= model["delta"] for share in shares)


def _far_apart(model: dict[str, Any], values: Sequence[int]) -> bool:
    """Whether the values lie as far from each other as is asked for."""
    if model["kind"] == "l-e-diversity":  # e = 1: siblings are too near, and a value stands once
        groups = Counter(GROUP_OF[value] for value in values)
        return max(groups.values()) == 1 and len(values) >= int(model["l"])
    reach = 2 * Fraction(model["delta"])
    near = max(sum(abs(one - other) <= reach for other in values) for one in values)
    return near * int(model["l"]) <= len(values)
