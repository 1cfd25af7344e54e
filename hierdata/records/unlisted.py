"""Rules for fields that a policy does not list but keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from hierdata.documents.document import TEXT
from hierdata.ground.errors import PolicyError
from hierdata.records.maps import DYNAMIC, dynamic, resolve_maps, write_path
from hierdata.records.mixed import REST
from hierdata.records.path import Path, Step, parse, xpath
from hierdata.records.rules import Node, plant
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import Keys, PathSurvey


def keep_unlisted(
    rules: Sequence[Rule],
    shape: PathSurvey,
    role: Role,
    many_hints: Collection[Keys] = (),
    maps: Collection[Keys] = (),
    least: int = 0,
) -> list[Rule]:
    """Return one rule of the given role for each field with values that no rule covers, in order of the keys.

    Fields are left out under a key that no rule names and fewer than ``least`` records hold (see PathSurvey):
    its name alone could tell whose it is. Resolve the rules together with these and ``unlisted="drop"``: an
    empty object has nothing to keep. The paths are as a policy writes them, including those of entries of
    ``maps``. Raises PolicyError if the names of unlisted fields look like data.

    >>> from hierdata.records.survey import survey
    >>> shape = survey([{"a": 1, "b": [{"c": 2, "d": {"e": 3}}]}]).shape
    >>> [str(rule.path) for rule in keep_unlisted([Rule(parse("$.b[*].c"), Role.QUASI)], shape, Role.CARRIED)]
    ['$.a', '$.b[*].d.e']
    """
    root, _ = plant(rules, shape, many_hints)
    place = root.path.place
    unlisted = _find_unlisted(root, shape, (), frozenset(many_hints), root.text, least)
    ordered = sorted(unlisted, key=lambda steps: [step.key for step in steps])
    return [Rule(_path(place, steps, maps), role) for steps in ordered]


def _path(place: tuple[str, ...], steps: tuple[Step, ...], maps: Collection[Keys]) -> Path:
    if place:
        return parse(xpath(place, (step.key for step in steps)), depth=len(place))
    return resolve_maps(parse(write_path(steps, maps)), maps)


def _find_unlisted(
    node: Node | None,
    shape: PathSurvey,
    steps: tuple[Step, ...],
    hints: Collection[Keys],
    where: str,
    least: int,
) -> Iterator[tuple[Step, ...]]:
    """Yield the steps to every value below that no rule covers; ``node`` is None if no rule passes here.

    ``where`` is the path in messages: names that no rule states may be data.
    """
    listed = node.children if node is not None else {}
    for named in listed.values():
        if named.step.conditions and named.step.document_key + REST in shape.children:
            raise PolicyError(
                "no filter selects some items of this list, and `unlisted: {keep: ...}` keeps fields, not "
                "items: add a filter for them, or leave them out with `unlisted: drop`",
                path=f"{where}.{named.step.document_key}",
            )
    if dynamic(shape, listed):
        raise PolicyError(DYNAMIC, path=where)
    if shape.texts and TEXT not in shape.children and TEXT not in listed:
        yield (*steps, Step(TEXT, False))
    for key, below in sorted(shape.children.items()):
        child = listed.get(key)
        if below.holders < least if child is None else child.drops or child.role is not None:
            continue
        keys = (*(step.key for step in steps), key)
        many = child.many if child is not None else keys in hints or below.arrays > 0 or below.longest > 1
        path = (*steps, Step(key, many) if child is None else replace(child.step, many=many))
        if child is None and not below.objects:
            yield path
        else:
            unnamed = node.below if node is not None else where
            yield from _find_unlisted(
                child, below, path, hints, unnamed if child is None else child.text, least
            )
