"""Two releases together, slowly and on trees: every pair of records, vertex by vertex."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive_adversary import Known, Label, Node, Parents, candidates, covers


def may_be_one(label: Label, other: Label, parents: Parents) -> bool:
    """Whether some value may have been published as both labels; what is missing may be anything."""
    return None in (label, other) or covers(label, other, parents) or covers(other, label, parents)


def may_be_vertex(mine: Node, other: Node, parents: Parents) -> bool:
    """Whether two published vertices may be of one vertex."""
    quasi = zip(mine.quasi, other.quasi, strict=True)
    sensitive = zip(mine.sensitive, other.sensitive, strict=True)
    return (
        mine.kind == other.kind
        and all(may_be_one(label, theirs, parents) for label, theirs in quasi)
        and all(None in (value, theirs) or value == theirs for value, theirs in sensitive)
    )


def count_contradictions(mine: Node, other: Node, parents: Parents) -> int:
    """How many vertices of either record are none of the other."""
    return sum(
        not any(may_be_vertex(vertex, theirs, parents) for theirs in there.all())
        for here, there in ((mine, other), (other, mine))
        for vertex in here.all()
    )


def link(mine: Node, others: Sequence[Node], parents: Parents) -> list[Node]:
    """The records with a root that may be this one's, and the fewest contradictions."""
    found = [
        (count_contradictions(mine, one, parents), one) for one in others if may_be_vertex(mine, one, parents)
    ]
    return [one for count, one in found if count == min(each for each, _ in found)]


class Linked:
    """Two releases as trees, with the links of each record."""

    def __init__(self, first: Sequence[Node], second: Sequence[Node], parents: Parents) -> None:
        self.releases, self.parents = (first, second), parents
        self.links = {
            one: link(one, others, parents)
            for here, others in ((first, second), (second, first))
            for one in here
        }

    def count(self, known: Known) -> tuple[int, int]:
        """How many are candidates in both, and in the release alone where they are fewer."""
        found = [{one for one, _ in candidates(known, shown, self.parents)} for shown in self.releases]
        left = [
            sum(not there.isdisjoint(self.links[one]) for one in here) for here, there in (found, found[::-1])
        ]
        return min((count for count in left if count), default=0), min(map(len, found))
