"""The judge: derives the classes from published documents alone and checks every model at every vertex.

It shares no code with engines, forest or recodings. Records are in one class if they are QI-isomorphic (ML
section 3.2): equal up to the order of siblings once sensitive values are removed. A canonical form is built
bottom-up (a vertex's own values and its children's forms, sorted) and hashed, so the work is nearly linear in
the input, and memory grows with the classes and their vertices, not with the records. Walking and judging can
be done in parts (module ``parts``), and then memory grows with the classes of one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import repeat

from hierdata.documents.document import Document
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.checks import DerivedCheck, count_wrong_pseudonyms
from hierdata.judge.classes import JudgedClasses
from hierdata.judge.groups import judge_groups
from hierdata.judge.knowledge.judged import FactTranslation
from hierdata.judge.parts import JudgeHear, JudgeWalk, merge_verdicts
from hierdata.judge.reading import MixedReader, Reading
from hierdata.judge.rules import (
    DerivedRule,
    ItemFilter,
    Judgement,
    JudgeRules,
    Keys,
    MixedRule,
    QuasiRule,
    SensitiveRule,
    Verdict,
)
from hierdata.judge.slicing import judge_slices
from hierdata.judge.slicing_by_table import judge_tables

__all__ = [
    "DerivedRule",
    "ItemFilter",
    "JudgeHear",
    "JudgeRules",
    "JudgeWalk",
    "Judgement",
    "Keys",
    "MixedRule",
    "QuasiRule",
    "SensitiveRule",
    "Verdict",
    "judge",
    "judge_counted",
    "merge_verdicts",
]


def judge(
    documents: Iterable[Document],
    rules: JudgeRules,
    beside: Mapping[str, Iterable[Document]] | None = None,
) -> Verdict:
    """Judge published documents, in any order of records and siblings, reading them once.

    ``beside`` holds the documents of the separate parts by name (tables of sensitive values), if the recoding
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
    """Judge documents (see ``judge``), each given with its number of occurrences."""
    mixed, check = MixedReader(rules), DerivedCheck(rules)
    opened = check.strip_counted(mixed.open_counted(documents))
    verdict = _judge_stripped(opened, rules, check.strip_parts(beside or {}))
    forbidden = {**mixed.findings, **check.findings}
    if not forbidden:
        return verdict
    return replace(verdict, passed=False, forbidden=dict(sorted({**verdict.forbidden, **forbidden}.items())))


def _judge_stripped(
    documents: Iterable[tuple[Document, int]],
    rules: JudgeRules,
    beside: Mapping[str, Iterable[Document]],
) -> Verdict:
    """Judge documents without labels, with a key for each vertex type."""
    if rules.recoding == "anatomy":
        return judge_groups(documents, beside, rules)
    if rules.recoding == "slicing":
        return judge_slices(documents, beside, rules)
    if rules.recoding == "slicing_by_table":
        return judge_tables(documents, beside, rules)
    attributes = tuple(SensitiveValues(rule) for rule in rules.sensitive)
    reading = Reading(rules, attributes)
    classes = JudgedClasses(rules, attributes)
    if reading.facts is None or classes.knowledge is None:
        classes.add(reading.read_documents(documents))
    else:
        translation = FactTranslation(classes.knowledge)
        for record in reading.read_documents(documents):
            translation.learn(*reading.facts.take())
            classes.add((record,), None, translation.shown)
        reading.findings.update(reading.facts.findings)
        classes.knowledge.learn_spellings(reading.facts.spellings())
    reading.findings.update(count_wrong_pseudonyms(reading.pseudonyms.take_buckets(1)))
    return classes.verdict(reading.findings, reading.malformed)
