"""Bounded knowledge attacked in small worlds: published in any way that keeps the promise, nobody is found.

A world is a few records and a way to publish them that the recoding allows. Where the published records
keep the definition (tests/naive_knowledge.py), everything that may be known of a person must fit nobody or
at least k records (tests/naive_suspects.py), for each way in which it may have been published.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tests.cases import with_worlds
from tests.naive_knowledge import Shown, form_of, keeps_promise, smallest_counts
from tests.naive_suspects import best_guesses, candidates, knowledge_of, recodings_of

PARENT = {"a": "low", "b": "low", "c": "high", "d": "high", "x": "xy", "y": "xy"}


def above(kind: str, at: int, value: Any) -> Sequence[Any]:
    return [PARENT[value]] if value in PARENT else []


class Kind(NamedTuple):
    """A vertex type: the values of each field, whether it repeats under its parent, and its children."""

    name: str
    fields: tuple[str, ...] = ()
    repeats: bool = True
    children: tuple[Kind, ...] = ()


SHAPES = (
    Kind("$", ("xy",), False, (Kind("visit", ("abcd",)),)),
    Kind("$", ("xy",), False, (Kind("visit", ("ab", "xy")),)),
    Kind("$", (), False, (Kind("visit", ("ab",), True, (Kind("drug", ("xy",)),)),)),
    Kind("$", (), False, (Kind("visit", (), True, (Kind("drug", ("abc",)),)),)),
    Kind("$", ("xy",), False, (Kind("visit", (), True, (Kind("ward", ("ab",), False),)),)),
    Kind("$", (), False, (Kind("home", ("abcd",), False), Kind("visit", ("xy",)))),
    Kind("$", (), False, (Kind("visit", ("ab",), True, (Kind("ward", (), False),)),)),
)


def draw_record(rng: random.Random, kind: Kind) -> Shown:
    fields = tuple(rng.choice([*values, None]) if rng.random() < 0.9 else None for values in kind.fields)
    children = [
        draw_record(rng, below)
        for below in kind.children
        for _ in range(rng.choice((0, 1, 1, 2)) if below.repeats else rng.random() < 0.8)
    ]
    return Shown(kind.name, fields, (), tuple(children))


def removable_kinds(kind: Kind) -> set[str]:
    return {below.name for below in kind.children if below.repeats}.union(
        *(removable_kinds(below) for below in kind.children)
    )


def draw_cut(rng: random.Random) -> Mapping[Any, Any]:
    """How every value is published in the records of one root vector: as it is, or by its parent."""
    coarse = {parent: rng.random() < 0.5 for parent in ("low", "high", "xy")}
    return {value: parent if coarse[parent] else value for value, parent in PARENT.items()}


def draw_release(rng: random.Random, originals: Sequence[Shown], kind: Kind) -> list[Shown]:
    """Publish records by the rules of the recoding, with as few deletions as chance wants."""
    removable = removable_kinds(kind)
    kept = rng.choice((0.5, 0.8, 0.95))
    root = draw_cut(rng)
    cuts: dict[Any, Mapping[Any, Any]] = {}

    def publish(vertex: Shown, cut: Mapping[Any, Any]) -> Shown | None:
        if vertex.kind in removable and rng.random() > kept:
            return None
        fields = (cut.get(raw) if rng.random() < kept else None for raw in vertex.fields)
        below = (publish(child, cut) for child in vertex.children)
        return vertex._replace(fields=tuple(fields), children=tuple(filter(None, below)))

    found = []
    for record in originals:
        vector = tuple(root.get(raw) for raw in record.fields)
        published = publish(record, cuts.setdefault(vector, draw_cut(rng)))
        assert published is not None
        found.append(published._replace(fields=vector))
    return found


def least_candidates(
    originals: Sequence[Shown], published: Sequence[Shown], kind: Kind, m: int, *, whole: bool, counted: bool
) -> int:
    """The fewest records that anybody may be taken for, by what may be known of them; absent ones aside."""
    removable = removable_kinds(kind)
    return min(
        (
            len(fitting)
            for record in originals
            for known in knowledge_of(record, m, whole=whole, counted=counted)
            for fitting in candidates(known, published, removable, above, counted=counted).values()
        ),
        default=len(published),
    )


@with_worlds(400, 4000)
def test_nobody_is_found_where_the_promise_holds(worlds: int) -> None:
    rng = random.Random(19)
    kept: Counter[Any] = Counter()
    for _ in range(worlds):
        kind = rng.choice(SHAPES)
        k, m = rng.choice(((2, 1), (2, 2), (3, 1), (3, 2)))
        whole, counted = rng.random() < 0.5, rng.random() < 0.3
        # Copies of a few records, so that patterns are shared.
        few = [draw_record(rng, kind) for _ in range(rng.choice((1, 2, 2, 3)))]
        originals = [rng.choice(few) for _ in range(rng.randint(k, 2 * k + 1))]
        published = draw_release(rng, originals, kind)
        if not keeps_promise(published, above, k=k, m=m, whole=whole, counted=counted):
            continue
        least = least_candidates(originals, published, kind, m, whole=whole, counted=counted)
        assert least >= k, (originals, published, k, m, whole, counted)
        kept[SHAPES.index(kind), len(set(map(form_of, published))) > 1] += 1
    # Every shape was met with records that look different, so that there was something to find.
    assert min(kept[shape, True] for shape in range(len(SHAPES))) >= worlds // 2000, kept


def with_values(rng: random.Random, vertex: Shown) -> Shown:
    """The same with a sensitive value at most vertices."""
    values = (("ill", rng.choice("pqrs")),) if rng.random() < 0.7 else ()
    return vertex._replace(values=values, children=tuple(with_values(rng, one) for one in vertex.children))


@with_worlds(200, 1500)
def test_no_value_is_guessed_where_alpha_holds(worlds: int) -> None:
    rng = random.Random(23)
    kept: Counter[Any] = Counter()
    for _ in range(worlds):
        kind = rng.choice(SHAPES)
        k, m = rng.choice(((2, 1), (2, 2), (3, 1)))
        whole, counted = rng.random() < 0.5, rng.random() < 0.3
        presence, alpha = rng.random() < 0.5, rng.choice((Fraction(1, 2), Fraction(2, 3)))
        few = [draw_record(rng, kind) for _ in range(rng.choice((1, 2)))]
        originals = [with_values(rng, rng.choice(few)) for _ in range(rng.randint(2 * k, 3 * k + 1))]
        published = draw_release(rng, originals, kind)
        if not keeps_promise(published, above, k=k, m=m, whole=whole, counted=counted):
            continue
        bounded = {(name, "p") for name in ("$.ill", "visit.ill", "drug.ill", "ward.ill", "home.ill")}
        held = keeps_promise(
            published,
            above,
            k=k,
            m=m,
            whole=whole,
            counted=counted,
            alpha=alpha,
            presence=presence,
            values=bounded,
        )
        most = max(
            (
                share
                for record in originals
                for known in knowledge_of(record, m, whole=whole, counted=counted)
                for value, share in best_guesses(
                    known, published, above, counted=counted, presence=presence
                ).items()
                if value in bounded
            ),
            default=Fraction(0),
        )
        if held:
            assert most <= alpha, (originals, published, k, m, whole, counted, presence)
        kept[held, most > Fraction(1, 4), SHAPES.index(kind)] += 1
        kept["missed"] += most > alpha
    # Every shape was met with shares below and above alpha, so that there was something to guess.
    assert all(kept[held, True, shape] for held in (True, False) for shape in range(len(SHAPES))), kept
    assert kept["missed"] > 50 * worlds // 1500, kept


def test_a_deleted_value_is_a_trace() -> None:
    # A single child stays when its value is deleted; only who has lost it shows nothing there.
    kind = Kind("$", (), False, (Kind("home", ("abcd",), False),))
    originals = [Shown("$", (), (), (Shown("home", (value,)),)) for value in "aab"]
    published = [Shown("$", (), (), (Shown("home", (value,)),)) for value in ("a", "a", None)]
    assert smallest_counts(published, 1)["k_1"] == 1
    assert least_candidates(originals, published, kind, 1, whole=False, counted=False) == 1


def test_all_releases_of_three_small_worlds() -> None:
    kind = Kind("$", (), False, (Kind("visit", ("ab",)),))
    worlds = (("a", "a", "b"), ("ab", "ab", "a"), ("ab", "a", "b"))
    found = 0
    for world in worlds:
        originals = [
            Shown("$", (), (), tuple(Shown("visit", (value,)) for value in record)) for record in world
        ]
        ways = [
            list(dict.fromkeys(recodings_of(record, lambda *raw: raw[2:], {"visit"}))) for record in originals
        ]
        for one in ways[0]:
            for two in ways[1]:
                for three in ways[2]:
                    published = [one, two, three]
                    if keeps_promise(published, above, k=2, m=2):
                        found += 1
                        assert least_candidates(originals, published, kind, 2, whole=True, counted=False) >= 2
    assert found >= 30
