"""A linkage attack on published trees, by what the attacker knows of a victim.

``whole``: all quasi-identifiers of the victim's tree. A published record agrees if each of its vertices may
be another one of the victim's; what is not published excludes nobody. ``facts``: the root and some of its
children. A record agrees if its root does and each known child may be another one of its children. It looks
at published records and taxonomy files only, and shares no code with the package.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from tests.benchmarks.comparison.labels import Attribute
from tests.benchmarks.comparison.linkage import Linkage, chance, summed
from tests.benchmarks.comparison.shapes import Shape, Tree, tree

Labels = tuple[str, ...]
Levels = tuple[tuple[Attribute, ...], ...]
Left, Right = TypeVar("Left"), TypeVar("Right")
FACTS = 3
"""Children of the root that are known to the attacker who knows little."""


def matched(left: Sequence[Left], right: Sequence[Right], fits: Callable[[Left, Right], bool]) -> bool:
    """Whether each on the left has a partner of its own on the right, by augmenting paths."""
    options = []
    for one in left:
        options.append([at for at, other in enumerate(right) if fits(one, other)])
        if not options[-1]:
            return False
    taken: dict[int, int] = {}

    def place(one: int, seen: set[int]) -> bool:
        for at in options[one]:
            if at not in seen:
                seen.add(at)
                if at not in taken or place(taken[at], seen):
                    taken[at] = one
                    return True
        return False

    return all(place(one, set()) for one in range(len(left)))


class Vertices:
    """Which published vertices may be a known one, by depth and labels alone; each looked up once."""

    def __init__(self, published: Iterable[Tree], levels: Levels) -> None:
        self.levels = levels
        self.published: tuple[set[Labels], ...] = tuple(set() for _ in levels)
        for one in published:
            self._add(one, 0)
        self.known: tuple[dict[Labels, set[Labels]], ...] = tuple({} for _ in levels)

    def _add(self, one: Tree, depth: int) -> None:
        self.published[depth].add(one.labels)
        for child in one.children:
            self._add(child, depth + 1)

    def may_be(self, known: Tree, depth: int) -> set[Labels]:
        """The labels of published vertices that cover the values of a known vertex."""
        found = self.known[depth].get(known.labels)
        if found is None:
            found = {
                labels
                for labels in self.published[depth]
                if all(
                    value in own.covered(label)
                    for own, label, value in zip(self.levels[depth], labels, known.labels, strict=True)
                )
            }
            self.known[depth][known.labels] = found
        return found

    def agrees(self, published: Tree, known: Tree, depth: int = 0) -> bool:
        """Whether a published tree may be what is left of a known one."""
        return published.labels in self.may_be(known, depth) and matched(
            published.children, known.children, lambda one, other: self.agrees(one, other, depth + 1)
        )

    def shows(self, published: Tree, known: Tree) -> bool:
        """Whether a published tree may be of somebody of whom this is known: the root and some children."""
        return published.labels in self.may_be(known, 0) and matched(
            known.children, published.children, lambda one, other: other.labels in self.may_be(one, 1)
        )


@dataclass
class Form:
    """Published records that nobody can tell apart but by sensitive values."""

    roots: Counter[Hashable] = field(default_factory=Counter)
    children: Counter[tuple[str, Hashable]] = field(default_factory=Counter)


@dataclass(frozen=True)
class Attacked:
    """What the attacker reaches about the root's sensitive value, and guesses of one known child's."""

    linkage: Linkage
    child_guessed: float


def counted(parts: Iterable[Counter[Hashable]]) -> Counter[Hashable]:
    """All counts together."""
    found: Counter[Hashable] = Counter()
    for part in parts:
        found.update(part)
    return found


class Published:
    """Published records by form."""

    def __init__(self, records: Sequence[Mapping[str, Any]], shape: Shape, levels: Levels) -> None:
        self.shape, self.levels = shape, levels
        self.forms: defaultdict[Tree, Form] = defaultdict(Form)
        for record in records:
            form = self.forms[tree(record, shape)]
            form.roots[record.get(shape.sensitive)] += 1
            for child in record.get(shape.child, ()):
                key = str(child.get(shape.below.quasi[0], "*")), child.get(shape.below.sensitive)
                form.children[key] += 1
        self.vertices = Vertices(self.forms, levels)
        self.by_root: defaultdict[Labels, list[Tree]] = defaultdict(list)
        for one in self.forms:
            self.by_root[one.labels].append(one)
        self.children = {one: frozenset(child.labels for child in one.children) for one in self.forms}
        self.overall = counted(form.roots for form in self.forms.values())

    def rooted(self, known: Tree) -> Iterator[Tree]:
        """The forms whose root may be that of a tree."""
        for labels in self.vertices.may_be(known, 0):
            yield from self.by_root[labels]

    def whole(self, known: Tree) -> list[Form]:
        """The forms that may be what is left of a tree. Most have a child that is none of its children."""
        possible = set[Labels]().union(*(self.vertices.may_be(child, 1) for child in known.children))
        return [
            self.forms[one]
            for one in self.rooted(known)
            if self.children[one] <= possible and self.vertices.agrees(one, known)
        ]

    def facts(self, known: Tree) -> list[Form]:
        """The forms that may be of somebody of whom this is known."""
        return [self.forms[one] for one in self.rooted(known) if self.vertices.shows(one, known)]

    def attack(self, victims: Sequence[Mapping[str, Any]], k: int, *, whole: bool) -> Attacked:
        """Attack records of the original; without ``whole`` by the root and ``FACTS`` children."""
        below, known, guessed = self.levels[1][0], [], Fraction(0)
        found: dict[int, Counter[Hashable]] = {}
        rng = random.Random(7)
        for at, victim in enumerate(victims):
            one = tree(victim, self.shape)
            facts = Tree(one.labels, tuple(Tree(child.labels) for child in rng.sample(one.children, FACTS)))
            agreeing = self.whole(one) if whole else self.facts(facts)
            found[at] = counted(form.roots for form in agreeing)
            known.append((at, victim[self.shape.sensitive]))
            target = victim[self.shape.child][0]
            value = target[self.shape.below.quasi[0]]
            grades: Counter[Hashable] = Counter()
            for form in agreeing:
                for (label, grade), count in form.children.items():
                    if grade is not None and value in below.covered(label):
                        grades[grade] += count
            guessed += chance(grades, target[self.shape.below.sensitive])
        linkage = summed(known, found.__getitem__, self.overall, k)
        return Attacked(linkage, float(guessed / max(1, len(victims))))
