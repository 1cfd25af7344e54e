"""The judge: derives the classes from published documents alone and asks every model at every vertex.

It shares no code with engines, forest or recodings. Records are in one class when they are QI-isomorphic (ML
section 3.2): equal up to the order of siblings once sensitive values are taken away. A canonical form is
built bottom-up (a vertex's own values and its children's forms, sorted) and hashed, so the work is nearly
linear in the input, and memory grows with the classes and their vertices, not with the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat

from hierdata.document import TEXT, Document, Scalar, Siblings, Value
from hierdata.judge.anatomy import judge_groups
from hierdata.judge.attribute import Attribute
from hierdata.judge.bench import Panel
from hierdata.judge.flat import Reader
from hierdata.judge.rules import Judgement, JudgeRules, Keys, SensitiveRule, Verdict
from hierdata.judge.spelled import single, whole
from hierdata.judge.walk import Children, Walk

__all__ = ["JudgeRules", "Judgement", "Keys", "SensitiveRule", "Verdict", "judge", "judge_counted"]


def judge(
    documents: Iterable[Document],
    rules: JudgeRules,
    beside: Mapping[str, Iterable[Document]] | None = None,
) -> Verdict:
    """Judge published documents, in any order of records and siblings, read once.

    ``beside`` are the documents of the parts that lie beside the records, by their names, where the recoding
    has any.

    >>> from hierdata.privacy import KAnonymity
    >>> rules = JudgeRules((SensitiveRule(("grade",), "$.grade"),), ((KAnonymity(k=2), None),))
    >>> verdict = judge([{"major": "*", "grade": "A"}, {"grade": "B", "major": "*"}], rules)
    >>> verdict.passed, verdict.k, verdict.k_raw
    (True, 2, 2)
    """
    return judge_counted(zip(documents, repeat(1)), rules, beside)


def judge_counted(
    documents: Iterable[tuple[Document, int]],
    rules: JudgeRules,
    beside: Mapping[str, Iterable[Document]] | None = None,
) -> Verdict:
    """Judge documents (see judge) that come with the number of times that each occurs."""
    if rules.recoding == "anatomy":
        return judge_groups(documents, beside or {}, rules)
    attributes = tuple(Attribute(rule) for rule in rules.sensitive)
    walk = Walk(rules, attributes)
    reader = Reader(walk)
    unpardoned = Reader(Walk(replace(rules, exempt=frozenset()), attributes)) if rules.exempt else None
    classes: dict[bytes, _Class] = {}
    written: Counter[bytes] = Counter()
    bare: Counter[bytes] = Counter()
    malformed = 0
    for document, times in documents:
        members, record = _opened(document) if rules.recoding == "representatives" else (1, document)
        if not members:
            malformed += times
            continue
        walk.members, walk.times = members, times
        walk.overfull = False
        key, raw, codes, children = reader.read(record)
        malformed += walk.overfull * times
        known = classes.get(key)
        if known is None:
            known = classes[key] = _Class(_population(record, rules))
        known.records += members * times
        known.add(codes, children, times)
        written[raw] += members * times
        if unpardoned is not None:
            bare[unpardoned.read(record)[0]] += members * times
    panel = Panel(rules, attributes)
    for ordinal, known in enumerate(classes.values()):
        panel.hear(ordinal, known.records, known.tallies(), known.population)
    verdict = panel.verdict([known.records for known in classes.values()], walk.found, malformed)
    return replace(
        verdict,
        k_raw=min(written.values(), default=0),
        k_exempt=min(bare.values(), default=0) if rules.exempt else None,
    )


def _opened(document: Document) -> tuple[int, Document]:
    """The number of records and the representative; 0 and the document as it stands when it is none."""
    content = dict(document)
    count = whole(single(content.pop("@records" if "@records" in content else "records", None)))
    stated = content.pop("representative", None)
    inner = single(stated)
    if isinstance(stated, Siblings) and isinstance(inner, str):  # an element without attributes and children
        inner = {TEXT: inner} if inner else {}
    if not count or not isinstance(inner, dict) or content:
        return 0, document
    return count, inner


def _population(record: Document, rules: JudgeRules) -> int | None:
    """How many rows of the population table fit what is published of a record itself."""
    if rules.population is None:
        return None
    return rules.population.count([_shown(record, column.keys) for column in rules.population.columns])


def _shown(record: Document, keys: Keys) -> Scalar:
    """The single value under the keys, None where there is none."""
    value: Value = record
    for key in keys:
        value = single(value.get(key)) if isinstance(value, dict) else None
    return None if isinstance(value, list | dict) else value


class _Place:
    """A vertex of a class: how often each sensitive value occurs there, and the vertices below.

    Identical siblings are one place, for nobody can tell them apart.
    """

    __slots__ = ("below", "tally")

    def __init__(self) -> None:
        self.tally: dict[int, int] = {}
        self.below: dict[tuple[str, str], _Place] = {}

    def add(self, codes: list[int], children: Children, times: int) -> None:
        """Pool the values of a record's vertex, and those below it, as often as the record occurs."""
        tally = self.tally
        for code in codes:
            tally[code] = tally.get(code, 0) + times
        below = self.below
        for mark, held, inner in children:
            place = below.get(mark)
            if place is None:
                place = below[mark] = _Place()
            place.add(held, inner, times)

    def tallies(self) -> Iterator[dict[int, int]]:
        """What is counted at each vertex of the class."""
        if self.tally:
            yield self.tally
        for place in self.below.values():
            yield from place.tallies()


class _Class(_Place):
    """A class: the root of its representative, how many records it has, how many of a population fit it."""

    __slots__ = ("population", "records")

    def __init__(self, population: int | None) -> None:
        super().__init__()
        self.records = 0
        self.population = population
