"""What a privacy model is: a predicate on the sensitive values of one class at one vertex."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from hierdata.domains.sensitive import SensitiveDomain


@dataclass(frozen=True)
class ClassView:
    """What a model may see of a class at one vertex of its representative.

    ``records`` is the number of distinct records in the class; ``counts`` maps the code of a sensitive value
    (of the one attribute the constraint is bound to) to how often it occurs there, pooled over identical
    siblings, missing values left out (erratum ML-7).
    """

    records: int
    counts: Mapping[int, int]

    @property
    def present(self) -> int:
        """Sensitive values present, with multiplicity."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class ShareCaps:
    """A model in the form "a group holds at most ``share`` of the values": ``group_of[code]`` and ``share[group]``."""

    group_of: tuple[int, ...]
    share: tuple[Fraction, ...]


class Constraint(ABC):
    """A model bound to one sensitive attribute's domain (or to none, for models on records). Immutable.

    ``monotone``: the union of two classes that satisfy it satisfies it (tested, never assumed).
    ``min_class_size``: no smaller class can satisfy it.
    ``caps``: its ShareCaps when it has that form; the alignment then enforces it while a class grows.
    """

    monotone: ClassVar[bool]
    min_class_size: int
    caps: ShareCaps | None = None

    @abstractmethod
    def holds(self, view: ClassView) -> bool:
        """Decide exactly. A vertex without any sensitive value passes (erratum ML-7)."""

    @abstractmethod
    def achieved(self, view: ClassView) -> dict[str, Fraction]:
        """The strongest parameters that hold at this vertex, by the papers' letters; empty when nothing is there to judge."""


class PrivacyModel(ABC, BaseModel):
    """A model's parameters as the policy states them.

    ``kind`` names the model. ``on`` limits it to some sensitive attributes (their paths); None means all.
    ``per_attribute`` is False for models on records alone (k-anonymity), which bind to no domain.
    ``combine`` tells for each achieved parameter whether the collection's figure is the least (k, l) or the
    largest (alpha) over all vertices.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    per_attribute: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, str]]

    @abstractmethod
    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """The constraint for one attribute. Raises PolicyError when the domain lacks what the model needs (levels)."""

    @abstractmethod
    def promise(self) -> str:
        """One sentence, in the reader's words, of what is promised."""
