"""Rules checked against a surveyed collection: one or many for each path, and every mismatch.

For a path that matches nothing a similar one is suggested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import Literal

from hierdata.documents.document import TEXT
from hierdata.documents.scalars import WRAPPERS
from hierdata.records.maps import DYNAMIC, dynamic
from hierdata.records.mixed import REST
from hierdata.records.path import Path, Step, jsonpath, xpath
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import Keys, PathSurvey

_MOST = 1000
"""Limit on the fields that are compared."""
_LONGEST = 100
"""Names above this length are not compared."""
_CLOSE = 5
"""Limit on the similar names whose whole paths are compared."""
UNKNOWN = "<key>"
_NEVER_SINGLE = (
    "this is never a single value, only an object, whose fields have rules below this path: leave this rule "
    "out, or those"
)
UNSELECTED = "add a filter for them, or leave them out with `unlisted: drop`"
Unlisted = Literal["error", "drop"]
_WRAPPED = "these are values of MongoDB's Extended JSON: state `format: extended-json`"


@dataclass(frozen=True)
class Problem:
    """Something that does not fit. ``kind`` is one of

    - ``conflict``: rules contradict each other;
    - ``unmatched``: a rule matches nothing;
    - ``unlisted``: fields that no rule names (``revealed`` has their names);
    - ``misfit``: every record contradicts a rule;
    - ``clash``: records contradict each other: binding refuses the first that does not fit, with its number.
    """

    kind: Literal["conflict", "unmatched", "unlisted", "misfit", "clash"]
    path: str
    message: str
    revealed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass
class Node:
    """A path that rules name or pass through. ``first`` is the position of the first of these rules.

    ``elements`` says that this path has XML elements.
    """

    keys: Keys
    path: Path
    first: int
    rule: Rule | None = None
    marks: set[bool] = field(default_factory=set)
    children: dict[str, Node] = field(default_factory=dict)
    many: bool = False
    elements: bool = False

    @property
    def step(self) -> Step:
        """The last step of the path."""
        return self.path.steps[len(self.keys) - 1]

    @property
    def text(self) -> str:
        """The canonical text of the path."""
        return self.path.prefix(len(self.keys))

    @property
    def below(self) -> str:
        """The text of an undeclared field under this path."""
        return self.path.below(len(self.keys))

    @property
    def role(self) -> Role | None:
        """The role of the value here, None for objects and dropped fields."""
        return self.rule.role if self.rule is not None else None

    @property
    def drops(self) -> bool:
        """Whether one rule drops everything here."""
        return self.rule is not None and self.rule.drops

    @property
    def is_vertex(self) -> bool:
        """Whether this path has vertices of its own, instead of parts of the parent."""
        apart = bool(self.keys) and self.step.apart
        return self.many or apart or (self.rule is not None and self.rule.vertex)

    @property
    def publishes(self) -> bool:
        """Whether anything here is published: an object with all fields dropped is not."""
        if self.rule is not None and not self.children:
            return not self.rule.drops
        is_vertex = self.rule is not None and self.rule.vertex
        return is_vertex or any(child.publishes for child in self.children.values())


def plant(
    rules: Sequence[Rule], shape: PathSurvey, many_hints: Collection[Keys] = ()
) -> tuple[Node, list[Problem]]:
    """Return the rules as a tree, with one or many decided for each path, and the conflicts among them."""
    path = rules[0].path if rules else Path((), "", ends=(0,))
    root = Node((), path, 0)
    problems: list[Problem] = []
    for position, rule in enumerate(rules):
        if rule.path.place != root.path.place:
            problems.append(
                Problem("conflict", str(rule.path), "other rules have a different path of the records")
            )
            continue
        problems.extend(_insert(root, position, rule))
    _decide(root, shape, frozenset(many_hints))
    return root, problems + [problem for node in _nodes(root) for problem in _conflicts(node)]


def _insert(root: Node, position: int, rule: Rule) -> Iterator[Problem]:
    node = root
    steps = rule.path.steps
    for depth, step in enumerate(steps, 1):
        keys = rule.path.keys[:depth]
        node = node.children.setdefault(step.key, Node(keys, rule.path, position))
        # A rule that drops a whole array need not write [*].
        if step.many or (step.many is False and not (depth == len(steps) and rule.drops)):
            node.marks.add(step.many)
    if node is root:
        yield Problem("conflict", str(rule.path), "a rule cannot name the record itself; name its fields")
    elif node.rule is not None:
        yield Problem("conflict", str(rule.path), "there are two rules for this path")
    else:
        node.rule = rule


def _nodes(node: Node) -> Iterator[Node]:
    for child in node.children.values():
        yield child
        yield from _nodes(child)


def _conflicts(node: Node) -> Iterator[Problem]:
    if len(node.marks) == 2:
        yield Problem("conflict", node.text, "some paths write [*] here and some do not")
    if node.children and node.role is not None:
        yield Problem("conflict", node.text, "a field with a role cannot have rules below it")
    if node.drops and any(not child.drops for child in node.children.values()):
        yield Problem("conflict", node.text, "this is dropped as a whole, but there are rules below it")


def _decide(node: Node, shape: PathSurvey | None, hints: Collection[Keys]) -> None:
    for key, child in node.children.items():
        surveyed = shape.children.get(key) if shape is not None else None
        if child.marks:
            child.many = True in child.marks
        else:
            child.many = child.keys in hints or (
                surveyed is not None and (surveyed.arrays > 0 or surveyed.longest > 1)
            )
        child.elements = surveyed is not None and surveyed.siblings > 0
        _decide(child, surveyed, hints)


def problems(
    rules: Sequence[Rule], shape: PathSurvey, unlisted: Unlisted = "error", many_hints: Collection[Keys] = ()
) -> list[Problem]:
    """Return every mismatch between rules and records: see ``Problem``."""
    root, conflicts = plant(rules, shape, many_hints)
    return conflicts + misfits(root, rules, shape, unlisted)


def misfits(root: Node, rules: Sequence[Rule], shape: PathSurvey, unlisted: Unlisted) -> list[Problem]:
    """Return the mismatches between the records and a tree of rules."""
    problems: list[Problem] = []
    if shape.occurrences:
        declared = {rule.path.keys[:end] for rule in rules for end in range(1, len(rule.path.keys) + 1)}
        for rule in rules:
            if not rule.optional and rule.path.steps and shape.find(rule.path.keys) is None:
                problems.append(_suggest_nearest(rule, shape, declared))
    problems.extend(_walk(root, shape, unlisted))
    return problems


def _suggest_nearest(rule: Rule, shape: PathSurvey, declared: Collection[Keys]) -> Problem:
    """Report an unmatched rule, with the most similar field; parents that no rule names are hidden."""
    if rule.path.steps[-1].apart:
        return Problem("unmatched", str(rule.path), _NEVER_SINGLE)
    shown, whole = suggest(rule.path, shape, declared)
    hint = f"; did you mean {shown}?" if shown else ""
    revealed = (whole,) if whole != shown else ()
    return Problem("unmatched", str(rule.path), f"nothing in the records matches this path{hint}", revealed)


def _walk(node: Node, shape: PathSurvey, unlisted: Unlisted) -> Iterator[Problem]:
    listed = {
        *node.children,
        *(f"{child.step.document_key}{REST}" for child in node.children.values() if child.step.conditions),
    }
    names = [key for key in shape.children if key not in listed]
    if unlisted == "error":
        yield from _list_unselected(node, shape)
    if shape.texts and TEXT not in node.children and TEXT not in names:
        names.append(TEXT)
    may_be_map = not node.path.place  # XML has none
    if shape.crowded or (may_be_map and names and unlisted == "error" and dynamic(shape, node.children)):
        yield Problem("unlisted", node.text or "$", DYNAMIC, tuple(names))
    elif names and unlisted == "error":
        count = "a field is" if len(names) == 1 else f"{len(names)} fields are"
        yield Problem("unlisted", node.below, f"{count} not listed in the policy", tuple(names))
    for key, child in node.children.items():
        below = shape.children.get(key)
        if below is None or child.drops:
            continue
        yield from _one_or_many(child, below)
        if child.role is not None:
            yield from _leaf(child, below)
        else:
            yield from _object(child, below)
            yield from _walk(child, below, unlisted)


def _list_unselected(node: Node, shape: PathSurvey) -> Iterator[Problem]:
    """Yield the lists with items that no filter selects."""
    for child in node.children.values():
        rest = shape.children.get(child.step.document_key + REST) if child.step.conditions else None
        if rest is not None and child is next(
            sibling
            for sibling in node.children.values()
            if sibling.step.document_key == child.step.document_key
        ):
            count = rest.objects + rest.scalars + rest.nested
            items = "1 item of this list is" if count == 1 else f"{count:,} items of this list are"
            text = node.path.below(len(node.keys)).removesuffix(UNKNOWN) + child.step.document_key
            yield Problem("unlisted", text, f"{items} selected by no filter: {UNSELECTED}")


def _one_or_many(node: Node, shape: PathSurvey) -> Iterator[Problem]:
    if shape.nested:
        yield Problem("misfit", node.text, "arrays directly inside arrays are not supported")
    if shape.arrays and shape.bare:
        yield Problem("clash", node.text, "an array in some records and a single value or object in others")
    elif node.many and shape.bare and not shape.siblings:
        yield Problem("misfit", node.text, "the policy says [*], but this is never an array")
    elif not node.many and shape.arrays:
        yield Problem("misfit", node.text, "this is an array: write [*] after its name")
    elif not node.many and shape.longest > 1:
        yield Problem(
            "misfit", node.text, f"this occurs up to {shape.longest} times: write [*] after its name"
        )


def _leaf(node: Node, shape: PathSurvey) -> Iterator[Problem]:
    if not shape.objects:
        return
    if not WRAPPERS.isdisjoint(shape.children):
        yield Problem("misfit", node.text, _WRAPPED)
        return
    if shape.scalars or shape.texts or shape.empties:
        yield Problem("clash", node.text, "a single value in some records and an object in others")
    elif shape.siblings:
        yield Problem(
            "misfit",
            node.text,
            "the element has attributes or children: give rules for those, and for its text as /text()",
        )
    else:
        yield Problem("misfit", node.text, "this is an object: name its fields")


def _object(node: Node, shape: PathSurvey) -> Iterator[Problem]:
    if not WRAPPERS.isdisjoint(shape.children):
        yield Problem("misfit", node.text, _WRAPPED)
    if not shape.scalars:
        return
    if shape.objects:
        yield Problem("clash", node.text, "an object in some records and a single value in others")
    else:
        yield Problem("misfit", node.text, "this is a single value: there are no fields below it")


def suggest(path: Path, shape: PathSurvey, declared: Collection[Keys]) -> tuple[str, str]:
    """Return the path of the most similar field, and the same with all its names; empty if none is similar.

    Fields are similar if their last names are; of these the whole path decides, so that a forgotten or
    misspelled parent is found too. The name of a parent that no rule names (``declared``) may be data: the
    first text has ``<key>`` instead, unless the path states a similar one.
    """
    stated = path.keys
    by_name: dict[str, list[Keys]] = {}
    for keys in islice(_fields(shape, ()), _MOST):
        by_name.setdefault(_local(keys[-1]), []).append(keys)
    names = get_close_matches(
        _local(stated[-1])[:_LONGEST], [name for name in by_name if len(name) <= _LONGEST], _CLOSE
    )
    similar = [keys for name in names for keys in by_name[name] if keys != stated]
    if not similar:
        parents = {keys[:end] for keys in islice(_fields(shape, ()), _MOST) for end in range(1, len(keys))}
        similar = [keys for keys in parents if len(keys) < len(stated) and _is_near(keys, stated)]
    if not similar:
        return "", ""
    best = max(similar, key=lambda keys: _similarity(keys, stated))
    return _text(path, shape, best, declared), _text(path, shape, best, None)


def _fields(shape: PathSurvey, above: Keys) -> Iterator[Keys]:
    for key, child in shape.children.items():
        yield (*above, key)
        yield from _fields(child, (*above, key))


def _is_near(keys: Keys, stated: Keys) -> bool:
    """Return whether only the last of the keys differs from what is stated there, by a little."""
    end = len(keys) - 1
    return keys[:end] == stated[:end] and _are_alike(keys[end], stated[end])


def _are_alike(key: str, other: str) -> bool:
    return bool(get_close_matches(_local(key)[:_LONGEST], [_local(other)[:_LONGEST]], 1))


def _similarity(keys: Keys, stated: Keys) -> float:
    return sum(
        SequenceMatcher(None, name, other).ratio()
        for name, other in (
            (_local(keys[-1]), _local(stated[-1])),
            ("/".join(map(_local, keys)), "/".join(map(_local, stated))),
        )
    )


def _local(key: str) -> str:
    """Return a key without its namespace; an attribute keeps its ``@``."""
    return ("@" if key.startswith("@") else "") + key.rpartition("}")[2].removeprefix("@")


def _text(path: Path, shape: PathSurvey, keys: Keys, declared: Collection[Keys] | None) -> str:
    """Write keys in the notation of a path; ``declared`` None shows all names."""
    same = next(
        (end for end, (key, other) in enumerate(zip(keys, path.keys, strict=False)) if key != other),
        min(len(keys), len(path.keys)),
    )
    text = path.prefix(same)
    for end in range(same, len(keys)):
        key = keys[end]
        hidden = declared is not None and end < len(keys) - 1 and keys[: end + 1] not in declared
        if hidden and not (end < len(path.keys) and _are_alike(key, path.keys[end])):
            key = UNKNOWN
        there = shape.find(keys[: end + 1])
        text += _step(path, key, there is not None and there.arrays > 0, first=not text)
    return text


def _step(path: Path, key: str, many: bool, first: bool) -> str:
    """Write one step in the notation of a path."""
    if path.place:
        return xpath((), [key])
    if not path.text.startswith("$"):
        return key if first else f".{key}"
    if key == UNKNOWN:
        return f".{key}{'[*]' if many else ''}"
    return jsonpath([Step(key, many)]).removeprefix("$")
