"""Rules for the fields that a policy does not list, where it keeps them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hierdata.documents.document import TEXT
from hierdata.errors import PolicyError
from hierdata.records.maps import DYNAMIC, dynamic, in_maps, written
from hierdata.records.path import Path, Step, parse, xpath
from hierdata.records.rules import Node, plant
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import Keys, Shape


def kept(
    rules: Sequence[Rule],
    shape: Shape,
    role: Role,
    many_hints: Collection[Keys] = (),
    maps: Collection[Keys] = (),
) -> list[Rule]:
    """One rule of the given role for each field with values that no rule covers, in the order of the survey.

    Resolve the rules together with these and ``unlisted="drop"``: an empty object has nothing to keep. The
    paths read as a policy writes them, those of entries of ``maps`` too. Raises PolicyError where the names
    of unlisted fields look like data.

    >>> from hierdata.records.survey import survey
    >>> shape = survey([{"a": 1, "b": [{"c": 2, "d": {"e": 3}}]}]).shape
    >>> [str(rule.path) for rule in kept([Rule(parse("$.b[*].c"), Role.QUASI)], shape, Role.CARRIED)]
    ['$.a', '$.b[*].d.e']
    """
    root, _ = plant(rules, shape, many_hints)
    place = root.path.place
    found = _unlisted(root, shape, (), frozenset(many_hints), root.text)
    return [Rule(_path(place, steps, maps), role) for steps in found]


def _path(place: tuple[str, ...], steps: tuple[Step, ...], maps: Collection[Keys]) -> Path:
    if place:
        return parse(xpath(place, (step.key for step in steps)), depth=len(place))
    return in_maps(parse(written(steps, maps)), maps)


def _unlisted(
    node: Node | None, shape: Shape, steps: tuple[Step, ...], hints: Collection[Keys], where: str
) -> Iterator[tuple[Step, ...]]:
    """The steps to every value below that no rule covers; ``node`` is None where no rule passes.

    ``where`` is the path in messages: names that no rule has may be data.
    """
    listed = node.children if node is not None else {}
    if dynamic(shape, listed):
        raise PolicyError(DYNAMIC, path=where)
    if shape.texts and TEXT not in shape.children and TEXT not in listed:
        yield (*steps, Step(TEXT, False))
    for key, below in shape.children.items():
        child = listed.get(key)
        if child is not None and (child.drops or child.role is not None):
            continue
        keys = (*(step.key for step in steps), key)
        many = child.many if child is not None else keys in hints or below.arrays > 0 or below.longest > 1
        path = (*steps, Step(key, many))
        if child is None and not below.objects:
            yield path
        else:
            unnamed = node.below if node is not None else where
            yield from _unlisted(child, below, path, hints, unnamed if child is None else child.text)
