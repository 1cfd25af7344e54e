"""The judge: derives the classes from published documents alone and asks every model at every vertex.

It shares no code with engines, forest or recodings. Records are in one class when they are QI-isomorphic (ML
section 3.2): equal up to the order of siblings once sensitive values are taken away. A canonical form is
built bottom-up (a vertex's own values and its children's forms, sorted) and hashed, so the work is nearly
linear in the input, and memory grows with the classes and their vertices, not with the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import repeat

from hierdata.document import TEXT, Document, Siblings
from hierdata.judge.anatomy import judge_groups
from hierdata.judge.attribute import Attribute
from hierdata.judge.bench import Panel
from hierdata.judge.flat import Reader
from hierdata.judge.places import Class, population_of
from hierdata.judge.rules import Judgement, JudgeRules, Keys, SensitiveRule, Verdict
from hierdata.judge.slicing import judge_slices
from hierdata.judge.spelled import single, whole
from hierdata.judge.walk import Walk

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
    if rules.recoding == "slicing":
        return judge_slices(documents, beside or {}, rules)
    attributes = tuple(Attribute(rule) for rule in rules.sensitive)
    walk = Walk(rules, attributes)
    reader = Reader(walk)
    unpardoned = Reader(Walk(replace(rules, exempt=frozenset()), attributes)) if rules.exempt else None
    classes: dict[bytes, Class] = {}
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
            known = classes[key] = Class(population_of(record, rules))
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
