"""A domain: texts by their first letter."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    ROOT_LABEL,
    Hierarchy,
    Labels,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    group_observed,
    loss_of,
)

ANY = "..."


class Initial(QuasiDomain):
    """``Anna`` becomes ``A...``, then ``*``. Texts that end in dots and what is no text are not covered."""

    called: ClassVar[str] = "initial"

    kind: Literal["initial"] = "initial"

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        texts = sorted(group_observed(observed, _text))
        initials = sorted({text[0] for text in texts})
        first = len(initials) + 1
        above = {initial: node for node, initial in enumerate(initials, 1)}
        nodes = {text: node for node, text in enumerate(texts, first)}
        missing = first + len(texts)
        below = [sum(text[0] == initial for text in texts) for initial in initials]
        return Hierarchy(
            (ROOT_LABEL, *(initial + ANY for initial in initials), *texts, None),
            (
                (0, -1, -1),
                *((0, node, -1) for node in above.values()),
                *((0, above[text[0]], node) for text, node in nodes.items()),
                (0, missing, -1),
            ),
            tuple(loss_of(leaves, len(texts)) for leaves in (len(texts), *below, *[1] * (len(texts) + 1))),
            finder(nodes, _text, missing),
            {"kind": "initial"},
            len(texts),
        )

    def labels(self, folder: Path) -> Labels:
        return InitialLabels()


class InitialLabels(Labels):
    """Whole texts, and above them initials."""

    def is_finest(self, label: Scalar) -> bool:
        return isinstance(label, str) and not label.endswith(ANY)

    def is_coarser(self, label: Scalar) -> bool:
        return isinstance(label, str) and label[1:] == ANY


def _text(value: Scalar) -> str:
    if not isinstance(value, str) or not value or value.endswith(ANY) or value == ROOT_LABEL:
        raise Uncovered
    return value
