"""Functional dependence, in bounded memory, beside the plain definition."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from random import Random

from hierdata.documents.document import Document
from hierdata.records.dependence import Dependence, count_pairs
from hierdata.records.derived import DerivedField
from tests.cases import naming

FIELDS = DerivedField(("a",), ("b",))


def test_contradictions_as_by_definition() -> None:
    """In small worlds, by columns and record by record; a missing value contradicts nothing."""
    rng = Random(1)
    for world in range(200):
        pairs = [(rng.randrange(4), rng.randrange(3)) for _ in range(rng.randrange(1, 7))]
        seconds = defaultdict(set)
        for first, second in pairs:
            if first and second:
                seconds[first].add(second)
        expected = any(len(found) > 1 for found in seconds.values())
        for tolerated in (0, 1):
            columns, single = Dependence(tolerated=tolerated), Dependence(tolerated=tolerated)
            columns.add_records(*zip(*pairs, strict=True))
            for pair in pairs:
                single.add([pair])
            with naming(world=world, tolerated=tolerated):
                assert columns.is_contradicted is single.is_contradicted is expected
                assert columns.pairs == single.pairs
                back = {second: first for first, second in pairs}
                both = len(set(pairs)) == len(dict(pairs)) == len(back)
                assert single.is_one_to_one is (both and all((not one) == (not two) for one, two in pairs))


def test_many_values_are_sampled_each_in_all_of_its_records() -> None:
    """A dependence is found, and one late contradiction of a followed value too."""
    rng = Random(2)
    values = [rng.getrandbits(64) for _ in range(20_000)]
    told = Dependence(tolerated=0, most=1000)
    for start in range(0, 60_000, 5000):
        part = (values * 3)[start : start + 5000]
        told.add_records(part, [value ^ 1 for value in part])
    assert not told.is_contradicted
    assert 0 < len(told.pairs) <= 1000
    assert all(count == 3 for count in told.pairs.values())
    followed = next(iter(told.pairs))[0]
    told.add_records([followed], [5])
    assert told.is_contradicted


def test_a_value_with_too_many_partners_ends() -> None:
    """One value cannot be thinned out: it is refuted, or no longer followed, and memory stays bounded."""
    for tolerated in (0, 0.1):
        told = Dependence(tolerated=tolerated, most=100)
        for start in range(1, 5000, 500):
            told.add_records([64] * 500, range(start, start + 500))
        assert len(told.pairs) <= 100
        assert told.count_told(2) == 0


def test_equal_numbers_are_one_value_and_texts_are_others() -> None:
    """As labels of codes see them."""
    records: list[Document] = [
        {"a": 1, "b": "x"},
        {"a": Decimal("1.0"), "b": "x"},
        {"a": "1", "b": "y"},
        {"a": True, "b": "z"},
    ]
    told = Dependence()
    assert list(count_pairs(records, FIELDS, told)) == records
    assert not told.is_contradicted
    assert len(told.pairs) == 3
