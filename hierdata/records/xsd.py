"""What an XML Schema says about records: which elements may repeat, their order, and simple types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hierdata.documents.limits import SCHEMA, TooMuch, bytes_within
from hierdata.ground.errors import PolicyError, file_error
from hierdata.records.published_xsd import Types

if TYPE_CHECKING:
    from lxml.etree import _Element

Keys = tuple[str, ...]
_ELSEWHERE = frozenset({"ID", "IDREF", "IDREFS", "ENTITY", "ENTITIES", "NOTATION", "QName"})
"""Types with a meaning beyond their own text."""
Node: TypeAlias = "_Element"
"""A component of an XSD."""
Order: TypeAlias = "dict[str, Order]"
"""Names of elements in order, each with the order of its content."""

_MOST_VISITS = 300_000
"""Limit on places visited: forty types, each with two elements of the next type, lead to about 10^12."""
_XS = "{http://www.w3.org/2001/XMLSchema}"
_GROUPS = frozenset(f"{_XS}{name}" for name in ("sequence", "choice", "all", "group"))
_WRAPPERS = frozenset(
    f"{_XS}{name}" for name in ("complexType", "complexContent", "restriction", "extension")
)


def many_hints(file: Path, place: tuple[str, ...]) -> frozenset[Keys]:
    """Return the paths below a record of elements that may repeat, by ``maxOccurs`` on or around them.

    ``place`` names the root element and the record's, as ``path.Path.place`` does. Elements inside themselves
    are followed once. Raises TargetError if the file cannot be read, PolicyError if it is not an XSD in one
    file that declares the place.
    """
    with open_xsd(file) as schema:
        return frozenset(schema.repeated_paths(schema.record(place), (), ()))


def arrange_elements(file: Path, place: tuple[str, ...], order: Order) -> Order:
    """Arrange an order of elements by an XSD, undeclared ones last by name. Raises like ``many_hints``."""
    with open_xsd(file) as schema:
        return schema.arrange_children(schema.record(place), order)


def types(file: Path, place: tuple[str, ...], fields: Iterable[Keys]) -> Types:
    """Return the simple types of an XSD for these fields, and its named ones. Raises like ``many_hints``."""
    with open_xsd(file) as schema:
        record = schema.record(place)
        simple_types = {keys: kind for keys in fields if (kind := schema.simple(record, keys)) is not None}
        same = schema.target == place[0][1:].partition("}")[0] * place[0].startswith("{")
        return Types(schema.components, schema.nsmap, simple_types) if same else Types()


@contextmanager
def open_xsd(file: Path) -> Iterator[Xsd]:
    """Open an XSD for queries. Raises PolicyError on errors, some only during the queries."""
    try:
        yield Xsd(_load(file), file.name)
    except RecursionError:
        raise PolicyError(f"the XSD {file.name} has types or groups that contain themselves") from None


def _load(file: Path) -> _Element:
    from lxml import etree

    try:
        data = bytes_within(file, SCHEMA)
    except OSError as error:
        raise file_error(error, f"the XSD {file.name} cannot be read: {error.strerror}") from None
    except TooMuch as why:
        raise PolicyError(f"the XSD {file.name}: {why}") from None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise PolicyError(f"the XSD {file.name} is not well-formed XML (line {error.lineno})") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise PolicyError(f"the XSD {file.name} has a DOCTYPE, which is refused")
    if root.tag != f"{_XS}schema":
        raise PolicyError(f"{file.name} is not an XML Schema")
    return root


class Xsd:
    """The global components of an XSD, by kind and name in Clark notation."""

    def __init__(self, root: _Element, file: str) -> None:
        self.root = root
        self._file = file
        self._visits = 0
        self.target = root.get("targetNamespace", "")
        """The target namespace."""
        self._qualified = root.get("elementFormDefault") == "qualified"
        self.nsmap: dict[str | None, str] = dict(root.nsmap)
        """The prefixes used in references."""
        self._named = {
            (child.tag, self._clark(self.target, name)): child
            for child in root
            if (name := child.get("name")) is not None
        }

    @property
    def components(self) -> list[_Element]:
        """The named simple types."""
        return [node for (kind, _), node in self._named.items() if kind == f"{_XS}simpleType"]

    def simple(self, element: _Element, keys: Keys) -> _Element | str | None:
        """Return the simple type at these keys below an element: its name, or the type itself.

        None if it is not declared, or its type has a meaning beyond its own text.
        """
        for key in keys:
            if key.startswith("@"):
                declaration = next((node for name, node in self.attributes(element) if name == key[1:]), None)
            else:
                declaration = next((node for name, node, _ in self.children(element) if name == key), None)
            if declaration is None:
                return None
            element = declaration
        inline = element.find(f"{_XS}simpleType")
        name = element.get("type")
        if name is None or inline is not None:
            return inline
        if name.rpartition(":")[2] in _ELSEWHERE or self.find_global(
            "complexType", self._clark_of(element, name)
        ):
            return None
        return name

    def attributes(self, element: _Element) -> Iterator[tuple[str, _Element]]:
        """Yield the attributes that an element may have: name and declaration."""
        kind = self._type(element)
        if kind is not None:
            yield from self._attributes(kind, (kind,))

    def _attributes(self, node: _Element, within: tuple[_Element, ...]) -> Iterator[tuple[str, _Element]]:
        for child in node:
            if child.tag == f"{_XS}attribute" and (name := child.get("name")) is not None:
                yield self._clark(self.target if child.get("form") == "qualified" else "", name), child
            elif child.tag == f"{_XS}attributeGroup" and (name := child.get("ref")) is not None:
                group = self.find_global("attributeGroup", self._clark_of(child, name))
                if group is not None and group not in within:
                    yield from self._attributes(group, (*within, group))
            elif child.tag in _WRAPPERS or child.tag == f"{_XS}simpleContent":
                base = self.find_global("complexType", self._clark_of(child, child.get("base", "")))
                if base is not None and base not in within:
                    yield from self._attributes(base, (*within, base))
                yield from self._attributes(child, within)

    def text(self, element: _Element) -> _Element | None:
        """Return the declaration of an element's own text, if the element may have attributes too."""
        kind = self._type(element)
        return None if kind is None else kind.find(f"{_XS}simpleContent/{_XS}extension")

    def notes(self, node: _Element, namespace: str) -> tuple[dict[str, str], list[str]]:
        """Return a component's annotations: attributes of a namespace, and the texts of its appinfo."""
        names = [(str(name), str(value)) for name, value in node.items()]
        noted = {
            name.rpartition("}")[2]: value for name, value in names if name.startswith(f"{{{namespace}}}")
        }
        infos = node.findall(f"{_XS}annotation/{_XS}appinfo")
        return noted, [info.text or "" for info in infos if info.get("source") == namespace]

    def find_global(self, kind: str, name: str) -> _Element | None:
        """Return a global component, or None."""
        return self._named.get((f"{_XS}{kind}", name))

    def record(self, place: tuple[str, ...]) -> _Element:
        """Return the declaration of the records' element: below the root, or the root itself."""
        root = self.find_global("element", place[0])
        if root is None:
            raise PolicyError(f"the XSD {self._file} declares no element for the root of the records' path")
        for step in place[1:]:
            below = next((element for name, element, _ in self.children(root) if name == step), None)
            if below is None:
                raise PolicyError(
                    f"the XSD {self._file} declares no record element under the root of the records' path"
                )
            root = below
        return root

    def arrange_children(self, element: _Element, order: Order) -> Order:
        """Arrange the content of an element as declared; undeclared elements come last."""
        declared = {name: child for name, child, _ in self.children(element) if name in order}
        known = {name: self.arrange_children(child, order[name]) for name, child in declared.items()}
        return known | {name: order[name] for name in sorted(order.keys() - known.keys())}

    def repeated_paths(
        self, element: _Element, keys: Keys, open_types: tuple[_Element, ...]
    ) -> Iterator[Keys]:
        """Yield the paths of elements below this one that may repeat."""
        kind = self._type(element)
        if kind is None or kind in open_types:
            return
        particles = list(self._particles(kind, False))
        names = Counter(name for name, _, _ in particles)
        for name, child, many in particles:
            if many or names[name] > 1:
                yield (*keys, name)
            yield from self.repeated_paths(child, (*keys, name), (*open_types, kind))

    def children(self, element: _Element) -> Iterator[tuple[str, _Element, bool]]:
        """Yield the elements that this one may contain: name, declaration, whether it may repeat."""
        kind = self._type(element)
        if kind is not None:
            yield from self._particles(kind, False)

    def _type(self, element: _Element) -> _Element | None:
        """Return the complex type of an element, None if its content is simple."""
        name = element.get("type")
        if name is None:
            return element.find(f"{_XS}complexType")
        return self._resolve_reference("complexType", element, name)

    def _resolve_reference(self, kind: str, where: _Element, name: str) -> _Element | None:
        """Return the component that a reference names; None for simple types."""
        clark = self._clark_of(where, name)
        component = self.find_global(kind, clark)
        is_simple = clark.startswith(_XS) or (
            kind == "complexType" and self.find_global("simpleType", clark) is not None
        )
        if component is None and not is_simple:
            raise PolicyError(
                f"the XSD {self._file} refers to {name}, which it does not declare: use one file"
            )
        return component

    def _particles(self, node: _Element, many: bool) -> Iterator[tuple[str, _Element, bool]]:
        """Yield element declarations in a type or group; ``many``: something around them may repeat."""
        for child in node:
            self._visits += 1
            if self._visits > _MOST_VISITS:
                raise PolicyError(
                    f"the types of the XSD {self._file} lead to more than {_MOST_VISITS} places"
                )
            if child.tag == f"{_XS}element":
                name, declaration = self._element(child)
                yield name, declaration, many or _repeats(child)
            elif child.tag in _GROUPS:
                reference = child.get("ref")
                group = child if reference is None else self._resolve_reference("group", child, reference)
                if group is not None:
                    yield from self._particles(group, many or _repeats(child))
            elif child.tag in _WRAPPERS:
                if child.tag == f"{_XS}extension" and (base := child.get("base")) is not None:
                    inherited = self._resolve_reference("complexType", child, base)
                    if inherited is not None:
                        yield from self._particles(inherited, many)
                yield from self._particles(child, many)

    def _element(self, node: _Element) -> tuple[str, _Element]:
        """Return name and declaration of a local element or a reference to a global one."""
        reference = node.get("ref")
        if reference is None:
            form = node.get("form")
            qualified = self._qualified if form is None else form == "qualified"
            return self._clark(self.target if qualified else "", node.get("name", "")), node
        declaration = self._resolve_reference("element", node, reference)
        if declaration is None:
            raise PolicyError(f"the XSD {self._file} refers to an element of XML Schema itself")
        return self._clark(self.target, declaration.get("name", "")), declaration

    def _clark_of(self, where: _Element, name: str) -> str:
        """Return a name in a reference in Clark notation."""
        prefix, _, local = name.rpartition(":")
        return self._clark(where.nsmap.get(prefix or None, ""), local)

    @staticmethod
    def _clark(uri: str | None, local: str) -> str:
        return f"{{{uri}}}{local}" if uri else local


def _repeats(node: _Element) -> bool:
    """Return whether ``maxOccurs`` is above one."""
    most = node.get("maxOccurs", "1").strip()
    return most == "unbounded" or (most.isdecimal() and int(most) > 1)
