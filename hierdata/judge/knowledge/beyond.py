"""What somebody learns who knows more than is promised: sampled persons, told apart by more facts.

The sample is the records with the least hashes of what is published of them, and the facts are drawn by these
hashes, so that the same file gives the same figures, whoever judges it and in however many parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from heapq import nsmallest
from itertools import chain
from typing import TypeAlias, TypeVar

from hierdata.judge.rules import MOST_SAMPLED

Path: TypeAlias = tuple[int, ...]
"""The ancestors of a vertex and the vertex itself, the root left out."""
Fact: TypeAlias = tuple[str, Path]
"""What a fact shows, and where."""
Words: TypeAlias = tuple[str, tuple[str, ...], tuple[bool, ...]]
"""What a vertex shows in words: all together, each of its facts, and whether each shows a value."""
Item = TypeVar("Item")
_KEPT = 256
"""The facts for which the records that show them are remembered."""


class ShownRecord:
    """A published record: its hash, its facts, how many vertices of each type it has, how often it occurs.

    Of what the root shows facts begin at ``first``.
    """

    def __init__(
        self,
        digest: bytes,
        vertices: Sequence[int],
        counts: tuple[int, ...],
        times: int,
        words_of: Callable[[int], Words],
        first: int,
    ) -> None:
        self.digest = digest
        self.counts = counts
        self.times = times
        self._vertices = vertices
        self._words_of = words_of
        self._first = first

    @cached_property
    def facts(self) -> list[tuple[str, Path, bool]]:
        """The facts in an order that only their content decides, and whether each shows something."""
        parents, shown = self._vertices[::2], self._vertices[1::2]
        below: list[list[int]] = [[] for _ in shown]
        for vertex, parent in enumerate(parents):
            if parent >= 0:
                below[parent].append(vertex)
        spelled: list[str] = [""] * len(shown)
        for vertex in range(len(shown) - 1, -1, -1):  # children come after their parents
            below[vertex].sort(key=lambda child: spelled[child])
            children = "".join(spelled[child] for child in below[vertex])
            spelled[vertex] = f"({self._words_of(shown[vertex])[0]}{children})"
        facts: list[tuple[str, Path, bool]] = []

        def visit(vertex: int, path: Path) -> None:
            _, labels, values = self._words_of(shown[vertex])
            known = [*zip(labels, values, strict=True)][0 if path else self._first :]
            facts.extend((label, path, value) for label, value in known)
            for child in below[vertex]:
                visit(child, (*path, child))

        visit(0, ())
        return facts

    @property
    def codes(self) -> set[int]:
        """The codes of what its vertices show, that of the root only if some of that are facts."""
        root = len(self._words_of(self._vertices[1])[1]) > self._first
        return set(self._vertices[1 if root else 3 :: 2])

    @cached_property
    def places(self) -> dict[str, list[Path]]:
        """The places of each fact."""
        places: dict[str, list[Path]] = {}
        for label, path, _ in self.facts:
            places.setdefault(label, []).append(path)
        return places


def sample_persons(records: Sequence[ShownRecord]) -> list[tuple[int, ShownRecord]]:
    """Return the persons in the sample, by the hash of each."""
    marks = (
        (int.from_bytes(blake2b(b"%d" % copy, key=record.digest[:64], digest_size=8).digest()), number)
        for number, record in enumerate(records)
        for copy in range(min(record.times, MOST_SAMPLED))
    )
    return [(mark, records[number]) for mark, number in nsmallest(MOST_SAMPLED, marks)]


class RecordsOfRoot:
    """The records among which a person may be found: those with her root values.

    ``words_of`` says of each code what a vertex shows, as in ``ShownRecord``.
    """

    def __init__(self, records: Sequence[ShownRecord], words_of: Callable[[int], Words]) -> None:
        self._records = records
        with_code: dict[int, list[int]] = {}
        with_counts: dict[tuple[int, ...], list[int]] = {}
        for number, record in enumerate(records):
            with_counts.setdefault(record.counts, []).append(number)
            for code in record.codes:
                with_code.setdefault(code, []).append(number)
        self._with_counts = with_counts
        self._with_label: dict[str, list[list[int]]] = {}
        for code, numbers in with_code.items():
            for label in set(words_of(code)[1]):
                self._with_label.setdefault(label, []).append(numbers)
        self._showing = lru_cache(_KEPT)(self._find_showing)

    def tell_apart(self, mark: int, person: ShownRecord, m: int) -> tuple[bool, ...]:
        """Return whether the person, who occurs once, is told apart by each kind of knowledge."""
        drawn = list(_draw(mark, [fact for fact in person.facts if fact[2]] or person.facts, m + 2))
        facts: list[Fact] = [(label, path) for label, path, _ in drawn]
        alike = self._bits_of([self._with_counts[person.counts]])
        return (
            not any(self._agreeing(person, facts[: m + 1])),
            not any(self._agreeing(person, facts)),
            not any(self._agreeing(person, facts[:m], alike)),
            self._is_told_by_lack(mark, person, facts[:m]),
        )

    def _bits_of(self, numbers: Iterable[Sequence[int]]) -> int:
        """Return some records as the bits of an integer."""
        marks = bytearray(len(self._records) // 8 + 1)
        for number in chain.from_iterable(numbers):
            marks[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(marks, "little")

    def _find_showing(self, label: str) -> int:
        """Return the records that show a fact, as bits."""
        return self._bits_of(self._with_label.get(label, ()))

    def _agreeing(self, person: ShownRecord, facts: Sequence[Fact], among: int = -1) -> Iterator[ShownRecord]:
        """Yield the other records that agree with these facts of a person; ``among`` are bits of records."""
        among &= (1 << len(self._records)) - 1
        for label, _ in facts:
            among &= self._showing(label)
        while among:
            lowest = among & -among
            among ^= lowest
            other = self._records[lowest.bit_length() - 1]
            if other is not person and _fits(other, facts, ()):
                yield other

    def _is_told_by_lack(self, mark: int, person: ShownRecord, facts: Sequence[Fact]) -> bool:
        """Return whether it tells the person apart that she lacks a fact of the first one who agrees."""
        other = next(self._agreeing(person, facts), None)
        if other is None:
            return True
        lacked = sorted(other.places.keys() - person.places.keys())
        if not lacked:
            return False
        label = next(_draw(mark, lacked, 1))
        return not any(self._agreeing(person, facts, ~self._showing(label)))


def _fits(record: ShownRecord, facts: Sequence[Fact], taken: tuple[Path, ...]) -> bool:
    """Return whether the facts, of which the first have their places already, have others in a record."""
    if len(taken) == len(facts):
        return True
    label, path = facts[len(taken)]
    placed = list(zip(facts, taken, strict=False))
    for place in record.places.get(label, ()):
        used = any(place == other and label == known for (known, _), other in placed)
        if used:
            continue
        alike = all(_common(place, other) == _common(path, known) for (_, known), other in placed)
        if alike and _fits(record, facts, (*taken, place)):
            return True
    return False


def _common(path: Path, other: Path) -> int:
    depth = 0
    for vertex, other_vertex in zip(path, other, strict=False):
        if vertex != other_vertex:
            break
        depth += 1
    return depth


def _draw(mark: int, items: Sequence[Item], number: int) -> Iterator[Item]:
    """Yield some different items, drawn by a hash."""
    order = list(range(len(items)))
    for position in range(min(number, len(order))):
        drawn = blake2b(b"%d %d" % (mark, position), digest_size=8).digest()
        chosen = position + int.from_bytes(drawn) % (len(order) - position)
        order[position], order[chosen] = order[chosen], order[position]
        yield items[order[position]]
