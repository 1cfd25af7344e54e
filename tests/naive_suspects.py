"""Whom an adversary may take for a person, in plain Python: every way in which facts may be published.

Nothing here is taken from the definition of bounded knowledge (tests/naive_knowledge.py): a published record
may be a person's if what is known of the person, each fact shown, deleted, or gone with its vertex, fits it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from tests.naive_knowledge import ABSENT, PRESENT, Parents, Path, Shown, facts_of, vertices

REMOVED = "removed"


class Known(NamedTuple):
    """What an adversary knows: fields of original vertices, as (path, number of the field, raw value)."""

    record: Shown
    facts: tuple[tuple[Path, int, Any], ...]


def _images(known: Known, published: Shown, removable: Collection[str]) -> Iterator[dict[Path, Path | None]]:
    """Every way to map the known vertices, and those above them, to published ones or to nothing."""
    originals = dict(vertices(known.record))
    shown = dict(vertices(published))
    needed = sorted(
        {path[:depth] for path, _, _ in known.facts for depth in range(1, len(path) + 1)}, key=len
    )

    def extend(image: dict[Path, Path | None], rest: Sequence[Path]) -> Iterator[dict[Path, Path | None]]:
        if not rest:
            yield dict(image)
            return
        path, *others = rest
        parent = image[path[:-1]]
        kind = originals[path].kind
        if parent is None or kind in removable:
            yield from extend({**image, path: None}, others)
        if parent is not None:
            for target, vertex in shown.items():
                if target and target[:-1] == parent and vertex.kind == kind and target not in image.values():
                    yield from extend({**image, path: target}, others)

    yield from extend({(): ()}, needed)


def outcomes(
    known: Known, published: Shown, removable: Collection[str], above: Parents
) -> set[tuple[Any, ...]]:
    """What may have become of each known fact if a published record is that of the person.

    An entry is the label by which the fact is shown, ABSENT, or how deep its lowest vertex left is.
    """
    originals, shown = dict(vertices(known.record)), dict(vertices(published))
    found: set[tuple[Any, ...]] = set()
    for image in _images(known, published, removable):
        outcome: list[Any] = []
        for path, at, raw in known.facts:
            target = image[path] if path else ()
            if target is None:
                left = next(depth for depth in range(len(path), -1, -1) if image[path[:depth]] is not None)
                outcome.append((REMOVED, left))
                continue
            kind = originals[path].kind
            label = PRESENT if at < 0 else shown[target].fields[at]
            fits = label in (PRESENT, ABSENT) or (raw is not ABSENT and label in (raw, *above(kind, at, raw)))
            if not fits:
                break
            outcome.append(label)
        else:
            found.add(tuple(outcome))
    return found


def candidates(
    known: Known,
    published: Sequence[Shown],
    removable: Collection[str],
    above: Parents,
    *,
    counted: bool = False,
) -> dict[tuple[Any, ...], list[int]]:
    """The published records that may be the person, by root vector and what became of each fact."""
    found: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, record in enumerate(published):
        root = () if counted else record.fields
        fits = counted or all(
            label is ABSENT or (raw is not ABSENT and label in (raw, *above(record.kind, at, raw)))
            for at, (label, raw) in enumerate(zip(record.fields, known.record.fields, strict=True))
        )
        if fits:
            for outcome in outcomes(known, record, removable, above):
                found[(root, outcome)].append(number)
    return found


def knowledge_of(record: Shown, m: int, *, whole: bool = True, counted: bool = False) -> Iterator[Known]:
    """Everything that may be known of a person: up to m facts, or one whole vertex."""
    facts = [(path, at, raw) for path, (_, at, raw) in facts_of(record, counted=counted)]
    for q in range(m + 1):
        for chosen in combinations(facts, q):
            yield Known(record, chosen)
    if whole:
        for path, _ in vertices(record):
            own = tuple(fact for fact in facts if fact[0] == path)
            if path and own:
                yield Known(record, own)


def recodings_of(
    record: Shown, choices: Callable[[str, int, Any], Sequence[Any]], removable: Collection[str]
) -> Iterator[Shown]:
    """Every way to publish a record: fields by ``choices`` or absent, removable vertices there or not."""

    def publish(vertex: Shown) -> list[Shown]:
        fields = product(
            *(dict.fromkeys((*choices(vertex.kind, at, raw), ABSENT)) for at, raw in enumerate(vertex.fields))
        )
        below = product(
            *(
                [*publish(child), *([None] if child.kind in removable else [])]  # type: ignore[list-item]
                for child in vertex.children
            )
        )
        return [
            vertex._replace(fields=own, children=tuple(child for child in left if child is not None))
            for own, left in product(fields, list(below))
        ]

    yield from publish(record)
