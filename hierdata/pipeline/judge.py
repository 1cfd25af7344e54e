"""The judge, asked about published files that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from hierdata.documents.document import Document
from hierdata.judge import JudgeHear, JudgeRules, JudgeWalk, Verdict, judge_counted, merged
from hierdata.pipeline.resources import Spread
from hierdata.progress import counted
from hierdata.sources import InputSplit


@dataclass(frozen=True)
class WalkSplit:
    """Walk the records of a split."""

    rules: JudgeRules
    buckets: int

    def __call__(self, split: InputSplit) -> Iterator[tuple[int, bytes]]:
        """Pieces of buckets."""
        return JudgeWalk(self.rules, self.buckets)(split.counted())


def judged(
    splits: Sequence[InputSplit],
    beside: Mapping[str, Iterator[Document]],
    rules: JudgeRules,
    spread: Spread,
) -> Verdict:
    """The verdict on all splits of the records, and on the parts that lie ``beside`` them.

    Records whose sensitive values lie apart are judged at once: groups reach over the whole file.
    """
    if len(splits) == 1 or beside:
        documents = chain.from_iterable(split.counted() for split in splits)
        return judge_counted(
            counted(documents, "verifying", None, spread.progress, itemgetter(1)), rules, beside
        )
    _, watch = spread.telling("verifying", None, len(splits))
    walked = spread.executor.hold(splits).exchange(WalkSplit(rules, len(splits)), len(splits), watch)
    heard = walked.map(JudgeHear(rules))
    walked.release()
    verdict = merged(heard.collect(), rules)
    heard.release()
    return verdict
