"""Bounded knowledge in plain Python: patterns of facts, and the records that match them.

A record is a tree of ``Shown`` vertices. A fact is one field of one vertex below the root. A pattern is a
root vector and up to m facts, with the depth of the lowest common ancestor of each pair of them.

Decided here: the vertex clause speaks of vertices below the root, also where root values are counted. Under
alpha each sensitive value of a record counts once at an anchor, however many matches lead there. What a match
states of sensitive values that may be known is taken out of what it leaves to guess, and what is absent there
may be any value.
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

    Sensitive values that may be known are fields too: the last ones, by their names in ``known``. Of the
    root, only the first ``vector`` fields, by default all, make its vector; the others are facts of depth 0.
    """

    kind: str
    fields: tuple[Any, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    children: tuple[Shown, ...] = ()
    vector: int | None = None
    known: tuple[str, ...] = ()


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
            self.known,
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


OTHER = "a value that nobody shows"
NOTHING = "no value"
"""What may be true of a value that is absent: that there is none."""
Occurrence: TypeAlias = tuple[Path, str]
"""A sensitive attribute of one vertex."""


def stated_by_fields(record: Shown) -> dict[Occurrence, Any]:
    """The sensitive values that may be known, by vertex and attribute; ABSENT is one that is not shown."""
    return {
        (path, f"{vertex.kind}.{name}"): vertex.fields[at]
        for path, vertex in vertices(record)
        for at, name in enumerate(vertex.known, len(vertex.fields) - len(vertex.known))
    }


def occurrences_of(record: Shown) -> dict[Occurrence, Any]:
    """All sensitive values by vertex and attribute, those that may be known too.

    Where ``values`` of a vertex say what is true of an absent one, it is that.
    """
    found = stated_by_fields(record)
    for path, vertex in vertices(record):
        found |= {(path, f"{vertex.kind}.{name}"): value for name, value in vertex.values}
    return {one: value for one, value in found.items() if value != NOTHING}


def _states(record: Shown, fact: Fact) -> Occurrence | None:
    """The sensitive attribute of which a fact states the value, or that it is absent."""
    path, (kind, at, _) = fact
    vertex = dict(vertices(record))[path]
    place = at - len(vertex.fields) + len(vertex.known)
    return (path, f"{kind}.{vertex.known[place]}") if at >= 0 <= place else None


class Place(NamedTuple):
    """What one record leaves to guess at an anchor of a pattern: its matches lead to some vertices.

    ``left`` has by vertex the values of each attribute at or below it that no fact states, ``above`` those of
    vertices above. ``stated`` are the values that facts state there, ``shown`` is what is published of those
    left: it is the same whatever match leads to a vertex.
    """

    left: dict[Path, Counter[tuple[str, Any]]]
    above: dict[Path, Counter[tuple[str, Any]]]
    stated: set[tuple[str, Any]]
    shown: dict[Path, Counter[tuple[str, Any]]]

    def add(self, record: Shown, anchor: Path, facts: Collection[Fact]) -> None:
        """Add the anchor of one match; another match that leads to it leaves as much."""
        every, fields = occurrences_of(record), stated_by_fields(record)
        near = {one for one in every | fields if common_depth(one[0], anchor) in (len(one[0]), len(anchor))}
        stated = {_states(record, fact) for fact in facts} & near
        self.stated.update((one[1], fields[one]) for one in stated if one is not None)
        own: Counter[tuple[str, Any]] = Counter()
        over: defaultdict[Path, Counter[tuple[str, Any]]] = defaultdict(Counter)
        left = near - stated
        for one in left & every.keys():
            (own if len(one[0]) >= len(anchor) else over[one[0]])[one[1], every[one]] += 1
        shown = Counter((one[1], fields[one] if one in fields else every[one]) for one in left)
        assert self.shown.setdefault(anchor, shown) == shown
        self.left.setdefault(anchor, own)
        for path, values in over.items():
            self.above.setdefault(path, values)

    def values(self) -> dict[str, Counter[Any]]:
        """How often each value is left, by attribute."""
        found: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        for values in (*self.left.values(), *self.above.values()):
            for (name, value), times in values.items():
                found[name][value] += times
        return found


def _anchored(record: Shown, m: int, *, whole: bool, counted: bool) -> dict[tuple[Any, ...], Place]:
    """What a record leaves to guess at each anchor of each pattern that it matches."""
    found: defaultdict[tuple[Any, ...], Place] = defaultdict(lambda: Place({}, {}, set(), {}))
    facts = facts_of(record, counted=counted)
    for q in range(m + 1):
        for chosen in combinations(facts, q):
            pattern, orders = canonical_orders(chosen)
            found[(pattern, "root")].add(record, (), chosen)
            for order in orders:
                for index, (path, _) in enumerate(order):
                    for depth in range(1, len(path) + 1):
                        found[(pattern, index, depth)].add(record, path[:depth], chosen)
    if whole:
        for path, vertex in vertices(record):
            own = [fact for fact in facts if fact[0] == path]
            for depth in range(len(path) + 1) if path else ():
                found[("vertex", vertex.kind, repr(vertex.fields), depth)].add(record, path[:depth], own)
    return found


def largest_shares(
    records: Sequence[Shown],
    m: int,
    *,
    whole: bool = True,
    counted: bool = False,
    presence: bool = False,
    values: Collection[tuple[str, Any]] | None = None,
) -> dict[tuple[str, Any], Fraction]:
    """The largest share of each sensitive value, by attribute and value, over all patterns and anchors.

    ``values`` are those that are asked for; None means all, those too that nobody shows.
    """
    asked = _asked(records, values)
    largest: dict[tuple[str, Any], Fraction] = {}
    for group in by_root(records, counted=counted).values():
        places: defaultdict[Any, list[Place]] = defaultdict(list)
        for record in group:
            for anchor, place in _anchored(record, m, whole=whole, counted=counted).items():
                places[anchor].append(place)
        for own in places.values():
            for value, share in _shares_at(own, asked, presence=presence).items():
                largest[value] = max(largest.get(value, share), share)
    return largest


def _asked(records: Sequence[Shown], values: Collection[tuple[str, Any]] | None) -> set[tuple[str, Any]]:
    """The values whose shares are asked for."""
    if values is not None:
        return set(values)
    shown = {(name, value) for record in records for (_, name), value in occurrences_of(record).items()}
    return {(name, value) for name, one in shown for value in (one, OTHER) if value is not ABSENT}


def _shares_at(
    places: Sequence[Place], asked: Collection[tuple[str, Any]], *, presence: bool
) -> dict[tuple[str, Any], Fraction]:
    """The shares of values at one anchor of a pattern, of which the records leave so much to guess."""
    held = [place.values() for place in places]
    found: dict[tuple[str, Any], Fraction] = {}
    for name, value in asked:
        left = [one[name] for one in held if one[name].total()]
        known = presence and any((name, value) in place.stated for place in places)
        if left and not known:
            share = Fraction(sum(weigh(one, value, presence=presence) for one in left), len(left))
            if share:
                found[name, value] = share
    return found


def weigh(left: Counter[Any], value: Any, *, presence: bool) -> Fraction:
    """What a record weighs for a value: what is absent may be this value too."""
    fitting = left[value] + left[ABSENT]
    return Fraction(fitting > 0) if presence else Fraction(fitting, left.total())


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
    shares = largest_shares(records, m, whole=whole, counted=counted, presence=presence, values=values)
    return all(share <= alpha for share in shares.values())


def pairs_of(record: Mapping[str, Any], known: Collection[str] = ()) -> set[tuple[tuple[str, str], ...]]:
    """Each two facts of a JSON record, by path and value; a value that occurs twice is a pair with itself.

    Facts of one vertex and of two are not told apart; fields with the names ``known`` are no facts.
    """
    shown = [fact for fact in _stated(record, "$") if fact[0].rpartition(".")[2] not in known]
    return set(combinations(sorted(shown), 2))


def _stated(vertex: Mapping[str, Any], above: str) -> Iterator[tuple[str, str]]:
    for key, value in vertex.items():
        if isinstance(value, list):
            for one in value:
                yield from _stated(one, f"{above}.{key}")
        else:
            yield f"{above}.{key}", str(value)
