"""A policy embedded in an XSD: attributes of our namespace, or appinfo, at each element and attribute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from hierdata.documents.document import TEXT
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.ground.errors import PolicyError
from hierdata.policy.load.yaml import fragment
from hierdata.policy.problems import Location, Position
from hierdata.records.path import TOO_LONG, parse, xpath
from hierdata.records.survey import Keys
from hierdata.records.xsd import Node, Xsd, open_xsd

NAMESPACE = "urn:hierdata:policy:1"

_MOST = 10_000
"""Limit on the paths that an XSD leads to, since nested types can multiply them."""


def policy_in(file: Path) -> tuple[dict[str, Any], dict[Location, Position]]:
    """Return the policy that an XSD's annotations state, as plain data, and the line of each rule.

    Its ``schema`` is the XSD itself.

    An attribute of our namespace is a key of the rule, and its text is YAML: ``p:role="quasi"
    p:interval="{steps: [1, 5]}"``. At ``xs:schema`` such attributes are keys of the policy, including
    ``records``. The same places may have an ``xs:appinfo`` with our namespace as its ``source`` that holds a
    mapping in YAML. Raises PolicyError with every annotation that no path leads to, TargetError if the file
    cannot be read.
    """
    with open_xsd(file) as xsd:
        stated = _read_annotation(xsd, xsd.root, "xs:schema") or {}
        namespaces = {prefix or "": uri for prefix, uri in xsd.nsmap.items()}
        stated.setdefault("namespaces", {prefix: uri for prefix, uri in namespaces.items() if uri != _XS})
        records = stated.get("records")
        if not isinstance(records, str) or not records.startswith("/"):
            raise PolicyError(
                f"the XSD {file.name}: state the path of the records at xs:schema, such as "
                f"records='/clinic/patient' in the namespace {NAMESPACE}"
            )
        path = parse(records, stated["namespaces"], 1)
        place = (*path.place, *path.keys)
        walk = _XsdWalk(xsd, place)
        walk.visit(xsd.record(place), (), ())
        walk.check_reached()
    fields = stated.get("fields", {})
    twice = [text for text in walk.fields if text in fields]
    problems = walk.problems + [f"fields[{text}]: stated at xs:schema and at its own place" for text in twice]
    if problems:
        raise PolicyError(problems)
    return {"schema": file.name, **stated, "fields": {**fields, **walk.fields}}, walk.lines


_XS = "http://www.w3.org/2001/XMLSchema"


class _XsdWalk:
    """The annotations found along elements and attributes."""

    def __init__(self, xsd: Xsd, place: Keys) -> None:
        self._xsd = xsd
        self._place = place
        self._visits = 0
        self.fields: dict[str, Any] = {}
        self.lines: dict[Location, Position] = {}
        self.problems: list[str] = []
        self._reached: set[Node] = {xsd.root}

    def visit(self, element: Node, keys: Keys, within: tuple[Node, ...]) -> None:
        """Collect the annotations at and below an element; one inside itself is not followed further."""
        self._visits += 1
        if self._visits > _MOST:
            raise PolicyError(
                f"the XSD leads to more than {_MOST} elements: state the policy in a file of its own"
            )
        if len(keys) > MAX_DEPTH:
            raise PolicyError(f"the XSD nests too deeply: {TOO_LONG}")
        if keys:
            self._record(element, keys)
        text = self._xsd.text(element)
        if text is not None:
            self._record(text, (*keys, TEXT))
        for name, attribute in self._xsd.attributes(element):
            self._record(attribute, (*keys, f"@{name}"))
        if element in within:
            return
        for name, child, _ in self._xsd.children(element):
            self.visit(child, (*keys, name), (*within, element))

    def _record(self, node: Node, keys: Keys) -> None:
        self._reached.add(node)
        text = xpath(self._place, keys)
        rule = _read_annotation(self._xsd, node, text)
        if rule is None:
            return
        self.lines.setdefault(("fields", text), Position(cast("int", node.sourceline)))
        if self.fields.setdefault(text, rule) != rule:
            self.problems.append(f"{text}: two annotations differ")

    def check_reached(self) -> None:
        """Report the annotations that no path of the records leads to."""
        for node in self._find_annotated():
            if node not in self._reached:
                self.problems.append(
                    f"line {node.sourceline}: no path of the records leads to this annotation"
                )

    def _find_annotated(self) -> Iterator[Node]:
        for node in self._xsd.root.iter(f"{{{_XS}}}*"):
            noted, texts = self._xsd.notes(node, NAMESPACE)
            if noted or texts:
                yield node


def _read_annotation(xsd: Xsd, node: Node, where: str) -> dict[str, Any] | None:
    """Return a component's annotation as plain data; None if it has none."""
    attributes, texts = xsd.notes(node, NAMESPACE)
    if not attributes and not texts:
        return None
    rule: dict[str, Any] = {}
    pieces = [fragment(text, where) for text in texts]
    pieces += [{name: fragment(text, f"{where}, {name}")} for name, text in attributes.items()]
    for piece in pieces:
        if not isinstance(piece, dict):
            raise PolicyError(f"{where}: appinfo must hold a mapping, such as role: quasi")
        if twice := rule.keys() & piece.keys():
            raise PolicyError(f"{where}: {', '.join(sorted(twice))} is stated twice")
        rule |= piece
    return rule
