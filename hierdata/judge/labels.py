"""Published quasi-identifiers: whether each is in a form that the policy's domain publishes."""

from __future__ import annotations

from hierdata.documents.document import Scalar, Value
from hierdata.domains.base import ROOT_LABEL, Uncovered
from hierdata.domains.published import MISSING, Member, split_set
from hierdata.judge.attribute import REMEMBERED
from hierdata.judge.rules import QuasiRule


class LabelCheck:
    """The labels of one quasi-identifier; each distinct one is looked up once.

    A label is the root, a missing value, or that of a node at the policy's finest form or above. With
    ``sets`` it may also be a set of finest ones, or a range between two of them.
    """

    __slots__ = ("_known", "_rule", "_sets", "path")

    def __init__(self, rule: QuasiRule, sets: bool) -> None:
        self.path = f"{rule.path} (finer than the policy allows, or no label of its domain)"
        self._rule = rule
        self._sets = sets
        self._known: dict[tuple[type, Scalar], bool] = {}

    def matches(self, value: Value) -> bool:
        """Return whether a value may be published; an object or array may not."""
        if isinstance(value, list | dict):
            return False
        key = value.__class__, value
        known = self._known.get(key)
        if known is None:
            known = self._matches(value)
            if len(self._known) < REMEMBERED:
                self._known[key] = known
        return known

    def _matches(self, label: Scalar) -> bool:
        labels = self._rule.labels
        if label is None or label in ("", ROOT_LABEL) or label in self._rule.missing:
            return True
        if labels.is_finest(label) or labels.is_coarser(label):
            return True
        if not self._sets or not isinstance(label, str):
            return False
        if label[:1] != "{" or label[-1:] != "}":
            return labels.is_range(label)
        try:
            return all(map(self._is_member, split_set(label)))
        except Uncovered:
            return False

    def _is_member(self, member: Member) -> bool:
        labels, text = self._rule.labels, member.text
        return labels.is_finest(text) or (not member.quoted and (text == MISSING or labels.is_range(text)))
