"""The last changes to a publication: labels of derived fields, and lists of several vertex types."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from hierdata.documents.document import Document, Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.derived import LabelMap
from hierdata.domains.number import exact, plain
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Linked, Publication, PublishedPart
from hierdata.judge import DerivedRule
from hierdata.records.derived import DerivedField, LabelPairs
from hierdata.records.mixed import Mixed
from hierdata.records.schema import Schema
from hierdata.release.recodings.base import Recoding, sort_key
from hierdata.release.report.models import Label

_CLASS = "representative"
"""The key of the record in the document of a class."""


Change = Callable[[Document], object]
"""Changes a record, or a row of a table of sensitive values, in place."""


class Finished(Recoding):
    """A recoding that has finished its search, with the labels of what it publishes, as documents have it."""

    def __init__(self, recoding: Recoding, rules: Sequence[DerivedRule], mixed: Mixed) -> None:
        super().__init__(recoding.stated)
        self._recoding = recoding
        self._rules = tuple(rules)
        self._mixed = mixed

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        publication = self._recoding.publish(forest, partitions, order)
        if not self._rules and not self._mixed:
            return publication
        within = _CLASS if self._recoding.traits.publishes_classes else None
        records, *tables = publication.parts
        changes = [_label_by(rule) for rule in self._rules if not rule.apart]
        parts = [_change_part(records, [*changes, *([self._mixed.unite] if self._mixed else ())], within)]
        for part in tables:
            held = publication.tables[part.name]
            beside = [rule for rule in self._rules if _is_beside(rule, held, forest.schema)]
            parts.append(_change_part(part, [_label_by(rule) for rule in beside]))
        return replace(publication, parts=tuple(parts))


def _label_by(rule: DerivedRule) -> Change:
    """Return what puts the labels of a field into the records, or into the table that has its source."""
    skipped = len(rule.vertex) if rule.apart else 0
    field = DerivedField(rule.source[skipped:], rule.keys[skipped:])
    labels = LabelMap(rule.labels, rule.pairs or (), sets=rule.sets)
    return partial(field.put, find=labels.find)


def _is_beside(rule: DerivedRule, held: Collection[str], schema: Schema) -> bool:
    """Return whether a table that holds some sensitive attributes has the source of a field."""
    return rule.apart and any(
        attribute.path in held and schema.keys(kind.index) + attribute.steps == rule.source
        for kind in schema.types
        for attribute in kind.sensitive
    )


def _change_part(part: PublishedPart, changes: Sequence[Change], within: str | None = None) -> PublishedPart:
    """Change the documents of a part; ``within`` is the key of the record in each, if any."""
    if not changes:
        return part

    def change_document(document: Document) -> Document:
        record = document if within is None else document[within]
        assert isinstance(record, dict)
        for change in changes:
            change(record)
        return document

    def change_linked() -> Iterator[Linked]:
        assert part.linked is not None
        return ((change_document(document), shown) for document, shown in part.linked())

    linked = None if part.linked is None else change_linked
    return replace(part, documents=lambda: map(change_document, part.documents()), linked=linked)


def spell_labels(labels: LabelPairs) -> tuple[tuple[Label, Label], ...]:
    """Return for the codebook what is published of a source, each form with its label."""
    shown = sorted(labels.pairs.values(), key=lambda pair: sort_key(pair[0]))
    return tuple((_spell(form), _spell(label)) for form, label in shown)


def _spell(value: Scalar) -> Label:
    if isinstance(value, str | bool):
        return value if isinstance(value, bool) else str(value)
    try:
        number = exact(value)
    except Uncovered:
        return str(value)
    return int(number) if number.denominator == 1 else plain(number)
