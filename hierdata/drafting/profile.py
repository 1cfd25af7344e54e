"""Profile a collection in one pass: its shape, and the formats and frequencies of each field's values."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice, repeat
from typing import TypeAlias, cast

import numpy as np

from hierdata.documents.document import TEXT, Document, Scalar, Value
from hierdata.drafting.mixed import find_mixed
from hierdata.drafting.spectrum import ABSENT, Hashes, Spectrum, mix_hashes
from hierdata.drafting.structure import Stated
from hierdata.drafting.values import CATEGORIES, Looks, SeenHashes
from hierdata.ground.errors import InputError
from hierdata.records.dependence import Dependence
from hierdata.records.identifiers.treatment import Treatment
from hierdata.records.maps import dynamic, look_like_data
from hierdata.records.mixed import REST, UNMIXED, Mixed
from hierdata.records.path import Step, jsonpath
from hierdata.records.survey import Keys, PathSurvey, survey
from hierdata.records.values import batches, columns

PAIRED = 24
"""Maximum number of fields that are measured in pairs: the first ones that a draft would publish."""
FIELDS = 2000
"""Maximum number of distinct paths."""

_SAMPLED = 40_000
"""Approximate number of values of the records that are kept to find fields that determine others."""
_FOLLOWED = 4096
"""Maximum number of pairs of values that are followed to find out whether one determines the other."""
_TOGETHER = 8
"""Number of batches of ``by_column.batches`` that are combined into one."""
_LONGEST = 200
"""Maximum length of a text that may be a category."""
_SINGLE = 1 << 14
_JOINED: Keys = ("",)
"""The keys under which fields that are counted as one determine others."""
_PAIR = 1 << 12
"""Maximum number of distinct values of a field, or of a pair of fields, that are counted exactly."""


class FieldProfile:
    """One field: the formats and frequencies of its values, and which records they distinguish.

    ``records`` counts by record: all values of a record at this path, in any order, count as one value;
    records without a value are not counted. ``holders`` is the number of records with a value, ``present``
    the number of values. ``owners`` counts each value once for each record that has it. ``categories`` counts
    the values themselves; it is None if there are too many.
    """

    def __init__(self, key: bytes) -> None:
        self.known = SeenHashes(key)
        self.records = Spectrum(_SINGLE)
        self.holders = 0
        self.present = 0
        self.categories: Counter[Scalar] | None = Counter()
        self._several: Spectrum | None = None
        self._owners: Spectrum | None = None

    @property
    def looks(self) -> Looks:
        """Formats, lengths and spread of the values."""
        return self.known.looks

    @property
    def values(self) -> Spectrum:
        """How often each value occurs."""
        return self.records if self._several is None else self._several

    @property
    def owners(self) -> Spectrum:
        """How many records have each value."""
        return self.records if self._owners is None else self._owners

    def add(self, values: Sequence[Scalar], owners: Owners, records: int) -> Hashes:
        """Count values in a batch of ``records`` records; return a hash for each record, for ``tell``."""
        hashes = self.known.hashes(values)
        self.present += int(np.count_nonzero(hashes))
        if self.categories is not None:
            self.categories.update(str(value) if isinstance(value, bool) else value for value in values)
            if len(self.categories) > CATEGORIES or any(map(_is_long, self.categories)):
                self.categories = None
        single = owners == range(records)
        by_record = hashes
        if not single:
            by_record = np.zeros(records, np.uint64)
            np.add.at(by_record, np.asarray(owners), hashes)
            single = len(set(owners)) == len(owners)
        if not single and self._several is None:
            self._several, self._owners = self.records.copy(), self.records.copy()
        if self._several is not None and self._owners is not None:
            there = hashes != ABSENT
            self._several.add(hashes[there])
            pairs = mix_hashes(np.asarray(owners, np.uint64)[there], hashes[there])
            self._owners.add(hashes[there][np.unique(pairs, return_index=True)[1]])
        return by_record

    def tell(self, hashes: Hashes) -> None:
        """Count the records of a batch by the hashes of their values."""
        there = hashes[hashes != ABSENT]
        self.holders += len(there)
        self.records.add(there)

    def merge(self, other: FieldProfile) -> None:
        """Add a path that is the same field in a policy; no object has both."""
        self._several = self.values.copy()
        self._several.merge(other.values)
        self._owners = self.owners.copy()
        self._owners.merge(other.owners)
        self.records.merge(other.records)
        self.looks.merge(other.looks)
        self.holders += other.holders
        self.present += other.present
        if self.categories is not None:
            self.categories.update(other.categories or ())
            if other.categories is None or len(self.categories) > CATEGORIES:
                self.categories = None


def _is_long(value: Scalar) -> bool:
    return isinstance(value, str) and len(value) > _LONGEST


@dataclass
class Determined:
    """The fields that the field ``by`` determines in all records seen so far."""

    by: Keys
    others: dict[Keys, Dependence] = field(default_factory=dict)

    def add(self, hashes: Mapping[Keys, Hashes]) -> None:
        """Add records by the hashes of their values."""
        if self.by not in hashes:
            return
        values = hashes[self.by].tolist()
        for keys in hashes.keys() - {self.by}:
            dependence = self.others.setdefault(keys, Dependence(tolerated=0, most=_FOLLOWED))
            if not dependence.refuted:
                dependence.add_records(values, hashes[keys].tolist())

    def holds(self, keys: Keys) -> bool:
        """Return whether the other field has one value for each value of this one, as far as was seen."""
        return keys not in self.others or not self.others[keys].is_contradicted


@dataclass
class FieldGroup:
    """Fields that are counted as one, such as the parts of a name: records by their values together."""

    fields: tuple[Keys, ...]
    records: Spectrum = field(default_factory=lambda: Spectrum(_SINGLE))
    determined: Determined = field(default_factory=lambda: Determined(_JOINED))
    holders: int = 0

    def add(self, by_field: Mapping[Keys, Hashes]) -> None:
        """Add a batch by the hashes of its fields."""
        hashes = [by_field[keys] for keys in self.fields if keys in by_field]
        if not hashes:
            return
        mixed = hashes[0]
        for other in hashes[1:]:
            mixed = mix_hashes(mixed, other)
        mixed = np.where(np.any([part != ABSENT for part in hashes], axis=0), mixed, ABSENT)
        self.holders += int(np.count_nonzero(mixed))
        self.records.add(mixed[mixed != ABSENT])
        self.determined.add({**by_field, self.determined.by: mixed})


@dataclass
class Profile:
    """The profile of a collection; ``stated`` is from its server's own schema.

    ``maps`` are the objects whose keys are data, read as arrays of their entries. ``mixed`` are keys with
    values of several vertex types, ``steps`` the last steps of the paths to these. ``skipped`` are those that
    turned out to be maps after the first batch, or are inside of maps: their content is ignored. ``sample``
    are the first records, about ``_SAMPLED`` values.
    ``determined`` has for some fields which others they determine, ``joint`` for some that are one together.
    """

    shape: PathSurvey = field(default_factory=PathSurvey)
    records: int = 0
    attributes: dict[Keys, FieldProfile] = field(default_factory=dict)
    maps: tuple[Keys, ...] = ()
    mixed: Mixed = UNMIXED
    steps: Mapping[Keys, Step] = field(default_factory=dict)
    skipped: set[Keys] = field(default_factory=set)
    pairs: dict[tuple[Keys, Keys], Spectrum] = field(default_factory=dict)
    stated: Mapping[Keys, Stated] = field(default_factory=dict)
    sample: list[Document] = field(default_factory=list)
    determined: dict[Keys, Determined] = field(default_factory=dict)
    joint: list[FieldGroup] = field(default_factory=list)

    def step(self, above: tuple[Step, ...], key: str, many: bool) -> Step:
        """Return the step to a key of the shape, below the path ``above``."""
        known = self.steps.get((*(step.key for step in above), key))
        return Step(key, many) if known is None else replace(known, many=many)

    @property
    def structure(self) -> frozenset[Keys]:
        """The fields that filters compare, and the items that none selects."""
        compared = {
            (*mixed.holder, kind.key, *keys)
            for mixed in self.mixed.keys
            for kind in mixed.kinds
            for keys, _ in kind.conditions
        }
        return frozenset({*compared, *((*mixed.holder, mixed.name + REST) for mixed in self.mixed.keys)})


Related: TypeAlias = tuple[Sequence[Keys], Sequence[tuple[Keys, ...]]]
"""The fields of which is measured what they determine, and those that are counted together."""


def profile(
    documents: Iterable[Document],
    choose: Callable[[Profile], Sequence[Keys]],
    stated: Mapping[Keys, Stated] | None = None,
    *,
    mixed: tuple[Mixed, Mapping[Keys, Step]] | None = None,
    may_have_maps: bool = True,
    key: bytes | None = None,
    choose_related: Callable[[Profile], Related] | None = None,
) -> Profile:
    """Profile a collection in one pass, in memory that does not grow with the number of its records.

    ``choose`` selects, from the profile of the first batch, the fields that are measured in pairs,
    ``choose_related`` those that are ``Related``. ``mixed`` are the keys with values of several kinds and the
    steps to these, if they are known. ``key`` is the key of the hashes, random by default, so that an
    attacker cannot craft values that a sample leaves out. Maps are determined from the first batch too.

    Raises InputError for an empty collection and for one with more than ``FIELDS`` fields.
    """
    key = secrets.token_bytes(16) if key is None else key
    profiled = Profile(stated=stated or {})
    chosen: list[Keys] | None = None
    sampled = 0
    for batch in _batches(documents):
        if not profiled.records and may_have_maps:
            profiled.maps = tuple(_maps(survey(batch).shape, ()))
            profiled.mixed, profiled.steps = find_mixed(batch, profiled.maps) if mixed is None else mixed
        unfolding = Treatment(
            tuple((keys, jsonpath(Step(key, False) for key in keys)) for keys in profiled.maps),
            mixed=profiled.mixed,
        )
        batch = list(unfolding.documents(batch, profiled.records))
        profiled.shape.merge(survey(batch).shape)
        profiled.records += len(batch)
        _skip_maps(profiled)
        if sampled < _SAMPLED:
            profiled.sample += batch
        by_field: dict[Keys, Hashes] = {}
        _move_texts(profiled)
        for keys, values, owners in walk(batch, profiled.skipped):
            sampled += len(values)
            keys = (*keys, TEXT) if _has_text(profiled.shape, keys) else keys
            if keys not in profiled.attributes:
                profiled.attributes[keys] = FieldProfile(key)
            hashes = profiled.attributes[keys].add(values, owners, len(batch))
            by_field[keys] = by_field[keys] + hashes if keys in by_field else hashes
        for keys, hashes in by_field.items():
            profiled.attributes[keys].tell(hashes)
        if chosen is None:
            chosen = list(choose(profiled))[:PAIRED]
            profiled.pairs = {pair: Spectrum(_PAIR) for pair in combinations(chosen, 2)}
            if choose_related is not None:
                determining, joint = choose_related(profiled)
                profiled.determined = {keys: Determined(keys) for keys in determining}
                profiled.joint = [FieldGroup(parts) for parts in joint]
        _count_together(profiled, by_field, len(batch))
    if not profiled.records:
        raise InputError("the collection is empty: there is nothing to inspect")
    return profiled


def _count_together(profiled: Profile, by_field: Mapping[Keys, Hashes], records: int) -> None:
    """Count what is known of several fields of a batch by the hashes of its fields."""
    for determined in profiled.determined.values():
        determined.add(by_field)
    for joint in profiled.joint:
        joint.add(by_field)
    nothing = np.zeros(records, np.uint64)
    for (first, second), spectrum in profiled.pairs.items():
        spectrum.add(mix_hashes(by_field.get(first, nothing), by_field.get(second, nothing)))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield large batches, since every batch has a cost for each pair of fields."""
    small = batches(documents)
    while together := list(chain.from_iterable(islice(small, _TOGETHER))):
        yield together


def _has_text(shape: PathSurvey, keys: Keys) -> bool:
    """Return whether a bare value here is the text of an element with attributes or children elsewhere."""
    below = shape.find(keys)
    return below is not None and below.texts > 0 and below.objects > 0 and not below.scalars


def _move_texts(profile: Profile) -> None:
    """Move the counts of a bare element to its text once attributes or children turn up."""
    for keys in [keys for keys in profile.attributes if _has_text(profile.shape, keys)]:
        bare = profile.attributes.pop(keys)
        if (text := profile.attributes.setdefault((*keys, TEXT), bare)) is not bare:
            text.merge(bare)


def _skip_maps(profile: Profile) -> None:
    """Remove the keys of objects that are maps, with everything counted below them."""
    if look_like_data(profile.shape.children) and _are_of_one(profile.shape):
        raise InputError(
            "the keys of the records look like data, such as ids, and most records have others: "
            'make each key a value, as in {"id": KEY, ...}'
        )
    new = set(_maps(profile.shape, ())) - profile.skipped
    profile.skipped |= new
    for keys in profile.skipped:
        if (shape := profile.shape.find(keys)) is not None:
            shape.children.clear()
    below = [keys for keys in profile.attributes for depth in range(len(keys)) if keys[:depth] in new]
    for keys in below:
        del profile.attributes[keys]
    profile.pairs = {pair: spectrum for pair, spectrum in profile.pairs.items() if not set(pair) & set(below)}
    fields = _fields(profile.shape)
    if fields > FIELDS:
        raise InputError(
            f"the records have more than {FIELDS:,} different fields, so their keys are probably data: "
            "convert the records to fixed field names, which a policy can list"
        )


def _maps(shape: PathSurvey, keys: Keys) -> Iterator[Keys]:
    """Yield the outermost objects whose keys look like data and differ between most objects."""
    for key, below in shape.children.items():
        path = (*keys, key)
        if dynamic(below) and (below.crowded or _differ_mostly(below)):
            yield path
        else:
            yield from _maps(below, path)


def _are_of_one(shape: PathSurvey) -> bool:
    """Return whether most keys are those of a single object, and no object has most of them."""
    present = sum(child.occurrences for child in shape.children.values())
    return 2 * present <= 3 * len(shape.children) and _differ_mostly(shape)


def _differ_mostly(shape: PathSurvey) -> bool:
    """Return whether at most half of the objects have a key, on average."""
    present = sum(child.occurrences for child in shape.children.values())
    return 2 * present <= len(shape.children) * shape.objects


def _fields(shape: PathSurvey) -> int:
    return sum(1 + _fields(below) for below in shape.children.values())


Owners: TypeAlias = Sequence[int]
"""The index of the record in its batch, for each value."""
Leaf: TypeAlias = tuple[Keys, Sequence[Scalar], Owners]


def walk(documents: Sequence[Document], skipped: Collection[Keys]) -> Iterator[Leaf]:
    """Return every path with its single values and their owners, except ``skipped`` paths.

    A path may occur several times.

    >>> list(walk([{"a": 1, "b": [{"c": 2}, {"c": 3}]}, {"a": 4}], ()))
    [(('a',), [1, 4], range(0, 2)), (('b', 'c'), [2, 3], [0, 0])]
    """
    return _walk_objects((), documents, range(len(documents)), skipped)


def _walk_objects(
    keys: Keys, objects: Sequence[Document], owners: Owners, skipped: Collection[Keys]
) -> Iterator[Leaf]:
    for key, column, places in columns(objects):
        path = (*keys, key)
        if path not in skipped:
            holders = owners if len(places) == len(objects) else [owners[position] for position in places]
            yield from _walk_column(path, column, holders, skipped)


def _walk_column(
    keys: Keys, column: Sequence[Value], owners: Owners, skipped: Collection[Keys]
) -> Iterator[Leaf]:
    kinds = set(map(type, column))
    if any(issubclass(kind, list) for kind in kinds):
        arrays, column, owners = _separate_kind(column, owners, list)
        items = [pair for items, owner in arrays for pair in zip(cast("list[Value]", items), repeat(owner))]
        items = [(item, owner) for item, owner in items if not isinstance(item, list)]
        column = [*column, *(item for item, _ in items)]
        owners = [*owners, *(owner for _, owner in items)]
        kinds = set(map(type, column))
    if dict in kinds:
        below, column, owners = _separate_kind(column, owners, dict)
        objects = cast("list[Document]", [value for value, _ in below])
        yield from _walk_objects(keys, objects, [owner for _, owner in below], skipped)
    if column:
        yield keys, cast("Sequence[Scalar]", column), owners


def _separate_kind(
    column: Sequence[Value], owners: Owners, kind: type
) -> tuple[list[tuple[Value, int]], list[Value], list[int]]:
    """Return the values of a kind with their owners, and the others."""
    pairs = list(zip(column, owners, strict=True))
    others = [pair for pair in pairs if not isinstance(pair[0], kind)]
    return (
        [pair for pair in pairs if isinstance(pair[0], kind)],
        [value for value, _ in others],
        [owner for _, owner in others],
    )
