"""Progress of a run: the callback and a helper that calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

Progress: TypeAlias = Callable[[str, int, "int | None"], None]
"""Called with the name of a stage, the number of items done, and the total (None if unknown)."""

Item = TypeVar("Item")

_STEP = 256  # items between two calls


def silent(stage: str, done: int, total: int | None) -> None:
    """Show no progress."""


def count_items(
    items: Iterable[Item],
    stage: str,
    total: int | None,
    progress: Progress,
    times: Callable[[Item], int] | None = None,
) -> Iterator[Item]:
    """Yield the items and report their number; ``times`` returns how many an item counts for.

    >>> list(count_items("ab", "reading", 2, print))
    reading 0 2
    reading 2 2
    ['a', 'b']
    """
    if progress is silent:
        yield from items
        return
    done = reported = 0
    progress(stage, done, total)
    for item in items:
        yield item
        done += 1 if times is None else times(item)
        if done - reported >= _STEP:
            reported = done
            progress(stage, done, total)
    progress(stage, done, total)
