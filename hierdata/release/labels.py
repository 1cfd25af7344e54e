"""The last changes to a publication: labels of derived fields, and lists of several vertex types."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class _LabelWriter:
    """Puts the labels of one field into documents; ``within`` is the key of the record in each, if any."""

    field: DerivedField
    found: LabelMap
    within: str | None = None

    @classmethod
    def of(cls, rule: DerivedRule, within: str | None) -> _LabelWriter:
        """Return those of a field of the records, or of rows of a table of sensitive values."""
        skipped = len(rule.vertex) if rule.apart else 0
        field = DerivedField(rule.source[skipped:], rule.keys[skipped:])
        return cls(field, LabelMap(rule.labels, rule.pairs or (), sets=rule.sets), within)

    def put(self, document: Document) -> Document:
        """Put labels into a document, and return it."""
        inner = document if self.within is None else document[self.within]
        assert isinstance(inner, dict)
        self.field.put(inner, self.found.find)
        return document


@dataclass(frozen=True)
class _Uniter:
    """Unites the vertex types of lists in documents; ``within`` is the key of the record in each."""

    mixed: Mixed
    within: str | None

    def put(self, document: Document) -> Document:
        """Unite them, and return the document."""
        inner = document if self.within is None else document[self.within]
        assert isinstance(inner, dict)
        self.mixed.unite(inner)
        return document


class Finished(Recoding):
    """A recoding that has finished its search, with the labels of what it publishes, as documents have it."""

    def __init__(self, recoding: Recoding, rules: Sequence[DerivedRule], mixed: Mixed) -> None:
        super().__init__(recoding.stated)
        self._recoding = recoding
        self._rules = tuple(rules)
        self._mixed = mixed

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        found = self._recoding.publish(forest, partitions, order)
        if not self._rules and not self._mixed:
            return found
        within = _CLASS if self._recoding.traits.publishes_classes else None
        records, *tables = found.parts
        last: list[_LabelWriter | _Uniter] = [
            _LabelWriter.of(rule, within) for rule in self._rules if not rule.apart
        ]
        parts = [_change_part(records, [*last, *([_Uniter(self._mixed, within)] if self._mixed else ())])]
        for part in tables:
            held = found.tables[part.name]
            own = [
                _LabelWriter.of(rule, None) for rule in self._rules if _is_beside(rule, held, forest.schema)
            ]
            parts.append(_change_part(part, own))
        return replace(found, parts=tuple(parts))


def _is_beside(rule: DerivedRule, held: Collection[str], schema: Schema) -> bool:
    """Return whether a table that holds some sensitive attributes has the source of a field."""
    return rule.apart and any(
        attribute.path in held and schema.keys(kind.index) + attribute.steps == rule.source
        for kind in schema.types
        for attribute in kind.sensitive
    )


def _change_part(part: PublishedPart, changes: Sequence[_LabelWriter | _Uniter]) -> PublishedPart:
    if not changes:
        return part

    def put(document: Document) -> Document:
        for own in changes:
            own.put(document)
        return document

    linked = None if part.linked is None else partial(_change_linked, part, put)
    return replace(part, documents=lambda: map(put, part.documents()), linked=linked)


def _change_linked(part: PublishedPart, put: Callable[[Document], Document]) -> Iterator[Linked]:
    assert part.linked is not None
    for document, shown in part.linked():
        yield put(document), shown


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
