"""The witness against its twin: true releases of random collections, and false ones."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.release.witness import WITNESS_FILE
from tests.cases import first_few, with_worlds
from tests.naive_witness import HEAD, Shape, Tree, is_true, words

TOWNS = {"*": {"north": ["oslo", "bergen"], "south": ["rome", "bari"]}}
ABOVE = {"oslo": "north", "bergen": "north", "rome": "south", "bari": "south"}


def covers_age(label: Any, age: Any) -> bool:
    if isinstance(label, str) and label.startswith("["):
        low, high = label.strip("[]").split(", ")
        return age is not None and int(low) <= age <= int(high)
    return label == "*" or (label == age and type(label) is type(age))


def covers_town(label: Any, town: Any) -> bool:
    if isinstance(label, str) and label.startswith("{"):
        return ("null" if town is None else town) in label.strip("{}").split(", ")
    return label in ("*", town) if town is None else label in ("*", town, ABOVE[town])


def covers_ward(label: Any, ward: Any) -> bool:
    return label in ("*", ward) or str(label).startswith("{")


WARD = Shape({"ward": covers_ward}, sensitive=("ill",))
PERSON = Shape(
    {"age": covers_age, "town": covers_town},
    sensitive=("income",),
    pseudonyms=("id",),
    below={"visits": WARD},
)
CLASS = Shape({"age": covers_age, "town": covers_town}, sensitive=("income",), below={"visits": WARD})


def people(rng: Random, count: int) -> list[Tree]:
    found = []
    for at in range(count):
        person: Tree = {"id": f"p{at}", "age": rng.randint(20, 31), "income": rng.choice([1, 2, 3, 4])}
        if rng.random() < 0.9:
            person["town"] = rng.choice(sorted(ABOVE))
        person["visits"] = [
            {"ward": rng.choice("uv"), "ill": rng.choice("abcde")} for _ in range(rng.randint(0, 3))
        ]
        found.append(person)
    return found


def policy(recoding: str) -> Tree:
    token = {"role": "identifier", "action": {"pseudonym": {}}}
    return {
        "version": 1,
        **({} if recoding == "representatives" else {"key": "per-run"}),
        "recoding": recoding,
        "engine": {"steps": [{"kind": "clustree", "pairing": "greedy"}]},
        "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
        "fields": {
            "$.id": {"role": "identifier"} if recoding == "representatives" else token,
            "$.age": {"role": "quasi", "interval": {"steps": [1, 4], "domain": [20, 31]}},
            "$.town": {"role": "quasi", "taxonomy": {"tree": TOWNS}},
            "$.income": {"role": "sensitive"},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].ill": {"role": "sensitive"},
        },
    }


def read(folder: Path, name: str) -> list[Tree]:
    file = folder / "public" / f"{name}.json"
    found: list[Tree] = json.loads(file.read_text("utf-8")) if file.exists() else []
    return found


def twin(folder: Path, recoding: str, originals: list[Tree]) -> bool:
    """What the twin says of a release."""
    records = read(folder, "records")
    file = folder / WITNESS_FILE
    if recoding == "representatives":
        # A list of no values is absent: the twin sees that such a field belongs to a class.
        shown = [({"records": None, **one["representative"]}, one["records"]) for one in records]
        return is_true(shown, originals, CLASS, file)
    values: dict[str, dict[int, Counter[Any]]] | None = None
    if recoding == "anatomy":
        values = {"income": {}, "ill": {}}
        for name, field in (("sensitive", "income"), ("sensitive-visits", "ill")):
            for row in read(folder, name):
                values[field].setdefault(row["group"], Counter())[row.get(field)] += row["count"]
    return is_true([(record, 1) for record in records], originals, PERSON, file, values)


RECODINGS = ("generalization", "sets_and_ranges", "representatives", "anatomy")


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("seed", first_few(1, range(6)))
def test_a_true_release_is_true_to_both(recoding: str, seed: int, tmp_path: Path) -> None:
    originals = people(Random(seed), 24)
    release = hierdata.anonymize(originals, policy(recoding), seed=bytes(16)).save(tmp_path / "out")
    assert twin(release, recoding, originals)
    assert hierdata.verify(release, policy(recoding), original=originals).passed


def one_link(words: list[int], rng: Random) -> None:
    at = rng.randrange(len(words))
    words[at] = rng.choice([words[at] ^ 1, words[at] + 1, rng.randrange(30)])


def two_links(words: list[int], rng: Random) -> None:
    left, right = rng.randrange(len(words)), rng.randrange(len(words))
    words[left], words[right] = words[right], words[left]


@with_worlds(2, 30)
@pytest.mark.parametrize("change", [one_link, two_links])
@pytest.mark.parametrize("recoding", RECODINGS)
def test_changed_links_are_judged_as_the_twin_judges_them(
    change: Callable[[list[int], Random], None], recoding: str, tmp_path: Path, worlds: int
) -> None:
    """A changed link is wrong, or leads to a vertex of which everything published is true too."""
    rng = Random(recoding)
    originals = people(rng, 24)
    release = hierdata.anonymize(originals, policy(recoding), seed=bytes(16)).save(tmp_path / "out")
    file = release / WITNESS_FILE
    raw, links = file.read_bytes(), words(file)
    said = Counter[bool]()
    for _ in range(worlds):
        changed = list(links)
        change(changed, rng)
        file.write_bytes(raw[:HEAD] + struct.pack(f"<{len(changed)}I", *changed))
        true = twin(release, recoding, originals)
        said[true] += 1
        if true:
            assert hierdata.verify(release, policy(recoding), original=originals).passed
        else:
            with pytest.raises(hierdata.VerificationError):
                hierdata.verify(release, policy(recoding), original=originals)
    assert said[False] > 5 * worlds // 30


@with_worlds(2, 20)
@pytest.mark.parametrize("field", ["age", "town", "income", "id"])
def test_a_changed_original_is_judged_as_the_twin_judges_it(field: str, tmp_path: Path, worlds: int) -> None:
    """The release is true of the changed person too, or it is not."""
    rng = Random(field)
    originals = people(rng, 24)
    release = hierdata.anonymize(originals, policy("generalization"), seed=bytes(16)).save(tmp_path / "out")
    for _ in range(worlds):
        changed = json.loads(json.dumps(originals))
        other = rng.choice(originals)
        person = rng.choice(changed)
        if field in other:
            person[field] = other[field]
        else:
            person.pop(field, None)
        true = twin(release, "generalization", changed)
        try:
            passed = hierdata.verify(release, policy("generalization"), original=changed).passed
        except (hierdata.VerificationError, hierdata.PolicyError):
            passed = False
        assert passed <= true
        assert true <= passed or changed != originals, "other values may change the facts"


@pytest.mark.parametrize("executor", ["serial", pytest.param("processes", marks=pytest.mark.full)])
def test_blocks_and_executors_write_one_witness(executor: str, tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    originals = people(Random(1), 400)
    file.write_text("".join(json.dumps(one) + "\n" for one in originals), "utf-8")
    stated = policy("generalization") | {"blocks": 60}
    resources = hierdata.Resources(executor=executor, workers=2)
    release = hierdata.anonymize(file, stated, seed=bytes(16), resources=resources)
    folder = release.save(tmp_path / "out")
    records = [json.loads(line) for line in (folder / "public" / "records.jsonl").read_text().splitlines()]
    assert is_true([(record, 1) for record in records], originals, PERSON, folder / WITNESS_FILE)
    assert hierdata.verify(folder, stated, original=file, resources=resources).passed


def test_the_witness_is_for_its_owner_alone(tmp_path: Path) -> None:
    originals = people(Random(2), 24)
    folder = hierdata.anonymize(originals, policy("generalization")).save(tmp_path / "out")
    assert (folder / WITNESS_FILE).stat().st_mode & 0o777 == 0o600
    assert not list((folder / "public").glob("*witness*"))
