"""Codes generalized to their first characters, such as postal codes: ``prefix: {keep: [3, 2, 1]}``."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from pydantic import PositiveInt, model_validator

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    ROOT_LABEL,
    Hierarchy,
    LabelLoss,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    group_observed,
    loss_of,
)
from hierdata.domains.number import exact, identity, one_spelling, plain
from hierdata.domains.published import leaf_losses

MASK = "*"


class Prefix(QuasiDomain):
    """The first ``keep`` characters, the others masked: 48123 becomes ``481**``, then ``48***``.

    The length stays visible, so codes of different lengths join only at the root. Values that contain the
    mask are not covered. For LM', the distinct values of the collection below a prefix are its leaves (ML
    section 5.1).

    >>> codes = Prefix(keep=[3, 1]).compile({"48123": 1, "48199": 1}, Path())
    >>> codes.labels[codes.join(codes.node_of("48123"), codes.node_of("48199"))]
    '481**'
    """

    called: ClassVar[str] = "prefix"

    keep: tuple[PositiveInt, ...]

    @model_validator(mode="after")
    def _descending(self) -> Prefix:
        if not self.keep or any(a <= b for a, b in pairwise(self.keep)):
            raise ValueError("keep must be numbers of characters in descending order, such as [3, 2, 1]")
        return self

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed codes. A number is treated as its plain spelling."""
        originals = group_observed(observed, _code)
        nodes = _Nodes(self.keep)
        codes = {code: nodes.add(code, one_spelling(code, originals[code])) for code in sorted(originals)}
        missing = len(nodes.labels)
        return Hierarchy(
            (*nodes.labels, None),
            (*nodes.rows, (0, missing, *[-1] * len(self.keep))),
            tuple(loss_of(below, len(originals)) for below in (*nodes.leaves, 1)),
            finder(codes, _code, missing),
            {"kind": "prefix", "keep": list(self.keep), "mask": MASK},
            len(originals),
        )

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; LM' is the share of characters that is masked."""
        return leaf_losses(labels, sets, _mask_share)


def _mask_share(label: Scalar) -> Fraction:
    """Return the share of a code's characters that is masked."""
    text = label if isinstance(label, str) else plain(exact(label))
    return Fraction(text.count(MASK), len(text)) if text else Fraction(0)


class _Nodes:
    """The root and, for each added code, its node and its prefixes' nodes; ``leaves`` counts codes below."""

    def __init__(self, keep: tuple[int, ...]) -> None:
        self.labels: list[Scalar] = [ROOT_LABEL]
        self.rows: list[tuple[int, ...]] = [(0, *[-1] * (len(keep) + 1))]
        self.leaves = [0]
        self._shortest_first = keep[::-1]
        self._of_prefix: dict[str, int] = {}

    def add(self, code: str, label: Scalar) -> int:
        row = [0]
        for keep in self._shortest_first:
            prefix = code[:keep] + MASK * (len(code) - keep)
            node = -1 if keep >= len(code) else self._of_prefix.get(prefix)
            if node is None:
                node = self._of_prefix[prefix] = self._new(row, prefix)
            row.append(node)
        for node in row:
            if node >= 0:
                self.leaves[node] += 1
        leaf = self._new(row, label)
        self.leaves[leaf] = 1
        return leaf

    def _new(self, above: list[int], label: Scalar) -> int:
        node = len(self.labels)
        self.labels.append(label)
        self.rows.append((*above, node, *[-1] * (len(self._shortest_first) + 1 - len(above))))
        self.leaves.append(0)
        return node


def _code(value: Scalar) -> str:
    if isinstance(value, bool):
        raise Uncovered
    key = identity(value)
    code = key if isinstance(key, str) else plain(key)
    if MASK in code:
        raise Uncovered
    return code
