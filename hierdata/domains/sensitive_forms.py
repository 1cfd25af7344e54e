"""The published form of a sensitive attribute's values: one recoding for a whole collection.

A policy states it as ``publish`` (see domains.publish). Values are replaced before anything is counted, so
that levels, models and reference distributions speak of what is published.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import Decimal128, Double
from hierdata.domains.base import Hierarchy, Labels, Uncovered, loss_of, memoize
from hierdata.domains.interval import Interval, read_ends, spell_range
from hierdata.domains.number import Number, canonical, exact, identity, plain
from hierdata.domains.scales import DomainScale, LevelScale, MapScale, SetScale
from hierdata.ground.errors import PolicyError

_LEVEL = "level "


@dataclass(frozen=True)
class SensitiveForm(ABC):
    """How values are published. ``scale`` are the levels of the values before, as far as the policy tells."""

    scale: LevelScale | None

    @property
    def is_number(self) -> bool:
        """Whether published values are numbers."""
        return False

    @property
    def width(self) -> Number:
        """How much nearer two values may be than the ``number_of`` what is published of them; 0 if never."""
        return 0

    @abstractmethod
    def form_of(self, value: Scalar) -> Scalar:
        """Return what is published for a value. Raises Uncovered for one without a form or a level."""

    @abstractmethod
    def is_form(self, value: Scalar) -> bool:
        """Return whether a published value is a form."""

    @abstractmethod
    def hides(self, value: Scalar) -> bool:
        """Return whether the form of a value stands for others too that are written as finely."""

    @abstractmethod
    def level(self, published: Scalar) -> int:
        """Return the most sensitive level of all that a published value stands for. Raises Uncovered."""

    @abstractmethod
    def losses(self, published: Sequence[Scalar]) -> tuple[Fraction, ...]:
        """Return LM' of published values, 0..1: the share of the domain that each stands for."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the form in a few words."""

    def number_of(self, published: Scalar) -> Number:
        """Return the least number that a published value stands for. Raises Uncovered if it is none."""
        raise Uncovered

    def _require_level(self, value: Scalar) -> None:
        if self.scale is not None and not self.scale.covers(value):
            raise Uncovered


@dataclass(frozen=True)
class _NumberForm(SensitiveForm):
    """Numbers to parts of a line, all of one width."""

    @abstractmethod
    def extent(self, published: Scalar) -> tuple[Number, Number, bool]:
        """Return the ends of what a published value stands for, and whether the greater one belongs to it."""

    def number_of(self, published: Scalar) -> Number:
        return self.extent(published)[0]

    def level(self, published: Scalar) -> int:
        if self.scale is None:
            raise Uncovered
        return level_within(self.scale, *self.extent(published))

    def losses(self, published: Sequence[Scalar]) -> tuple[Fraction, ...]:
        ends = [self.extent(value)[:2] for value in published]
        low, high = min((end[0] for end in ends), default=0), max((end[1] for end in ends), default=0)
        if isinstance(self.scale, DomainScale):
            low, high = self.scale.low, self.scale.high
        return tuple(
            min(Fraction(end[1] - end[0]) / Fraction(high - low), Fraction(1)) if high > low else Fraction(1)
            for end in ends
        )


@dataclass(frozen=True)
class BinForm(_NumberForm):
    """Numbers to bins ``[0.5, 1.0)`` or, where all are whole, ``[5, 9]``."""

    interval: Interval

    @property
    def width(self) -> Number:  # noqa: D102
        return self._step - self.interval.is_integral

    @cached_property
    def _labels(self) -> Labels:
        return self.interval.labels(Path())

    @property
    def _step(self) -> Fraction:
        return self.interval.steps[0]

    def form_of(self, value: Scalar) -> Scalar:  # noqa: D102
        number = exact(value)
        if self.interval.is_integral and number.denominator != 1:
            raise Uncovered
        self._require_level(value)
        low = floor(number / self._step) * self._step
        return spell_range(low, low + self.width, self._step, self.interval.is_integral)

    def is_form(self, value: Scalar) -> bool:  # noqa: D102
        return isinstance(value, str) and self._labels.is_finest(value)

    def hides(self, value: Scalar) -> bool:  # noqa: D102
        return bool(self._step * 10 ** _written_decimals(value) > 1)

    def extent(self, published: Scalar) -> tuple[Number, Number, bool]:  # noqa: D102
        ends = read_ends(published)
        if ends is None:
            raise Uncovered
        return ends

    def describe(self) -> str:  # noqa: D102
        return f"in bins of {plain(self._step)}"


@dataclass(frozen=True)
class RoundForm(_NumberForm):
    """Numbers to the nearest multiple of ``step``."""

    step: Fraction

    @property
    def is_number(self) -> bool:  # noqa: D102
        return True

    @property
    def width(self) -> Number:  # noqa: D102
        return self.step

    def form_of(self, value: Scalar) -> Scalar:  # noqa: D102
        number = exact(value)
        self._require_level(value)
        nearest = floor(number / self.step + Fraction(1, 2)) * self.step
        if isinstance(value, str):
            return plain(nearest)
        if isinstance(value, Double | Decimal128) and (typed := type(value).exactly(nearest)) is not None:
            return typed
        return canonical(nearest)

    def is_form(self, value: Scalar) -> bool:  # noqa: D102
        try:
            return bool(exact(value) % self.step == 0)
        except Uncovered:
            return False

    def hides(self, value: Scalar) -> bool:  # noqa: D102
        return not self.is_form(value)

    def extent(self, published: Scalar) -> tuple[Number, Number, bool]:  # noqa: D102
        number = exact(published)
        return number - self.step / 2, number + self.step / 2, False

    def describe(self) -> str:  # noqa: D102
        return f"rounded to {plain(self.step)}"


@dataclass(frozen=True)
class LevelForm(SensitiveForm):
    """Values to their sensitivity level."""

    def form_of(self, value: Scalar) -> Scalar:  # noqa: D102
        self._require_level(value)
        return f"{_LEVEL}{self._scale.level(value)}"

    def is_form(self, value: Scalar) -> bool:  # noqa: D102
        return any(value == f"{_LEVEL}{level}" for level in range(1, self._scale.count + 1))

    def hides(self, value: Scalar) -> bool:  # noqa: D102
        return True

    def level(self, published: Scalar) -> int:  # noqa: D102
        if not self.is_form(published):
            raise Uncovered
        return int(str(published).removeprefix(_LEVEL))

    def losses(self, published: Sequence[Scalar]) -> tuple[Fraction, ...]:  # noqa: D102
        if not isinstance(self._scale, MapScale):
            return (Fraction(1, self._scale.count),) * len(published)
        levels = [*self._scale.by.values()]
        return tuple(loss_of(levels.count(self.level(value)), len(levels)) for value in published)

    def describe(self) -> str:  # noqa: D102
        return "as its sensitivity level"

    @property
    def _scale(self) -> LevelScale:
        assert self.scale is not None, "publish: levels was compiled with levels"
        return self.scale


@dataclass(frozen=True)
class DepthForm(SensitiveForm):
    """Values to their ancestors in ``whole``, their taxonomy; ``pruned`` is its upper part."""

    whole: Hierarchy
    pruned: Hierarchy

    def form_of(self, value: Scalar) -> Scalar:  # noqa: D102
        node = self.whole.node_of(value)
        self._require_level(value)
        above = self._above[node]
        return value if above == node else self.whole.labels[above]

    def is_form(self, value: Scalar) -> bool:  # noqa: D102
        try:
            return value is not None and bool(self.pruned.node_of(value) > 0)
        except Uncovered:
            return False

    def hides(self, value: Scalar) -> bool:  # noqa: D102
        node = self.whole.node_of(value)
        return self._above[node] != node

    def level(self, published: Scalar) -> int:  # noqa: D102
        if self.scale is None:
            raise Uncovered
        labels, label = self.whole.labels, self.pruned.labels[self.pruned.node_of(published)]
        levels = []
        for node, row in enumerate(self.whole.ancestors):
            if any(above >= 0 and labels[above] == label for above in row):
                try:
                    levels.append(self.scale.level(labels[node]))
                except Uncovered:
                    continue
        if not levels:
            raise Uncovered
        return max(levels)

    def losses(self, published: Sequence[Scalar]) -> tuple[Fraction, ...]:  # noqa: D102
        return tuple(self.pruned.lm[self.pruned.node_of(value)] for value in published)

    def describe(self) -> str:  # noqa: D102
        return f"by the nodes {self.pruned.depths - 1} steps below the root of its taxonomy"

    @cached_property
    def _above(self) -> tuple[int, ...]:
        return self.whole.at_depth(min(self.pruned.depths, self.whole.depths) - 1)


@dataclass(frozen=True)
class PublishedScale(LevelScale):
    """The levels of published values: of all that one stands for, the most sensitive."""

    inner: LevelScale
    form: SensitiveForm

    @property
    def count(self) -> int:  # noqa: D102
        return self.inner.count

    @property
    def warnings(self) -> tuple[str, ...]:  # noqa: D102
        return self.inner.warnings

    @property
    def reads_numbers(self) -> bool:  # noqa: D102
        return self.form.is_number

    def level(self, value: Scalar) -> int:  # noqa: D102
        return self.form.level(value)

    def facts(self) -> dict[str, Any]:
        """Return those of the values before; the policy has the form."""
        return self.inner.facts()


def level_within(scale: LevelScale, low: Number, high: Number, closed: bool) -> int:
    """Return the most sensitive level between two numbers; ``closed``: the greater one belongs to them.

    Raises Uncovered if no number between them has a level.
    """
    if isinstance(scale, MapScale):
        held = [
            level
            for number, level in scale.numbers.items()
            if low <= number < high or (closed and number == high)
        ]
        if not held:
            raise Uncovered
        return max(held)
    if not isinstance(scale, DomainScale | SetScale):
        raise Uncovered
    inside = [point for point in scale.turns if low < point < high]
    points = sorted({Fraction(low), Fraction(high), *inside})
    tried = [point for point in points if point < high or closed or low == high]
    tried += [(point + other) / 2 for point, other in pairwise(points)]
    levels = [level for point in tried if (level := scale.level_at(point)) is not None]
    if not levels:
        raise Uncovered
    return max(levels)


def prune(tree: Hierarchy, depth: int) -> Hierarchy:
    """Return a taxonomy down to ``depth``; what lies below has its ancestor there.

    Its values are the labels of all that is left. Raises PolicyError if no value lies deeper.
    """
    if depth >= tree.depths - 1:
        raise PolicyError(
            f"publish: {{depth: {depth}}} is finer than the taxonomy, whose values lie at most "
            f"{tree.depths - 1} steps below the root: state less"
        )
    kept = [node for node, row in enumerate(tree.ancestors) if all(below < 0 for below in row[depth + 1 :])]
    number = {node: node_number for node_number, node in enumerate(kept)}
    nodes: dict[str | Number, int] = {}
    for node in kept:
        label = tree.labels[node]
        if label is not None and node:
            nodes[str(label)] = number[node]  # of a chain with one label, the deepest
    for text, node_number in [*nodes.items()]:
        try:
            nodes.setdefault(exact(str(text)), node_number)
        except Uncovered:
            continue
    missing = next((node_number for node_number, node in enumerate(kept) if tree.labels[node] is None), -1)

    def find(value: Scalar) -> int:
        node = missing if value is None else nodes.get(identity(value), -1)
        if node < 0:
            raise Uncovered
        return node

    return replace(
        tree,
        labels=tuple(tree.labels[node] for node in kept),
        ancestors=tuple(
            tuple(number.get(above, -1) for above in tree.ancestors[node][: depth + 1]) for node in kept
        ),
        lm=tuple(tree.lm[node] for node in kept),
        node_of=memoize(find),
    )


def _written_decimals(value: Scalar) -> int:
    """Return how many decimal places a number is written with, whatever they are."""
    try:
        return max(0, -int(Decimal(str(value)).as_tuple().exponent))
    except (ArithmeticError, ValueError, TypeError):
        return 0
