"""What a model counts: values, or groups of values of similar meaning (proposed in LE section VII)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from hierdata.domains.base import Label, Uncovered
from hierdata.domains.number import Number, identity, plain
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.similarity import components
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import ClassView, Constraint, NotNegative, PrivacyModel


@dataclass(frozen=True)
class ValueGroups:
    """The group of each value, ``of_code[code]`` in 0..count-1; ``of_code`` None: one group per value."""

    count: int
    of_code: tuple[int, ...] | None = None

    def wrap_constraint(self, constraint: Constraint) -> Constraint:
        """Return a constraint that applies ``constraint`` to groups instead of values."""
        return constraint if self.of_code is None else _OnGroups(constraint, self.of_code)


class GroupingModel(PrivacyModel):
    """A model that can judge groups of values instead of single ones.

    ``by`` says what counts as one: ``value``; ``level``, the sensitivity levels; ``similarity``, the values
    of the collection that are connected by a chain of semantic distances of at most ``e`` (LE buckets,
    erratum LE-2); ``partition``, the blocks of ``partition``. Groups make a promise stronger, since all
    values of a group count as one; that of t-closeness, which then says nothing within a group, weaker.
    """

    by: Literal["value", "level", "similarity", "partition"] = Field(
        default="value", description="what counts as one: values, or groups of them"
    )
    e: NotNegative | None = Field(
        default=None, description="semantic distance up to which values count as one, with by: similarity"
    )
    partition: SemanticPartition | None = Field(
        default=None, description="the groups themselves, with by: partition"
    )

    @model_validator(mode="after")
    def _as_by_says(self) -> GroupingModel:
        for key, by in (("e", "similarity"), ("partition", "partition")):
            stated = getattr(self, key) is not None
            if stated != (self.by == by):
                raise ValueError(
                    f"{key} is only allowed with by: {by}" if stated else f"by: {by} needs {key}"
                )
        return self

    @model_serializer(mode="wrap")
    def _what_is_said(self, plain_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit the keys about groups for a model that counts values, as most do."""
        stated: dict[str, Any] = plain_of(self)
        if self.by != "value":
            return stated
        return {key: value for key, value in stated.items() if key not in ("by", "e", "partition")}

    @property
    def uses_reference(self) -> bool:
        """See PrivacyModel."""
        return self.needs_reference or (self.partition is not None and self.partition.of_original)

    def groups(self, domain: SensitiveDomain) -> ValueGroups:
        """Return what is counted in one domain. Raises PolicyError if levels or a taxonomy are missing."""
        if self.partition is not None:
            return _groups(self.partition.block_of(domain))
        if self.e is not None:
            if domain.paths is None:
                raise PolicyError(
                    f"{self.kind} by similarity needs 'taxonomy' on this sensitive attribute",
                    path=domain.path,
                )
            return _groups(components(domain.paths, self.e))
        if self.by == "level":
            if domain.levels is None:
                raise PolicyError(
                    f"{self.kind} by level needs 'levels' on this sensitive attribute", path=domain.path
                )
            return ValueGroups(domain.level_count, tuple(level - 1 for level in domain.levels))
        return ValueGroups(len(domain.values))

    def count_noun(self, many: bool = False) -> str:
        """Return the noun for what is counted: singular, or (``many``) plural after a mention of values."""
        singular, plural, behind = _WORDS[self.by]
        near = f" (connected by distances up to {plain(self.e)})" if self.e is not None else ""
        return f"{plural if many else singular}{behind}{near}"


_WORDS = {
    "value": ("sensitive value", "ones", ""),
    "level": ("sensitivity level", "sensitivity levels", ""),
    "similarity": ("group", "groups", " of similar values"),
    "partition": ("block", "blocks", " of values"),
}


def _groups(of_code: tuple[int, ...]) -> ValueGroups:
    return ValueGroups(max(of_code, default=-1) + 1, of_code)


class _OnGroups(Constraint):
    def __init__(self, constraint: Constraint, of_code: tuple[int, ...]) -> None:
        self._constraint = constraint
        self._of_code = of_code
        self.closed_under_union = constraint.closed_under_union
        self.closed_under_pooling = constraint.closed_under_pooling
        self.min_class_size = constraint.min_class_size
        if (caps := constraint.caps) is not None:
            self.caps = replace(caps, group_of=tuple(caps.group_of[group] for group in of_code))
        if (closeness := constraint.closeness) is not None:
            self.closeness = replace(closeness, set_of=tuple(closeness.set_of[group] for group in of_code))

    def _group_counts(self, counts: Mapping[int, int]) -> dict[int, int]:
        by_group: dict[int, int] = {}
        for code, count in counts.items():
            group = self._of_code[code]
            by_group[group] = by_group.get(group, 0) + count
        return by_group

    def _view(self, view: ClassView) -> ClassView:
        return ClassView(view.records, self._group_counts(view.counts), view.population)

    def holds(self, view: ClassView) -> bool:
        return self._constraint.holds(self._view(view))

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return self._constraint.achieved_parameters(self._view(view))

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return self._constraint.summary(self._group_counts(counts))


def protected_codes(domain: SensitiveDomain, values: Iterable[Label]) -> frozenset[int]:
    """Return the codes of the values of an attribute that are among those stated.

    >>> sorted(protected_codes(SensitiveDomain("$.a", ("flu", "3", 4)), (3, 4)))
    [1, 2]
    """
    stated = {_key(domain.same.value_of(value)) for value in values}
    return frozenset(code for code, value in enumerate(domain.values) if _key(value) in stated)


def _key(value: Label) -> Number | str:
    """Return the key by which a value is compared: its number, else its text."""
    try:
        return identity(value, number=not isinstance(value, bool))
    except Uncovered:
        return str(value)
