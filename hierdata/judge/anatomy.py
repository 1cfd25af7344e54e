"""The judge of anatomy: quasi-identifiers in their finest form, sensitive values apart, joined by group.

A class is a group of one vertex type. Its members are the persons with a vertex in this group; their values
are those that the group's rows state. The quasi-identifiers do not matter: an adversary who finds the vertex
of a person learns its group and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hierdata.documents.document import Document, sensitive_part
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.bench import ModelChecks
from hierdata.judge.contents import PlaceContent, RecordContent
from hierdata.judge.groups import GroupWalk, SensitiveTable, kinds_of, paths_by_part, read_tables
from hierdata.judge.rules import JudgeRules, Verdict


def judge_groups(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with groups, each with its number of occurrences, and the values of the groups.

    ``beside`` holds the rows of values by the name of their part.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import DistinctLDiversity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((DistinctLDiversity(l=2), None),))
    >>> records = [{"zip": 1, "group": 1}, {"zip": 2, "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_groups([(record, 1) for record in records], {"sensitive": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(SensitiveValues(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    walk = GroupWalk(rules, kinds.values())
    records = 0
    for document, times in documents:
        records += times
        walk.record(document, times)
    tables = {sensitive_part(keys): SensitiveTable(kind, kind.places) for keys, kind in kinds.items()}
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.found)
    panel = ModelChecks(rules, attributes)
    groups = [(kind, group) for kind in kinds.values() for group in kind.groups.values()]
    for ordinal, (kind, group) in enumerate(groups):
        place, whole = PlaceContent(group.tally), RecordContent(group.tally)
        panel.check_class(ordinal, group.persons, [place], whole, own=tuple(kind.places.values()))
    verdict = panel.verdict([group.persons for _, group in groups], walk.found, malformed)
    return replace(verdict, records=records, tables=paths_by_part(tables, rules))
