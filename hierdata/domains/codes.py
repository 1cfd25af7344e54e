"""Domains that need no file: the observed values themselves, and the first characters of codes.

- ``flat: true``: a value is published unchanged, or not at all.
- ``prefix: {keep: [3, 2, 1]}``: codes generalized to their first characters, such as postal codes.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    ROOT_LABEL,
    Hierarchy,
    LabelKind,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    group_observed,
    loss_of,
)
from hierdata.domains.bounds import MOST_STEPS
from hierdata.domains.number import Number, canonical, exact, identity, plain
from hierdata.domains.published import leaf_losses


class Flat(QuasiDomain):
    """The observed values directly below the root. The text ``*`` is not covered: it would read as the root.

    Equal numbers are one value. Other values of different types are different values, such as true and
    ``"true"``, so that how a value is published does not depend on other records.

    >>> sexes = Flat().compile({"f": 10, "m": 12}, Path())
    >>> sexes.labels[sexes.join(sexes.node_of("f"), sexes.node_of("m"))]
    '*'
    """

    called: ClassVar[str] = "flat domain"
    labels_are: ClassVar[LabelKind] = "values"
    keeps_texts: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _true(cls, spec: Any) -> Any:
        if spec is True:
            return {}
        if spec is False:
            raise ValueError("flat must be true: to generalize the field, state another domain")
        return spec

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the domain as a policy writes it: ``flat: true``."""
        return {"const": True, "description": "values without structure: published as they are, or as *"}

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed values; equal numbers are one value."""
        originals = group_observed(observed, _flat_key)
        keys = sorted(originals)
        nodes = {key: node for node, key in enumerate(keys, 1)}
        missing = len(keys) + 1
        return Hierarchy(
            (ROOT_LABEL, *(_flat_label(originals[key][0]) for key in keys), None),
            ((0, -1), *[(0, node) for node in range(1, missing + 1)]),
            (loss_of(len(keys), len(keys)), *[loss_of(1, len(keys))] * (len(keys) + 1)),
            finder(nodes, _flat_key, missing),
            {"kind": "flat"},
            len(keys),
            typed=True,
        )

    def labels(self, folder: Path) -> Labels:
        """Return all values: there is nothing between a value and the root."""
        return _FlatLabels()

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; a set of n loses (n - 1) / (all published values - 1)."""
        return leaf_losses(labels, sets)


class _FlatLabels(Labels):
    def is_finest(self, label: Scalar) -> bool:
        return True

    def is_coarser(self, label: Scalar) -> bool:
        return False

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        key = _flat_key(label)
        return key, key

    def leaf(self, value: Scalar) -> Hashable:
        return _flat_key(value)

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        return (_flat_key(label),)  # what is below the root depends on the data


def _flat_key(value: Scalar) -> tuple[str, Number | str]:
    """Return the key that equal values share: the type, but one for all numbers, and the value."""
    key = identity(value)
    if key == ROOT_LABEL:
        raise Uncovered
    return (type(value).__name__, key) if isinstance(key, str) else ("", key)


def _flat_label(value: Scalar) -> Scalar:
    """Return the one value that is published for all equal values."""
    return value if isinstance(value, str | bool) else canonical(exact(value))


MASK = "*"


class Prefix(QuasiDomain):
    """The first ``keep`` characters, the others masked: 48123 becomes ``481**``, then ``48***``.

    The first ``keep`` is the finest form: a longer code is never published whole, a shorter one may be. Codes
    are published as text. Their length stays visible, so codes of different lengths join only at the root.
    Values that contain the mask are not covered. For LM', the distinct values of the collection below a
    prefix are its leaves (ML section 5.1).

    >>> codes = Prefix(keep=[3, 1]).compile({"48123": 1, "48199": 1}, Path())
    >>> codes.labels[codes.join(codes.node_of("48123"), codes.node_of("48199"))]
    '481**'
    """

    called: ClassVar[str] = "prefix"
    labels_are: ClassVar[LabelKind] = "beginnings"
    keeps_texts: ClassVar[bool] = True

    keep: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1000)], ...], Field(min_length=1, max_length=MOST_STEPS)
    ]

    @model_validator(mode="after")
    def _descending(self) -> Prefix:
        if any(a <= b for a, b in pairwise(self.keep)):
            raise ValueError("keep must be numbers of characters in descending order, such as [3, 2, 1]")
        return self

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed codes. A number is treated as its plain spelling."""
        labels: list[Scalar] = [ROOT_LABEL]
        rows: list[tuple[int, ...]] = [(0, *[-1] * len(self.keep))]
        leaves = [0]
        nodes: dict[str, int] = {}
        finest: dict[str, int] = {}
        # Nodes of one length in the order of their first code: siblings are written in the order of nodes,
        # which must not depend on what else is in the collection.
        for code in sorted(group_observed(observed, _code), key=lambda code: (len(code), code)):
            row = [0]
            for label in self._line_up(code):
                node = -1 if label is None else nodes.setdefault(label, len(labels))
                row.append(node)
                if node == len(labels):
                    labels.append(label)
                    rows.append((*row, *[-1] * (len(self.keep) + 1 - len(row))))
                    leaves.append(0)
            for node in row:
                if node >= 0:
                    leaves[node] += 1
            finest[code] = row[-1]
        missing = len(labels)
        return Hierarchy(
            (*labels, None),
            (*rows, (0, missing, *[-1] * (len(self.keep) - 1))),
            tuple(loss_of(below, len(finest)) for below in (*leaves, 1)),
            finder(finest, _code, missing),
            {"kind": "prefix", "keep": list(self.keep), "mask": MASK},
            len(finest),
        )

    def _line_up(self, code: str) -> Iterator[str | None]:
        """Yield the labels of a code from the coarsest to the finest, None where it is too short for one."""
        for keep in reversed(self.keep):
            if keep < len(code):
                yield code[:keep] + MASK * (len(code) - keep)
            else:
                yield code if keep == self.keep[0] else None

    def labels(self, folder: Path) -> Labels:
        """Return the masked codes with any of the prefixes, and the codes that the first one keeps whole."""
        return _PrefixLabels(self.keep)

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; LM' is the share of characters that is masked."""
        return leaf_losses(labels, sets, _mask_share)


def _mask_share(label: Scalar) -> Fraction:
    """Return the share of a code's characters that is masked."""
    text = label if isinstance(label, str) else plain(exact(label))
    return Fraction(text.count(MASK), len(text)) if text else Fraction(0)


@dataclass(frozen=True)
class _PrefixLabels(Labels):
    keep: tuple[int, ...]

    def is_finest(self, label: Scalar) -> bool:
        kept, masked = _split_code(label)
        return kept == self.keep[0] if masked else kept <= self.keep[0]

    def is_coarser(self, label: Scalar) -> bool:
        kept, masked = _split_code(label)
        return masked and kept in self.keep[1:]

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        text = label if isinstance(label, str) else _code(label)
        code = _code(text.rstrip(MASK))
        return (len(text), code), (len(text), code + chr(sys.maxunicode) * (len(text) - len(code)))

    def leaf(self, value: Scalar) -> Hashable:
        return _code(value)

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        return (_code(label),)  # Uncovered where characters are masked: any others may be there


def _split_code(label: Scalar) -> tuple[float, bool]:
    """Return how many characters a label keeps, and whether others are masked; infinity for another label."""
    masked = isinstance(label, str) and label.endswith(MASK)
    try:
        return len(_code(str(label).rstrip(MASK) if masked else label)), masked
    except Uncovered:
        return inf, masked


def _code(value: Scalar) -> str:
    if isinstance(value, bool):
        raise Uncovered
    key = identity(value)
    code = key if isinstance(key, str) else plain(key)
    if MASK in code:
        raise Uncovered
    return code
