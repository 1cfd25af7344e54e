"""The fields of a profiled collection by their paths in a policy, and why some cannot be published."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hierdata.documents.document import TEXT
from hierdata.drafting.profile import FieldProfile, Profile
from hierdata.drafting.structure import Stated
from hierdata.policy.checks.records import count_vertices
from hierdata.records.maps import KEY, write_path
from hierdata.records.path import OBJECTS, Step, xpath
from hierdata.records.recognition.field_names import Hint, hint_of
from hierdata.records.recognition.persons import Meaning, are_of_person, meaning_of
from hierdata.records.survey import Keys, PathSurvey

ABSENT = "the validator allows it, and no record has it"
"""Why a field that occurs only in the server's schema is left out."""

_XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(frozen=True)
class Notation:
    """How paths are written: JSONPath, or with a ``place`` (root and record element) XPath.

    ``namespaces`` maps prefixes to URIs, ``textual`` means that the format has no numbers, ``maps`` are the
    objects that are read as arrays of their entries.
    """

    place: Keys = ()
    namespaces: Mapping[str, str] = field(default_factory=dict)
    textual: bool = False
    maps: tuple[Keys, ...] = ()

    def text(self, steps: tuple[Step, ...]) -> str:
        """Return the path of a field."""
        if not self.place:
            return write_path(steps, self.maps)
        keys = (*self.place, *(step.key for step in steps))
        return xpath((), [self._prefixed_name(key) for key in keys])

    def used_in(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the namespaces that these paths use, and that of names without a prefix."""
        steps = {step.removeprefix("@") for path in paths for step in path.split("/")}
        prefixes = {"", *(prefix for step in steps for prefix, colon, _ in [step.partition(":")] if colon)}
        return {prefix: uri for prefix, uri in self.namespaces.items() if prefix in prefixes}

    def _prefixed_name(self, key: str) -> str:
        """Return an XML name with its prefix, or in Clark notation if its namespace has none."""
        sign, name = ("@", key[1:]) if key.startswith("@") else ("", key)
        uri, brace, local = name.rpartition("}")
        if not brace:
            return key if sign or key == TEXT or "" not in self.namespaces else f"{{}}{key}"
        prefixes = {known: prefix for prefix, known in self.namespaces.items()} | {_XML: "xml"}
        prefix = prefixes.get(uri[1:])
        if prefix is None or (sign and not prefix):
            return key
        return f"{sign}{prefix}:{local}" if prefix else local


@dataclass(frozen=True)
class Field:
    """A path with values, or one that no policy can publish, for the reason in ``obstacle``.

    ``presence`` is the share of the enclosing objects that have it. ``inside`` means that a record may have
    several, ``is_map`` that this is a map, whose keys and values are fields of their own.
    """

    keys: Keys
    path: str
    inside: bool
    presence: float
    attribute: FieldProfile | None = None
    obstacle: str = ""
    is_map: bool = False
    names: tuple[str, ...] = ()
    """The names that may hint at its meaning: its own (empty for the keys of maps), then its ancestors'."""
    stated: Stated | None = None
    """The server's own schema of it."""
    is_of_person: bool = False
    """Whether the object that has it has what only persons have, such as an age."""

    @property
    def meaning(self) -> Meaning | None:
        """What it is of a person, by its name and those around it."""
        return meaning_of(self.names) if self.names and self.names[0] else None

    @property
    def hint(self) -> tuple[Hint, str] | None:
        """The hint of its own name."""
        return hint_of(self.names[0]) if self.names else None

    @property
    def outer_hint(self) -> tuple[Hint, str] | None:
        """The hint of its nearest ancestor's name with one, if its own name has none."""
        hints = (hint_of(name) for name in self.names[1:])
        return None if self.hint is not None else next((hint for hint in hints if hint is not None), None)


def fields(profile: Profile, notation: Notation) -> Iterator[Field]:
    """Yield every field that a policy must name, in the order of the survey."""
    notation = replace(notation, maps=profile.maps)
    yield from _Fields(profile, notation).below(profile.shape, (), False)
    for keys, stated in profile.stated.items():
        if profile.shape.find(keys) is None and (len(keys) == 1 or profile.shape.find(keys[:-1]) is not None):
            steps = (*_steps_to(profile.shape, keys[:-1]), Step(keys[-1], False))
            yield Field(keys, notation.text(steps), False, 0, obstacle=ABSENT, stated=stated)


def listed_paths(profile: Profile, notation: Notation) -> Iterator[str]:
    """Yield the paths of fields that are arrays in some records and single values or objects in others."""
    notation = replace(notation, maps=profile.maps)
    for _, shape, path in _walk(profile, profile.shape, (), ()):
        if shape.arrays and shape.bare and not shape.nested and _keys_of(path) not in profile.skipped:
            yield notation.text((*path[:-1], Step(path[-1].key, False)))


def _walk(
    profile: Profile, above: PathSurvey, steps: tuple[Step, ...], left_out: Collection[Keys]
) -> Iterator[tuple[PathSurvey, PathSurvey, tuple[Step, ...]]]:
    """Yield every path below one: the shape above it, its own, and the steps to it."""
    for key, shape in above.children.items():
        path = (*steps, profile.step(steps, key, _is_many(shape)))
        if _keys_of(path) not in left_out:
            yield above, shape, path
            yield from _walk(profile, shape, path, left_out)


def _is_many(shape: PathSurvey) -> bool:
    """Return whether several values may be at one place."""
    return shape.arrays > 0 or shape.longest > 1


@dataclass(frozen=True)
class Below:
    """A vertex type below the record: its path, and the average number in each parent."""

    path: str
    each: float


def vertex_types(profile: Profile, notation: Notation) -> Iterator[Below]:
    """Yield arrays, elements that repeat, and maps, in the order of the survey."""
    notation = replace(notation, maps=profile.maps)
    for above, shape, path in _walk(profile, profile.shape, (), profile.structure):
        if (path[-1].many or path[-1].apart) and not shape.nested:
            text = notation.text(path) + (OBJECTS if path[-1].is_object else "")
            yield Below(text, count_vertices(shape) / max(1, above.objects))


def _steps_to(shape: PathSurvey, keys: Keys) -> Iterator[Step]:
    """Yield the steps to a path that records have."""
    for depth, key in enumerate(keys, 1):
        below = shape.find(keys[:depth])
        yield Step(key, below is not None and _is_many(below))


class _Fields:
    def __init__(self, profile: Profile, notation: Notation) -> None:
        self._profile = profile
        self._notation = notation

    def below(self, shape: PathSurvey, steps: tuple[Step, ...], inside: bool) -> Iterator[Field]:
        is_of_person = are_of_person(shape.children)
        for below in self._below(shape, steps, inside):
            yield replace(below, is_of_person=is_of_person) if len(below.keys) == len(steps) + 1 else below

    def _below(self, shape: PathSurvey, steps: tuple[Step, ...], inside: bool) -> Iterator[Field]:
        for key, child in shape.children.items():
            many = _is_many(child)
            presence = (child.occurrences - child.nulls) / max(1, shape.objects)
            path = (*steps, self._profile.step(steps, key, many))
            keys = _keys_of(path)
            if keys in self._profile.structure:
                continue
            obstacle = _obstacle(child, keys in self._profile.skipped)
            if keys in self._profile.maps:
                # The path of the map itself is written as that of an object, which it is in the data.
                text = self._notation.text((*steps, Step(key, False)))
                yield Field(keys, text, inside, presence, is_map=True)
                yield from self.below(child, path, True)
            elif obstacle:
                last = path[-1] if path[-1].conditions else replace(path[-1], many=False)
                yield self._field((*steps, last), inside, presence, obstacle=obstacle)
            elif not child.objects:
                yield self._leaf(path, inside or many, presence)
            else:
                yield from self.below(child, path, inside or many)
                if child.texts and TEXT not in child.children:
                    share = child.texts / (child.objects + child.texts + child.empties)
                    yield self._leaf((*path, Step(TEXT, False)), inside or many, share)

    def _leaf(self, path: tuple[Step, ...], inside: bool, presence: float) -> Field:
        attribute = self._profile.attributes.get(_keys_of(path))
        if attribute is None or not attribute.present:
            path = (*path[:-1], replace(path[-1], many=False))
            return self._field(path, inside, presence, obstacle="never has a value")
        return self._field(path, inside, presence, attribute)

    def _field(
        self,
        path: tuple[Step, ...],
        inside: bool,
        presence: float,
        attribute: FieldProfile | None = None,
        obstacle: str = "",
    ) -> Field:
        keys = _keys_of(path)
        stated = self._profile.stated.get(keys)
        text = self._notation.text(path)
        names = tuple(_names(path, self._profile.maps))
        return Field(keys, text, inside, presence, attribute, obstacle, names=names, stated=stated)


def _keys_of(path: tuple[Step, ...]) -> Keys:
    return tuple(step.key for step in path)


def _names(path: tuple[Step, ...], maps: Collection[Keys]) -> Iterator[str]:
    """Yield the names of a field and its ancestors, innermost first.

    The text of an element has the element's name, the values of a map have the map's, its keys have none.
    """
    keys = _keys_of(path)
    for depth in range(len(keys), 0, -1):
        key, in_map = path[depth - 1].document_key, keys[: depth - 1] in maps
        if in_map and key == KEY:
            yield ""
        elif key != TEXT and not in_map:
            yield key.removeprefix("@")


def _obstacle(shape: PathSurvey, is_map: bool) -> str:
    """Return the reason why a policy cannot publish this path; empty if it can."""
    if is_map:
        return "its keys are data, such as ids or dates, not names of fields"
    if shape.nested:
        return "has arrays directly inside arrays, which cannot be published"
    if shape.objects and shape.scalars:
        return "is an object in some records and a single value in others"
    if shape.objects and not shape.children and not shape.texts:
        return "is an object that never has a field"
    return "" if shape.objects or shape.scalars or shape.texts else "never has a value"
