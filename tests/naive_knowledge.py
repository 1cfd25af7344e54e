"""Bounded knowledge in plain Python: patterns of facts, and the records that match them.

A record is a tree of ``Shown`` vertices. A fact is one field of one vertex below the root. A pattern is a
root vector and up to m facts, with the depth of the lowest common ancestor of each pair of them.

Decided here: the vertex clause speaks of vertices below the root, also where root values are counted. Under
alpha each sensitive value of a record counts once at an anchor, however many matches lead there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, NamedTuple, TypeAlias

PRESENT = "present"
ABSENT = None
"""What a field shows whose value is missing, ``*`` or deleted."""


class Shown(NamedTuple):
    """A published vertex: what its fields show, its sensitive values by attribute, and its children.

    Sensitive values that may be known are fields. Of the root, only the first ``vector`` fields, by default
    all, make its vector; the others are facts of depth 0.
    """

    kind: str
    fields: tuple[Any, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    children: tuple[Shown, ...] = ()
    vector: int | None = None


def vector_of(record: Shown) -> tuple[Any, ...]:
    """The fields of a root by which records are told apart."""
    return record.fields[: record.vector]


@dataclass(frozen=True)
class Outline:
    """How documents of one vertex type are read: fields, sensitive attributes, and children by key.

    ``known`` are the sensitive attributes whose values may be known.
    """

    kind: str
    fields: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    children: Mapping[str, Outline] | None = None
    known: tuple[str, ...] = ()

    def read(self, document: Mapping[str, Any]) -> Shown:
        """Read a document; a missing key, null and ``*`` are absent."""
        shown = (document.get(name) for name in self.fields)
        known = (document.get(name) for name in self.known)
        return Shown(
            self.kind,
            (*(ABSENT if value == "*" else value for value in shown), *known),
            tuple((name, document[name]) for name in self.sensitive if document.get(name) is not None),
            tuple(
                below.read(item)
                for key, below in (self.children or {}).items()
                for item in document.get(key, [])
            ),
            len(self.fields),
        )


Path: TypeAlias = tuple[int, ...]
"""The place of a vertex: which child to take at each depth."""
Fact: TypeAlias = tuple[Path, tuple[Any, ...]]
"""A vertex and its label: the vertex type, the number of the field, and what it shows."""
Pattern: TypeAlias = tuple[Any, ...]


def vertices(record: Shown, path: Path = ()) -> Iterator[tuple[Path, Shown]]:
    yield path, record
    for at, child in enumerate(record.children):
        yield from vertices(child, (*path, at))


def facts_of(record: Shown, *, counted: bool) -> list[Fact]:
    """All facts of a record; those of the root only where they are counted."""
    found: list[Fact] = []
    for path, vertex in vertices(record):
        first = 0 if path or counted else len(vector_of(record))
        shown = [*enumerate(vertex.fields)][first:]
        found += ((path, (vertex.kind, at, value)) for at, value in shown)
        if path and not vertex.fields:
            found.append((path, (vertex.kind, -1, PRESENT)))
    return found


def common_depth(one: Path, other: Path) -> int:
    depth = 0
    while depth < min(len(one), len(other)) and one[depth] == other[depth]:
        depth += 1
    return depth


def spell(chosen: Sequence[Fact]) -> Pattern:
    """Labels and depths of common ancestors, in the order given."""
    labels = tuple(repr(label) for _, label in chosen)
    depths = tuple(common_depth(a[0], b[0]) for a, b in combinations(chosen, 2))
    return labels, depths


def canonical_orders(chosen: Sequence[Fact]) -> tuple[Pattern, list[tuple[Fact, ...]]]:
    """The pattern of some facts, and all orders of the facts that spell it."""
    orders = list(permutations(chosen))
    least = min(map(spell, orders))
    return least, [order for order in orders if spell(order) == least]


def patterns_of(record: Shown, m: int, *, counted: bool) -> dict[int, set[Pattern]]:
    """The patterns that a record matches, by number of facts."""
    facts = facts_of(record, counted=counted)
    return {q: {canonical_orders(chosen)[0] for chosen in combinations(facts, q)} for q in range(m + 1)}


def whole_vertices(record: Shown) -> set[Pattern]:
    """What the vertices below the root show in all their own fields."""
    return {(vertex.kind, repr(vertex.fields)) for path, vertex in vertices(record) if path}


def by_root(records: Iterable[Shown], *, counted: bool) -> dict[Any, list[Shown]]:
    """Records by published root vector; all together where root values are counted."""
    found: defaultdict[Any, list[Shown]] = defaultdict(list)
    for record in records:
        found[() if counted else vector_of(record)].append(record)
    return found


def smallest_counts(
    records: Sequence[Shown], m: int, *, whole: bool = True, counted: bool = False
) -> dict[str, int]:
    """The least number of records that match a pattern that has a match, as ``k_q`` and ``k_vertex``."""
    least: dict[str, int] = {}
    for group in by_root(records, counted=counted).values():
        counts: dict[str, Counter[Pattern]] = defaultdict(Counter)
        for record in group:
            for q, patterns in patterns_of(record, m, counted=counted).items():
                counts[f"k_{q}"].update(patterns)
            if whole:
                counts["k_vertex"].update(whole_vertices(record))
        for letter, counted_patterns in counts.items():
            if counted_patterns:
                own = min(counted_patterns.values())
                least[letter] = min(least.get(letter, own), own)
    return least


def _values_at(record: Shown, anchors: Collection[Path]) -> dict[str, list[Any]]:
    """The sensitive values at or below some vertices, or above them, each once, by attribute."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for path, vertex in vertices(record):
        if any(common_depth(path, anchor) in (len(path), len(anchor)) for anchor in anchors):
            for name, value in vertex.values:
                found[f"{vertex.kind}.{name}"].append(value)
    return found


def _anchored(record: Shown, m: int, *, whole: bool, counted: bool) -> dict[tuple[Any, ...], set[Path]]:
    """The vertices of a record at each anchor of each pattern that it matches."""
    found: defaultdict[tuple[Any, ...], set[Path]] = defaultdict(set)
    facts = facts_of(record, counted=counted)
    for q in range(m + 1):
        for chosen in combinations(facts, q):
            pattern, orders = canonical_orders(chosen)
            found[(pattern, "root")].add(())
            for order in orders:
                for index, (path, _) in enumerate(order):
                    for depth in range(1, len(path) + 1):
                        found[(pattern, index, depth)].add(path[:depth])
    if whole:
        for path, vertex in vertices(record):
            for depth in range(len(path) + 1) if path else ():
                found[("vertex", vertex.kind, repr(vertex.fields), depth)].add(path[:depth])
    return found


def largest_shares(
    records: Sequence[Shown], m: int, *, whole: bool = True, counted: bool = False, presence: bool = False
) -> dict[tuple[str, Any], Fraction]:
    """The largest share of each sensitive value, by attribute and value, over all patterns and anchors."""
    largest: dict[tuple[str, Any], Fraction] = {}
    for group in by_root(records, counted=counted).values():
        weights: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
        showing: Counter[Any] = Counter()
        for record in group:
            for anchor, paths in _anchored(record, m, whole=whole, counted=counted).items():
                for name, values in _values_at(record, paths).items():
                    showing[anchor, name] += 1
                    for value, times in Counter(values).items():
                        share = Fraction(1) if presence else Fraction(times, len(values))
                        weights[anchor, name][value] += share
        for (anchor, name), own in weights.items():
            for value, weight in own.items():
                share = Fraction(weight) / showing[anchor, name]
                largest[name, value] = max(largest.get((name, value), Fraction(0)), share)
    return largest


Parents: TypeAlias = Callable[[str, int, Any], "Sequence[Any]"]
"""The labels above a label of a field, from the next one up, without ``*``."""


def has_disjoint_nodes(records: Sequence[Shown], above: Parents) -> bool:
    """Whether no label that a field shows generalizes another one of the same field."""
    shown: defaultdict[tuple[str, int], set[Any]] = defaultdict(set)
    for record in records:
        for path, vertex in vertices(record):
            if path:
                for at, value in enumerate(vertex.fields):
                    shown[vertex.kind, at].add(value)
    return not any(
        set(above(kind, at, value)) & (labels - {ABSENT})
        for (kind, at), labels in shown.items()
        for value in labels - {ABSENT}
    )


def form_of(vertex: Shown) -> Any:
    """The structure and what all fields show, whatever the order of siblings."""
    return vertex.kind, repr(vertex.fields), tuple(sorted(map(form_of, vertex.children), key=repr))


def keeps_promise(
    records: Sequence[Shown],
    above: Parents,
    *,
    k: int,
    m: int,
    whole: bool = True,
    counted: bool = False,
    alpha: Fraction | None = None,
    presence: bool = False,
    values: Collection[tuple[str, Any]] | None = None,
) -> bool:
    """Whether published records keep bounded knowledge; ``values`` are those that alpha limits, None all."""
    if any(count < k for count in smallest_counts(records, m, whole=whole, counted=counted).values()):
        return False
    for group in by_root(records, counted=False).values():
        forms = Counter(map(form_of, group))
        if min(forms.values()) < k and not has_disjoint_nodes(group, above):
            return False
    if alpha is None:
        return True
    shares = largest_shares(records, m, whole=whole, counted=counted, presence=presence)
    return all(share <= alpha for value, share in shares.items() if values is None or value in values)
