"""What a published label may stand for: values of a hierarchy, sets and ranges, in any tool's spelling.

It reads the hierarchy files itself. Nothing here comes from the package.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

ANYTHING = ("*", "")
"""Labels that every value may stand behind; a cell that is not shown excludes nobody."""
_RANGE = re.compile(r"\[?(-?\d+)(?:-|, |\.\.)(-?\d+)\]?")


@dataclass(frozen=True)
class Attribute:
    """The values of a quasi-identifier: its leaves, and what the labels above them cover."""

    leaves: frozenset[str]
    nodes: Mapping[str, frozenset[str]]
    known: dict[str, tuple[frozenset[str], Fraction]] = field(default_factory=dict)

    def covered(self, label: str) -> frozenset[str]:
        """The leaves that a label may stand for. Raises ValueError for a label that it cannot read."""
        return self._of(label)[0]

    def loss(self, label: str) -> Fraction:
        """NCP of a cell: (leaves under it - 1) / (leaves - 1); of a range its share of the width."""
        return self._of(label)[1]

    def _of(self, label: str) -> tuple[frozenset[str], Fraction]:
        if label not in self.known:
            self.known[label] = self._read(label)
        return self.known[label]

    def _read(self, label: str) -> tuple[frozenset[str], Fraction]:
        if label in self.nodes:
            return self._as_set(self.nodes[label])
        if label in ANYTHING:
            return self._as_set(self.leaves)
        if found := _RANGE.fullmatch(label):
            low, high = map(int, found.groups())
            numbers = [int(leaf) for leaf in self.leaves]
            inside = frozenset(str(one) for one in numbers if low <= one <= high)
            return inside, Fraction(high - low, max(numbers) - min(numbers))
        parts = frozenset(part.strip() for part in label.strip("{}").split(","))
        if not self.leaves.issuperset(parts):
            raise ValueError("a published label is neither a node nor a set nor a range")
        return self._as_set(parts)

    def _as_set(self, leaves: frozenset[str]) -> tuple[frozenset[str], Fraction]:
        return leaves, Fraction(len(leaves) - 1, max(1, len(self.leaves) - 1))


def of_hierarchy(file: Path) -> Attribute:
    """Read a file with one leaf a line, then its ancestors, separated by ``;`` or ``,``."""
    text = file.read_text(encoding="utf-8")
    delimiter = ";" if ";" in text else ","
    under: dict[str, set[str]] = {}
    lines = [line for line in csv.reader(text.splitlines(), delimiter=delimiter) if line]
    for leaf, *above in lines:
        for label in (leaf, *filter(None, above)):
            under.setdefault(label, set()).add(leaf)
    leaves = frozenset(leaf for leaf, *_ in lines)
    return Attribute(leaves, {label: frozenset(found) for label, found in under.items()})


def of_numbers(low: int, high: int) -> Attribute:
    """Whole numbers of a range, published as numbers or ranges."""
    leaves = frozenset(map(str, range(low, high + 1)))
    return Attribute(leaves, {leaf: frozenset([leaf]) for leaf in leaves})
