"""Read published labels: nodes of the hierarchies that the original has under the policy, sets and ranges.

Parsing is the inverse of how recodings spell labels. ``Terms`` says whether a published value agrees with one
of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from hierdata.documents.document import Scalar
from hierdata.documents.formats.objects import literal
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import Number, exact, identity, spell_once, spell_text_once, spelling
from hierdata.domains.published import MISSING, split_set
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import VerificationError
from hierdata.ground.recodings import RecodingTraits
from hierdata.records.identifiers.base import text_of
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
        order = self._tree.ancestors.__getitem__ if self._tree.axis is None else None
        return Content(tuple(sorted(set(nodes), key=order)), lacking)

    def _range(self, label: str) -> tuple[int, ...]:
        least, comma, greatest = label[1:-1].partition(", ")
        if not comma:
            raise Uncovered
        return _find_node(self._least, least), _find_node(self._greatest, greatest)


def _find_node(nodes: dict[str, int], text: str) -> int:
    if text not in nodes:
        raise Uncovered
    return nodes[text]


_Key = tuple[type, "str | bool | Number"]


class LabelReader:
    """Reads the labels of one quasi-identifier, also where a format spells numbers as text."""

    def __init__(self, tree: Hierarchy, path: str, traits: RecodingTraits) -> None:
        self._tree, self._path = tree, path
        self._nodes: dict[_Key, int] = {}
        for node, label in enumerate(tree.labels):
            if label is not None:
                self._nodes.setdefault(_key(label), node)  # a chain of single children may repeat a label
        self._sets = Sets(tree) if traits.publishes_value_sets else None

    @property
    def label_hierarchy(self) -> Hierarchy:
        """The hierarchy, but for labels instead of values. Raises VerificationError for an unknown label."""
        return replace(self._tree, node_of=self._node_of)

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy with a node for each label that was read."""
        return self._tree if self._sets is None else self._sets.hierarchy()

    def _node_of(self, label: Scalar) -> int:
        if label is None:
            return self._tree.node_of(None)
        with suppress(Uncovered):
            if self._sets is not None and (node := self._sets.node_of(label)) is not None:
                return node
            for key in _readings(label):
                if key in self._nodes:
                    return self._nodes[key]
        raise VerificationError(
            "a published value generalizes no value of the original under this policy: the release belongs "
            "to another input or another policy",
            path=self._path,
            revealed=(str(label),),
        )


def _key(label: Scalar) -> _Key:
    """Return the key of a label: texts, booleans and numbers differ; equal numbers are the same."""
    return (type(label), label) if isinstance(label, str | bool) else (int, exact(label))


def _readings(label: Scalar) -> list[_Key]:
    """List what a published label may mean: first itself, then what a text spells."""
    if not isinstance(label, str):
        return [_key(label)]
    readings: list[_Key] = [_key(label)]
    if label in ("true", "false"):
        readings.append((bool, label == "true"))
    with suppress(Uncovered):
        readings.append((int, exact(label)))
    return readings


class OfOriginal(SensitiveDomain):
    """A sensitive domain for published values: it refuses values that the original does not have."""

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """The function from a value to its code; it raises VerificationError for an unknown value."""
        find = super().code_of

        def look_up(value: Scalar) -> int:
            try:
                return find(value)
            except Uncovered:
                raise VerificationError(
                    "a published sensitive value does not occur in the original",
                    path=self.path,
                    revealed=(str(value),),
                ) from None

        return look_up


@dataclass(frozen=True)
class Terms:
    """How published values are compared.

    With ``same_format`` a value must be in the one spelling of its type, and with ``respelled`` in that of
    the original; else 5, "5" and 5.0 are equal. A ``typed`` format has one spelling for a number. In
    ``textual`` formats and columns numbers are spelled as text. ``tables`` are by part the paths of the
    sensitive attributes that share its rows. ``tokens`` are the domains of pseudonyms, by the paths of their
    fields; at ``references`` they may have been dropped. Sensitive values at ``known`` paths may be left out.
    """

    traits: RecodingTraits
    same_format: bool
    textual: bool
    typed: bool = False
    respelled: bool = False
    tables: Mapping[str, Collection[str]] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()

    def same(self, shown: Scalar, stated: Scalar, number: bool = False) -> bool:
        """Return whether a value is published as it is; with ``number`` a text is the number it spells."""
        if shown is None or stated is None:
            return shown is stated
        if spelling(shown) == spelling(stated):
            return True
        if not self.respelled and self._key(shown, number) == self._key(stated, number):
            return True
        if not self.same_format and text_of(shown) == text_of(stated):
            return True
        return (
            self.textual and type(shown) is str and not isinstance(stated, str) and shown == literal(stated)
        )

    def same_label(self, shown: Scalar, stated: Scalar) -> bool:
        """Return whether a label is published as it is; in a typed format all of a field may be text."""
        return self.same(shown, stated) or (self.typed and type(shown) is str and shown == text_of(stated))

    def key(self, value: Scalar, number: bool = False) -> object:
        """Return the key by which the values of a group are compared."""
        if self.respelled and self.same_format and not self.textual:
            return spelling(value)
        if number or (self.same_format and not self.textual):
            return self._key(value, number)
        return text_of(value) if not self.same_format or not isinstance(value, str) else str(value)

    def _key(self, value: Scalar, number: bool) -> object:
        """Return the value whatever its type, and whether it is in the one spelling of its type."""
        try:
            value_itself = identity(value, number)
        except Uncovered:
            return spelling(value)
        once = spell_text_once(value) if number else spell_once(value)
        return value_itself, self.typed or spelling(value) == spelling(once)


REMEMBERED = 1 << 20
"""Limit on the remembered pairs of a label and a value."""


class Cover:
    """Decides whether a published label covers an original value, given by its node."""

    def __init__(self, tree: Hierarchy, terms: Terms) -> None:
        self._tree, self._terms = tree, terms
        self._known: dict[tuple[tuple[type, str], int], bool] = {}
        self._sets = Sets(tree) if terms.traits.publishes_value_sets else None

    def covers_number(self, labels: Sequence[Scalar], number: int, node: int) -> bool:
        """Return whether a label, given by its number, covers a value; equal labels are decided once."""
        label = labels[number]
        key = spelling(label), node
        known = self._known.get(key)
        if known is None:
            known = self.covers(label, node)
            if len(self._known) < REMEMBERED:
                self._known[key] = known
        return known

    def covers(self, label: Scalar, node: int) -> bool:
        """Return whether the label is that of the node, of one above it, or of a set or range with it."""
        tree = self._tree
        if label is None:
            return tree.labels[node] is None
        if self._sets is not None:
            try:
                content = self._sets.content_of(label)
            except Uncovered:
                return False
            if content is not None:
                if tree.labels[node] is None:
                    return content.lacking
                inside = tree.axis is not None and content.nodes and content.nodes[0] <= node
                return node in content.nodes or bool(inside and node <= content.nodes[-1])
        above = (tree.labels[ancestor] for ancestor in tree.ancestors[node] if ancestor >= 0)
        return any(stated is not None and self._terms.same_label(label, stated) for stated in above)
