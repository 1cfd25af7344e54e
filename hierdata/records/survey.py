"""The survey: one pass over a collection that finds its shape and counts the values of declared fields.

Documents are processed in batches and by column, all values of one path together, so that counting runs in
compiled code. Parts of a collection are surveyed separately and merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value
from hierdata.records.dependence import Dependence
from hierdata.records.derived import DerivedField, LabelPairs
from hierdata.records.recognition.persons import PersonField, ValueRepeats
from hierdata.records.values import SCALARS, Missing, Values, batches, columns

Keys = tuple[str, ...]

MOST_KEYS = 1 << 16
"""Limit on the different keys of objects at one path, so that memory does not grow with the data."""


@dataclass(slots=True)
class PathSurvey:
    """The content of one path of the collection; ``children`` are the paths one key further down.

    ``occurrences`` counts the objects that have the key, with any value: ``nulls``, ``arrays``, ``siblings``
    (element children of one name) or, the rest, ``bare`` objects and scalars. ``holders`` counts the records
    that have the key, if that was asked for. ``objects`` and ``scalars`` count bare values and items alike;
    element content without attributes or children is counted separately as ``texts`` or, if empty,
    ``empties``. ``nested`` counts arrays directly inside arrays, ``longest`` is the most items of one array
    or siblings. ``crowded`` counts values under keys beyond ``MOST_KEYS``, which are not recorded: that many
    different keys are data.
    """

    occurrences: int = 0
    holders: int = 0
    nulls: int = 0
    arrays: int = 0
    siblings: int = 0
    objects: int = 0
    scalars: int = 0
    texts: int = 0
    empties: int = 0
    nested: int = 0
    longest: int = 0
    crowded: int = 0
    children: dict[str, PathSurvey] = field(default_factory=dict)

    @property
    def bare(self) -> int:
        """Occurrences that are neither null nor an array nor siblings."""
        return self.occurrences - self.nulls - self.arrays - self.siblings

    def find(self, keys: Keys) -> PathSurvey | None:
        """Return the shape at a path below, None if there is none. ``#text`` finds bare element content."""
        shape = self
        for key in keys:
            below = shape.children.get(key)
            if below is None:
                if key != TEXT or not shape.texts:
                    return None
                below = PathSurvey(occurrences=shape.texts, scalars=shape.texts)
            shape = below
        return shape

    def merge(self, other: PathSurvey) -> None:
        """Add the survey of another part of the collection."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        for key, shape in other.children.items():
            if (known := self.below(key)) is None:
                self.crowded += shape.occurrences
            else:
                known.merge(shape)

    def below(self, key: str) -> PathSurvey | None:
        """Return the shape under a key, creating it if needed; None if there are too many keys already."""
        known = self.children.get(key)
        if known is None and len(self.children) < MOST_KEYS:
            known = self.children[key] = PathSurvey()
        return known


_COUNTS = (
    *("occurrences", "holders", "nulls", "arrays", "siblings", "objects"),
    *("scalars", "texts", "empties", "nested", "crowded"),
)


@dataclass
class Survey:
    """Shape of the records, their number, and the counted values of each declared field.

    ``pseudonyms`` counts the replaced values by field; ``repeated`` counts, by domain, the pseudonyms that
    occur in more than one record. ``forms`` are by field those in which moved dates are written. ``shown``
    counts, for lint alone, the sets of values of a field that records show, ``owners`` the records that have
    each value of a field in a list. ``labels`` has by derived field the labels of the values of its source,
    ``dependences`` are, for lint alone, those of pairs of fields. ``persons`` has what says whose the records
    are, where that was watched. ``coarsened`` are the sensitive fields whose published form hides detail.
    ``empty`` counts, in published records alone, those that show nothing but the coarsest values.
    """

    shape: PathSurvey = field(default_factory=PathSurvey)
    records: int = 0
    empty: int = 0
    values: dict[Keys, Values] = field(default_factory=dict)
    pseudonyms: Counter[Keys] = field(default_factory=Counter)
    repeated: dict[str, int] = field(default_factory=dict)
    forms: dict[Keys, set[str]] = field(default_factory=dict)
    shown: dict[Keys, Counter[frozenset[Scalar]]] = field(default_factory=dict)
    labels: dict[Keys, LabelPairs] = field(default_factory=dict)
    substitutes: dict[Keys, Counter[str]] = field(default_factory=dict)
    dependences: dict[tuple[Keys, Keys], Dependence] = field(default_factory=dict)
    owners: dict[Keys, Counter[Scalar]] = field(default_factory=dict)
    persons: dict[PersonField, ValueRepeats] = field(default_factory=dict)
    coarsened: set[Keys] = field(default_factory=set)

    def merge(self, other: Survey) -> None:
        """Add another part of the collection; the declared fields of both must be the same."""
        self.shape.merge(other.shape)
        self.records += other.records
        self.empty += other.empty
        for keys, values in other.values.items():
            self.values.setdefault(keys, Values()).merge(values)
        self.pseudonyms.update(other.pseudonyms)
        self.coarsened |= other.coarsened
        for keys, forms in other.forms.items():
            self.forms.setdefault(keys, set()).update(forms)
        for keys, substitutes in other.substitutes.items():
            self.substitutes.setdefault(keys, Counter()).update(substitutes)
        for keys, labels in other.labels.items():
            self.labels.setdefault(keys, LabelPairs()).merge(labels)


def survey(
    documents: Iterable[Document],
    declared: Collection[Keys] | Mapping[Keys, Collection[str]] = (),
    *,
    holders: bool = False,
    derived: Sequence[DerivedField] = (),
) -> Survey:
    """Survey records, counting the values of the ``declared`` fields and, if asked, the ``holders`` of keys.

    The labels of ``derived`` fields are found too.

    A mapping gives the spellings of a missing value for each field: those and null are counted as None.
    Absent fields are not counted.

    >>> found = survey([{"a": 1, "b": [{"c": "x"}]}, {"a": "?"}], {("a",): ["?"], ("b", "c"): []})
    >>> found.records, dict(found.values["a",]), found.shape.children["b"].longest
    (2, {1: 1, None: 1}, 1)
    """
    surveyor = Surveyor(declared, holders, derived)
    for batch in batches(documents):
        surveyor.add(batch)
    return surveyor.take()


class Surveyor:
    """Surveys records batch by batch; ``declared``, ``holders`` and ``derived`` as in ``survey``."""

    def __init__(
        self,
        declared: Collection[Keys] | Mapping[Keys, Collection[str]] = (),
        holders: bool = False,
        derived: Sequence[DerivedField] = (),
    ) -> None:
        self._declared = declared
        self._holders = holders
        self._derived = derived
        self._survey = Survey(values={keys: Values() for keys in declared})
        self._survey.labels = {field.label: LabelPairs() for field in derived}

    def add(self, batch: Sequence[Document]) -> None:
        """Survey some more records."""
        survey = self._survey
        survey.records += len(batch)
        survey.shape.occurrences += len(batch)
        _objects(survey.shape, (), batch, survey.values)
        for derived in self._derived:
            survey.labels[derived.label].add(batch, derived)
        if self._holders:
            for record in batch:
                _count_holder(survey.shape, record)

    def take(self) -> Survey:
        """Return the survey of all records; nothing may be added after that."""
        if isinstance(self._declared, Mapping):
            for keys, spellings in self._declared.items():
                if spellings:
                    self._survey.values[keys].fold(Missing(spellings))
        return self._survey


def _objects(shape: PathSurvey, keys: Keys, objects: Sequence[Document], values: dict[Keys, Values]) -> None:
    shape.objects += len(objects)
    for key, column, _ in columns(objects):
        below = shape.below(key)
        if below is None:
            shape.crowded += len(column)
        else:
            _column(below, (*keys, key), column, values)


def _count_holder(shape: PathSurvey, record: Document) -> None:
    """Count a record once at each path that it has."""
    shapes: dict[int, PathSurvey] = {}
    waiting: list[tuple[PathSurvey, Value]] = [(shape, record)]
    for outer, value in waiting:
        if isinstance(value, dict):
            for key, inner in value.items():
                below = outer.children.get(key)
                if below is not None:
                    shapes[id(below)] = below
                    if inner.__class__ in _CONTAINERS:
                        waiting.append((below, inner))
        elif isinstance(value, list):
            waiting += [(outer, inner) for inner in value if inner.__class__ in _CONTAINERS]
    for below in shapes.values():
        below.holders += 1


_CONTAINERS = (dict, list, Siblings)


def _column(shape: PathSurvey, keys: Keys, column: Sequence[Value], values: dict[Keys, Values]) -> None:
    """Survey all values of one batch at one path."""
    shape.occurrences += len(column)
    kinds = set(map(type, column))
    bare = column
    if list in kinds or Siblings in kinds:
        bare = [value for value in column if not isinstance(value, list)]
        arrays = [value for value in column if type(value) is list]
        siblings = [value for value in column if isinstance(value, Siblings)]
        shape.arrays += len(arrays)
        shape.siblings += len(siblings)
        shape.longest = max(shape.longest, max(map(len, chain(arrays, siblings))))
        _contents(shape, keys, list(chain.from_iterable(siblings)), values, elements=True)
        _contents(shape, keys, list(chain.from_iterable(arrays)), values)
    nulls = sum(value is None for value in bare) if type(None) in kinds else 0
    _contents(shape, keys, bare, values)
    shape.nulls += nulls
    # A null item of an array counts as a scalar; a bare null could be of any kind.
    shape.scalars -= nulls


def _contents(
    shape: PathSurvey, keys: Keys, items: Sequence[Value], values: dict[Keys, Values], elements: bool = False
) -> None:
    """Count single values and descend into objects."""
    if not items:
        return
    kinds = set(map(type, items))
    scalars = _scalars(items, kinds)
    if len(scalars) < len(items):
        objects = items if kinds == {dict} else [item for item in items if isinstance(item, dict)]
        shape.nested += len(items) - len(objects) - len(scalars)
        if objects:
            _objects(shape, keys, cast("Sequence[Document]", objects), values)
    if elements:
        filled = [item for item in scalars if item != ""]
        shape.texts += len(filled)
        shape.empties += len(scalars) - len(filled)
        if (text := values.get((*keys, TEXT))) is not None:
            text.add(filled)
    else:
        shape.scalars += len(scalars)
    if (counted := values.get(keys)) is not None:
        counted.add(scalars)


def _scalars(items: Sequence[Value], kinds: set[type]) -> Sequence[Scalar]:
    scalars: Sequence[Value] = ()
    if kinds & SCALARS:
        scalars = items if kinds <= SCALARS else [item for item in items if type(item) in SCALARS]
    return cast("Sequence[Scalar]", scalars)
