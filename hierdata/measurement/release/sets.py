"""Parse sets and ranges: the inverse of how ``recodings.sets_and_ranges`` spells them."""

from __future__ import annotations

from collections.abc import Collection

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.published import MISSING, split_set
from hierdata.release.recodings.sets_and_ranges import (
    Content,
    content_label,
    extend_hierarchy,
    spell_label,
)


class Sets:
    """The sets and ranges of one quasi-identifier; each that is read becomes a node of its hierarchy."""

    def __init__(self, tree: Hierarchy) -> None:
        self._tree = tree
        self._nodes: dict[Content, int] = {}
        # A quoted member is a text; an unquoted one may also be a number or boolean, which takes precedence.
        self._texts = {label: node for node, label in enumerate(tree.labels) if isinstance(label, str)}
        self._least: dict[str, int] = {}
        self._greatest: dict[str, int] = {}
        if tree.axis is not None:
            bins = [*enumerate(tree.axis.bins, tree.axis.first)]
            self._texts = {spell_label(bin.label): node for node, bin in bins}
            self._least = {bin.least: node for node, bin in bins}
            self._greatest = {bin.greatest: node for node, bin in bins}
        self._others = {
            spell_label(label): node
            for node, label in enumerate(tree.labels)
            if label is not None and not isinstance(label, str)
        }
        self._plain = self._texts | self._others

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy with a node for each set and range."""
        return extend_hierarchy(self._tree, [*self._nodes])

    def node_of(self, label: Scalar) -> int | None:
        """Return the node of a set or range, None for another label. Raises Uncovered for a malformed one."""
        content = self.content_of(label)
        if content is None:
            return None
        return self._nodes.setdefault(content, len(self._tree.labels) + len(self._nodes))

    def content_of(self, label: Scalar) -> Content | None:
        """Return the content of a set or range, None for another label. Raises Uncovered as ``node_of``."""
        if not isinstance(label, str):
            return None
        if label.startswith("{"):
            content = self._parse_set(label)
        elif self._tree.axis is not None and label.startswith("[") and label not in self._texts:
            content = self._content(self._range(label), False)
        else:
            return None
        alone = len(content.nodes) == 1 and not content.lacking
        needless = alone and not str(self._tree.labels[content.nodes[0]]).startswith("{")
        if needless or content_label(self._tree, content) != label:
            raise Uncovered  # not canonical: a descending range, a repeated value, another order
        return content

    def _parse_set(self, label: str) -> Content:
        nodes: list[int] = []
        lacking = False
        for member in split_set(label):
            if lacking:  # a missing value is the last member
                raise Uncovered
            if member.quoted:
                nodes.append(_find_node(self._texts, member.text))
            elif self._tree.axis is not None and member.text.startswith("["):
                nodes += self._range(member.text)
            elif member.text == MISSING:
                lacking = True
            else:
                nodes.append(_find_node(self._plain, member.text))
        if not nodes:
            raise Uncovered
        return self._content(nodes, lacking)

    def _content(self, nodes: Collection[int], lacking: bool) -> Content:
        """Build a content in the order in which it is spelled, each value once."""
        place = self._tree.ancestors.__getitem__ if self._tree.axis is None else None
        return Content(tuple(sorted(set(nodes), key=place)), lacking)

    def _range(self, label: str) -> tuple[int, ...]:
        least, comma, greatest = label[1:-1].partition(", ")
        if not comma:
            raise Uncovered
        return _find_node(self._least, least), _find_node(self._greatest, greatest)


def _find_node(nodes: dict[str, int], text: str) -> int:
    if text not in nodes:
        raise Uncovered
    return nodes[text]
