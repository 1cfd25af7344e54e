"""The values of a class themselves: sets of categories, ranges of numbers and dates."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import exact, plain
from hierdata.domains.published import MISSING
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.release.recodings.base import ByRecord

_PLAIN = re.compile(r"[^\s,{}\[\]\"\\]+(?: +[^\s,{}\[\]\"\\]+)*")


class Content(NamedTuple):
    """The nodes of a set, or of the ends of a range, and whether a missing value is among them."""

    nodes: tuple[int, ...]
    lacking: bool


class SetsAndRanges(ByRecord):
    """Each class is published by the values that occur in it, in their finest form.

    Categories and codes: the set ``{a, b}`` in the order of their hierarchy; one value alone as it is.
    Numbers and dates: the range from the least to the greatest, ``[20, 25]``; where the finest form is a bin
    or a period, from the beginning of the first to the end of the last one. A missing value among others is
    ``null``, the last of a set: ``{a, null}``, ``{[20, 25], null}``. A text is put in quotes, as in JSON,
    if it would be ambiguous: if it has one of ``, { } [ ] " \\`` or unusual white space in it, if it is
    ``null``, or, in a flat domain, if it is spelled like a number or a boolean. A single text that begins
    with ``{`` is a set of one. So a label depends on the values that it covers, and on no other record.

    LM' of a set of n leaves is (n - 1) / (all leaves - 1), of a range its width over that of the domain. A
    missing value among others counts as one more leaf, or one more bin of the collection. Children are
    written as ``ByRecord`` says.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["sets_and_ranges"]

    def prepare(self, forest: Forest, partition: Partition) -> tuple[Forest, Partition]:
        """See Recoding.prepare; adds a node right below the root for each content that a class publishes."""
        nodes = partition.nodes.copy()
        extended = []
        for kind, hierarchies in enumerate(forest.hierarchies):
            members = np.flatnonzero((forest.type == kind) & (partition.representative >= 0))
            stands_for = partition.representative[members]
            trees = []
            for position, tree in enumerate(hierarchies):
                values = forest.nodes[forest.first_node[members] + position]
                shown, held = _contents(tree, stands_for, values)
                tree, made = _with_nodes(tree, held)
                nodes[forest.first_node[shown] + position] = made
                trees.append(tree)
            extended.append(tuple(trees))
        return replace(forest, hierarchies=tuple(extended)), replace(partition, nodes=nodes)


def _contents(
    tree: Hierarchy, stands_for: NDArray[np.int64], values: NDArray[np.int32]
) -> tuple[NDArray[np.int64], list[Content]]:
    """Return the representative vertices, and the content of each: the values of its members."""
    pairs = np.unique(stands_for * len(tree.labels) + values)
    owners, held = np.divmod(pairs, len(tree.labels))
    shown, starts = np.unique(owners, return_index=True)
    bounds, nodes = np.append(starts, len(owners)).tolist(), held.tolist()
    missing = tree.missing
    return shown, [_content(tree, nodes[start:end], missing) for start, end in pairwise(bounds)]


def _content(tree: Hierarchy, held: list[int], missing: int) -> Content:
    there = [node for node in held if node != missing]
    if tree.axis is None:
        there.sort(key=tree.ancestors.__getitem__)  # siblings adjacent
    elif len(there) > 2:
        there = [there[0], there[-1]]
    return Content(tuple(there), len(there) < len(held) and missing in held)


def _with_nodes(tree: Hierarchy, contents: Sequence[Content]) -> tuple[Hierarchy, NDArray[np.int32]]:
    """Return the hierarchy with a node for each content that has none yet, and the node of each content."""
    missing = tree.missing
    alone = {
        Content((node,), False): node
        for node, label in enumerate(tree.labels)
        if not str(label).startswith("{")  # it would read as a set
    }
    alone[Content((), True)] = missing
    made = sorted(set(contents) - alone.keys())  # never in the order of the input
    node_of = alone | {content: node for node, content in enumerate(made, len(tree.labels))}
    return extend_hierarchy(tree, made), np.array([node_of[content] for content in contents], np.int32)


def extend_hierarchy(tree: Hierarchy, contents: Sequence[Content]) -> Hierarchy:
    """Return the hierarchy with one new node for each content."""
    below = (-1,) * (tree.depths - 2)
    return replace(
        tree,
        labels=(*tree.labels, *(content_label(tree, content) for content in contents)),
        ancestors=(
            *tree.ancestors,
            *((0, node, *below) for node, _ in enumerate(contents, len(tree.labels))),
        ),
        lm=(*tree.lm, *(_loss(tree, content) for content in contents)),
        made=(tree.made or 0) + len(contents),
        made_of=(*tree.made_of, *(_covered_nodes(tree, content) for content in contents)),
    )


def _covered_nodes(tree: Hierarchy, content: Content) -> tuple[range, ...]:
    """Return the nodes that a content covers: members, or all points of a range, and a missing value."""
    missing = (tree.missing,) if content.lacking else ()
    if tree.axis is None or not content.nodes:
        return tuple(range(node, node + 1) for node in (*content.nodes, *missing))
    return range(content.nodes[0], content.nodes[-1] + 1), *(range(node, node + 1) for node in missing)


def content_label(tree: Hierarchy, content: Content) -> str:
    """Spell a content that is not a single value."""
    labels = [tree.labels[node] for node in content.nodes]
    if tree.axis is None:
        members = [_member(label, tree.typed) for label in labels]
    else:
        members = [tree.axis.label(*content.nodes) if len(labels) > 1 else spell_label(labels[0])]
        if not content.lacking:
            return members[0]
    return "{" + ", ".join([*members, *[MISSING] * content.lacking]) + "}"


def _member(label: Scalar, typed: bool) -> str:
    text = spell_label(label)
    if not isinstance(label, str) or (_PLAIN.fullmatch(text) and not _is_ambiguous(text, typed)):
        return text
    return json.dumps(text, ensure_ascii=False)


def _is_ambiguous(text: str, typed: bool) -> bool:
    """Return whether a text reads as a missing value or, where values have types, as another type's value."""
    if text == MISSING or not typed:
        return text == MISSING
    try:
        exact(text)
    except Uncovered:
        return text in ("true", "false")
    return True


def spell_label(label: Scalar) -> str:
    """Spell a label in a set or range, without quotes."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return label if isinstance(label, str) else plain(exact(label))


def _loss(tree: Hierarchy, content: Content) -> Fraction:
    """Return LM' of a content; at most that of the root."""
    if tree.axis is not None:
        width = tree.axis.width(content.nodes[0], content.nodes[-1])
        loss = Fraction(width, tree.axis.span) if tree.axis.span else Fraction(0)
        return min(loss + Fraction(content.lacking, max(len(tree.axis.bins) - 1, 1)), tree.lm[0])
    if tree.leaves < 2:
        return Fraction(0)
    held = set(content.nodes)
    # Inner nodes may occur together with nodes below them: only the topmost are counted.
    tops = [node for node in content.nodes if held.isdisjoint({*tree.ancestors[node]} - {node})]
    leaves = sum((tree.lm[node] * (tree.leaves - 1) + 1 for node in tops), Fraction(0))
    return min((leaves + content.lacking - 1) / (tree.leaves - 1), Fraction(1))
