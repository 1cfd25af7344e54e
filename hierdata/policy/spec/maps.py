"""The objects of a policy that are maps: their keys are values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from hierdata.ground.errors import PolicyError
from hierdata.policy.spec.fields import FieldRule
from hierdata.records.maps import resolve_maps
from hierdata.records.path import Path, parse
from hierdata.records.survey import Keys


def maps_of(fields: Mapping[str, FieldRule], namespaces: Mapping[str, str]) -> dict[Keys, str]:
    """Return the maps that the rules name: for the keys of each, the path that names it.

    Raises PolicyError.
    """
    found: dict[Keys, str] = {}
    stated = [parse(text, namespaces) for text, rule in fields.items() if rule.map]
    for path in sorted(stated, key=lambda path: (len(path.steps), bool(path.steps and path.steps[-1].many))):
        if path.place or not path.steps:
            raise PolicyError(f"{path}: a map is a JSON object below the record; XML has none")
        there = resolve_maps(path, found, whole=True)
        if path.steps[-1].many and there.keys[:-1] not in found:
            raise PolicyError(f"{path}: a map is named without [*]; its values are {path}")
        found[there.keys] = path.text
    return found


def unusable_paths(
    texts: Iterable[str], namespaces: Mapping[str, str], depth: int
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the fields whose own path cannot be used, each with its keys in the policy and the reason."""
    for text in texts:
        try:
            parse(text, namespaces, depth)
        except PolicyError as error:
            yield ("fields", text), str(error)


def read_path(
    text: str, namespaces: Mapping[str, str], depth: int, maps: Collection[Keys], *, whole: bool = False
) -> Path:
    """Parse a path of the policy; ``whole``: it names a map. Raises PolicyError."""
    return resolve_maps(parse(text, namespaces, depth), maps, whole=whole)
