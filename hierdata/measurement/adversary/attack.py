"""Run the adversary: who is found among the published records, and how well values are guessed.

``Guessed`` is what a release reveals of a sensitive attribute, ``true_values`` the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierdata.forest.forest import Forest
from hierdata.measurement.adversary.embedding import KnownFacts
from hierdata.measurement.adversary.forms import Forms, Index
from hierdata.measurement.adversary.kernel import ShareRows, Shares, add_rows, weigh_values
from hierdata.measurement.adversary.knowledge import Curiosity, Knowledge, KnownTree

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

    The value is that at or below the deepest known vertex that has the attribute there, and no value that
    is a fact: those are no guesses. ``asked`` is the number of victims with such a value. ``right`` is the
    share 0..1 of them for whom the guess is a value of theirs there; ``prior`` is the share for whom the
    value that is most frequent in the release is one. ``refused`` is the share for whom no guess was made,
    since no candidate shows a value there. ``sure`` is the mean share of the guessed value among the
    candidates, ``surest`` the largest.
    """

    path: str
    facts: int
    asked: int
    prior: float
    right: float
    refused: float
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

    def add(
        self, weights: NDArray[np.float64], true: Container[int], common: int, stated: Sequence[int]
    ) -> None:
        """Count a victim: the value that weighs most is guessed, the ``common`` one is the prior.

        Values that are ``stated`` among the facts weigh, since there may be no other, and are not guessed.
        """
        self.asked += 1
        self.prior += common in true
        total = float(weights.sum())
        weights[stated] = 0
        if weights.any():
            # The first of the likeliest, whatever sums in another order are rounded to.
            guess = int(np.argmax(weights >= weights.max() * (1 - _ROUNDED)))
            self.sure.append(float(weights[guess]) / total)
            self.right += guess in true

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
                _guess_of(path, count, tallies[target])
                for target, path in enumerate(self.paths)
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
            for position, attribute in enumerate(kind.sensitive)
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
        for number, victim in enumerate(victims):
            tree = KnownTree(self._original, victim.facts, int(self._original.roots[victim.record]))
            known = self._index.prepare_tree(tree)
            chosen = self._index.at_root(victim.known_root)
            agreed = self._find_candidates(victim, known, chosen, facts)
            sizes[:, number] = [self._forms.count(chosen[row >= 0]) for row in agreed]
            self._guess(tree, known, chosen, agreed, tallies)
            progress(number + 1)
        return Findings(sizes, tallies, tuple(path for *_, path in self._targets))

    def find_forms(self, victim: Knowledge, facts: int) -> list[NDArray[np.int64]]:
        """Return the forms that agree with the most of what is known, by number of facts from 0 on."""
        tree = KnownTree(self._original, victim.facts, int(self._original.roots[victim.record]))
        chosen = self._index.at_root(victim.known_root)
        agreed = self._find_candidates(victim, self._index.prepare_tree(tree), chosen, facts)
        return [chosen[row >= 0] for row in agreed]

    def _find_candidates(
        self, victim: Knowledge, known: KnownFacts, chosen: NDArray[np.int64], facts: int
    ) -> NDArray[np.int64]:
        """Return by number of facts how many each form agrees with, -1 for those that agree with fewer."""
        by_facts = np.full((facts + 1, len(chosen)), -1)
        if not len(chosen):
            return by_facts
        having = np.array([self._index.with_fact(fact)[chosen] for fact in victim.facts], np.bool_)
        having = having.reshape(-1, len(chosen))
        most = np.logical_and.accumulate(having).sum(axis=0)
        first = self._index.count_first_agreeing(chosen, known, most)
        beside = np.zeros(len(chosen), np.int64)
        if victim.counts is not None:
            beside += (self._forms.counts[chosen] == np.array(victim.counts)).sum(axis=1)
        for count in range(facts + 1):
            for absence in victim.absences[count - 1 : count] if count else ():
                beside += ~self._index.with_value(absence)[chosen]
            asked = min(count, len(victim.facts))
            # Forms that do not agree with all of these facts agree with fewer of them than they have.
            bound = np.minimum(having[:asked].sum(axis=0), asked - 1)
            agreed = np.where(first >= asked, asked, -1)
            self._search(chosen, known, asked, beside, agreed, bound)
            reached = np.where(agreed >= 0, agreed + beside, -1)
            best = reached == reached.max()
            by_facts[count, best] = agreed[best]
        return by_facts

    def _search(
        self,
        chosen: NDArray[np.int64],
        known: KnownFacts,
        facts: int,
        beside: NDArray[np.int64],
        agreed: NDArray[np.int64],
        bound: NDArray[np.int64],
    ) -> None:
        """Find how many of the first facts the forms agree with whose ``agreed`` is -1, the best ones first.

        They agree with ``bound`` at most. Those that agree with fewer than another form keep -1.
        """
        unknown = agreed < 0
        best = int((agreed + beside)[~unknown].max(initial=-1))
        reached = bound + beside
        for most in range(int(reached[unknown].max(initial=-1)), -1, -1):
            if most < best:
                break
            here = np.flatnonzero(unknown & (reached == most))
            if len(here):
                agreed[here] = self._index.count_agreeing(chosen[here], known, facts)
                best = max(best, int((agreed + beside)[here].max()))

    def _guess(
        self,
        tree: KnownTree,
        known: KnownFacts,
        chosen: NDArray[np.int64],
        agreed: NDArray[np.int64],
        tallies: Sequence[Sequence[_Tally]],
    ) -> None:
        """Guess each sensitive attribute from the candidates, by number of facts."""
        for target, (kind, position, _) in enumerate(self._targets):
            quasi = self._original.find_fact(kind, position)
            paths = tree.paths_to(kind, quasi)
            paths += paths[-1:] * (len(tallies) - len(paths))
            true_at = {
                end: true_values(self._original, tree.vertices[end], kind, position)
                for end in {path[-1] for path in paths}
            }
            if not any(true_at.values()):
                continue
            weights = self._guessed[target].weigh_values(self._forms, chosen, agreed, known, paths)
            for count, (path, mine) in enumerate(zip(paths, weights, strict=True)):
                stated = [fact.node - 1 for fact in tree.facts[:count] if fact.states(kind, quasi)]
                true = true_at[path[-1]].keys() - stated
                if true:
                    tallies[count][target].add(mine, true, self._guessed[target].common, stated)


def draw_victims(
    original: Forest,
    victims: int,
    curiosity: Curiosity,
    draw: int,
    persons: NDArray[np.int64] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> list[Knowledge]:
    """Draw victims, each once, and what is known of them; another ``draw`` draws others.

    With ``persons``, which numbers by record whose it is, one record of each victim is known. ``among`` marks
    the records that may be drawn.
    """
    rng = np.random.default_rng(draw)
    order = rng.permutation(original.record_count)
    if among is not None:
        order = order[among[order]]
    if persons is not None:
        order = order[np.sort(np.unique(persons[order], return_index=True)[1])]
    chosen = order[:victims].tolist()
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
        refused=(tally.asked - len(tally.sure)) / asked,
        sure=sum(tally.sure) / max(len(tally.sure), 1),
        surest=max(tally.sure, default=0.0),
    )


@dataclass(frozen=True)
class Guessed:
    """What a release tells of a sensitive attribute: by place, and of all of a form.

    Its values are numbered from 0 to ``values`` - 1; ``common`` is the most frequent one, -1 if no vertex has
    any. The rows of ``by_form`` are forms.
    """

    values: int
    common: int
    shares: Shares
    by_form: ShareRows

    def weigh_values(
        self,
        forms: Forms,
        chosen: NDArray[np.int64],
        agreed: NDArray[np.int64],
        known: KnownFacts,
        paths: Sequence[Sequence[int]],
    ) -> NDArray[np.float64]:
        """Return by number of facts the weight of each value, given candidates, at the end of a path.

        ``agreed`` and the parameters that follow are as for the kernel.
        """
        weights = np.zeros((len(paths), self.values))
        padded = np.full((len(paths), len(max(paths, key=len))), -1)
        for facts, path in enumerate(paths):
            if len(path) == 1:
                add_rows(chosen[agreed[facts] >= 0], forms.records, self.by_form, weights[facts])
            else:
                padded[facts, : len(path)] = path
        asked = np.flatnonzero((agreed[padded[:, 0] >= 0] >= 0).any(axis=0))
        if len(asked):
            candidates = chosen[asked]
            of = forms.roots[candidates], forms.sizes[candidates], forms.records[candidates], agreed[:, asked]
            weigh_values(*of, forms.vertices, known, padded, self.shares, weights)
        return weights

    @classmethod
    def find(cls, forms: Forms, kind: int, position: int) -> Guessed:
        """Find the shares of an attribute's values, from the release alone."""
        forest, publication = forms.forest, forms.publication
        path = forest.schema.types[kind].sensitive[position].path
        vertices = np.flatnonzero((publication.shown >= 0) & (forest.type == kind))
        groups, group = np.unique(publication.positions_of(path)[vertices], return_inverse=True)
        codes = forest.sensitive[forest.first_sensitive[vertices] + position]
        values = len(forest.domains[kind][position].values)
        having = codes >= 0
        counted = _count_pairs(group[having], codes[having], len(groups), values)
        split = sparse.diags(1 / np.bincount(group, minlength=len(groups))) @ counted
        spots, spot = np.unique(forms.place[vertices], return_inverse=True)
        vertices_at = np.bincount(spot, minlength=len(spots))
        shares = sparse.diags(1 / vertices_at) @ _count_pairs(spot, group, len(spots), len(groups)) @ split
        row = np.full(forest.vertex_count, 0)
        row[vertices] = spot
        first_vertices, form = forms.by_kind[kind]
        count = len(forms.first)
        total = np.maximum(np.bincount(form, minlength=count), 1)
        on_spots = _count_pairs(form, row[first_vertices], count, len(spots))
        by_form = sparse.diags(1 / total) @ on_spots @ shares
        every = vertices_at @ shares
        common = int(every.argmax()) if every.max(initial=0) > 0 else -1
        schema = forest.schema
        depths = np.array([len(schema.line(number)) - 1 for number in range(len(schema.types))], np.int64)
        return cls(values, common, Shares(kind, depths, row, _rows_of(shares)), _rows_of(by_form))


def _count_pairs(
    rows: NDArray[np.int64], columns: NDArray[np.integer], height: int, width: int
) -> sparse.csr_matrix:
    """Return how often each row and column go together."""
    return sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), (height, width)).tocsr()


def _rows_of(matrix: sparse.csr_matrix) -> ShareRows:
    rows = matrix.tocsr()
    return ShareRows(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64)
    )


def true_values(forest: Forest, vertex: int, kind: int, position: int) -> Counter[int]:
    """Return the codes of an attribute at or below a vertex of the original, with their numbers."""
    line = forest.schema.line
    first, last = vertex, vertex + 1
    for _ in range(len(line(kind)) - len(line(int(forest.type[vertex])))):
        if first >= last:
            break
        first, last = (
            int(forest.first_child[first]),
            int(forest.first_child[last - 1] + forest.child_count[last - 1]),
        )
    vertices = np.arange(first, last)
    vertices = vertices[forest.type[vertices] == kind]
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    return Counter(codes[codes >= 0].tolist())
