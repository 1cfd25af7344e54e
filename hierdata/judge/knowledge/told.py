"""What walks tell of facts: labels, and what vertices show, in the codes of each walk."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.judge.knowledge.facts import Label
from hierdata.judge.knowledge.judged import JudgedKnowledge


class ToldFacts:
    """Translates the codes of one walk: ``shown`` are our codes of what its vertices show."""

    def __init__(self, knowledge: JudgedKnowledge) -> None:
        self._knowledge = knowledge
        self._labels: list[int] = []
        self.shown: list[int] = []

    def learn(self, labels: Sequence[Label], shown: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take the labels, and what vertices show, that the walk met since the last time."""
        if labels:
            self._labels += self._knowledge.learn_labels(labels)
        for kind, own in shown:
            mine = tuple(self._labels[label] for label in own)
            self.shown.append(self._knowledge.learn_shown(kind, mine))
