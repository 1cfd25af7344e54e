"""No run finds its own release false. ``tests.benchmarks.ends_of_runs`` runs two thousand worlds."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.adversarial.ends_of_runs import WAYS, describe_end
from tests.cases import naming


@pytest.mark.parametrize("worlds", [16, pytest.param(100, marks=pytest.mark.full)])
def test_a_run_publishes_or_refuses(worlds: int) -> None:
    ended: Counter[tuple[str, str]] = Counter()
    for number in range(worlds):
        with naming(number=number):
            ended[describe_end(number)] += 1
    assert {way for way, end in ended if end == "published"} == {*WAYS}
    refused = sum(count for (_, end), count in ended.items() if end != "published")
    assert refused <= worlds // 3, "most worlds are published, or little is tested"


def test_worlds_that_ended_otherwise() -> None:
    """What the benchmark found: groups of a type without any vertex; rows left out without a value; and two
    spellings of absence, of which one was a list without items and one an item of it without a value; and
    groups of anatomy, found by whole trees, in which one person shows a value; and facts by bins of 2 and 5,
    of which [4, 5] overlaps with two others."""
    for number in (68, 140, 766, 1167, 2436, 61927):
        with naming(number=number):
            assert describe_end(number)[1] in ("published", "PromiseError")
    assert describe_end(1167)[1] == "published"
