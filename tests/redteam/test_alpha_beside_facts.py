"""Alpha where sensitive values may be known: whatever was left out, no guess has a larger share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import hierdata
from hierdata.ground.errors import PromiseError
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds
from tests.end_to_end.test_bounded_knowledge import above
from tests.end_to_end.test_known_values import FIELDS, outline, policy_of
from tests.naive_knowledge import NOTHING, OTHER, Shown

MARK, ILL, RESULT = "$.mark", "$.visits[*].ill", "$.visits[*].tests[*].result"
NAMES = {MARK: ".mark", ILL: "visit.ill", RESULT: "test.result"}


def hidden_in(records: Sequence[Shown]) -> list[tuple[int, naive.Occurrence]]:
    """All sensitive values that may be known and are not shown."""
    return [
        (at, one)
        for at, record in enumerate(records)
        for one, value in naive.stated_by_fields(record).items()
        if value is naive.ABSENT
    ]


def tell(record: Shown, truth: dict[naive.Occurrence, Any], path: naive.Path = ()) -> Shown:
    """A published record in which some absent values are known to be something, though not shown."""
    children = tuple(tell(child, truth, (*path, at)) for at, child in enumerate(record.children))
    own = tuple((name, truth[path, f"{record.kind}.{name}"]) for name in record.known
                if (path, f"{record.kind}.{name}") in truth)  # fmt: skip
    return record._replace(children=children, values=(*record.values, *own))


def told(records: Sequence[Shown], truth: dict[tuple[int, naive.Occurrence], Any]) -> list[Shown]:
    """Published records, and what is true of all that is absent."""
    return [
        tell(record, {one: value for (own, one), value in truth.items() if own == at})
        for at, record in enumerate(records)
    ]


def truths(
    records: Sequence[Shown], values: Collection[Any]
) -> Iterator[dict[tuple[int, naive.Occurrence], Any]]:
    """All that may be true of what is absent: each a value, or none."""
    hidden = hidden_in(records)
    for chosen in product([*values, NOTHING], repeat=len(hidden)):
        yield dict(zip(hidden, chosen, strict=True))


def tiny_record(random: Random) -> Shown:
    """A record of few visits, whose illness may be known."""
    visits = tuple(
        Shown("visit", (random.choice("12"), ill), () if ill is None else (("ill", ill),), (), 0, ("ill",))
        for ill in (random.choice(["H", "f", None]) for _ in range(random.randrange(3)))
    )
    return Shown("", ("a",), (), visits, 1)


@with_worlds(6, 400)
def test_absent_values_count_as_in_the_worst_case(worlds: int) -> None:
    """All that may be true of absent values is tried: the definition has the largest share of any."""
    random = Random(3)
    tried = 0
    for _ in range(worlds):
        records = [tiny_record(random) for _ in range(random.randrange(2, 5))]
        if len(hidden_in(records)) > 3:
            continue
        tried += 1
        m, presence = random.choice([1, 2]), random.random() < 0.5
        asked = [("visit.ill", value) for value in random.choice([["H", "f", OTHER], ["H"]])]

        def shares(records: Sequence[Shown]) -> dict[Any, Fraction]:
            return naive.largest_shares(records, m, presence=presence, values=asked)  # noqa: B023

        worst: dict[Any, Fraction] = {}
        for truth in truths(records, ["H", "f", OTHER]):
            for value, share in shares(told(records, truth)).items():
                worst[value] = max(worst.get(value, share), share)
        assert shares(records) == worst
    assert tried > worlds // 4


def random_person(random: Random) -> dict[str, Any]:
    """A person with visits, of whose values few are missing."""
    visits = [
        {
            "ward": random.choice("1234"),
            "ill": random.choice(["H", "H", "f", "f", "c", "c", "c", random.choice(["c", None])]),
            "tests": [{"result": random.choice("+--")} for _ in range(random.choice([0, 0, 1, 2]))],
        }
        for _ in range(random.randrange(1, 3))
    ]
    mark = random.choice([1, 2, 3, 4, 5, 6, 6, random.choice([6, None])])
    return {"town": random.choice("ab"), "mark": mark, "visits": visits}


@with_worlds(4, 80)
def test_no_guess_has_a_larger_share_whatever_was_left_out(worlds: int) -> None:
    """Releases keep the definition; a reader who knows what was left out, and where, has no better guess."""
    random = Random(12)
    seen: Counter[str] = Counter()
    for number in range(worlds):
        people = [random_person(random) for _ in range(random.choice([12, 20]))]
        values = random.choice(
            [{ILL: ["H"]}, {ILL: ["H"], RESULT: ["+"]}, {MARK: [2]}, {ILL: ["c"], MARK: [4]}]
        )
        asks = random.choice(["value", "presence"])
        stated: dict[str, Any] = {
            "k": random.choice([2, 3]),
            "m": random.choice([1, 2]),
            "vertex": random.choice(["whole", "off"]),
            "root": random.choice(["known", "known", "counted"]),
            "facts": random.choice(["all", "all", [MARK], [ILL]]),
            "alpha": random.choice(["2/3", "3/4"]),
            "values": values,
        }
        fields = {
            path: {**own, "asks": asks} if path in values and path != MARK else own
            for path, own in FIELDS.items()
        }
        policy = policy_of(fields, **stated)
        with naming(number=number, stated=stated, asks=asks):
            try:
                release = hierdata.anonymize(people, policy, seed=bytes(16))
            except PromiseError:
                seen["refused"] += 1
                continue
            records: list[Any] = list(release.records())
            assert hierdata.verify(records, policy).passed
            shown = [outline(stated["facts"]).read(record) for record in records]
            asked = [(NAMES[path], value) for path, own in values.items() for value in own]
            how = {"whole": stated["vertex"] == "whole", "counted": stated["root"] == "counted"}
            alpha = Fraction(stated["alpha"])
            for presence in {asks == "presence"} if MARK not in values else ():
                limits = {"alpha": alpha, "presence": presence, "values": asked}
                assert naive.keeps_promise(shown, above, k=stated["k"], m=stated["m"], **how, **limits)
                hidden = hidden_in(shown)
                seen["left out"] += bool(hidden)
                for _ in range(4):
                    truth = {one: random.choice(["H", "+", "c", 2, OTHER, NOTHING]) for one in hidden}
                    found = naive.largest_shares(
                        told(shown, truth), stated["m"], presence=presence, values=asked, **how
                    )
                    assert all(share <= alpha for share in found.values())
    assert seen["left out"] > worlds // 4, seen
    assert seen["refused"] <= worlds // 3, seen


def test_entries_that_were_left_out_may_tell_what_they_were() -> None:
    """Only visits with H are gone: whoever knows that somebody had one more knows its illness."""
    visits = [[{"ward": "1", "ill": own} for own in ills] for ills in (["f"], ["f"], ["c"], ["c"])]
    people = [{"town": "a", "mark": 2, "visits": own} for own in visits]
    assert hierdata.verify(people, policy_of(FIELDS, m=1, alpha="1/2", values={ILL: ["H"]})).passed
