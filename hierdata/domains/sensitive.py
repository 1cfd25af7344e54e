"""The domain of one sensitive attribute: its values, and the sensitivity level of each."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.document import Scalar


@dataclass(frozen=True)
class SensitiveDomain:
    """The distinct values of a sensitive attribute: ``values[code]``, codes 0..n-1, missing left out.

    ``levels[code]`` is the sensitivity level, 1 (least) .. ``level_count`` (most sensitive); None when the
    policy gives the attribute no levels. Numbers that are equal are one value, however they are spelled.
    """

    path: str
    values: tuple[Scalar, ...]
    levels: tuple[int, ...] | None = None
    level_count: int = 5
