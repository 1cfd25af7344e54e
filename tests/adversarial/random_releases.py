"""Random collections with random policies, as JSON records and as XML elements that say the same.

Small domains and few records, so that classes come about, and with everything that a shape can have: inlined
objects, objects that are vertices, arrays of objects and of scalars, missing values in all their forms.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from lxml import etree

from tests.adversarial.vocabulary import (
    MISSING,
    MODELS,
    NEAR,
    OF_RICH,
    POPULATION,
    QUASI,
    RICH,
    SENSITIVE,
    Leaf,
)


@cache
def tables() -> TemporaryDirectory[str]:
    """Where population tables lie until the tests have run, or until it is cleaned up."""
    return TemporaryDirectory()


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
    engine: dict[str, Any] | None
    recoding: str
    unlisted: Any = "error"
    tables: int | None = None

    def policy(self, **changes: Any) -> dict[str, Any]:
        """The policy for the JSON records."""
        return self._policy(rules(self.fields, "$"), changes, 0)

    def xml_policy(self, **changes: Any) -> dict[str, Any]:
        """The policy for the XML elements."""
        return self._policy(xml_rules(self.fields, "/list/item"), changes, 1)

    def _policy(self, fields: dict[str, Any], changes: dict[str, Any], notation: int) -> dict[str, Any]:
        models = [self._scoped(model, fields) for model in self.models]
        stated = {
            "models": models,
            "engine": self.engine,
            "recoding": self.recoding,
            "unlisted": self.unlisted,
            "sensitive_tables": self.tables,
        }
        stated |= changes
        if any(model["kind"] in POPULATION for model in stated["models"]):
            stated["population"] = self._population(notation)
        return {"version": 1, "fields": fields, **stated}

    def _population(self, notation: int) -> dict[str, Any]:
        """A table in which each person has a twin, and some nobody else's."""
        known = list(at_root(self.fields))
        table = [[cell(record, keys) for *_, keys in known] for record in self.records]
        lines = [[f"c{at}" for at, _ in enumerate(known)], *table, *table, *table[::3]]
        file = Path(tables().name) / f"{blake2b(repr(lines).encode(), digest_size=8).hexdigest()}.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(lines)
        columns = {paths[notation]: f"c{at}" for at, paths in enumerate(known)}
        return {"file": str(file), "columns": columns}

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


def at_root(
    fields: list[Field], json: str = "$", xml: str = "/list/item", above: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The quasi-identifiers of the record itself: their path in JSON and in XML, and their keys."""
    for own in fields:
        keys, path = (*above, own.name), f"{json}.{own.name}"
        element = f"{xml}/{'text()' if own is text_of(fields) else notation(own)}"
        if own.many or own.rule.get("vertex"):
            continue
        if own.value is None:
            yield from at_root(own.fields, path, element, keys)
        elif own.rule.get("role") == "quasi":
            yield path, element, keys


def cell(record: Any, keys: tuple[str, ...]) -> str:
    """A value as a table spells it; what is missing is empty."""
    for key in keys:
        record = (record or {}).get(key)
    return "" if record in (None, MISSING) else str(record)


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


def _leaf(rng: Random, name: str, sensitive: list[Leaf], *, many: bool) -> Field:
    pick = rng.random()
    if pick < 0.1:
        rule = {"role": "insensitive", "exempt": "drawn at random", "optional": True}
        return Field(name, rule, lambda rng: rng.choice(["x", "y"]), many)
    role = "quasi" if pick < 0.6 else "sensitive"
    more, value = rng.choice(QUASI if role == "quasi" else sensitive)
    return Field(name, {"role": role, "missing": [MISSING], "optional": True, **more}, value, many)


def _fields(rng: Random, depth: int, names: list[str], sensitive: list[Leaf]) -> list[Field]:
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
            found.append(_leaf(rng, name, sensitive, many=kind == "scalars"))
        else:
            rule = {"vertex": True, "optional": True} if kind == "vertex" else {}
            below = _fields(rng, depth - 1, names, sensitive)
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


def _sensitive(fields: list[Field]) -> int:
    """How many sensitive fields there are."""
    return sum((own.rule.get("role") == "sensitive") + _sensitive(own.fields) for own in fields)


def _models(rng: Random, fields: list[Field], recoding: str, *, rich: bool) -> list[dict[str, Any]]:
    known = MODELS + OF_RICH if rich else MODELS
    if recoding in ("anatomy", "sets_and_ranges") or not list(at_root(fields)):
        known = [model for model in known if model["kind"] not in POPULATION]
    models = rng.sample(known, rng.choice((1, 1, 2)))
    if models[-1]["kind"] not in ("k-anonymity", *POPULATION) and rng.random() < 0.2:
        models = [MODELS[0], {**models[-1], "on": "first"}]
    return models


def _engine(rng: Random, fields: list[Field], recoding: str, models: list[dict[str, Any]]) -> Any:
    """One that goes with the records, the recoding and the models, or none."""
    clustree = {"kind": "clustree", "pairing": rng.choice(("greedy", "benefit", "optimal"))}
    steps = [clustree, clustree, None]
    if recoding == "anatomy" or not any(own.many or own.fields for own in fields):
        steps += [{"kind": "mondrian"}, {"kind": "mondrian"}, {"kind": "mbf"}]
        if _sensitive(fields) == 1 and any(
            model["kind"] in NEAR and "relative" not in model for model in models
        ):
            steps += [{"kind": "spread"}] * 3
    step = rng.choice(steps)
    return None if step is None else {"steps": [step]}


BY_RECORD = ("generalization", "full_domain", "sets_and_ranges")


def cases(recodings: tuple[str, ...] = (*BY_RECORD, "representatives")) -> st.SearchStrategy[Case]:
    """Cases by their number: one number to draw keeps drawing cheap."""
    return st.integers(0, 2**48).map(lambda number: numbered(number, recodings))


def numbered(number: int, recodings: tuple[str, ...]) -> Case:
    """The case of a number."""
    rng = Random(number)
    fields = [Field("f0", {"role": "identifier"}, lambda rng: f"id{rng.random()}")]
    flat, rich = rng.random() < 0.35, rng.random() < 0.5
    sensitive = RICH if rich else SENSITIVE
    fields += _fields(rng, 0 if flat else 2, ["f0"], sensitive)
    if not _sensitive(fields):
        rule, value = sensitive[0]
        fields.append(Field("f99", {"role": "sensitive", "optional": True, **rule}, value))
    patterns = [_object(rng, fields) for _ in range(rng.randint(1, 5))]
    records = [_alike(rng, rng.choice(patterns), fields) for _ in range(rng.randint(3, 14))]
    unlisted = rng.choice(["error"] * 6 + ["drop", {"keep": "drawn at random"}])
    if unlisted != "error":
        _unlist(rng, fields)
    for record in records:
        record["f0"] = f"id{rng.random()}"
    recoding = rng.choice(recodings)
    models = _models(rng, fields, recoding, rich=rich)
    engine = _engine(rng, fields, recoding, models)
    tables = rng.choice((None, 1, 2)) if recoding == "slicing" else None
    return Case(fields, records, models, engine, recoding, unlisted, tables)


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
