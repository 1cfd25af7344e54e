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

from hierdata.judge.rules import KNOWN_MORE, MOST_SAMPLED

Path: TypeAlias = tuple[int, ...]
"""The ancestors of a vertex and the vertex itself, the root left out."""
Fact: TypeAlias = tuple[str, Path]
"""What a fact shows, and where."""
Words: TypeAlias = tuple[str, tuple[str, ...], tuple[bool, ...]]
"""What a vertex shows in words: all together, each of its facts, and whether each shows a value."""
Thing = TypeVar("Thing")
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
        told: Callable[[int], Words],
        first: int,
    ) -> None:
        self.digest = digest
        self.counts = counts
        self.times = times
        self._vertices = vertices
        self._told = told
        self._first = first

    @cached_property
    def facts(self) -> list[tuple[str, Path, bool]]:
        """The facts in an order that only their content decides, and whether each shows something."""
        parents, shown = self._vertices[::2], self._vertices[1::2]
        below: list[list[int]] = [[] for _ in shown]
        for at, parent in enumerate(parents):
            if parent >= 0:
                below[parent].append(at)
        spelled: list[str] = [""] * len(shown)
        for at in range(len(shown) - 1, -1, -1):  # children come after their parents
            below[at].sort(key=lambda child: spelled[child])
            spelled[at] = f"({self._told(shown[at])[0]}{''.join(spelled[child] for child in below[at])})"
        found: list[tuple[str, Path, bool]] = []

        def visit(at: int, path: Path) -> None:
            _, labels, values = self._told(shown[at])
            own = [*zip(labels, values, strict=True)][0 if path else self._first :]
            found.extend((label, path, value) for label, value in own)
            for child in below[at]:
                visit(child, (*path, child))

        visit(0, ())
        return found

    @property
    def codes(self) -> set[int]:
        """The codes of what its vertices show, that of the root only if some of that are facts."""
        root = len(self._told(self._vertices[1])[1]) > self._first
        return set(self._vertices[1 if root else 3 :: 2])

    @cached_property
    def places(self) -> dict[str, list[Path]]:
        """The places of each fact."""
        found: dict[str, list[Path]] = {}
        for label, path, _ in self.facts:
            found.setdefault(label, []).append(path)
        return found


def sample_persons(records: Sequence[ShownRecord]) -> list[tuple[int, ShownRecord]]:
    """Return the persons in the sample, by the hash of each."""
    marks = (
        (int.from_bytes(blake2b(b"%d" % copy, key=record.digest[:64], digest_size=8).digest()), at)
        for at, record in enumerate(records)
        for copy in range(min(record.times, MOST_SAMPLED))
    )
    return [(mark, records[at]) for mark, at in nsmallest(MOST_SAMPLED, marks)]


class RecordsOfRoot:
    """The records among which a person may be found: those with her root values.

    ``told`` says of each code what a vertex shows, as in ``ShownRecord``.
    """

    def __init__(self, records: Sequence[ShownRecord], told: Callable[[int], Words]) -> None:
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
            for label in set(told(code)[1]):
                self._with_label.setdefault(label, []).append(numbers)
        self._showing = lru_cache(_KEPT)(self._find_showing)

    def tell_apart(self, mark: int, person: ShownRecord, m: int) -> tuple[bool, ...]:
        """Return whether the person is told apart by each kind of knowledge of ``KNOWN_MORE``."""
        if person.times > 1:
            return (False,) * len(KNOWN_MORE)
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
    at = len(taken)
    if at == len(facts):
        return True
    label, path = facts[at]
    for place in record.places.get(label, ()):
        used = any(place == other and facts[before][0] == label for before, other in enumerate(taken))
        if used:
            continue
        if all(
            _common(place, other) == _common(path, facts[before][1]) for before, other in enumerate(taken)
        ) and _fits(record, facts, (*taken, place)):
            return True
    return False


def _common(one: Path, other: Path) -> int:
    depth = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        depth += 1
    return depth


def _draw(mark: int, things: Sequence[Thing], number: int) -> Iterator[Thing]:
    """Yield some different things, drawn by a hash."""
    places = list(range(len(things)))
    for at in range(min(number, len(places))):
        drawn = blake2b(b"%d %d" % (mark, at), digest_size=8).digest()
        chosen = at + int.from_bytes(drawn) % (len(places) - at)
        places[at], places[chosen] = places[chosen], places[at]
        yield things[places[at]]
