"""One seed for several releases: positions and group numbers of one tell nothing about another."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.pipeline.resources import Resources
from hierdata.pipeline.seeds import digest_record, watch_content

SEED = b"one seed for every month"
PEOPLE = 200
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 4}],
    "fields": {
        "$.age": {"role": "quasi", "interval": {"steps": [5, 20], "domain": [0, 100]}},
        "$.mark": {"role": "sensitive"},
    },
}


def people(month: int, count: int = PEOPLE) -> list[dict[str, Any]]:
    """The same people every month; ``mark`` stands for what each of them has that month."""
    ages = Random(15)
    return [{"age": ages.randrange(100), "mark": f"{month}-{person}"} for person in range(count)]


def released(records: Sequence[dict[str, Any]], policy: dict[str, Any] = POLICY) -> list[int]:
    """The people in the order of publication."""
    release = hierdata.anonymize(records, policy, seed=SEED)
    return [int(str(record["mark"]).split("-")[1]) for record in release.records()]


def linked(one: list[int], other: list[int]) -> int:
    """How many people are at one position in both."""
    return sum(a == b for a, b in zip(one, other, strict=True))


def test_positions_do_not_link_two_months() -> None:
    january, february = released(people(1)), released(people(2))
    assert sorted(january) == sorted(february) == list(range(PEOPLE))
    assert linked(january, february) < 10  # of a random order, 1 is expected


def test_a_newcomer_cannot_be_told_from_the_others() -> None:
    january, march = released(people(1)), released(people(3, PEOPLE + 1))
    others = [person for person in march if person < PEOPLE]
    assert linked(january, others) < 10


def test_another_policy_has_another_order() -> None:
    coarser = {**POLICY, "models": [{"kind": "k-anonymity", "k": 5}]}
    wider = {
        **POLICY,
        "fields": {
            **POLICY["fields"],
            "$.age": {"role": "quasi", "interval": {"steps": [10], "domain": [0, 100]}},
        },
    }
    first = released(people(1))
    assert linked(first, released(people(1), coarser)) < 10
    assert linked(first, released(people(1), wider)) < 10


def test_group_numbers_do_not_link_two_months() -> None:
    policy = {
        **POLICY,
        "recoding": "anatomy",
        "models": [{"kind": "distinct-l-diversity", "l": 4}],
        "fields": {
            **POLICY["fields"],
            "$.age": {"role": "quasi", "interval": {"steps": [5], "domain": [0, PEOPLE]}},
        },
    }

    def groups(month: int) -> list[Any]:
        records = [{"age": person, "mark": f"{month}-{person % 50}"} for person in range(PEOPLE)]
        release = hierdata.anonymize(records, policy, seed=SEED)
        return [
            group for _, group in sorted((record["age"], record["group"]) for record in release.records())
        ]

    assert linked(groups(1), groups(2)) < 40


def test_the_same_input_has_the_same_order_however_it_is_stored(tmp_path: Path) -> None:
    records = people(1)
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    (tmp_path / "plain.jsonl").write_bytes(lines)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "array.json").write_text(json.dumps(records))
    orders = {
        name: [record["mark"] for record in hierdata.anonymize(tmp_path / name, POLICY, seed=SEED).records()]
        for name in ("plain.jsonl", "packed.jsonl.gz", "array.json")
    }
    assert len({tuple(order) for order in orders.values()}) == 1


@pytest.mark.full
def test_the_same_input_has_the_same_order_whoever_does_the_work(tmp_path: Path) -> None:
    file = tmp_path / "plain.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in people(1)), "utf-8")
    orders = [
        [record["mark"] for record in hierdata.anonymize(file, POLICY, seed=SEED, resources=own).records()]
        for own in (Resources("serial"), Resources("processes", workers=2))
    ]
    assert orders[0] == orders[1]


def test_the_digest_depends_on_content_and_order_but_not_on_parts() -> None:
    records = people(1, 20)

    def digest(parts: Sequence[Sequence[dict[str, Any]]]) -> bytes:
        content = hashlib.sha256()
        for part in parts:
            digests = bytearray()
            assert list(watch_content(part, digests)) == list(part)
            content.update(digests)
        return content.digest()

    whole = digest([records])
    assert whole == digest([records[:7], [], records[7:]])
    assert whole != digest([records[1:], records[:1]])
    assert whole != digest([records[:-1]])


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 1}, {"a": "1"}), ({"a": 1}, {"a": True}), ({"a": "b"}, {"ab": ""}), ({"a": [1]}, {"a": 1})],
    ids=str,
)
def test_different_records_have_different_digests(one: Any, other: Any) -> None:
    assert digest_record(one) != digest_record(other)


def test_the_digest_does_not_show_which_values_are_one_object() -> None:
    text = "".join(["long", " text"])
    assert digest_record({"a": text, "b": text}) == digest_record(
        {"a": text, "b": "".join(["long", " text"])}
    )
