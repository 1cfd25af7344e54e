"""The fields of a profiled collection as a policy would name them, and what keeps some from being named."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hierdata.documents.document import TEXT
from hierdata.drafting.hints import Hint, hint_of
from hierdata.drafting.profile import Attribute, Profile
from hierdata.drafting.structure import Stated
from hierdata.records.maps import KEY, written
from hierdata.records.path import Step, xpath
from hierdata.records.survey import Keys, Shape

ABSENT = "the validator allows it, and no record has it"
"""Why a field that only the server knows is left out."""

_XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(frozen=True)
class Notation:
    """How paths are written: JSONPath, or with a ``place`` (root and record element) XPath.

    ``namespaces`` maps prefixes to URIs, ``textual`` tells that the format knows no numbers, ``maps`` are the
    objects that are read as the arrays of their entries.
    """

    place: Keys = ()
    namespaces: Mapping[str, str] = field(default_factory=dict)
    textual: bool = False
    maps: tuple[Keys, ...] = ()

    def text(self, steps: tuple[Step, ...]) -> str:
        """The path of a field."""
        if not self.place:
            return written(steps, self.maps)
        keys = (*self.place, *(step.key for step in steps))
        return xpath((), [self._named(key) for key in keys])

    def _named(self, key: str) -> str:
        """An XML name with its prefix; in Clark notation where it has none."""
        at, name = ("@", key[1:]) if key.startswith("@") else ("", key)
        uri, brace, local = name.rpartition("}")
        if not brace:
            return key if at or key == TEXT or "" not in self.namespaces else f"{{}}{key}"
        prefixes = {known: prefix for prefix, known in self.namespaces.items()} | {_XML: "xml"}
        prefix = prefixes.get(uri[1:])
        if prefix is None or (at and not prefix):
            return key
        return f"{at}{prefix}:{local}" if prefix else local


@dataclass(frozen=True)
class Field:
    """A path where values stand, or where ``obstacle`` says why no policy can publish it.

    ``presence`` is the share of the objects around it that have something here. ``inside`` tells that a
    record may have several, ``is_map`` that this is a map, whose keys and values are fields of their own.
    """

    keys: Keys
    path: str
    inside: bool
    presence: float
    attribute: Attribute | None = None
    obstacle: str = ""
    is_map: bool = False
    names: tuple[str, ...] = ()
    """The names that may hint at what it is: its own (empty for the keys of maps), and of what it is in."""
    stated: Stated | None = None
    """What the server's own schema says of it."""

    @property
    def hint(self) -> tuple[Hint, str] | None:
        """What its own name hints at."""
        return hint_of(self.names[0]) if self.names else None

    @property
    def outer_hint(self) -> tuple[Hint, str] | None:
        """What the nearest name around it hints at, where its own does not."""
        found = (hint_of(name) for name in self.names[1:])
        return None if self.hint is not None else next((hint for hint in found if hint is not None), None)


def fields(found: Profile, notation: Notation) -> Iterator[Field]:
    """Every field that a policy must name, in the order of the survey."""
    notation = replace(notation, maps=found.maps)
    yield from _Fields(found, notation).below(found.shape, (), False)
    for keys, stated in found.stated.items():
        if found.shape.find(keys) is None and (len(keys) == 1 or found.shape.find(keys[:-1]) is not None):
            steps = (*_as_found(found.shape, keys[:-1]), Step(keys[-1], False))
            yield Field(keys, notation.text(steps), False, 0, obstacle=ABSENT, stated=stated)


@dataclass(frozen=True)
class Below:
    """A vertex type below the record: its path, and how many there are in what it belongs to, on average."""

    path: str
    each: float


def vertex_types(found: Profile, notation: Notation) -> Iterator[Below]:
    """Arrays and elements that repeat, and maps, in the order of the survey."""
    yield from _vertices(found.shape, (), replace(notation, maps=found.maps))


def _vertices(shape: Shape, steps: tuple[Step, ...], notation: Notation) -> Iterator[Below]:
    for key, own in shape.children.items():
        many = own.arrays > 0 or own.longest > 1
        path = (*steps, Step(key, many))
        if many and not own.nested:
            items = own.objects + own.scalars + own.texts + own.empties
            yield Below(notation.text(path), items / max(1, shape.objects))
        yield from _vertices(own, path, notation)


def _as_found(shape: Shape, keys: Keys) -> Iterator[Step]:
    """The steps to a path that records have."""
    for depth, key in enumerate(keys, 1):
        own = shape.find(keys[:depth])
        yield Step(key, own is not None and (own.arrays > 0 or own.longest > 1))


class _Fields:
    def __init__(self, found: Profile, notation: Notation) -> None:
        self._found = found
        self._notation = notation

    def below(self, shape: Shape, steps: tuple[Step, ...], inside: bool) -> Iterator[Field]:
        for key, own in shape.children.items():
            many = own.arrays > 0 or own.longest > 1
            presence = (own.occurrences - own.nulls) / max(1, shape.objects)
            path = (*steps, Step(key, many))
            obstacle = _obstacle(own, self._keys(path) in self._found.skipped)
            if self._keys(path) in self._found.maps:
                # The map itself is named as the object that it is in the data.
                text = self._notation.text((*steps, Step(key, False)))
                yield Field(self._keys(path), text, inside, presence, is_map=True)
                yield from self.below(own, path, True)
            elif obstacle:
                yield self._field((*steps, Step(key, False)), inside, presence, obstacle=obstacle)
            elif not own.objects:
                yield self._leaf(path, inside or many, presence)
            else:
                yield from self.below(own, path, inside or many)
                if own.texts and TEXT not in own.children:
                    share = own.texts / (own.objects + own.texts + own.empties)
                    yield self._leaf((*path, Step(TEXT, False)), inside or many, share)

    def _leaf(self, path: tuple[Step, ...], inside: bool, presence: float) -> Field:
        attribute = self._found.attributes.get(self._keys(path))
        if attribute is None or not attribute.present:
            path = (*path[:-1], Step(path[-1].key, False))
            return self._field(path, inside, presence, obstacle="never has a value")
        return self._field(path, inside, presence, attribute)

    def _field(
        self,
        path: tuple[Step, ...],
        inside: bool,
        presence: float,
        attribute: Attribute | None = None,
        obstacle: str = "",
    ) -> Field:
        keys = self._keys(path)
        stated = self._found.stated.get(keys)
        text = self._notation.text(path)
        names = tuple(_names(keys, self._found.maps))
        return Field(keys, text, inside, presence, attribute, obstacle, names=names, stated=stated)

    @staticmethod
    def _keys(path: tuple[Step, ...]) -> Keys:
        return tuple(step.key for step in path)


def _names(keys: Keys, maps: Collection[Keys]) -> Iterator[str]:
    """The names of a field and of what it is in, from the inside: an element's for its text, a map's for its
    values, none for the keys of a map.
    """
    for depth in range(len(keys), 0, -1):
        key, in_map = keys[depth - 1], keys[: depth - 1] in maps
        if in_map and key == KEY:
            yield ""
        elif key != TEXT and not in_map:
            yield key.removeprefix("@")


def _obstacle(shape: Shape, is_map: bool) -> str:
    """Why a policy cannot publish what stands here; empty where it can."""
    if is_map:
        return "its keys are data, such as ids or dates, and no names of fields"
    if shape.nested:
        return "has arrays directly inside arrays, which cannot be published"
    if shape.arrays and shape.bare:
        return "is an array in some records and a single value or object in others"
    if shape.objects and shape.scalars:
        return "is an object in some records and a single value in others"
    if shape.objects and not shape.children and not shape.texts:
        return "is an object that never has a field"
    return "" if shape.objects or shape.scalars or shape.texts else "never has a value"
