"""Map published labels to nodes of the hierarchies that the original has under the policy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import cached_property

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import Number, exact
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import VerificationError
from hierdata.ground.recodings import RecodingTraits
from hierdata.measurement.release.sets import Sets

_Key = tuple[type, "str | bool | Number"]


class LabelReader:
    """Reads the labels of one quasi-identifier, also where a format spells numbers as text."""

    def __init__(self, tree: Hierarchy, path: str, traits: RecodingTraits) -> None:
        self._tree, self._path = tree, path
        self._nodes: dict[_Key, int] = {}
        for node, label in enumerate(tree.labels):
            if label is not None:
                self._nodes.setdefault(_key(label), node)  # a chain of single children may repeat a label
        self._sets = Sets(tree) if traits.publishes_value_sets else None

    @property
    def label_hierarchy(self) -> Hierarchy:
        """The hierarchy, but for labels instead of values. Raises VerificationError for an unknown label."""
        return replace(self._tree, node_of=self._node_of)

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy with a node for each label that was read."""
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
            "a published value generalizes no value of the original under this policy: the release belongs "
            "to another input or another policy",
            path=self._path,
            revealed=(str(label),),
        )


def _key(label: Scalar) -> _Key:
    """Return the key of a label: texts, booleans and numbers differ; equal numbers are the same."""
    return (type(label), label) if isinstance(label, str | bool) else (int, exact(label))


def _readings(label: Scalar) -> list[_Key]:
    """List what a published label may mean: first itself, then what a text spells."""
    if not isinstance(label, str):
        return [_key(label)]
    found: list[_Key] = [_key(label)]
    if label in ("true", "false"):
        found.append((bool, label == "true"))
    with suppress(Uncovered):
        found.append((int, exact(label)))
    return found


class OfOriginal(SensitiveDomain):
    """A sensitive domain for published values: it refuses values that the original does not have."""

    @classmethod
    def of(cls, domain: SensitiveDomain) -> OfOriginal:
        """Copy a sensitive domain."""
        return cls(**{field.name: getattr(domain, field.name) for field in fields(domain)})

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """The function from a value to its code; it raises VerificationError for an unknown value."""
        find = super().code_of

        def look_up(value: Scalar) -> int:
            try:
                return find(value)
            except Uncovered:
                raise VerificationError(
                    "a published sensitive value does not occur in the original",
                    path=self.path,
                    revealed=(str(value),),
                ) from None

        return look_up
