"""Paths of fields: where a policy's rule applies, in three notations that name the same thing.

``$.courses[*].code`` is a subset of RFC 9535 (names, ``[*]`` and filters, see ``filters``) with ``[*]~`` for
the keys of a map,
``/students/student/course/@code`` a subset of XPath for XML, ``courses.code`` the dotted paths of document
stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hierdata.documents.document import COMMENT, INSTRUCTION, TEXT, is_element_key
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.ground.errors import PolicyError
from hierdata.records.filters import (
    BEGIN,
    NAME,
    Conditions,
    match_name,
    parse_filter,
    quote,
    refuse,
    unquote,
    write_filter,
)

_XML = "http://www.w3.org/XML/1998/namespace"
_QUOTED = re.compile(r"""\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]""", re.DOTALL)
_MANY = re.compile(r"\[\s*\*\s*\]")
_XPATH_STEP = re.compile(
    r"/(?:(?P<text>text\(\s*\))|(?P<comment>comment\(\s*\))"
    r"|processing-instruction\(\s*(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")\s*\)"
    r"|(?P<at>@?)(?:Q?\{(?P<uri>[^{}]*)\}|(?:(?P<prefix>[^\W\d][\w.\-]*):(?!:))?)(?P<name>[^\W\d][\w.\-]*))(?=/|$)"
)


OBJECTS = ".*"
"""The end of the path of objects where single values occur too."""
TOO_LONG = f"a path has more than {MAX_DEPTH} steps, but records may be nested only {MAX_DEPTH} deep"


@dataclass(frozen=True)
class Step:
    """One key of a path. ``many``: True for ``[*]``, False for JSONPath without it, None if the notation
    does not say (XPath and dotted). ``inner``: not a key but a second ``[*]``, which goes through a map.

    A step to some of the values at a key has a key of its own, which no document holds: ``name`` is the key
    in documents (see ``mixed``). These are the items that satisfy ``conditions``, or, where there are none,
    the objects at a path that single values have too. A value ``apart`` is a vertex of its own.
    """

    key: str
    many: bool | None
    inner: bool = False
    name: str | None = None
    conditions: Conditions = ()
    apart: bool = False

    @property
    def document_key(self) -> str:
        """The key in documents."""
        return self.key if self.name is None else self.name

    @property
    def is_object(self) -> bool:
        """Whether these are the objects at a path that single values have too."""
        return self.name is not None and not self.conditions


@dataclass(frozen=True)
class Path:
    """A path below a record. ``keys`` is its identity; ``text`` is what the user wrote.

    ``place`` is the path of the records in XML (root and record element, or the root alone if it is the
    record), empty in the other notations. ``named`` says that the path ends in ``~``: it means the keys of a
    map instead of its values (see ``maps``).

    >>> path = parse("$.courses[*].code")
    >>> path.keys, path.prefix(1), str(path)
    (('courses', 'code'), '$.courses[*]', '$.courses[*].code')
    """

    steps: tuple[Step, ...]
    text: str
    place: tuple[str, ...] = ()
    ends: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """Offsets in ``text`` at which the place and then each step ends."""
    named: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys without markers: two paths name the same field if these are equal."""
        return tuple(step.key for step in self.steps)

    @property
    def document_keys(self) -> tuple[str, ...]:
        """The keys in documents; those of several filters are the same."""
        return tuple(step.document_key for step in self.steps)

    def prefix(self, count: int) -> str:
        """Return the text of the first ``count`` steps; for 0, that of the record."""
        end = OBJECTS if count and self.steps[count - 1].is_object else ""
        return self.text[: self.ends[count]] + end

    def below(self, count: int) -> str:
        """Return the text of an undeclared field under the first ``count`` steps, without its name (data)."""
        start = self.text[: self.ends[count]]
        return f"{start}{'/' if self.place else '.'}<key>" if start else "<key>"

    def __str__(self) -> str:
        return self.text


def parse(text: str, namespaces: Mapping[str, str] | None = None, depth: int = 2) -> Path:
    """Parse a path. ``namespaces`` maps XPath prefixes to URIs, ``""`` to that of plain element names.

    ``depth`` is how many steps of an XPath lead to a record: 2 or more, or 1 if each record is the root of a
    file. Raises PolicyError with the position (from 1) of a syntax error.

    >>> parse("/students/student/course/@code").keys
    ('course', '@code')
    >>> parse("$['odd name'].x").keys == parse("odd name.x").keys
    True
    """
    if text.startswith("$"):
        path = _parse_jsonpath(text)
    elif text.startswith("/"):
        path = _parse_xpath(text, namespaces or {}, depth)
    else:
        path = _parse_dotted(text)
    if len(path.steps) > MAX_DEPTH:
        raise PolicyError(TOO_LONG)
    return path


def depth_of(records: str | None, namespaces: Mapping[str, str] | None = None) -> int:
    """Return how many steps of an XPath lead to a record, given the path of the records.

    >>> depth_of("/ClinicalDocument"), depth_of("/students/student"), depth_of("/gpx/trk/trkseg/trkpt")
    (1, 2, 4)
    """
    if records is None or not records.startswith("/"):
        return 2
    return 1 + len(parse(records, namespaces, 1).steps)


def jsonpath(steps: Iterable[Step]) -> str:
    """Return the JSONPath text of steps; a step with ``many`` None is written without ``[*]``.

    >>> jsonpath([Step("courses", True), Step("odd name", None)])
    "$.courses[*]['odd name']"
    """
    parts = ["$"]
    for step in steps:
        if step.inner:
            parts.append("[*]")
            continue
        key = step.document_key
        parts.append(f".{key}" if NAME.fullmatch(key) else f"[{quote(key)}]")
        if step.conditions:
            parts.append(write_filter(step.conditions))
        elif step.many:
            parts.append("[*]")
    return "".join(parts)


def xpath(place: tuple[str, ...], keys: Iterable[str]) -> str:
    """Return the XPath text of keys below the place of the records, names in Clark notation.

    >>> xpath(("students", "student"), ("course", "{urn:x}note", "#text"))
    '/students/student/course/{urn:x}note/text()'
    """
    return "".join(f"/{_xpath_step(key)}" for key in (*place, *keys))


def _xpath_step(key: str) -> str:
    if key.startswith(INSTRUCTION):
        return f"processing-instruction('{key.removeprefix(INSTRUCTION)}')"
    return {TEXT: "text()", COMMENT: "comment()"}.get(key, key)


def _parse_jsonpath(text: str) -> Path:
    steps: list[Step] = []
    ends = [1]
    position = 1
    while position < len(text):
        if text[position] == ".":
            name = match_name(text, position + 1)
            key = name[0]
        else:
            quoted = _QUOTED.match(text, position)
            if quoted is None:
                refuse(
                    text,
                    position,
                    "only .name, ['name'], [*] or a filter after a name, and [*]~ at the end are supported",
                )
            name, key = quoted, unquote(text, position, quoted)
        position = name.end()
        if BEGIN.match(text, position):
            step, position = _filtered_step(text, position, key)
            steps.append(step)
            ends.append(position)
            continue
        many = _MANY.match(text, position)
        position = position if many is None else many.end()
        steps.append(Step(key, many is not None))
        ends.append(position)
        while many is not None and (many := _MANY.match(text, position)) is not None:
            position = many.end()
            steps.append(Step("value", True, inner=True))
            ends.append(position)
        if steps[-1].many and text[position:] == "~":
            return Path(tuple(steps), text, ends=tuple(ends), named=True)
    return Path(tuple(steps), text, ends=tuple(ends))


def _filtered_step(text: str, position: int, key: str) -> tuple[Step, int]:
    """Return the step to the items of the list at a key that a filter selects, and where the filter ends."""
    conditions, end = parse_filter(text, position)
    return Step(key + write_filter(conditions), True, name=key, conditions=conditions), end


def _parse_xpath(text: str, namespaces: Mapping[str, str], depth: int) -> Path:
    keys: list[str] = []
    ends: list[int] = []
    position = 0
    while position < len(text):
        if keys and not is_element_key(keys[-1]):
            refuse(text, position, "attributes, text() and the like have nothing below them")
        match = _XPATH_STEP.match(text, position)
        if match is None:
            refuse(
                text,
                position,
                "only /name, /prefix:name, /@name, /text(), /comment() and /processing-instruction('name') "
                "are supported",
            )
        key = _xpath_key(text, match, namespaces)
        if len(keys) < depth and not is_element_key(key):
            refuse(text, position, _place_due(depth))
        position = match.end()
        keys.append(key)
        ends.append(position)
    if len(keys) < depth:
        refuse(text, len(text), _place_due(depth))
    steps = tuple(Step(key, None) for key in keys[depth:])
    return Path(steps, text, place=tuple(keys[:depth]), ends=tuple(ends[depth - 1 :]))


def _place_due(depth: int) -> str:
    """Return what the first steps of an XPath must be."""
    if depth < 3:
        return (
            "the first step must be the record's element, the root of its file"
            if depth == 1
            else "the first two steps must be the root element and the record's element"
        )
    return f"the first {depth} steps must be the path of the records"


def _xpath_key(text: str, match: re.Match[str], namespaces: Mapping[str, str]) -> str:
    if match["text"]:
        return TEXT
    if match["comment"]:
        return COMMENT
    target = match["one"] or match["two"]
    if target is not None:
        return INSTRUCTION + target
    prefix, uri = match["prefix"], match["uri"]
    if prefix is not None:
        uri = _XML if prefix == "xml" else namespaces.get(prefix)
        if uri is None:
            refuse(text, match.start("prefix"), f"the prefix {prefix!r} is not among the namespaces")
    elif uri is None and not match["at"]:
        uri = namespaces.get("")
    name = f"{{{uri}}}{match['name']}" if uri else match["name"]
    return match["at"] + name


def _parse_dotted(text: str) -> Path:
    odd = re.search(r"[\[\]/]", text)
    if odd is not None:
        refuse(
            text,
            odd.start(),
            "a path with [ ], such as a filter, must begin with $, one with / must begin with /",
        )
    ends = [0]
    steps: list[Step] = []
    for key in text.split("."):
        start = ends[-1] + 1 if steps else 0
        if not key:
            refuse(text, start, "expected a name; write a name with a dot as $['a.b']")
        steps.append(Step(key, None))
        ends.append(start + len(key))
    return Path(tuple(steps), text, ends=tuple(ends))
