"""Published labels as nodes of the hierarchies that the original has under the policy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import cached_property

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import Number, exact
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import VerificationError
from hierdata.measurement.release.sets import Sets
from hierdata.recodings import RecodingTraits

_Key = tuple[type, "str | bool | Number"]


class Reader:
    """The labels of one quasi-identifier; formats without numbers spell them as text."""

    def __init__(self, tree: Hierarchy, path: str, traits: RecodingTraits) -> None:
        self._tree, self._path = tree, path
        self._nodes: dict[_Key, int] = {}
        for node, label in enumerate(tree.labels):
            if label is not None:
                self._nodes.setdefault(_key(label), node)  # a chain of single children may repeat a label
        self._sets = Sets(tree) if traits.publishes_value_sets else None

    @property
    def by_label(self) -> Hierarchy:
        """The hierarchy, for labels in the place of values; VerificationError for a label of no node."""
        return replace(self._tree, node_of=self._node_of)

    def hierarchy(self) -> Hierarchy:
        """The hierarchy with a node for each label that was met."""
        return self._tree if self._sets is None else self._sets.hierarchy()

    def _node_of(self, label: Scalar) -> int:
        if label is None:
            return self._tree.node_of(None)
        with suppress(Uncovered):
            if self._sets is not None and (node := self._sets.node_of(label)) is not None:
                return node
            for key in _readings(label):
                if key in self._nodes:
                    return self._nodes[key]
        raise VerificationError(
            "a published value generalizes none of the original's under this policy: the release belongs to "
            "another input, or to another policy",
            path=self._path,
            revealed=(str(label),),
        )


def _key(label: Scalar) -> _Key:
    """Text, booleans and numbers are apart; equal numbers are one."""
    return (type(label), label) if isinstance(label, str | bool) else (int, exact(label))


def _readings(label: Scalar) -> list[_Key]:
    """What a published label may be: first what it is, then what a text spells."""
    if not isinstance(label, str):
        return [_key(label)]
    found: list[_Key] = [_key(label)]
    if label in ("true", "false"):
        found.append((bool, label == "true"))
    with suppress(Uncovered):
        found.append((int, exact(label)))
    return found


class OfOriginal(SensitiveDomain):
    """A sensitive domain for published values: one that the original has not belongs to another release."""

    @classmethod
    def of(cls, domain: SensitiveDomain) -> OfOriginal:
        """The same domain."""
        return cls(**{field.name: getattr(domain, field.name) for field in fields(domain)})

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """Turns a value into its code. Raises VerificationError."""
        find = super().code_of

        def known(value: Scalar) -> int:
            try:
                return find(value)
            except Uncovered:
                raise VerificationError(
                    "a published sensitive value does not occur in the original",
                    path=self.path,
                    revealed=(str(value),),
                ) from None

        return known
