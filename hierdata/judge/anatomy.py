"""The judge of anatomy: quasi-identifiers as they are, sensitive values apart, joined again by group.

A class is a group of one vertex type. Its members are the persons with a vertex of this group; their values
are those that the group's rows state. What the quasi-identifiers are does not matter: an adversary who finds
the vertex of a person learns its group and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hierdata.documents.document import Document, sensitive_part
from hierdata.judge.attribute import Attribute
from hierdata.judge.bench import Panel
from hierdata.judge.groups import GroupWalk, Table, kinds_of, read_tables, shown
from hierdata.judge.rules import JudgeRules, Verdict


def judge_groups(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with groups, each with the number of times it occurs, and the values of the groups.

    These come by the names of their parts.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import DistinctLDiversity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((DistinctLDiversity(l=2), None),))
    >>> records = [{"zip": 1, "group": 1}, {"zip": 2, "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_groups([(record, 1) for record in records], {"sensitive": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(Attribute(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    walk = GroupWalk(rules, kinds.values())
    records = 0
    for document, times in documents:
        records += times
        walk.record(document, times)
    tables = {sensitive_part(keys): Table(kind, kind.places) for keys, kind in kinds.items()}
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.found)
    panel = Panel(rules, attributes)
    groups = [(kind, group) for kind in kinds.values() for group in kind.groups.values()]
    for ordinal, (kind, group) in enumerate(groups):
        panel.hear(ordinal, group.persons, [group.tally], own=tuple(kind.places.values()))
    verdict = panel.verdict([group.persons for _, group in groups], walk.found, malformed)
    return replace(verdict, records=records, tables=shown(tables, rules))
