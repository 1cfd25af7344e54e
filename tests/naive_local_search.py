"""Local search written out from its definition, slowly: every exchange is weighed with whole alignments.

Trees and alignments are those of tests.naive; see ``LocalSearch`` of the engines for the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.naive import Rules, apply, close, pair_loss
from tests.naive_trees import Closing, Number, Schema, Tree, Vertex, pre_order


@dataclass(eq=False)
class Standing:
    """A class: its records in the order in which they are aligned, their representative, what it keeps.

    The representative has what the models forbid; what is kept is counted without that.
    """

    order: list[int]
    representative: Vertex
    kept: Number


@dataclass
class Exchange:
    gain: Number
    promised: Number
    classes: dict[int, list[int]] = field(repr=False)


@dataclass
class LocalSearch:
    """``classes`` are changed in place; no class becomes smaller than ``least`` or larger than ``largest``.

    Of the exchanges that gain before the models are asked, the ``asked`` best are tried at a visit. ``seen``
    has by record its class and those near it at its last visit.
    """

    records: Sequence[Tree]
    rules: Rules
    closings: Sequence[Closing]
    classes: list[Standing]
    least: int
    largest: int
    near: int
    asked: int
    seen: dict[int, list[Standing | None]] = field(default_factory=dict)
    together_made: int = 0
    _passed: dict[int, Counter[tuple[str, int, str]]] = field(default_factory=dict, repr=False)

    def run(self, passes: int) -> int:
        """So many passes, fewer if one changes nothing; how many exchanges were made."""
        made = 0
        for _ in range(passes):
            before = made
            for record in range(len(self.records)):
                made += self.visit(record)
            if made == before:
                break
        return made

    def visit(self, record: int) -> bool:
        own = self.class_of(record)
        if own is not None and len(self.classes[own].order) < 2:
            return False
        here = None if own is None else self.classes[own]
        seen = self.seen.get(record, [])
        is_new = here not in seen[:1]
        near = self.nearest(record, own)
        weighed = [self.anew(own, record)] if own is not None and is_new else []
        for other in near:
            if is_new or self.classes[other] not in seen:
                weighed += self.moves(record, own, other)
                weighed += self.swaps(record, own, other)
        self.seen[record] = [here, *(self.classes[other] for other in near)]
        promising = [exchange for exchange in weighed if exchange.promised > 0 and exchange.gain > 0]
        promising.sort(key=lambda exchange: (-exchange.gain, -exchange.promised))  # stable
        if any(self.made(exchange) for exchange in promising[: self.asked]):
            return True
        if own is not None:
            return False
        parties = [best for other in near if (best := self.together(record, other)).gain > 0]
        made = any(map(self.made, sorted(parties, key=lambda party: -party.gain)))  # stable
        self.together_made += made
        return made

    def made(self, exchange: Exchange) -> bool:
        """Make an exchange, unless a model fails at a root, or it does not pay without what fails below."""
        news: dict[int, Standing] = {}
        for at, order in exchange.classes.items():
            representative = self.aligned(order, len(order))
            assert representative is not None
            published = close(representative, self.rules.caps, self.closings)
            if published is None:
                return False
            news[at] = Standing(order, representative, len(order) * self.saved(published))
        if sum(new.kept - self.classes[at].kept for at, new in news.items()) <= 0:
            return False
        published_before = {one for at in news for one in self.classes[at].order}
        for at, new in news.items():
            self.classes[at] = new
        for one in published_before - {one for new in news.values() for one in new.order}:
            self.seen.pop(one, None)  # suppressed now
        return True

    def take_in(self, record: int) -> bool:
        """Put a suppressed record into the class that loses least by it; False if it fits none."""
        best: tuple[Number, int, Standing] | None = None
        for at, one in enumerate(self.classes):
            order = [*one.order, record]
            representative = None if len(order) > self.largest else self.aligned(order, len(order))
            if representative is None:
                continue
            published = close(representative, self.rules.caps, self.closings)
            if published is None:
                continue
            standing = Standing(order, representative, len(order) * self.saved(published))
            if best is None or standing.kept - one.kept > best[0]:
                best = standing.kept - one.kept, at, standing
        if best is not None:
            self.classes[best[1]] = best[2]
        return best is not None

    def class_of(self, record: int) -> int | None:
        return next((at for at, one in enumerate(self.classes) if record in one.order), None)

    def nearest(self, record: int, own: int | None) -> list[int]:
        def gain(at: int) -> Number:
            one = self.classes[at]
            size = len(one.order)
            return (size + 1) * self.common(one.representative, record) - self.kept(at)

        others = [at for at in range(len(self.classes)) if at != own]
        return sorted(others, key=gain, reverse=True)[: self.near]  # stable

    def anew(self, own: int, record: int) -> Exchange:
        rest = self.rest(own, record)
        size = len(self.classes[own].order)
        order = [one for one in self.classes[own].order if one != record]
        gain = self.joined(rest, record, size)
        promised = size * self.common(rest, record) - self.kept(own)
        return Exchange(gain - self.kept(own), promised, {own: [*order, record]})

    def moves(self, record: int, own: int | None, to: int) -> list[Exchange]:
        target = self.classes[to]
        size = len(target.order)
        if size >= self.largest or (own is not None and len(self.classes[own].order) <= self.least):
            return []
        news = {to: [*target.order, record]}
        promised = (size + 1) * self.common(target.representative, record) - self.kept(to)
        left: Number = 0
        if own is not None:
            stay = [one for one in self.classes[own].order if one != record]
            news[own] = stay
            promised += len(stay) * self.saved(self.rest(own, record)) - self.kept(own)
            smaller = self.aligned(stay, len(stay))
            if smaller is None:
                return []
            left = len(stay) * self.saved(smaller) - self.kept(own)
        as_it_stands = self.joined(target.representative, record, size + 1) - self.kept(to) + left
        larger = self.aligned(news[to], size + 1)
        if as_it_stands <= 0 or larger is None:
            return []
        return [Exchange((size + 1) * self.saved(larger) - self.kept(to) + left, promised, news)]

    def swaps(self, record: int, own: int | None, to: int) -> list[Exchange]:
        found = []
        target = self.classes[to]
        size = len(target.order)
        for who in target.order if size > 1 else []:
            rest = self.rest(to, who)
            gain = self.joined(rest, record, size) - self.kept(to)
            promised = size * self.common(rest, record) - self.kept(to)
            news = {to: [*(one for one in target.order if one != who), record]}
            fits = self.joined(rest, record, size) >= 0
            if own is not None:
                order = self.classes[own].order
                rest = self.rest(own, record)
                news[own] = [*(one for one in order if one != record), who]
                fits = fits and self.joined(rest, who, len(order)) >= 0
                gain += self.joined(rest, who, len(order)) - self.kept(own)
                promised += len(order) * self.common(rest, who) - self.kept(own)
            if fits:
                found.append(Exchange(gain, promised, news))
        return found

    def together(self, record: int, to: int) -> Exchange:
        """A suppressed record and those others that save most in a class as it stands, joining one by one."""
        others = [one for one in range(len(self.records)) if one != record and self.class_of(one) is None]
        others.sort(key=lambda one: -self.common(self.records[one], record))  # stable
        order = list(self.classes[to].order)
        representative = self.classes[to].representative
        best = Exchange(0, 0, {})
        for one in [record, *others[: self.largest]]:
            if len(order) == self.largest or (one != record and record not in order):
                break
            rules = replace(self.rules, k=len(order) + 1)
            joined = apply(representative, self.records[one], rules)
            if joined is None:
                continue
            representative = joined
            order = [*order, one]
            gain = len(order) * self.saved(representative) - self.kept(to)
            if gain > best.gain:
                best = Exchange(gain, gain, {to: order})
        return best

    def aligned(self, order: Sequence[int], size: int) -> Vertex | None:
        """The records one after the other under the caps of a class of ``size``; None if a root fails."""
        representative: Vertex | None = self.records[order[0]]
        for record in order[1:]:
            representative = apply(representative, self.records[record], replace(self.rules, k=size))
        return representative

    def rest(self, at: int, record: int) -> Vertex:
        order = self.classes[at].order
        rest = self.aligned([one for one in order if one != record], len(order))
        assert rest is not None, "who is left fits as before"
        return rest

    def joined(self, representative: Vertex, record: int, size: int) -> Number:
        """What a class of ``size`` keeps with the record aligned last; below 0 if its root fails."""
        newcomer = self.records[record]
        rules = replace(self.rules, k=size)
        if apply(representative, newcomer, rules) is None:
            return -1
        loss = pair_loss(representative, newcomer, rules)
        weight = self.schema.cost(representative) + self.schema.cost(newcomer)
        return size * (weight - loss) / 2

    def kept(self, at: int) -> Number:
        return self.classes[at].kept

    def saved(self, tree: Vertex) -> Number:
        """What suppressing it would lose, and publishing it does not."""
        return self.schema.cost(tree) - sum(
            self.schema.lm(vertex.type, vertex.qi) for vertex in pre_order(tree)
        )

    def common(self, tree: Vertex, record: int) -> Number:
        """What two trees can save at most: what LM' gains at each node that values of both pass."""
        if record not in self._passed:
            self._passed[record] = self.passed(self.records[record])
        both = self.passed(tree) & self._passed[record]
        worth: Number = self.schema.unit * sum(
            self.schema.constants.get(kind, 0) * count
            for kind, count in (self.types(tree) & self.types(self.records[record])).items()
        )
        for (kind, position, node), count in both.items():
            weight = self.schema.weights.get(kind, [1] * (position + 1))[position]
            taxonomy = self.schema.taxonomies[kind][position]
            above = taxonomy.parent[node]
            top = self.schema.unit if above is None else taxonomy.lm(above)
            worth += weight * count * (top - taxonomy.lm(node))
        return worth

    def types(self, tree: Vertex) -> Counter[str]:
        return Counter(vertex.type for vertex in pre_order(tree))

    def passed(self, tree: Vertex) -> Counter[tuple[str, int, str]]:
        return Counter(
            (vertex.type, position, node)
            for vertex in pre_order(tree)
            for position, label in enumerate(vertex.qi)
            for node in self.schema.taxonomies[vertex.type][position].ancestors(label)
        )

    @property
    def schema(self) -> Schema:
        return self.rules.schema
