"""Who is not published, worked out from the original and the published records: nothing of the package.

Written from the definition: the suppressed, and those of them whom nothing published fits, are none or
satisfy every model as one class, all vertices of a type taken as one place. Every vertex carries a serial
number that is published as it stands, so that it shows which ones are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

Vertex = dict[str, Any]
Holds = Callable[[int, Sequence[Any], Sequence[Any]], bool]
"""Number of records, values, all values of the original: whether every model holds."""

SERIAL = "serial"


def fits_label(label: Any, value: Any, above: dict[Any, Any]) -> bool:
    """Whether a published label stands for a value; ``above`` is the parent of each value and label."""
    if isinstance(label, str) and label.startswith("{"):
        return any(fits_label(one, value, above) for one in label.strip("{}").split(", "))
    while value != label:
        if value not in above:
            return False
        value = above[value]
    return True


def fits(form: Vertex, vertex: Vertex, quasi: Sequence[str], many: str, above: dict[Any, Any]) -> bool:
    """Whether a published vertex may be this one: labels, and different children for all that are shown."""
    if not all(fits_label(form[name], vertex[name], above) for name in quasi if name in vertex):
        return False
    shown, own = form.get(many) or [], vertex.get(many) or []
    if len(shown) > len(own):
        return False
    return any(
        all(fits(a, b, quasi, many, above) for a, b in zip(shown, picked, strict=True))
        for picked in permutations(own, len(shown))
    )


def unsafe(
    original: Sequence[Vertex],
    published: Sequence[Vertex],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    many: str,
    above: dict[Any, Any],
    holds: Holds,
) -> list[str]:
    """Which of the two groups of records break a model, and where; empty if all is well."""
    there = {record[SERIAL] for record in published}
    gone = [record for record in original if record[SERIAL] not in there]
    alone = [one for one in gone if not any(fits(form, one, quasi, many, above) for form in published)]
    found = []
    for name, group in (("suppressed", gone), ("uncovered", alone)):
        for field in sensitive:
            all_values = list(values(original, field, many))
            if group and not holds(len(group), list(values(group, field, many)), all_values):
                found.append(f"{name} {field}")
    return found


def unsafe_vertices(
    original: Sequence[Vertex], published: Sequence[Vertex], field: str, many: str, holds: Holds
) -> list[str]:
    """The same for the vertices with a sensitive field, where quasi-identifiers are published unchanged.

    The record is found by its quasi-identifiers, so what counts is who is missing, all vertices together.
    """
    there = {serial for serial, _, _ in places(published, None, many)}
    every = list(places(original, field, many))
    gone = [place for place in every if place[0] not in there]
    held = [value for *_, value in gone if value is not None]
    if gone and not holds(len({record for _, record, _ in gone}), held, [value for *_, value in every]):
        return [f"suppressed {field}"]
    return []


def values(records: Sequence[Vertex], field: str, many: str) -> Iterator[Any]:
    """The values of a field in the records and in their vertices."""
    for record in records:
        for vertex in (record, *(record.get(many) or [])):
            if vertex.get(field) is not None:
                yield vertex[field]


def places(records: Sequence[Vertex], field: str | None, many: str) -> Iterator[tuple[Any, Any, Any]]:
    """Serial number, record and sensitive value of the vertices that have the field, or of all."""
    for record in records:
        for vertex in (record, *(record.get(many) or [])):
            if field is None or field in vertex:
                yield vertex[SERIAL], record[SERIAL], vertex.get(field or "")
