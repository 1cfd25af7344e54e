"""Run the judge on published files, which may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from hierdata.documents.document import Document
from hierdata.executors import Held
from hierdata.ground.progress import count_items
from hierdata.judge import JudgeHear, JudgeRules, JudgeWalk, Verdict, judge_counted, merge_verdicts
from hierdata.pipeline.resources import RunContext
from hierdata.sources import InputSplit


@dataclass(frozen=True)
class WalkSplit:
    """Run the judge's walk over the records of a split."""

    rules: JudgeRules
    buckets: int

    def __call__(self, split: InputSplit) -> Iterator[tuple[int, bytes]]:
        """Yield pieces by bucket."""
        return JudgeWalk(self.rules, self.buckets)(split.count_documents())


def judge_files(
    splits: Sequence[InputSplit],
    beside: Mapping[str, Iterator[Document]],
    rules: JudgeRules,
    spread: RunContext,
) -> Verdict:
    """Judge all splits of the records, and the other parts, ``beside``, by name.

    Records whose sensitive values are published apart are judged in one pass, since groups span the file.
    """
    if len(splits) == 1 or beside:
        documents = chain.from_iterable(split.count_documents() for split in splits)
        return judge_counted(
            count_items(documents, "verifying", None, spread.progress, itemgetter(1)), rules, beside
        )
    _, watch = spread.progress_callbacks("verifying", None, len(splits))
    return judge_walked(
        spread.executor.hold(splits).exchange(WalkSplit(rules, len(splits)), len(splits), watch), rules
    )


def judge_walked(walked: Held[list[bytes]], rules: JudgeRules) -> Verdict:
    """Judge what the judge's walks found, by bucket; it is released."""
    heard = walked.map(JudgeHear(rules))
    walked.release()
    verdict = merge_verdicts(heard.collect(), rules)
    heard.release()
    return verdict
