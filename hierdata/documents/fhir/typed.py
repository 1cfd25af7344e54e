"""Published records as valid FHIR R4, and back: labels become values of the elements' types.

Records are trees of resources: the lists of a resource's children have the name of their type. What was
missing and what was suppressed is absent alike; where FHIR wants an element, it has the extension
``data-absent-reason`` with the code ``masked``, and so has an item of a list that shows nothing. A date that
is coarser than a year is absent too, and beside the reason it has the extension PERIOD with the first and the
last day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from hierdata.documents.document import Document, Scalar, Value, field_at
from hierdata.documents.fhir.elements import (
    Element,
    elements_of,
    is_primitive,
    is_resource,
    range_of,
    type_below,
)
from hierdata.documents.fhir.labels import ALL_CODES, RangeSpelling, TextLabels

Conditions: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""The fields of an item of a list, each with the text that it must have."""

ANY = "*"
"""The label of a value that may be any, and of one that the input lacks."""
PERIOD = "urn:hierdata:period"
"""The extension of a date that FHIR cannot say, with the period that it lies in."""
_ABSENT_REASON = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"


def absent_element() -> Document:
    """Return the content of an element whose value is not published.

    >>> absent_element()["extension"][0]["valueCode"]
    'masked'
    """
    return {"extension": [dict(_MASK)]}


_MASK: Document = {"url": _ABSENT_REASON, "valueCode": "masked"}
_MASKED: Document = {"extension": [_MASK]}


def _absent_date(label: str) -> Document:
    """Return the content of a date that lies in a period: ``[1980-01-01, 1989-12-31]``, or one like 1980."""
    first, _, last = label.strip("[]").partition(", ")
    period: Document = {"url": PERIOD, "valuePeriod": {"start": first, "end": last or first}}
    return {"extension": [dict(_MASK), period]}


def _read_date(value: Value) -> str | None:
    """Return the label that such a content stands for, None if there is none."""
    extensions = value.get("extension") if isinstance(value, dict) else None
    last = extensions[-1] if isinstance(extensions, list) and extensions else None
    period = last.get("valuePeriod") if isinstance(last, dict) else None
    if not isinstance(period, dict):
        return None
    first, end = period.get("start"), period.get("end")
    label = str(first) if first == end else f"[{first}, {end}]"
    return label if value == _absent_date(label) else None


class TypedStep(NamedTuple):
    """A key on the way to a field, and which items of a list there are meant: all without ``conditions``.

    ``vertex`` is True for lists, and for single objects whose presence is part of what is published.
    """

    key: str
    vertex: bool = False
    conditions: Conditions = ()


@dataclass(frozen=True)
class TypedField:
    """A published field, and whether it is a quasi-identifier, whose labels may be ANY.

    ``range`` spells its bins if it is the value of a quantity. ``texts`` are labels of a coding's code that
    are published as its ``display``. With ``dates`` its labels are those of periods.
    """

    steps: tuple[TypedStep, ...]
    quasi: bool
    range: RangeSpelling | None = None
    texts: TextLabels = ALL_CODES
    dates: bool = False


@dataclass(slots=True, eq=False)
class _Node:
    """What a policy publishes at a path, and the FHIR type there.

    ``vertex`` is True where the number of items, or the presence of an object, is part of what is published.
    ``range`` is the element that takes the ranges of a quantity, and ``ranges`` has the quantities below by
    these elements. ``required`` are the elements that FHIR wants, ``choices`` those of which it wants one.
    ``to_fill`` are the keys below with quasi-identifiers of the same vertex. ``kinds`` are the nodes of items
    by the conditions that they satisfy, where a list has items of several kinds.
    """

    type: str
    vertex: bool = False
    below: dict[str, _Node] = field(default_factory=dict)
    kinds: dict[Conditions, _Node] = field(default_factory=dict)
    required: dict[str, Element] = field(default_factory=dict)
    choices: tuple[tuple[str, ...], ...] = ()
    to_fill: tuple[str, ...] = ()
    texts: TextLabels = ALL_CODES
    ranges: dict[str, str] = field(default_factory=dict)
    range: str | None = None
    field: TypedField | None = None

    def step_down(self, step: TypedStep) -> _Node:
        """Return the node below at a step; create it if needed."""
        if step.key not in self.below:
            self.below[step.key] = _Node(type_below(self.type, step.key) or "")
        node = self.below[step.key]
        node.vertex |= step.vertex
        if not step.conditions:
            return node
        if step.conditions not in node.kinds:
            node.kinds[step.conditions] = _Node(node.type, vertex=True)
        return node.kinds[step.conditions]

    def of_item(self, item: Document) -> _Node:
        """Return the node of an item of the list that is here."""
        for conditions, node in self.kinds.items():
            if all(field_at(item, keys) == text for keys, text in conditions):
                return node
        return self

    def settle(self, joined: Mapping[str, Collection[str]]) -> None:
        """Note what FHIR wants here and below, once all fields are known."""
        elements, written = elements_of(self.type), joined.get(self.type, ())
        self.required = {
            key: element
            for key, element in elements.items()
            if element.required and not element.choice and key not in written
        }
        wanted = {element.choice for element in elements.values() if element.required and element.choice}
        if self.type == "Extension" and any(elements[key].choice for key in self.below if key in elements):
            wanted.add("value")
        for choice in sorted(wanted):
            names = [key for key, element in elements.items() if element.choice == choice]
            self.choices += (tuple(sorted(names, key=self._order)),)
        for node in self.kinds.values():
            node.settle(joined)
        for key, node in self.below.items():
            node.settle(joined)
            inner = node.below.get("value")
            if inner is not None and inner.field is not None and inner.field.range is not None:
                node.range = range_of(self.type, key)
                if node.range is not None:
                    self.ranges[node.range] = key
        code = self.below.get("code")
        if self.type == "Coding" and code is not None and code.field is not None:
            self.texts = code.field.texts
        self.to_fill = tuple(key for key, node in self.below.items() if not node.vertex and node.fills)

    def _order(self, name: str) -> tuple[bool, bool, str]:
        """Return the key by which the elements of a choice are sorted: what the policy publishes first."""
        return name not in self.below, not name.endswith("CodeableConcept"), name

    def is_period(self, label: Scalar) -> bool:
        """Return whether a label is that of a period that FHIR cannot say as a date."""
        if self.field is None or not self.field.dates or not isinstance(label, str):
            return False
        return self.type == "instant" or label[:1] == "["

    @property
    def fills(self) -> bool:
        """Whether there is a quasi-identifier here, or below in the same vertex."""
        return bool(self.to_fill) or (self.field is not None and self.field.quasi)


class Typing:
    """The types of what a policy publishes; ``to_fhir`` and ``from_fhir`` are each other's inverse.

    ``root`` is the type of records, ``fields`` is what is published. ``joined`` are by type the elements that
    are written when resources are taken apart; here they are not marked as absent.
    """

    def __init__(
        self, root: str, fields: Iterable[TypedField], joined: Mapping[str, Collection[str]]
    ) -> None:
        self._root = _Node(root, vertex=True)
        for published in fields:
            node = self._root
            for step in published.steps:
                node = node.step_down(step)
            node.field = published
        self._root.settle(joined)

    def to_fhir(self, document: Document) -> Document:
        """Return a record with the values of FHIR's types for its labels."""
        return _write(document, self._root)

    def from_fhir(self, document: Document) -> Document:
        """Return a record with labels: ANY for each quasi-identifier that is absent.

        What ``to_fhir`` does not write stays as it is, so that the judge sees it.
        """
        return _read(document, self._root)


def _write(content: Document, node: _Node) -> Document:
    """Return the content of an object; empty if it shows nothing and need not be there."""
    typed: Document = {}
    for key, value in content.items():
        below = node.below.get(key)
        if below is None:
            typed[key] = value
        elif isinstance(value, list):
            if value:
                _write_items(value, key, below, typed)
        elif isinstance(value, dict):
            inner = _write(value, below)
            if inner:
                _put_object(inner, key, below, typed)
        elif _is_absent(value, below):
            continue
        elif below.is_period(value):
            typed[f"_{key}"] = _absent_date(str(value))
        else:
            typed["display" if key == "code" and value in node.texts else key] = value
    if typed or node.vertex:
        _mark_required(typed, node)
        return typed if typed or is_resource(node.type) else absent_element()
    return typed


def _mark_required(typed: Document, node: _Node) -> None:
    """Put the elements that FHIR wants and that are not there, without their values."""
    for key, element in node.required.items():
        if key not in typed and f"_{key}" not in typed:
            _mark(key, element, typed)
    for names in node.choices:
        if typed.keys().isdisjoint([*names, *(f"_{name}" for name in names)]):
            _mark(names[0], elements_of(node.type)[names[0]], typed)


def _put_object(inner: Document, key: str, node: _Node, typed: Document) -> None:
    """Put an object into the one that holds it: a quantity whose value is a bin becomes a range."""
    if node.range is not None and "value" in inner:
        spelling = node.below["value"].field
        assert spelling is not None
        assert spelling.range is not None
        value = inner["value"]
        ends = None if isinstance(value, list | dict) else spelling.range.ends(value)
        if ends is not None:
            typed[node.range] = {"low": {**inner, "value": ends[0]}, "high": {**inner, "value": ends[1]}}
            return
    typed[key] = inner


def _write_items(values: list[Value], key: str, node: _Node, typed: Document) -> None:
    """Put a list into the object that holds it; an item without a value stays as one that is masked."""
    items: list[Value] = []
    marks: list[Value] = []
    for value in values:
        if isinstance(value, dict):
            items.append(_write(value, node.of_item(value)))
            marks.append(None)
        elif isinstance(value, list) or not (_is_absent(value, node) or node.is_period(value)):
            items.append(value)
            marks.append(None)
        else:
            items.append(None)
            marks.append(absent_element() if _is_absent(value, node) else _absent_date(str(value)))
    typed[key] = items
    if any(marks):
        typed[f"_{key}"] = marks


def _is_absent(value: Scalar, node: _Node) -> bool:
    return value is None or (value == ANY and node.field is not None and node.field.quasi)


def _mark(key: str, element: Element, typed: Document) -> None:
    """Put an element that FHIR wants, without its value."""
    name = f"_{key}" if is_primitive(element.type) else key
    typed[name] = [absent_element()] if element.many else absent_element()


def _read(content: Document, node: _Node) -> Document:
    """Return the labels of an object."""
    labels: Document = {}
    for key, value in content.items():
        if _is_mark(key, value, content, node):
            continue
        below = node.below.get(key)
        if below is None:
            _read_other(key, value, content, node, labels)
        elif isinstance(value, list):
            marks = content.get(f"_{key}")
            dates = marks if isinstance(marks, list) and len(marks) == len(value) else [None] * len(value)
            pairs = zip(value, dates, strict=True)
            labels[key] = [_read_item(item, mark, below) for item, mark in pairs]
        else:
            labels[key] = _read(value, below) if isinstance(value, dict) else value
    missing = [key for key in node.to_fill if key not in labels]
    for key in missing:
        labels[key] = _fill(node.below[key])
    if not missing and labels.keys() == content.keys():
        return labels
    ordered = {key: labels.pop(key) for key in node.below if key in labels}
    return ordered | labels


def _read_item(value: Value, mark: Value, node: _Node) -> Value:
    if value is None and (label := _read_date(mark)) is not None and node.is_period(label):
        return label
    if isinstance(value, dict):
        return _read({} if value == _MASKED else value, node.of_item(value))
    return ANY if value is None and node.fills else value


def _read_other(key: str, value: Value, content: Document, node: _Node, labels: Document) -> None:
    """Read what stands for a label under another name; other things stay."""
    if key in node.ranges and (quantity := _read_range(value, node.below[node.ranges[key]])) is not None:
        labels[node.ranges[key]] = quantity
    elif key[0] == "_" and (label := _read_period(key[1:], value, content, node)) is not None:
        labels[key[1:]] = label
    elif key == "display" and "code" not in content and value in node.texts:
        labels["code"] = value
    else:
        labels[key] = value


def _read_period(key: str, value: Value, content: Document, node: _Node) -> str | None:
    """Return the label of a period that stands beside an absent date, None if there is none."""
    label = _read_date(value)
    below = node.below.get(key)
    fits = label is not None and key not in content and below is not None and below.is_period(label)
    return label if fits else None


def _read_range(value: Value, node: _Node) -> Document | None:
    """Return the quantity that a range stands for, None if there is none."""
    field = node.below["value"].field
    if not isinstance(value, dict) or value.keys() != {"low", "high"} or field is None or field.range is None:
        return None
    low, high = value["low"], value["high"]
    if not isinstance(low, dict) or not isinstance(high, dict):
        return None
    label = field.range.label(low.get("value"), high.get("value"))
    if label is None or low | {"value": label} != high | {"value": label}:
        return None
    return _read({**low, "value": label}, node)


def _is_mark(key: str, value: Value, content: Document, node: _Node) -> bool:
    """Return whether ``to_fhir`` writes this for a value that is absent."""
    if key == "extension":
        return content == _MASKED and node.vertex
    name = key.removeprefix("_")
    element = node.required.get(name)
    if element is None and any(name == names[0] for names in node.choices):
        element = elements_of(node.type)[name]
    if element is None:
        return key[0] == "_" and _marks_items(value, content.get(name), node.below.get(name))
    if is_primitive(element.type) != (name != key) or (name != key and name in content):
        return False
    return value == ([_MASKED] if element.many else _MASKED)


def _marks_items(marks: Value, items: Value, node: _Node | None) -> bool:
    """Return whether a list marks the absent items of another one, and nothing else."""
    if node is None or not isinstance(marks, list) or not isinstance(items, list):
        return False
    if len(marks) != len(items):
        return False
    for mark, item in zip(marks, items, strict=True):
        label = _read_date(mark)
        if item is not None and mark is not None:
            return False
        if item is None and mark != _MASKED and (label is None or not node.is_period(label)):
            return False
    return True


def _fill(node: _Node) -> Value:
    """Return what is read where nothing is published: ANY for each quasi-identifier."""
    if node.to_fill:
        return {key: _fill(node.below[key]) for key in node.to_fill}
    return ANY
