"""Print a record as the rooted tree that is anonymized."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from hierdata.domains.base import Uncovered
from hierdata.ground.errors import InputError
from hierdata.ground.escaping import escape
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.policy.load.other_fields import without_required_fields
from hierdata.records.schema import Role

if TYPE_CHECKING:
    from hierdata.documents.document import Scalar
    from hierdata.domains.base import Hierarchy
    from hierdata.domains.sensitive import SensitiveDomain
    from hierdata.policy.plan.plan import Prepared
    from hierdata.records.record import Vertex


def show_tree(
    record: object, policy: PolicySource, *, key: bytes | None = None, file: TextIO | None = None
) -> None:
    """Print the rooted tree of a record: its vertices, with roles, levels and generalized values.

    A quasi-identifier is followed by what it may be generalized to, up to ``*``; a sensitive value by its
    level, if the policy gives it one (levels by frequency count this record alone). ``record`` is a dict or
    an lxml element; ``file`` is standard output by default. The tree has the record's own values: it is for
    whoever may see them. ``key`` is needed if the policy has pseudonyms or moves dates.

    Raises PolicyError, and InputError for a record that does not fit the policy.
    """
    from hierdata.records.binding import bind

    with look_over([record], without_required_fields(read_policy(policy)), key, None, None, None) as looked:
        overview, prepared, _, _ = looked
        (located,) = overview.splits
        documents = overview.treatment.documents(located.split.documents())
        (root,) = bind(documents, prepared.binding)
    lines = [prepared.schema.root.path, *_lines_below(root, prepared)]
    (file or sys.stdout).writelines(f"{escape(line)}\n" for line in lines)


def _lines_below(vertex: Vertex, prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute of a vertex, and for each vertex below it with what it has."""
    types = prepared.schema.types
    below: list[tuple[str, Iterable[str]]] = [(line, ()) for line in _attributes(vertex, prepared)]
    for child in vertex.children:
        kind = types[child.type]
        below.append((".".join(kind.steps) + "[*]" * kind.many, _lines_below(child, prepared)))
    for number, (line, inner) in enumerate(below, 1):
        last = number == len(below)
        yield ("└── " if last else "├── ") + line
        yield from (("    " if last else "│   ") + own for own in inner)


def _attributes(vertex: Vertex, prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute of a vertex that has a value."""
    kind = prepared.schema.types[vertex.type]
    values = vertex.quasi, vertex.sensitive, vertex.carried
    for attribute, (steps, held, position) in zip(kind.attributes, kind.places, strict=True):
        value = values[held][position]
        if value is None:
            continue
        name = ".".join(steps) or "item"
        try:
            if attribute.role is Role.QUASI:
                yield f"{name}: {value} (quasi){_ladder(prepared.hierarchies[vertex.type][position], value)}"
            elif attribute.role is Role.SENSITIVE:
                yield f"{name}: {value} (sensitive{_level(prepared.domains[vertex.type][position], value)})"
            else:
                yield f"{name}: {value} (exempt)"
        except Uncovered:
            raise InputError("the value lies outside its domain", path=attribute.path) from None


def _ladder(tree: Hierarchy, value: Scalar) -> str:
    """Return the labels of what generalizes a value, from its finest published form up."""
    above = [node for node in tree.ancestors[tree.node_of(value)] if node >= 0]
    labels = dict.fromkeys(str(tree.labels[node]) for node in reversed(above))
    labels.pop(str(value), None)
    return "".join(f" > {label}" for label in labels)


def _level(domain: SensitiveDomain, value: Scalar) -> str:
    return "" if domain.levels is None else f", level {domain.levels[domain.code_of(value)]}"
