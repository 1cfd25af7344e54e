"""Random collections with random policies, as JSON records and as XML elements that say the same.

Small domains and few records, so that classes come about, and with everything that a shape can have: inlined
objects, objects that are vertices, arrays of objects and of scalars, missing values in all their forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st
from lxml import etree

MISSING = "?"

TREE = {"*": {"warm": {"red": {}, "orange": {}}, "cold": {"blue": {}, "green": {}}, "grey": {}}}
QUASI: list[tuple[dict[str, Any], Callable[[Random], Any]]] = [
    ({"taxonomy": {"tree": TREE}}, lambda rng: rng.choice(["red", "orange", "blue", "green", "grey"])),
    ({"interval": {"steps": [1, 2, 5]}}, lambda rng: rng.randint(1, 9)),
    ({"interval": {"steps": ["0.5", 2]}}, lambda rng: Decimal(rng.randint(0, 8)) / 4),
    (
        {"date": {"steps": ["day", "month", "year"]}},
        lambda rng: f"200{rng.randint(1, 2)}-0{rng.randint(1, 2)}-07",
    ),
    ({"prefix": {"keep": [2, 1]}}, lambda rng: f"4{rng.randint(1, 2)}{rng.randint(0, 2)}"),
    ({"flat": True}, lambda rng: rng.choice(["north", "south"])),
]
LETTERS = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}
SENSITIVE: list[tuple[dict[str, Any], Callable[[Random], Any]]] = [
    ({"levels": {"by": LETTERS}}, lambda rng: rng.choice("AABBCDE")),
    ({"levels": {"domain": [0, 4], "sensitive": "low"}}, lambda rng: Decimal(rng.randint(0, 8)) / 2),
    (
        {"levels": {"by": "frequency", "sensitive": "rare"}},
        lambda rng: rng.choice(["flu", "flu", "cold", "HIV"]),
    ),
]
MODELS: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 2},
    {"kind": "k-anonymity", "k": 3},
    {"kind": "distinct-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": "3/2"},
    {"kind": "entropy-l-diversity", "l": "3/2"},
    {"kind": "recursive-cl-diversity", "c": 2, "l": 2},
    {"kind": "alpha-k", "k": 2, "alpha": "2/3"},
    {"kind": "level-alpha-k", "k": 2},
    {"kind": "level-alpha-k", "k": 3},
]


@dataclass
class Field:
    """A field of an object: a leaf with a value, an object or an array of objects."""

    name: str
    rule: dict[str, Any]
    value: Callable[[Random], Any] | None = None
    many: bool = False
    fields: list[Field] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """A collection and what is asked for. Policies are plain data; ``records`` are JSON objects."""

    fields: list[Field]
    records: list[dict[str, Any]]
    models: list[dict[str, Any]]
    engine: dict[str, Any]
    recoding: str
    unlisted: Any = "error"

    def policy(self, **changes: Any) -> dict[str, Any]:
        """The policy for the JSON records."""
        return self._policy(rules(self.fields, "$"), changes)

    def xml_policy(self, **changes: Any) -> dict[str, Any]:
        """The policy for the XML elements."""
        return self._policy(xml_rules(self.fields, "/list/item"), changes)

    def _policy(self, fields: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
        models = [self._scoped(model, fields) for model in self.models]
        stated = {
            "models": models,
            "engine": self.engine,
            "recoding": self.recoding,
            "unlisted": self.unlisted,
        }
        return {"version": 1, "fields": fields, **stated, **changes}

    def _scoped(self, model: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
        """``on: first`` stands for the first sensitive field."""
        if model.get("on") != "first":
            return model
        return {
            **model,
            "on": [next(path for path, rule in fields.items() if rule.get("role") == "sensitive")],
        }

    def has_exempt(self) -> bool:
        """Whether some field is published as it stands."""
        return any("exempt" in rule for rule in self.policy()["fields"].values())

    def shows_what_is_many(self) -> bool:
        """Whether each array has two items somewhere; XML cannot tell otherwise that it is one."""
        return all(longest(own, self.records) > 1 for own in self.fields if own.many or own.fields)

    def elements(self) -> list[etree._Element]:
        """The records as XML elements."""
        return [element("item", record, self.fields) for record in self.records]


def rules(fields: list[Field], above: str) -> dict[str, Any]:
    """The rules by JSONPath."""
    found: dict[str, Any] = {}
    for own in fields:
        path = f"{above}.{own.name}" + ("[*]" if own.many else "")
        if own.rule:
            found[path] = own.rule
        found |= rules(own.fields, path)
    return found


def xml_rules(fields: list[Field], above: str) -> dict[str, Any]:
    """The rules by XPath; leaves that stand once are attributes, every other one an element."""
    found: dict[str, Any] = {}
    for own in fields:
        path = f"{above}/{'text()' if own is text_of(fields) else notation(own)}"
        if own.rule or (own.many and own.fields):
            found[path] = own.rule or {"vertex": True, "optional": True}
        found |= xml_rules(own.fields, path)
    return found


def longest(own: Field, records: list[dict[str, Any]]) -> int:
    """The most items in the array of a field, the least of these figures over all arrays below it."""
    items = [record.get(own.name) for record in records]
    found = [value for value in items if value is not None]
    objects = [item for value in found for item in (value if own.many else [value])]
    below = [longest(inner, objects) for inner in own.fields if inner.many or inner.fields]
    return min([max((len(value) for value in found), default=0) if own.many else 2, *below])


def notation(own: Field) -> str:
    return f"@{own.name}" if is_attribute(own) else own.name


def is_attribute(own: Field) -> bool:
    return own.value is not None and not own.many and int(own.name[1:]) % 2 == 0


def text_of(fields: list[Field]) -> Field | None:
    """The field that is the element's own text, if it has one: the first leaf that is no attribute."""
    leaves = [own for own in fields if own.value is not None and not own.many and not is_attribute(own)]
    return leaves[0] if leaves and int(leaves[0].name[1:]) % 3 == 0 else None


def element(name: str, record: dict[str, Any], fields: list[Field]) -> etree._Element:
    made = etree.Element(name)
    for own in fields:
        value = record.get(own.name)
        if value is None:
            continue
        for item in value if own.many else [value]:
            if own is text_of(fields):
                made.text = str(item)
            elif is_attribute(own):
                made.set(own.name, str(item))
            elif own.value is not None:
                etree.SubElement(made, own.name).text = str(item)
            else:
                made.append(element(own.name, item, own.fields))
    return made


def _leaf(rng: Random, name: str, *, many: bool) -> Field:
    pick = rng.random()
    if pick < 0.1:
        rule = {"role": "insensitive", "exempt": "drawn at random", "optional": True}
        return Field(name, rule, lambda rng: rng.choice(["x", "y"]), many)
    role = "quasi" if pick < 0.6 else "sensitive"
    more, value = rng.choice(QUASI if role == "quasi" else SENSITIVE)
    return Field(name, {"role": role, "missing": [MISSING], "optional": True, **more}, value, many)


def _fields(rng: Random, depth: int, names: list[str]) -> list[Field]:
    found = []
    for _ in range(rng.randint(1, 3)):
        name = f"f{len(names)}"
        names.append(name)
        kind = (
            rng.choice(["leaf", "leaf", "leaf", "objects", "object", "vertex", "scalars"])
            if depth
            else "leaf"
        )
        if kind in ("leaf", "scalars"):
            found.append(_leaf(rng, name, many=kind == "scalars"))
        else:
            rule = {"vertex": True, "optional": True} if kind == "vertex" else {}
            below = _fields(rng, depth - 1, names)
            found.append(Field(name, rule, None, kind == "objects", below))
    return found


def _object(rng: Random, fields: list[Field]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for own in fields:
        if rng.random() < 0.1:
            continue
        items = [_value(rng, own) for _ in range(rng.choice((0, 1, 1, 2, 3)) if own.many else 1)]
        made[own.name] = items if own.many else items[0]
    return made


def _value(rng: Random, own: Field) -> Any:
    if own.value is None:
        return _object(rng, own.fields)
    return MISSING if own.rule.get("missing") and rng.random() < 0.06 else own.value(rng)


def _sensitive(fields: list[Field]) -> bool:
    return any(own.rule.get("role") == "sensitive" or _sensitive(own.fields) for own in fields)


@st.composite
def cases(draw: st.DrawFn, recodings: tuple[str, ...] = ("generalization", "representatives")) -> Case:
    """A case; Random is seeded by a drawn number, which keeps drawing cheap."""
    rng = Random(draw(st.integers(0, 2**48)))
    fields = [Field("f0", {"role": "identifier"}, lambda rng: f"id{rng.random()}")]
    fields += _fields(rng, 2, ["f0"])
    if not _sensitive(fields):
        rule, value = SENSITIVE[0]
        fields.append(Field("f99", {"role": "sensitive", "optional": True, **rule}, value))
    patterns = [_object(rng, fields) for _ in range(rng.randint(1, 5))]
    records = [_alike(rng, rng.choice(patterns), fields) for _ in range(rng.randint(3, 14))]
    unlisted = rng.choice(["error"] * 6 + ["drop", {"keep": "drawn at random"}])
    if unlisted != "error":
        _unlist(rng, fields)
    for record in records:
        record["f0"] = f"id{rng.random()}"
    models = rng.sample(MODELS, rng.choice((1, 1, 2)))
    if models[-1]["kind"] != "k-anonymity" and rng.random() < 0.2:
        models = [MODELS[0], {**models[-1], "on": "first"}]
    step = {"kind": "clustree", "pairing": rng.choice(("greedy", "benefit", "optimal"))}
    return Case(fields, records, models, {"steps": [step]}, rng.choice(recodings), unlisted)


def _unlist(rng: Random, fields: list[Field]) -> None:
    """Take away the rules of some quasi-identifiers."""
    for own in fields:
        if own.rule.get("role") == "quasi" and rng.random() < 0.5:
            own.rule = {}
        _unlist(rng, own.fields)


def _alike(rng: Random, pattern: dict[str, Any], fields: list[Field]) -> dict[str, Any]:
    """A record after a pattern: sensitive values of its own, and now and then another quasi-identifier."""
    made: dict[str, Any] = {}
    for own in fields:
        if own.name not in pattern:
            continue
        value = pattern[own.name]
        items = [
            _alike(rng, item, own.fields)
            if own.value is None
            else _value(rng, own)
            if own.rule.get("role") == "sensitive" or rng.random() < 0.1
            else item
            for item in (value if own.many else [value])
        ]
        made[own.name] = items if own.many else items[0]
    return made
