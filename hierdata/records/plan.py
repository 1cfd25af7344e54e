"""The plan of a binding: what happens to each key, fixed once for the whole collection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from hierdata.ground.errors import PolicyError
from hierdata.records.mixed import UNMIXED, Mixed
from hierdata.records.rules import Node, Unlisted, misfits, plant
from hierdata.records.schema import Attribute, Role, Rule, Schema, VertexType
from hierdata.records.survey import Keys, PathSurvey
from hierdata.records.values import Missing, SpellOnce

_ROLES = tuple(Role)

# What happens to a key; plain integers, since binding compares them for every value.
VALUE, DROPPED, INLINE, CHILD = range(4)


@dataclass(slots=True)
class Slot:
    """What happens to one key of an object.

    ``spell`` gives equal values one spelling. ``index`` is the position among the values of the role.
    """

    kind: int
    path: str
    many: bool = False
    role: int = 0
    index: int = 0
    missing: Missing | None = None
    spell: SpellOnce | None = None
    plan: Plan | None = None


@dataclass(slots=True)
class Plan:
    """How to read a vertex (``item`` if it is a scalar) or an object inlined into its parent.

    ``sizes`` are the numbers of values by role.
    """

    below: str
    strict: bool
    type: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    item: Slot | None = None
    slots: dict[str, Slot] = field(default_factory=dict)


@dataclass(frozen=True)
class Binding:
    """The schema of a collection, with the plan that ``bind`` follows.

    ``sparse`` leaves out vertices that have neither values nor children. ``mixed`` separates published
    records; those of the input are separated when they are treated.
    """

    schema: Schema
    plan: Plan = field(repr=False)
    sparse: bool = False
    mixed: Mixed = UNMIXED

    def as_spelled(self) -> Binding:
        """Return the binding that keeps the spelling of every value."""
        return replace(self, plan=_keep_spelling(self.plan))


def _keep_spelling(plan: Plan) -> Plan:
    slots = {
        key: replace(slot, spell=None, plan=None if slot.plan is None else _keep_spelling(slot.plan))
        for key, slot in plan.slots.items()
    }
    return replace(plan, slots=slots, item=None if plan.item is None else replace(plan.item, spell=None))


def resolve(
    rules: Sequence[Rule],
    shape: PathSurvey,
    *,
    unlisted: Unlisted = "error",
    many_hints: Collection[Keys] = (),
) -> Binding:
    """Fix the schema: vertex types in pre-order by first appearance in the rules, attributes in rule order.

    A path is many if the rules write ``[*]``, one if JSONPath omits it. If the notation does not say, the
    path is many if it is among ``many_hints`` (from an XSD) or many in any record. An object with all fields
    dropped is not published at all. Raises PolicyError with every problem, one per line, except clashes among
    the records, which ``bind`` refuses with the record's number.
    """
    root, problems = plant(rules, shape, many_hints)
    problems += misfits(root, rules, shape, unlisted)
    refused = [problem for problem in problems if problem.kind != "clash"]
    if refused:
        names = tuple(name for problem in refused for name in problem.revealed)
        raise PolicyError(map(str, refused), revealed=names)
    types: list[VertexType] = []
    plan = _plan_vertex(root, (), None, types, unlisted == "error")
    return Binding(Schema(tuple(types)), plan)


@dataclass
class _Parts:
    """Attributes and child vertices of a vertex, each with the keys from the vertex down to it."""

    attributes: list[tuple[Keys, Node, Slot]] = field(default_factory=list)
    children: list[tuple[Keys, Node, Slot]] = field(default_factory=list)


def _plan_vertex(node: Node, steps: Keys, parent: int | None, types: list[VertexType], strict: bool) -> Plan:
    """Plan the vertex at a node; its type and those below it are appended to ``types``."""
    index = len(types)
    plan = Plan(node.below, strict, type=index)
    parts = _Parts()
    if node.role is not None:
        plan.item = Slot(VALUE, node.text)
        parts.attributes.append(((), node, plan.item))
    else:
        _collect(node, (), plan, parts)
    parts.attributes.sort(key=lambda part: part[1].first)
    parts.children.sort(key=lambda part: part[1].first)
    counts = [0, 0, 0]
    attributes = tuple(_attribute(*part, counts) for part in parts.attributes)
    plan.sizes = (counts[0], counts[1], counts[2])
    vertex_type = VertexType(index, node.text, steps, node.many or parent is None, parent, (), attributes)
    types.append(vertex_type)
    children = []
    for keys, child, slot in parts.children:
        children.append(len(types))
        slot.plan = _plan_vertex(child, keys, index, types, strict)
    types[index] = replace(vertex_type, children=tuple(children))
    return plan


def _collect(node: Node, steps: Keys, plan: Plan, parts: _Parts) -> None:
    for key, child in node.children.items():
        keys = (*steps, key)
        slot = Slot(DROPPED, child.text, many=child.many)
        plan.slots[key] = slot
        if not child.publishes:
            continue
        if child.is_vertex:
            slot.kind = CHILD
            parts.children.append((keys, child, slot))
        elif child.role is not None:
            slot.kind = VALUE
            parts.attributes.append((keys, child, slot))
        else:
            slot.kind = INLINE
            slot.plan = Plan(child.below, plan.strict)
            _collect(child, keys, slot.plan, parts)


def _attribute(steps: Keys, node: Node, slot: Slot, counts: list[int]) -> Attribute:
    """Build the attribute of a node; set in its slot where in the vertex its values go."""
    rule = node.rule
    assert rule is not None
    assert rule.role is not None
    slot.role = _ROLES.index(rule.role)
    slot.index = counts[slot.role]
    slot.missing = Missing(rule.missing) if rule.missing else None
    if rule.spelling is not None and rule.role is not Role.QUASI:  # labels are spelled by their domain
        slot.spell = SpellOnce(texts=rule.spelling == "number")
    counts[slot.role] += 1
    absent = min(rule.missing, default=None) if node.elements else None
    return Attribute(str(rule.path), steps, rule.role, rule.missing, absent)
