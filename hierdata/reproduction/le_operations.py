"""LE's claims on the time of algorithm 1, by counts of operations: as printed, and as our engine runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil, log2
from types import FrameType
from typing import Any

from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.reproduction.exhibit import Exhibit, Grid, write_sentence
from hierdata.reproduction.le_figures import search_classes
from hierdata.reproduction.small_data import encode_records, list_bucket_rows

SETTINGS = ((240, 8), (480, 8), (960, 8), (480, 32), (480, 120), (240, 240), (480, 480), (960, 960))
"""Rows n and buckets m of equal size; the last three are the worst case of the paper, m = n."""
L = 4


@dataclass(frozen=True)
class Operations:
    """What it takes to draw all classes: their number, and comparisons of bucket sizes or calls of a heap."""

    classes: int
    count: int


class _Size:
    """The rows left in a bucket; counts how often two are compared."""

    compared = 0

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining

    def __lt__(self, other: _Size) -> bool:
        _Size.compared += 1
        return self.remaining > other.remaining


def sort_each_round(sizes: Sequence[int], l: int) -> Operations:  # noqa: E741  (the paper's letter)
    """Count the comparisons of step 2 as printed: all buckets are sorted by size before each class.

    >>> sort_each_round([2, 2], 2).classes
    2
    """
    buckets = [_Size(size) for size in sizes]
    _Size.compared = classes = 0
    while sum(bucket.remaining > 0 for bucket in buckets) >= l:
        buckets.sort()
        for bucket in buckets[:l]:
            bucket.remaining -= 1
        classes += 1
    return Operations(classes, _Size.compared)


def search_by_heap(sizes: Sequence[int], l: int) -> Operations:  # noqa: E741
    """Count how often our engine takes from its heap of buckets or adds to it, while it draws all classes."""
    data = encode_records(list_bucket_rows(sizes), _policy(l))
    search_classes(data, 1)  # whatever is compiled or loaded at the first call
    with _count_calls(heappush, heappop) as counted:
        partition = search_classes(data, 1)
    return Operations(partition.class_count, len(counted))


@contextmanager
def _count_calls(*functions: Callable[..., object]) -> Iterator[list[None]]:
    """Count the calls of functions that are written in C, in this thread."""
    calls: list[None] = []

    def watch(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called in functions:
            calls.append(None)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def _policy(l: int) -> Policy:  # noqa: E741
    return from_data(
        {
            "version": 1,
            "fields": {"$.row": {"role": "quasi", "flat": True}, "$.value": {"role": "sensitive"}},
            "models": [{"kind": "frequency-l-diversity", "l": l}],
            "engine": {"preset": "anatomy-l"},
        }
    )


def show_operations() -> Exhibit:
    """Return the counts of algorithm 1 over n and m."""
    columns = ("n, m", "classes", "comparisons", "calls of a heap", "n/l m log m", "n log m")
    measured = [(n, m, _measure(n, m)) for n, m in SETTINGS]
    derived = tuple(
        (f"{n}, {m}", printed.classes, printed.count, None, round(n / L * m * log2(m)), None)
        for n, m, (printed, _) in measured
    )
    ours = tuple(
        (f"{n}, {m}", run.classes, None, run.count, None, round(n * log2(m))) for n, m, (_, run) in measured
    )
    return Exhibit(
        "Section III, complexity",
        f"How many operations algorithm 1 takes, l = {L}",
        "The abstract calls the algorithm linear; the text has O(n) + O(n/l m log m) + O(z) for n rows in "
        "m buckets, and O(n^2 log n) where m = n. The first grid counts comparisons of bucket sizes if all "
        "buckets are sorted before each class, as printed; nearly sorted lists take fewer than m log m. Ours "
        "keeps the buckets in a heap, and its calls are counted while it runs; each compares about log m "
        "sizes.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ours),
        differs=describe_growth(measured),
        errata=("LE-11",),
    )


def describe_growth(measured: Sequence[tuple[int, int, tuple[Operations, Operations]]]) -> str:
    """Return how the counts grow: with n where m is fixed, and with n where m = n."""
    other = [f"n = {n}, m = {m}" for n, m, (printed, heap) in measured if printed.classes != heap.classes]
    if other:
        return f"The engine draws another number of classes than algorithm 1 at {'; '.join(other)}."
    fixed = [setting for setting in measured if setting[1] == min(m for _, m, _ in measured)]
    worst = [setting for setting in measured if setting[0] == setting[1]]
    sentences = []
    for case, those in ((f"m = {fixed[0][1]}", fixed), ("m = n", worst)):
        (least, _, first), (most, _, last) = those[0], those[-1]
        printed, heap = (after.count / before.count for before, after in zip(first, last, strict=True))
        sentences.append(
            f"with {case}, {ceil(most / least)} times the rows take {printed:.1f} times the comparisons as "
            f"printed and {heap:.1f} times the calls of our heap"
        )
    return write_sentence(sentences)


def _measure(n: int, m: int) -> tuple[Operations, Operations]:
    sizes: list[int] = [n // m] * m
    return sort_each_round(sizes, L), search_by_heap(sizes, L)
