"""The judge in parts: documents are walked in parallel, and the classes of each bucket are judged separately.

All records of a class have one digest, which determines their bucket. Each bucket has a verdict on its
classes, and the merged verdicts are the verdict on the whole release.
"""

from __future__ import annotations

import marshal
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from hierdata.documents.document import Document, Scalar
from hierdata.judge.attribute import RESPELLED, SensitiveValues
from hierdata.judge.checks import DerivedCheck, Marks, count_wrong_pseudonyms
from hierdata.judge.classes import JudgedClasses
from hierdata.judge.knowledge.judged import FactTranslation
from hierdata.judge.reading import JudgedRecord, MixedReader, Reading
from hierdata.judge.rules import Judgement, JudgeRules, Verdict

_MARSHALLED = frozenset({str, int, bool, type(None)})
HELD = 1 << 17
"""Documents and their children that a walk holds before it yields pieces."""


class JudgeWalk:
    """Walks documents, each with its number of occurrences, and yields bytes for their classes' buckets."""

    def __init__(self, rules: JudgeRules, buckets: int) -> None:
        self._rules = rules
        self._buckets = buckets
        model = rules.knowledge
        # Records that are counted together over the file are in one bucket.
        self._spread = 1 if model is not None and model.root == "counted" else buckets

    def __call__(self, documents: Iterable[tuple[Document, int]]) -> Iterator[tuple[int, bytes]]:
        """Yield (bucket, piece). The pieces of one walk must be judged in this order."""
        attributes = tuple(SensitiveValues(rule) for rule in self._rules.sensitive)
        reading = Reading(self._rules, attributes)
        sent = [0] * len(attributes)
        self._first = True
        buckets: list[list[JudgedRecord]] = [[] for _ in range(self._buckets)]
        held = 0
        mixed, labels = MixedReader(self._rules), DerivedCheck(self._rules)
        for record in reading.read_documents(labels.strip_counted(mixed.open_counted(documents))):
            buckets[int.from_bytes(record[0][:8]) % self._spread].append(record)
            held += 1 + len(record[-1]) + (0 if record[7] is None else len(record[7][1]) // 2)
            if held >= HELD:
                yield from self._pieces(buckets, reading, _news(attributes, sent))
                held = 0
        for attribute in attributes:
            reading.findings.update(attribute.find_respelled())
        reading.findings.update(labels.findings)
        reading.findings.update(mixed.findings)
        yield from self._pieces(buckets, reading, _news(attributes, sent))

    def _pieces(
        self, buckets: list[list[JudgedRecord]], reading: Reading, values: dict[int, Scalar]
    ) -> Iterator[tuple[int, bytes]]:
        """Yield and clear what is held. Sensitive values go to every bucket: models need all of them."""
        news = {code: _plain(value) for code, value in values.items()}
        marks = reading.pseudonyms.take_buckets(self._buckets)
        facts = reading.facts
        first, self._first = self._first, False
        labels, shown = ([], []) if facts is None else facts.take()
        plain_labels = [(index, _plain(value)) for index, value in labels]
        if facts is not None:
            reading.findings.update(facts.findings)
            facts.findings.clear()
        for bucket, records in enumerate(buckets):
            findings = {} if bucket else dict(reading.findings)
            malformed = 0 if bucket else reading.malformed
            knowledge = None
            if facts is not None:
                knowledge = plain_labels, shown, {} if bucket else facts.spellings(), first
            if news or records or findings or malformed or any(marks[bucket]) or knowledge:
                piece = (news, records, findings, malformed, marks[bucket], knowledge)
                yield bucket, marshal.dumps(piece)
            records.clear()
        reading.findings.clear()
        reading.malformed = 0


class JudgeHear:
    """Judges the classes of one bucket from the pieces that all walks made for it, walk after walk."""

    def __init__(self, rules: JudgeRules) -> None:
        self._rules = rules

    def __call__(self, pieces: Iterable[bytes]) -> Verdict:
        """Return the verdict on these classes alone (see ``merge_verdicts``)."""
        attributes = tuple(SensitiveValues(rule) for rule in self._rules.sensitive)
        classes = JudgedClasses(self._rules, attributes)
        forbidden: Counter[str] = Counter()
        malformed = 0
        our_codes: dict[int, int] = {}
        pseudonyms: list[Marks] = []
        knowledge = classes.knowledge
        facts: FactTranslation | None = None
        for piece in pieces:
            # Made by a walk of ours.
            news, records, findings, wrong, marks, known = marshal.loads(piece)  # noqa: S302
            for foreign, value in news.items():  # a walk sends values before it uses their codes
                our_codes[foreign] = _code(attributes, foreign, value)
            if known is not None and knowledge is not None:
                labels, shown, spelled, first = known
                if first or facts is None:
                    facts = FactTranslation(knowledge)
                facts.learn([(index, _value(plain)) for index, plain in labels], shown)
                knowledge.learn_spellings(spelled)
            classes.add(records, our_codes, None if facts is None else facts.shown)
            forbidden.update(findings)
            malformed += wrong
            pseudonyms.append(marks)
        forbidden.update(count_wrong_pseudonyms(pseudonyms))
        return classes.verdict(forbidden, malformed)


def merge_verdicts(parts: Iterable[Verdict], rules: JudgeRules) -> Verdict:
    """Merge the verdicts on the classes of all parts, at least one, into one verdict."""
    models = {model.kind: model for model, _ in rules.models}

    def both(left: Judgement, right: Judgement) -> Judgement:
        return replace(
            left,
            held=left.held and right.held,  # None in all parts where it could not be judged
            achieved=models[left.model].weakest(left.achieved, right.achieved),
            failing_classes=left.failing_classes + right.failing_classes,
        )

    verdicts = list(parts)
    heard = [verdict for verdict in verdicts if verdict.classes]
    told_apart = [verdict.told_apart for verdict in verdicts if verdict.told_apart]
    judgements = zip(*(verdict.judgements for verdict in verdicts), strict=True)
    k_exempt = min((verdict.k_exempt or 0 for verdict in heard), default=0)
    forbidden: Counter[str] = Counter()
    for verdict in verdicts:
        forbidden.update(verdict.forbidden)
    forbidden.update({name: 1 - count for name, count in forbidden.items() if name.endswith(RESPELLED)})
    for path in forbidden.keys() & {rule.path for rule in rules.sensitive}:  # each part met all values
        forbidden[path] = max(verdict.forbidden.get(path, 0) for verdict in verdicts)
    return replace(
        verdicts[0],
        passed=all(verdict.passed for verdict in verdicts),
        records=sum(verdict.records for verdict in heard),
        classes=sum(verdict.classes for verdict in heard),
        k=min((verdict.k for verdict in heard), default=0),
        largest_class=max((verdict.largest_class for verdict in heard), default=0),
        k_raw=min((verdict.k_raw or 0 for verdict in heard), default=0),
        k_exempt=k_exempt if rules.pardoned_paths else None,
        judgements=tuple(reduce(both, of_parts) for of_parts in judgements),
        forbidden=dict(sorted(forbidden.items())),
        malformed=sum(verdict.malformed for verdict in verdicts),
        told_apart=reduce(add, told_apart) if told_apart else None,
        worst_guess={
            path: max(verdict.worst_guess[path] for verdict in verdicts) for path in verdicts[0].worst_guess
        },
    )


def _news(attributes: Sequence[SensitiveValues], sent: list[int]) -> dict[int, Scalar]:
    """Return the values that were not sent yet, by their codes joint over all attributes."""
    news: dict[int, Scalar] = {}
    for index, attribute in enumerate(attributes):
        for code, value in enumerate(attribute.values[sent[index] :], sent[index]):
            news[code * len(attributes) + index] = value
        sent[index] = len(attribute.values)
    return news


def _plain(value: Scalar) -> object:
    """Return a value in a form that marshal accepts: one of another type by its pickle."""
    return value if type(value) in _MARSHALLED else (pickle.dumps(value, 5),)


def _code(attributes: Sequence[SensitiveValues], foreign: int, plain: Any) -> int:
    """Return our joint code of a value."""
    index = foreign % len(attributes)
    return attributes[index].code(_value(plain)) * len(attributes) + index


def _value(plain: Any) -> Any:
    """Return a value from the form that marshal accepts."""
    return pickle.loads(*plain) if isinstance(plain, tuple) else plain  # noqa: S301  (made by a walk of ours)
