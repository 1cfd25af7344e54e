"""Run the adversary: who is found among the published records, and how well values are guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np
from numpy.typing import NDArray

from hierdata.adversary.embedding import KnownFacts
from hierdata.adversary.forms import Forms, Index
from hierdata.adversary.guesses import Guessed, true_values
from hierdata.adversary.knowledge import Curiosity, Knowledge, KnownTree
from hierdata.forest.forest import Forest
from hierdata.records.schema import Role

_ROUNDED = 1e-9
"""Weights that differ by this share are the same."""


@dataclass(frozen=True)
class Candidates:
    """The published records that agree with what is known of a victim, over all victims.

    ``facts`` is the number of known facts, 0 for the root alone. ``smallest`` and ``median`` are numbers of
    candidates of those who have any; ``below`` is the share 0..1 of victims with fewer candidates than the
    promised class size, but at least one, ``unique`` of those with one, and ``none`` of those without.
    """

    facts: int
    smallest: int
    median: float
    below: float
    unique: float
    none: float


@dataclass(frozen=True)
class Guess:
    """Guesses of a sensitive attribute: the likeliest value among the candidates of each victim.

    The value is that at or below the deepest known vertex that has the attribute there. ``asked`` is the
    number of victims with a value. ``right`` is the share 0..1 of them for whom the guess is a value of
    theirs there; ``prior`` is the share for whom the value that is most frequent in the release is one.
    ``sure`` is the mean share of the guessed value among the candidates, ``surest`` the largest.
    """

    path: str
    facts: int
    asked: int
    prior: float
    right: float
    sure: float
    surest: float


@dataclass(frozen=True)
class Attacked:
    """What an attack on one publication found, for each number of facts."""

    candidates: tuple[Candidates, ...]
    guesses: tuple[Guess, ...]


@dataclass
class _Tally:
    """What is counted for one attribute and number of facts."""

    asked: int = 0
    prior: int = 0
    right: int = 0
    sure: list[float] = field(default_factory=list)

    def __add__(self, other: _Tally) -> _Tally:
        """Add what was counted for other victims."""
        return _Tally(
            self.asked + other.asked,
            self.prior + other.prior,
            self.right + other.right,
            self.sure + other.sure,
        )


@dataclass(frozen=True)
class Findings:
    """What was found of some victims; ``+`` adds those of others.

    ``sizes[n, v]`` is the number of candidates of victim v with n facts, ``tallies[n]`` what is counted with
    n facts for each attribute, whose paths are ``paths``.
    """

    sizes: NDArray[np.int64]
    tallies: tuple[tuple[_Tally, ...], ...]
    paths: tuple[str, ...]

    def __add__(self, other: Findings) -> Findings:
        """Add the findings of other victims."""
        return Findings(
            np.concatenate((self.sizes, other.sizes), axis=1),
            tuple(
                tuple(map(add, mine, theirs))
                for mine, theirs in zip(self.tallies, other.tallies, strict=True)
            ),
            self.paths,
        )

    def summarize(self, least: int) -> Attacked:
        """Return what all victims say; ``least`` is the smallest class that is promised."""
        return Attacked(
            tuple(_summarize(count, sizes, least) for count, sizes in enumerate(self.sizes)),
            tuple(
                _guess_of(path, count, tallies[own])
                for own, path in enumerate(self.paths)
                for count, tallies in enumerate(self.tallies)
            ),
        )


class Adversary:
    """Knows something of each victim, and looks for the victim among published records.

    Candidates are the records that agree with the most of what is known, since facts may have been
    suppressed: the root's quasi-identifiers always, facts, absences and counts by their number.
    """

    def __init__(self, original: Forest, forms: Forms) -> None:
        self._original = original
        self._forms = forms
        self._index = Index(forms)
        self._targets = [
            (kind.index, position, attribute.path)
            for kind in original.schema.types
            for position, attribute in enumerate(kind.of_role(Role.SENSITIVE))
        ]
        self._guessed = [Guessed.find(forms, kind, position) for kind, position, _ in self._targets]

    def attack(
        self, victims: Sequence[Knowledge], facts: int, progress: Callable[[int], object] = bool
    ) -> Findings:
        """Attack each victim with 0 to ``facts`` facts.

        ``progress`` is called with the number of victims that are done.
        """
        sizes = np.zeros((facts + 1, len(victims)), np.int64)
        tallies = tuple(tuple(_Tally() for _ in self._targets) for _ in range(facts + 1))
        for own, victim in enumerate(victims):
            root = int(self._original.roots[victim.record])
            chosen = self._index.at_root(victim.known_root)
            trees = [KnownTree(self._original, victim.facts[:count], root) for count in range(facts + 1)]
            packed = [self._index.prepare_tree(tree) for tree in trees]
            first = self._index.count_first_agreeing(chosen, packed[-1])
            for count, (tree, known) in enumerate(zip(trees, packed, strict=True)):
                found, agreed = self._find_candidates(victim.first(count), known, chosen, first)
                sizes[count, own] = int(self._forms.records[found].sum())
                self._guess(tree, known, found, agreed, tallies[count])
            progress(own + 1)
        return Findings(sizes, tallies, tuple(path for *_, path in self._targets))

    def _find_candidates(
        self,
        victim: Knowledge,
        known: KnownFacts,
        chosen: NDArray[np.int64],
        first: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the forms that agree with the most, and the number of facts that each agrees with.

        ``first`` is how many of the first facts each chosen form agrees with, so that many need no search.
        """
        if not len(chosen):
            return chosen, chosen
        beside = self._count_beside(victim, chosen)
        agreed = np.minimum(first, len(victim.facts))
        searched = agreed < len(victim.facts)
        most = np.where(searched, 0, agreed)
        for fact in victim.facts:
            most[searched] += self._index.with_fact(fact)[chosen[searched]]
        best, reached = -1, most + beside
        for bound in range(int(reached.max()), -1, -1):
            if bound < best:
                break
            here = np.flatnonzero(reached == bound)
            if len(here):
                unknown = here[searched[here]]
                agreed[unknown] = self._index.count_agreeing(chosen[unknown], known)
                best = max(best, int((agreed + beside)[here].max()))
        found = np.flatnonzero((agreed + beside == best) & (reached >= best))
        return chosen[found], agreed[found]

    def _count_beside(self, victim: Knowledge, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each form how many absences and counts agree with it."""
        found = np.zeros(len(chosen), np.int64)
        for absence in victim.absences:
            found += ~self._index.with_value(absence)[chosen]
        if victim.counts is not None:
            found += (self._forms.counts[chosen] == np.array(victim.counts)).sum(axis=1)
        return found

    def _guess(
        self,
        tree: KnownTree,
        known: KnownFacts,
        found: NDArray[np.int64],
        agreed: NDArray[np.int64],
        tallies: Sequence[_Tally],
    ) -> None:
        """Guess each sensitive attribute from the candidates."""
        for own, (kind, position, _) in enumerate(self._targets):
            path = tree.path_to(kind)
            true = true_values(self._original, tree.vertices[path[-1]], kind, position)
            if not true:
                continue
            tally = tallies[own]
            tally.asked += 1
            tally.prior += self._guessed[own].common in true
            weights = self._guessed[own].weigh_values(self._forms, found, agreed, known, path)
            total = float(weights.sum())
            if total > 0:
                # The first of the likeliest, whatever sums in another order are rounded to.
                guess = int(np.argmax(weights >= weights.max() * (1 - _ROUNDED)))
                tally.sure.append(float(weights[guess]) / total)
                tally.right += guess in true


def draw_victims(original: Forest, victims: int, curiosity: Curiosity, draw: int) -> list[Knowledge]:
    """Draw victims, each once, and what is known of them; another ``draw`` draws others."""
    rng = np.random.default_rng(draw)
    chosen = rng.permutation(original.record_count)[:victims].tolist()
    return [curiosity.learn(original, record, rng) for record in chosen]


def _summarize(facts: int, sizes: NDArray[np.int64], least: int) -> Candidates:
    there = sizes[sizes > 0]
    return Candidates(
        facts=facts,
        smallest=int(there.min(initial=sizes.max(initial=0))),
        median=float(np.median(there)) if len(there) else 0.0,
        below=float(((sizes > 0) & (sizes < least)).mean()),
        unique=float((sizes == 1).mean()),
        none=float((sizes == 0).mean()),
    )


def _guess_of(path: str, facts: int, tally: _Tally) -> Guess:
    asked = max(tally.asked, 1)
    return Guess(
        path=path,
        facts=facts,
        asked=tally.asked,
        prior=tally.prior / asked,
        right=tally.right / asked,
        sure=sum(tally.sure) / max(len(tally.sure), 1),
        surest=max(tally.sure, default=0.0),
    )
