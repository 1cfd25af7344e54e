"""Whether a published value agrees with one of the original."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from hierdata.documents.document import Scalar
from hierdata.documents.formats.objects import literal
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.number import identity, spell_once, spell_text_once, spelling
from hierdata.ground.recodings import RecodingTraits
from hierdata.measurement.release.sets import Sets
from hierdata.records.identifiers.base import text_of


@dataclass(frozen=True)
class Terms:
    """How published values are compared.

    With ``same_format`` a value must be in the one spelling of its type, and with ``respelled`` in that of
    the original; else 5, "5" and 5.0 are equal. A ``typed`` format has one spelling for a number. In
    ``textual`` formats and columns numbers are spelled as text. ``tables`` are by part the paths of the
    sensitive attributes that share its rows. ``tokens`` are the domains of pseudonyms, by the paths of their
    fields; at ``references`` they may have been dropped.
    """

    traits: RecodingTraits
    same_format: bool
    textual: bool
    typed: bool = False
    respelled: bool = False
    tables: Mapping[str, Collection[str]] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[str] = frozenset()

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
            found = identity(value, number)
        except Uncovered:
            return spelling(value)
        once = spell_text_once(value) if number else spell_once(value)
        return found, self.typed or spelling(value) == spelling(once)


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
        above = (tree.labels[one] for one in tree.ancestors[node] if one >= 0)
        return any(stated is not None and self._terms.same(label, stated) for stated in above)
