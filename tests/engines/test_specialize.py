"""The engine under bounded knowledge: what it publishes keeps the promise, by a program of its own."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication
from hierdata.policy.load import from_data
from hierdata.release.recodings import recoding_named
from hierdata.reproduction.encoded import EncodedRecords, encode_records
from tests.naive_knowledge import Outline, keeps_promise

TREE = {"*": {"u": {"a": {}, "b": {}}, "v": {"c": {}, "d": {}, "w": {"e": {}, "f": {}}}}}
ABOVE = {"a": ["u"], "b": ["u"], "c": ["v"], "d": ["v"], "w": ["v"], "e": ["w", "v"], "f": ["w", "v"]}
LEAVES = "abcdef"
NUMBERS = {"interval": {"steps": [1, 2, 4], "domain": [0, 7]}}


def bin_of(number: int, width: int) -> str:
    low = number // width * width
    return f"[{low}, {low + width - 1}]"


BINS: dict[Any, list[str]] = {number: [bin_of(number, 2), bin_of(number, 4)] for number in range(8)}
BINS |= {bin_of(low, 2): [bin_of(low, 4)] for low in range(0, 8, 2)}


def documents(rng: Random, size: int) -> list[dict[str, Any]]:
    """Records with courses, which have books and notes, and one home each, some of it missing."""

    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.1 else value

    def course() -> dict[str, Any]:
        return {
            "name": maybe(rng.choice(LEAVES)),
            "term": maybe(rng.randrange(8)),
            "grade": rng.choice("xyz"),
            "books": [{"title": maybe(rng.choice(LEAVES))} for _ in range(rng.randrange(3))],
            "notes": [{"text": rng.choice("pq")} for _ in range(rng.randrange(2))],
        }

    return [
        {
            "major": maybe(rng.choice(LEAVES)),
            "born": rng.randrange(8),
            "home": {"town": maybe(rng.choice(LEAVES))},
            "courses": [course() for _ in range(rng.randrange(4))],
        }
        for _ in range(size)
    ]


def policy_of(**model: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "bounded-knowledge", **model}],
        "fields": {
            "$.major": {"role": "quasi", "taxonomy": {"tree": TREE}},
            "$.born": {"role": "quasi", **NUMBERS},
            "$.home": {"vertex": True},
            "$.home.town": {"role": "quasi", "taxonomy": {"tree": TREE}},
            "$.courses[*].name": {"role": "quasi", "taxonomy": {"tree": TREE}, "optional": True},
            "$.courses[*].term": {"role": "quasi", "optional": True, **NUMBERS},
            "$.courses[*].grade": {"role": "sensitive", "optional": True},
            "$.courses[*].books[*].title": {"role": "quasi", "taxonomy": {"tree": TREE}, "optional": True},
            "$.courses[*].notes[*].text": {"role": "sensitive", "optional": True},
        },
    }


OUTLINE = Outline(
    "$",
    ("major", "born"),
    (),
    {
        "home": Outline("home", ("town",)),
        "courses": Outline(
            "courses",
            ("name", "term"),
            ("grade",),
            {"books": Outline("books", ("title",)), "notes": Outline("notes", (), ("text",))},
        ),
    },
)


def encoded(records: list[dict[str, Any]], **model: Any) -> EncodedRecords:
    return encode_records(records, from_data(policy_of(**model), Path()))


def searched(own: EncodedRecords) -> Partition:
    (stage,) = own.prepared.stages
    (engine,) = stage.steps
    from hierdata.forest.forest import Scope

    rng = np.random.default_rng(0)
    return engine.step(own.forest, Scope.of(own.forest), stage.constraints, None, rng)


def published(own: EncodedRecords, partition: Partition) -> Publication:
    recoding = recoding_named("generalization")(None)
    return recoding.publish(own.forest, (partition,), range(own.forest.record_count))


def shown(own: EncodedRecords, partition: Partition) -> list[Any]:
    (part,) = published(own, partition).parts
    found = []
    for document in part.documents():
        home = document.get("home")
        document = {**document, "home": [home] if isinstance(home, dict) else home or []}
        found.append(OUTLINE.read(document))
    return found


def above(kind: str, at: int, value: Any) -> list[Any]:
    return ABOVE.get(value, []) if not (kind == "courses" and at == 1) else BINS.get(value, [])


def test_what_is_published_keeps_the_promise() -> None:
    """On small random collections, by the plain definition; and nobody is left out."""
    rng = Random(7)
    published_something = 0
    for world in range(80):
        k, m = rng.choice([2, 2, 3]), rng.choice([1, 2, 2, 3])
        stated = {
            "k": k,
            "m": m,
            "vertex": rng.choice(["whole", "off"]),
            "root": rng.choice(["known", "known", "counted"]),
        }
        own = encoded(documents(rng, rng.randrange(2 * k, 16)), **stated)
        partition = searched(own)
        if partition.class_count == 0:
            assert partition.reason
            continue
        found = shown(own, partition)
        assert len(found) == own.forest.record_count
        whole, counted = stated["vertex"] == "whole", stated["root"] == "counted"
        assert keeps_promise(found, above, k=k, m=m, whole=whole, counted=counted), (world, stated)
        published_something += 1
    assert published_something > 60
