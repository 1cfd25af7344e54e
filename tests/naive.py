"""Algorithms 1 and 2 of ML in plain Python: the slow, obvious twin of the compiled engine.

Written from the paper (ML section 4) with errata ML-4, ML-5, ML-7, ML-9, ML-10 and ML-14, from nothing else.
All numbers are exact. No function alters its arguments; memos only remember what never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tests.naive_trees import (
    ALPHA,
    Closing,
    Label,
    Number,
    Representative,
    Schema,
    ShareCap,
    Taxonomy,
    Tree,
    Vertex,
    frequency_l,
    level_alpha,
    pre_order,
    present,
)

__all__ = [
    "ALPHA",
    "PAIRINGS",
    "Class",
    "Closing",
    "Representative",
    "Result",
    "Rules",
    "Schema",
    "ShareCap",
    "Taxonomy",
    "Tree",
    "Vertex",
    "apply",
    "check_cons",
    "frequency_l",
    "level_alpha",
    "mlevclutree",
    "pair_loss",
    "pre_order",
    "total_loss",
    "vertex_cost",
]


@dataclass(frozen=True)
class Rules:
    """What Algorithm 1 is run with. `pairing` as in fixtures/papers/README.md."""

    schema: Schema
    k: int | None = None
    caps: Sequence[ShareCap] = ()
    pairing: str = "greedy"
    losses: dict[tuple[int, int], tuple[Number, Vertex, Tree]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    pools: dict[int, Sequence[Vertex]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The siblings of a vertex without quasi-identifiers, itself included, by its identity."""

    def note_pools(self, children: Sequence[Vertex]) -> None:
        """Remember which children look alike whatever happens."""
        for child in children:
            if not self.schema.taxonomies[child.type]:
                self.pools[id(child)] = [own for own in children if own.type == child.type]

    @cached_property
    def caps_of(self) -> dict[str, list[ShareCap]]:
        """The caps of each vertex type."""
        return {kind: [cap for cap in self.caps if cap.type == kind] for kind in self.schema.taxonomies}


def suppression(vertex: Vertex, rules: Rules) -> Number:
    """cost(tree) of a suppressed subtree."""
    return rules.schema.cost(vertex)


def check_cons(a: Vertex, b: Tree, rules: Rules) -> bool:
    """Same type, and the multiset union of the sensitive values (ML-5) keeps count <= k * share."""
    if a.type != b.type:
        return False
    for cap in rules.caps_of[a.type]:
        pool = rules.pools.get(id(a), ()) if cap.of_records else ()
        if any(one is a for one in pool):
            shown = [
                [value for one in pool for value in one.members[at].values[cap.attribute]]
                for at in range(len(a.members))
            ]
            own = a.values[cap.attribute]
            if not cap.fits_records([*shown, b.values[cap.attribute]], own, rules.k or 0):
                return False
            continue
        if not cap.fits(a.values[cap.attribute] + b.values[cap.attribute], rules.k):
            return False
    return True


def pair_loss(a: Vertex | None, b: Tree, rules: Rules) -> Number:
    """Algorithm 1, the loss only: representative a and record b made equal, summed over both trees.

    a is None when the class is already suppressed; then only b is left to lose. Rules remember what they
    said of a pair, and the pair itself, so that no other takes its identity.
    """
    if a is None:
        return suppression(b, rules)
    if (id(a), id(b)) not in rules.losses:
        rules.losses[id(a), id(b)] = (_pair_loss(a, b, rules), a, b)
    return rules.losses[id(a), id(b)][0]


def _pair_loss(a: Vertex, b: Tree, rules: Rules) -> Number:
    if not check_cons(a, b, rules):  # lines 2 to 4, ML-4
        return suppression(a, rules) + suppression(b, rules)
    joined = rules.schema.join(a.type, a.qi, b.qi)  # lines 5 and 6
    loss = 2 * rules.schema.lm(a.type, joined)
    if not a.children and not b.children:  # lines 7 and 8
        return loss
    rules.note_pools(a.children)
    pairs = PAIRINGS[rules.pairing](a.children, b.children, rules)  # lines 12 to 25
    loss += sum(pair[0] for pair in pairs)
    paired_a = {i for _, i, _ in pairs}
    paired_b = {j for _, _, j in pairs}
    loss += sum(suppression(x, rules) for i, x in enumerate(a.children) if i not in paired_a)  # ML-10
    loss += sum(suppression(y, rules) for j, y in enumerate(b.children) if j not in paired_b)  # line 26
    return loss


Pairs = list[tuple[Number, int, int]]  # loss, position in a's children, position in b's children


def greedy(a: Sequence[Vertex], b: Sequence[Tree], rules: Rules) -> Pairs:
    """Lines 13 to 23: each subtree of the shorter side, in order, takes its cheapest partner still free."""
    return walk(a, b, rules, lambda loss, x, y: loss, lambda price: True)


def greedy_loss_minus_suppression(a: Sequence[Vertex], b: Sequence[Tree], rules: Rules) -> Pairs:
    """The same by what pairing gains over suppressing both (ML-12); alone when nothing is gained."""

    def price(loss: Number, x: Vertex, y: Tree) -> Number:
        return loss - suppression(x, rules) - suppression(y, rules)

    return walk(a, b, rules, price, lambda price: price < 0)


def walk(
    a: Sequence[Vertex],
    b: Sequence[Tree],
    rules: Rules,
    price: Callable[[Number, Vertex, Tree], Number],
    accept: Callable[[Number], bool],
) -> Pairs:
    pairs: Pairs = []
    free_a, free_b = list(range(len(a))), list(range(len(b)))
    a_walks = len(a) <= len(b)  # decided afresh at every vertex (ML-10)
    for walker in range(min(len(a), len(b))):
        tries = [
            (pair_loss(a[i], b[j], rules), i, j)
            for i in ([walker] if a_walks else free_a)
            for j in (free_b if a_walks else [walker])
        ]
        best = min(tries, key=lambda t: price(t[0], a[t[1]], b[t[2]]))  # min keeps the first one on a tie
        if accept(price(best[0], a[best[1]], b[best[2]])):
            pairs.append(best)
            free_a.remove(best[1])
            free_b.remove(best[2])
    return pairs


def optimal(a: Sequence[Vertex], b: Sequence[Tree], rules: Rules) -> Pairs:
    """The cheapest of all assignments (ML-11), by trying every one; for small trees."""

    def best(i: int, free: tuple[int, ...]) -> tuple[Number, Pairs]:
        if i == len(a):
            return sum(suppression(b[j], rules) for j in free), []
        rest, pairs = best(i + 1, free)
        choices = [(suppression(a[i], rules) + rest, pairs)]
        for j in free:
            loss = pair_loss(a[i], b[j], rules)
            rest, pairs = best(i + 1, tuple(x for x in free if x != j))
            choices.append((loss + rest, [(loss, i, j), *pairs]))
        return min(choices, key=lambda choice: choice[0])

    return best(0, tuple(range(len(b))))[1]


PAIRINGS = {
    "greedy": greedy,
    "greedy_loss_minus_suppression": greedy_loss_minus_suppression,
    "optimal": optimal,
}


def apply(a: Vertex | None, b: Tree, rules: Rules) -> Representative | None:
    """Algorithm 1, carried out: the representative of a's class with b in it; None if suppressed."""
    if a is None or not check_cons(a, b, rules):
        return None
    rules.note_pools(a.children)
    partner = {i: b.children[j] for _, i, j in PAIRINGS[rules.pairing](a.children, b.children, rules)}
    children = [apply(child, partner[i], rules) for i, child in enumerate(a.children) if i in partner]
    return Representative(
        type=a.type,
        qi=rules.schema.join(a.type, a.qi, b.qi),
        values=[mine + yours for mine, yours in zip(a.values, b.values, strict=True)],
        members=[*a.members, b],
        children=present(children),
    )


def holds(vertex: Vertex, caps: Sequence[ShareCap], closings: Sequence[Closing]) -> bool:
    """Whether a vertex of a finished class is safe by frequency among the values present (ML-7).

    One where nobody has a value is.
    """
    for cap in caps:
        if cap.of_records and vertex.type != "0":
            continue  # judged by what looks alike in the end
        values = vertex.values[cap.attribute] if cap.type == vertex.type else []
        if not cap.fits(values, len(values)):
            return False
    for closing in closings:
        values = vertex.values[closing.attribute] if closing.type == vertex.type else []
        if values and not closing.holds(values):
            return False
    return True


def close(vertex: Vertex, caps: Sequence[ShareCap], closings: Sequence[Closing]) -> Vertex | None:
    """The finished class without the subtrees that fail."""
    if not holds(vertex, caps, closings):
        return None
    children = present([close(child, caps, closings) for child in vertex.children])
    return Representative(vertex.type, vertex.qi, vertex.values, vertex.members, children)


@dataclass
class Class:
    """Ordinals of the members in joining order; the representative is None if the class is suppressed."""

    members: list[int]
    representative: Vertex | None


@dataclass
class Result:
    classes: list[Class]
    leftover: list[int]
    total_loss: Number
    _kept: dict[int, Vertex] = field(repr=False)

    def representative_of(self, vertex: Tree) -> Vertex | None:
        """The representative vertex an original vertex is published as; None if it is suppressed."""
        return self._kept.get(id(vertex))


def mlevclutree(
    records: Sequence[Tree],
    schema: Schema,
    k: int,
    caps: Sequence[ShareCap],
    closings: Sequence[Closing],
    draws: Iterator[int],
    window: int = 50,
    pairing: str = "greedy",
    grow: bool = False,
) -> Result:
    """Algorithm 2. `draws` picks the seed records: remaining[draw mod len(remaining)], in input order.

    A window too narrow for a class of k is widened to k - 1. Fewer than k records left are suppressed.
    With `grow` (not in the paper) a full class that fails at its root goes on with those of the window that
    fit, one by one; when none is left, who joined since goes back and the first k are suppressed.
    """
    rules = Rules(schema, k, caps, pairing)
    remaining = list(range(len(records)))
    classes = []
    while len(remaining) >= k:  # line 2
        seed = remaining[next(draws) % len(remaining)]  # lines 3 and 4
        remaining.remove(seed)
        representative: Vertex | None = records[seed]
        members = [seed]
        losses = {i: pair_loss(records[seed], records[i], rules) for i in remaining}  # lines 5 to 8
        nearest = sorted(remaining, key=lambda i: losses[i])[: max(window, k - 1)]  # lines 9 and 10; stable
        for _ in range(k - 1):  # lines 11 to 14
            chosen = cheapest(representative, nearest, records, rules)
            representative = apply(representative, records[chosen], rules)
            nearest.remove(chosen)
            remaining.remove(chosen)
            members.append(chosen)
        if representative is not None and grow and not holds(representative, caps, closings):
            representative, more = grown(representative, nearest, records, rules, closings)
            remaining = [i for i in remaining if i not in more]
            members += more
        if representative is not None:
            representative = close(representative, caps, closings)
        classes.append(Class(members, representative))
    published = [c.representative for c in classes if c.representative is not None]
    kept = {id(v): r for root in published for r in pre_order(root) for v in r.members}
    return Result(classes, remaining, total_loss(records, schema, kept), kept)


def grown(
    a: Vertex, nearest: Sequence[int], records: Sequence[Tree], rules: Rules, closings: Sequence[Closing]
) -> tuple[Vertex | None, list[int]]:
    """A full class and those who join until its root is safe; None and nobody, where it never is."""
    assert rules.k is not None
    joined: list[int] = []
    while not holds(a, rules.caps, closings):
        wider = replace(rules, k=rules.k + len(joined) + 1)
        fitting = [i for i in nearest if i not in joined and check_cons(a, records[i], wider)]
        if not fitting:
            return None, []
        chosen = cheapest(a, fitting, records, wider)
        merged = apply(a, records[chosen], wider)
        assert merged is not None, "it fits"
        a = merged
        joined.append(chosen)
    return a, joined


def cheapest(a: Vertex | None, candidates: Sequence[int], records: Sequence[Tree], rules: Rules) -> int:
    """Line 12: least loss, the first one on a tie."""
    return min(candidates, key=lambda i: pair_loss(a, records[i], rules))


def vertex_cost(schema: Schema, kind: str, labels: Sequence[Label], suppressed: bool) -> Number:
    """A vertex's part of cost(T), ML section 5.1: LM' of what is published, 1 for each value that is not."""
    return schema.own_cost(kind) if suppressed else schema.lm(kind, labels)


def total_loss(records: Sequence[Tree], schema: Schema, kept: dict[int, Vertex]) -> Number:
    """The sum of cost(T) over the original records; `kept`: id of an original vertex -> representative."""
    loss = schema.unit * 0
    for record in records:
        for vertex in pre_order(record):
            published = kept.get(id(vertex), vertex)
            loss += vertex_cost(schema, vertex.type, published.qi, suppressed=id(vertex) not in kept)
    return loss
