"""Codes whose first characters say the most, such as postal codes: ``prefix: {keep: [3, 2, 1]}``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pydantic import PositiveInt, model_validator

from hierdata.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Hierarchy, Observed, QuasiDomain, Uncovered, loss_of, memoized
from hierdata.domains.number import identity, one_spelling, plain

MASK = "*"


class Prefix(QuasiDomain):
    """The first ``keep`` characters, the others masked: 48123 becomes ``481**``, then ``48***``.

    The length stays visible, so codes of different lengths meet at the root only. Values that contain the
    mask are not covered. LM' counts the distinct values of the collection below a prefix as leaves (ML
    section 5.1).

    >>> codes = Prefix(keep=[3, 1]).compile({"48123": 1, "48199": 1}, Path())
    >>> codes.labels[codes.join(codes.node_of("48123"), codes.node_of("48199"))]
    '481**'
    """

    keep: tuple[PositiveInt, ...]

    @model_validator(mode="after")
    def _descending(self) -> Prefix:
        if not self.keep or any(a <= b for a, b in pairwise(self.keep)):
            raise ValueError("keep must be numbers of characters in descending order, such as [3, 2, 1]")
        return self

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """The hierarchy over the observed codes. A number counts as its plain spelling."""
        originals: dict[str, list[Scalar]] = {}
        for value in observed:
            if value is None:
                continue
            try:
                originals.setdefault(_code(value), []).append(value)
            except Uncovered:
                continue

        labels: list[Scalar] = [ROOT_LABEL]
        rows: list[tuple[int, ...]] = [(0, *[-1] * (len(self.keep) + 1))]
        leaves = [len(originals)]
        groups: dict[str, int] = {}
        codes: dict[str, int] = {}
        for code in sorted(originals):
            row = [0]
            for keep in reversed(self.keep):
                if keep >= len(code):
                    row.append(-1)
                    continue
                label = code[:keep] + MASK * (len(code) - keep)
                node = groups.setdefault(label, len(labels))
                row.append(node)
                if node == len(labels):
                    labels.append(label)
                    rows.append((*row, *[-1] * (len(self.keep) + 2 - len(row))))
                    leaves.append(0)
                leaves[node] += 1
            codes[code] = len(labels)
            rows.append((*row, len(labels)))
            labels.append(one_spelling(code, originals[code]))
            leaves.append(1)

        missing = len(labels)
        labels.append(None)
        rows.append((0, missing, *[-1] * len(self.keep)))
        leaves.append(1)

        def find(value: Scalar) -> int:
            node = missing if value is None else codes.get(_code(value))
            if node is None:
                raise Uncovered
            return node

        return Hierarchy(
            tuple(labels),
            tuple(rows),
            tuple(loss_of(below, len(originals)) for below in leaves),
            memoized(find),
            {"kind": "prefix", "keep": list(self.keep), "mask": MASK},
        )


def _code(value: Scalar) -> str:
    if isinstance(value, bool):
        raise Uncovered
    key = identity(value)
    code = key if isinstance(key, str) else plain(key)
    if MASK in code:
        raise Uncovered
    return code
