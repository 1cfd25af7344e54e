"""Judging: one split of a published file is walked; its classes are heard elsewhere, bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hierdata.intake import InputSplit
from hierdata.judge import JudgeRules, JudgeWalk


@dataclass(frozen=True)
class WalkSplit:
    """Walk the records of a split."""

    rules: JudgeRules
    buckets: int

    def __call__(self, split: InputSplit) -> Iterator[tuple[int, bytes]]:
        """Pieces of buckets."""
        return JudgeWalk(self.rules, self.buckets)(split.counted())
