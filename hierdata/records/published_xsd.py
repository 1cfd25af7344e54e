"""The XSD of a release: the content of its files, with types widened for generalized values.

It is built only from the published files, the policy and the policy's XSD, so it reveals nothing more, and a
verifier can rebuild it. Everything is optional, since everything may be missing or suppressed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hierdata.documents.document import TEXT, Document, Value, is_element_key

if TYPE_CHECKING:
    from lxml.etree import XMLSchema, _Element


Keys = tuple[str, ...]


@dataclass
class Outline:
    """The content of one path: attributes and elements ``below`` it, and whether it occurs ``many`` times.

    ``follows`` has the pairs of elements that come directly after each other. ``values`` has the texts if
    they are requested, "" for no text. ``bare`` says that some elements have no attributes and no elements,
    ``occurs`` that there is any.
    """

    below: dict[str, Outline] = field(default_factory=dict)
    follows: set[tuple[str, str]] = field(default_factory=set)
    values: set[str] | None = None
    many: bool = False
    bare: bool = False
    occurs: bool = False

    @property
    def attributes(self) -> list[str]:
        """The keys of attributes, by name."""
        return sorted(key for key in self._occurring if key.startswith("@"))

    @property
    def elements(self) -> list[str]:
        """The keys of elements, in an order that all elements follow; by name if there is none."""
        remaining = sorted(key for key in self._occurring if is_element_key(key))
        before = {key: {first for first, second in self.follows if second == key} for key in remaining}
        order: list[str] = []
        while remaining:
            ready = next((key for key in remaining if before[key] <= set(order)), None)
            if ready is None:
                return sorted([*order, *remaining])
            order.append(ready)
            remaining.remove(ready)
        return order

    @property
    def is_ordered(self) -> bool:
        """Whether all elements follow one order."""
        places = {key: position for position, key in enumerate(self.elements)}
        return all(places[first] < places[second] for first, second in self.follows)

    @property
    def _occurring(self) -> list[str]:
        return [key for key, below in self.below.items() if below.occurs]

    @property
    def has_text(self) -> bool:
        """Whether text occurs together with attributes or elements."""
        return TEXT in self._occurring

    def add(self, value: Value) -> None:
        """Add one more element or attribute."""
        self.occurs = True
        if not isinstance(value, dict):
            self.bare = True
            self._text(value)
            return
        before: str | None = None
        for key, item in value.items():
            below = self.below.setdefault(key, Outline())
            items = item if isinstance(item, list) else [item]
            below.many |= len(items) > 1
            for child in items:
                below.add(child)
            if is_element_key(key):
                if before is not None:
                    self.follows.add((before, key))
                before = key
        self._text(value.get(TEXT, ""))

    def _text(self, value: Value) -> None:
        if self.values is not None:
            self.values.add(str(value))


def outline_records(documents: Iterable[Document], asked: Iterable[Keys] = ()) -> Outline:
    """Build the outline of records, with all texts of the fields in ``asked``.

    >>> found = outline_records([{"a": ["x"], "c": [""]}, {"@k": "1", "b": [""], "c": ["", ""]}])
    >>> found.attributes, found.elements, found.below["c"].many
    (['@k'], ['a', 'b', 'c'], True)
    """
    outline = Outline()
    for keys in asked:
        inner = outline
        for key in keys[:-1] if keys[-1] == TEXT else keys:
            inner = inner.below.setdefault(key, Outline())
        inner.values = set()
    for document in documents:
        outline.add(document)
    return outline


_XS = "http://www.w3.org/2001/XMLSchema"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
ROOT = "records"
"""The root of the other files if each record is a file of its own."""
_GENERALIZED = r"\*|[\[(].+, .+[\])]|\{.*\}|.*[^*]\*+|-?[0-9]{4,}(-[0-9]{2})?"
"""The spellings of generalized values: the root, ranges, sets, prefixes and periods."""


@dataclass
class Types:
    """The simple types of an XSD: ``components`` are the named ones, ``of`` gives the type of each field.

    A type is an element ``xs:simpleType`` or a name. ``generalized`` are the fields with values that may have
    been generalized.
    """

    components: Sequence[_Element] = ()
    nsmap: Mapping[str | None, str] = field(default_factory=dict)
    of: Mapping[Keys, _Element | str] = field(default_factory=dict)
    generalized: frozenset[Keys] = frozenset()


class _Writer:
    """Builds the elements of one XSD."""

    def __init__(self, target: str, types: Types) -> None:
        from lxml import etree

        self._etree = etree
        self._target = target
        self._types = types
        self._typed = False
        taken = {prefix: uri for prefix, uri in types.nsmap.items() if prefix != "xs"}
        self.root = self._element("schema", nsmap={**taken, "xs": _XS})
        if target:
            self.root.set("targetNamespace", target)

    def _element(self, name: str, attributes: dict[str, str] | None = None, nsmap: Any = None) -> _Element:
        return self._etree.Element(f"{{{_XS}}}{name}", attributes or {}, nsmap or {"xs": _XS})

    def _inside(self, parent: _Element, kind: str, /, **attributes: str) -> _Element:
        child = self._element(kind, attributes)
        parent.append(child)
        return child

    def file(self, place: Sequence[str], outlines: Mapping[str, Outline]) -> None:
        """Describe a root with records, each named, or a root that is the record itself (no place)."""
        if not place:
            ((name, outline),) = outlines.items()
            self._describe(self.root, name, outline, (), top=True)
            return
        root = self._inside(self.root, "element", name=_local(place[0]))
        content = self._inside(
            self._inside(root, "complexType"), "choice", minOccurs="0", maxOccurs="unbounded"
        )
        if any(map(_says_what_it_is, outlines.values())):
            self._inside(content, "any", processContents="skip")
            return
        for name, outline in outlines.items():
            if _uri(name) in ("", self._target):
                self._describe(content, name, outline, ())
            else:
                self._inside(content, "any", namespace=_uri(name), processContents="skip")

    def _describe(
        self, parent: _Element, key: str, outline: Outline, keys: Keys, *, top: bool = False
    ) -> None:
        """Add the declaration of an element."""
        element = self._inside(parent, "element", name=_local(key))
        if not top:
            if _uri(key) and _uri(key) == self._target:
                element.set("form", "qualified")
            element.set("minOccurs", "0")
            if outline.many:
                element.set("maxOccurs", "unbounded")
        elements, attributes = outline.elements, outline.attributes
        if not elements and not attributes:
            self._simple(element, "type", outline, keys)
            return
        kind = self._inside(element, "complexType")
        holder = kind
        text = outline.has_text or outline.bare
        if elements:
            if text:
                kind.set("mixed", "true")
            inner = [(name, outline.below[name]) for name in elements]
            self._content(kind, inner, keys, ordered=outline.is_ordered)
        elif text:
            content = self._inside(kind, "simpleContent")
            holder = self._inside(content, "extension")
            self._simple(holder, "base", outline, keys)
        self._attributes(holder, outline, keys)

    def _content(
        self, kind: _Element, inner: Sequence[tuple[str, Outline]], keys: Keys, *, ordered: bool
    ) -> None:
        """Add the declarations of the elements in an element.

        An element with xsi:type could only be validated by the original XSD, so it and its siblings are
        accepted without declaration. The same holds for elements of other namespaces.
        """
        if any(_says_what_it_is(outline) for _, outline in inner):
            content = self._inside(kind, "sequence")
            self._inside(content, "any", minOccurs="0", maxOccurs="unbounded", processContents="skip")
            return
        foreign = sorted({_uri(name) for name, _ in inner} - {"", self._target})
        if ordered and not foreign:
            content = self._inside(kind, "sequence")
        else:
            content = self._inside(kind, "choice", minOccurs="0", maxOccurs="unbounded")
        for name, outline in inner:
            if _uri(name) not in foreign:
                self._describe(content, name, outline, (*keys, name))
        if foreign:
            self._inside(content, "any", namespace=" ".join(foreign), processContents="skip")

    def _attributes(self, holder: _Element, outline: Outline, keys: Keys) -> None:
        foreign = sorted({_uri(name[1:]) for name in outline.attributes} - {"", self._target, _XSI})
        for name in outline.attributes:
            uri = _uri(name[1:])
            if uri not in ("", self._target):
                continue
            attribute = self._inside(holder, "attribute", name=_local(name[1:]))
            if uri:
                attribute.set("form", "qualified")
            self._simple(attribute, "type", outline.below[name], (*keys, name))
        if foreign:
            self._inside(holder, "anyAttribute", namespace=" ".join(foreign), processContents="skip")

    def _simple(self, holder: _Element, named: str, outline: Outline, keys: Keys) -> None:
        """Set the narrowest type that fits: the XSD's, that with generalized values, or any text."""
        due = self._types.of.get(keys)
        if due is not None and named == "type" and outline.values is not None:
            for candidate in self._candidates(due, keys in self._types.generalized):
                trial = copy.deepcopy(holder)
                self._set(trial, candidate)
                if self._holds(trial, outline.values):
                    self._set(holder, candidate)
                    self._typed = True
                    return
        holder.set(named, "xs:string")

    def _candidates(self, due: _Element | str, generalized: bool) -> list[_Element | str]:
        if not generalized:
            return [due]
        kind = self._element("simpleType")
        union = self._inside(kind, "union")
        if isinstance(due, str):
            union.set("memberTypes", due)
        else:
            union.append(copy.deepcopy(due))
        restriction = self._inside(self._inside(union, "simpleType"), "restriction", base="xs:string")
        self._inside(restriction, "pattern", value=_GENERALIZED)
        return [due, kind]

    def _set(self, holder: _Element, kind: _Element | str) -> None:
        if isinstance(kind, str):
            holder.set("type", kind)
        else:
            holder.append(copy.deepcopy(kind))

    def _holds(self, declaration: _Element, values: Iterable[str]) -> bool:
        """Return whether all values have a declaration's type."""
        trial = self._element("schema", nsmap=dict(self.root.nsmap))
        if self._target:
            trial.set("targetNamespace", self._target)
        trial.extend(copy.deepcopy(self._types.components))
        element = self._inside(trial, "element", name="v")
        if declaration.get("type") is not None:
            element.set("type", declaration.get("type", ""))
        element.extend(copy.deepcopy(list(declaration)))
        try:
            schema: XMLSchema = self._etree.XMLSchema(trial)
        except self._etree.XMLSchemaParseError:
            return False
        probe = self._etree.Element(f"{{{self._target}}}v" if self._target else "v")
        for value in values:
            probe.text = value
            if not schema.validate(probe):
                return False
        return True

    def bytes(self) -> bytes:
        """Return the content of the file."""
        if self._typed:
            self.root[0:0] = copy.deepcopy(self._types.components)
        self._etree.indent(self.root)
        data: bytes = self._etree.tostring(self.root, xml_declaration=True, encoding="UTF-8")
        return data + b"\n"


def release_xsd(
    place: Sequence[str], outlines: Mapping[str, Outline], beside: Mapping[str, Outline], types: Types
) -> bytes:
    """Build an XSD that all files of a release satisfy.

    ``place`` is (root, record) or, if each record is a file of its own, its element alone; ``outlines`` are
    those of its last name. ``beside`` has the content of the other files, below the same root or ``records``.
    """
    writer = _Writer(_uri(place[0]), types)
    if len(place) == 2:
        writer.file(place[:-1], {**outlines, **beside})
    else:
        writer.file((), outlines)
        if beside:
            writer.file((f"{{{_uri(place[0])}}}{ROOT}" if _uri(place[0]) else ROOT,), beside)
    return writer.bytes()


def _says_what_it_is(outline: Outline) -> bool:
    """Return whether elements have attributes such as xsi:type, which change how they are validated."""
    return any(_uri(name[1:]) == _XSI for name in outline.attributes)


def _uri(name: str) -> str:
    return name[1:].partition("}")[0] if name.startswith("{") else ""


def _local(name: str) -> str:
    return name.rpartition("}")[2]
