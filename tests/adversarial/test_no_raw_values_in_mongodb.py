"""Marked values in every position of MongoDB's exports: no message, log or report shows one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import bson
import pytest

from tests.adversarial.marked import CHANGES, NUMBER, PEOPLE, TEXT, Bench, planted, positions
from tests.cases import in_turns

WRAPPED: dict[str, Callable[[Any], Any]] = {
    "id": lambda value: {"$oid": TEXT},
    "integer": lambda value: {"$numberInt": f"{NUMBER}{NUMBER}"},
    "long": lambda value: {"$numberLong": TEXT},
    "double": lambda value: {"$numberDouble": f"{NUMBER}e9999"},
    "decimal": lambda value: {"$numberDecimal": f"{NUMBER}e99999"},
    "date": lambda value: {"$date": TEXT},
    "binary": lambda value: {"$binary": {"base64": TEXT, "subType": TEXT}},
    "expression": lambda value: {"$regularExpression": {"pattern": TEXT, "options": TEXT}},
    "code": lambda value: {"$code": TEXT, "$scope": {TEXT: NUMBER}},
    "reference": lambda value: {"$ref": TEXT, "$id": NUMBER, "$db": TEXT},
    "unknown": lambda value: {f"${TEXT}": NUMBER},
}
"""Values of Extended JSON, most of them of no meaning."""


def lines(people: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, people)).encode()


def dump(people: list[dict[str, Any]]) -> bytes:
    return b"".join(map(bson.encode, people))


@pytest.mark.full
@pytest.mark.parametrize("change", CHANGES | WRAPPED)
def test_a_mark_at_any_place_of_an_export(bench: Bench, change: str) -> None:
    turn = [*CHANGES, *WRAPPED].index(change)
    for position in in_turns(positions(PEOPLE[-2]), turn, 6):
        bench.run(lines(planted(position, (CHANGES | WRAPPED)[change])), ".ejson")
    for position in in_turns(positions(PEOPLE[-2]), turn + 1, 6) if change in CHANGES else ():
        bench.run(dump(planted(position, CHANGES[change])), ".bson")
    assert bench.codes & {2, 5}


BREAKS: dict[str, Callable[[bytes, int], bytes]] = {
    "cut inside": lambda data, at: data[: at + 4],
    "cut behind": lambda data, at: data[: at + len(TEXT)],
    "a text longer than its document": lambda data, at: data[: at - 4] + b"\xff\xff\x00\x00" + data[at:],
    "a negative length": lambda data, at: data[: at - 4] + b"\xff\xff\xff\xff" + data[at:],
    "not UTF-8": lambda data, at: data[:at] + b"\xff" + data[at + 1 :],
    "no end of a text": lambda data, at: data[: at + len(TEXT)] + b"x" + data[at + len(TEXT) + 1 :],
    "an unknown type": lambda data, at: data[: at - 10] + b"\x77" + data[at - 9 :],
    "garbage behind": lambda data, at: data + TEXT.encode(),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_mark_beside_a_broken_dump(bench: Bench, name: str) -> None:
    for position in (("town",), ("visits", 1, "reason")):
        data = dump(planted(position, CHANGES["text"]))
        bench.run(BREAKS[name](data, data.index(TEXT.encode())), ".bson")
    assert bench.codes <= {2, 5}
