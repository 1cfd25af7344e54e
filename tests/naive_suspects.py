"""Whom an adversary may take for a person, in plain Python: every way in which facts may be published.

Nothing here is taken from the definition of bounded knowledge (tests/naive_knowledge.py): a published record
may be a person's if what is known of the person, each fact shown, deleted, or gone with its vertex, fits it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

from tests.naive_knowledge import ABSENT, PRESENT, Parents, Path, Shown, facts_of, vector_of, vertices

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


def ways(
    known: Known, published: Shown, removable: Collection[str], above: Parents
) -> Iterator[tuple[tuple[Any, ...], dict[Path, Path | None]]]:
    """What may have become of each known fact if a published record is that of the person, and where.

    An entry is the label by which the fact is shown, ABSENT, or how deep its lowest vertex left is.
    """
    originals, shown = dict(vertices(known.record)), dict(vertices(published))
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
            yield tuple(outcome), image


def outcomes(
    known: Known, published: Shown, removable: Collection[str], above: Parents
) -> set[tuple[Any, ...]]:
    """All that may have become of the known facts if a published record is that of the person."""
    return {outcome for outcome, _ in ways(known, published, removable, above)}


def fits_root(known: Known, record: Shown, above: Parents) -> bool:
    """Whether all root values of a published record may be those of the person."""
    return all(
        label is ABSENT or (raw is not ABSENT and label in (raw, *above(record.kind, at, raw)))
        for at, (label, raw) in enumerate(zip(vector_of(record), vector_of(known.record), strict=True))
    )


def values_around(record: Shown, targets: Collection[Path]) -> dict[str, list[Any]]:
    """The sensitive values at, below and above some vertices, each once, by attribute."""
    held: defaultdict[str, list[Any]] = defaultdict(list)
    for path, vertex in vertices(record):
        if any(path[: len(one)] == one or one[: len(path)] == path for one in targets):
            for name, value in vertex.values:
                held[f"{vertex.kind}.{name}"].append(value)
    return held


def best_guesses(
    known: Known, published: Sequence[Shown], above: Parents, *, counted: bool = False, presence: bool = False
) -> dict[Any, Fraction]:
    """The largest share of each sensitive value among the records that show all known facts.

    It is guessed of the person, and of each known vertex and those above it: from the values that are at,
    below or above what it may be, each record weighing 1, or for presence from the records that show it.
    """
    weights: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
    showing: Counter[Any] = Counter()
    for record in published:
        if not counted and not fits_root(known, record, above):
            continue
        places: defaultdict[Any, set[Path]] = defaultdict(set)
        for outcome, image in ways(known, record, (), above):
            for path, target in image.items():
                assert target is not None, "no vertex was removed"
                places[() if counted else vector_of(record), outcome, path].add(target)
        for place, targets in places.items():
            for name, values in values_around(record, targets).items():
                showing[place, name] += 1
                for value, times in Counter(values).items():
                    weights[place, name][value] += 1 if presence else Fraction(times, len(values))
    best: dict[Any, Fraction] = {}
    for (place, name), own in weights.items():
        for value, weight in own.items():
            share = Fraction(weight) / showing[place, name]
            best[name, value] = max(best.get((name, value), share), share)
    return best


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
        root = () if counted else vector_of(record)
        if counted or fits_root(known, record, above):
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
