"""One wide row for each record: lists flattened by position, as ``json_normalize`` or a spreadsheet has it.

Lists are sorted by their quasi-identifier first, so that a position tends to hold similar values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.benchmarks.comparison.shapes import Shape

Record = dict[str, Any]


def cells(vertex: Mapping[str, Any], shape: Shape, before: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of a record: ``courses_1_code``, ``courses_1_evaluations_2_score`` and so on."""
    for key in (*shape.quasi, shape.sensitive):
        if key in vertex:
            yield before + key, vertex[key]
    if shape.below:
        children = sorted(
            vertex.get(shape.child, ()), key=lambda one: [str(one[key]) for key in shape.below.quasi]
        )
        for at, child in enumerate(children, 1):
            yield from cells(child, shape.below, f"{before}{shape.child}_{at}_")


def flattened(records: Sequence[Record], shape: Shape) -> list[Record]:
    """One flat record for each."""
    return [dict(cells(record, shape)) for record in records]


def rules(rows: Sequence[Record], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of the columns, each that of its field; a cell may be missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    last = {path.rpartition(".")[2]: rule for path, rule in fields.items()}
    return {f"$.{name}": last[_key(name, last)] for name in names}


def _key(name: str, last: Mapping[str, Any]) -> str:
    return next(key for key in last if name == key or name.endswith(f"_{key}"))


def rebuilt(row: Mapping[str, Any], shape: Shape, before: str = "") -> Record:
    """The tree that a published row shows; positions without any cell are not there."""
    keys = (*shape.quasi, shape.sensitive)
    found = {key: row[before + key] for key in keys if row.get(before + key) is not None}
    if shape.below:
        starts = f"{before}{shape.child}_"
        places = {int(name[len(starts) :].split("_")[0]) for name in row if name.startswith(starts)}
        children = [rebuilt(row, shape.below, f"{starts}{at}_") for at in sorted(places)]
        if shown := [child for child in children if child]:
            found[shape.child] = shown
    return found
