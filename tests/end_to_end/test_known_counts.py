"""Counts that bounded knowledge declares: their bins are published, known, and right."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import HierdataError, InputError, PolicyError, PromiseError
from hierdata.policy.checks.knowledge import known_counts
from hierdata.policy.load import from_data
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds
from tests.end_to_end.conftest import public_bytes

FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
FIELDS: dict[str, Any] = {
    "$.town": FLAT,
    "$.visits[*].ward": FLAT,
    "$.visits[*].ill": {"role": "sensitive", "asks": "value"},
    "$.visits[*].tests[*].code": FLAT,
    "$.jobs[*].title": FLAT,
}
EDGES = [1, 3]
VISIT = naive.Outline("visit", ("ward",), ("ill",), {"tests": naive.Outline("test", ("code",))})
OUTLINE = naive.Outline(
    "", ("town", "visits_count"), (), {"visits": VISIT, "jobs": naive.Outline("job", ("title",))}
)
SERIAL = hierdata.Resources("serial")


def bin_of(number: int) -> str:
    return "0" if number == 0 else "[1, 2]" if number < 3 else "3 or more"


def random_person(random: Random) -> dict[str, Any]:
    return {
        "town": random.choice("ab"),
        "visits": [
            {
                "ward": random.choice("xyz"),
                "ill": random.choice("HHfc"),
                "tests": [{"code": random.choice("tu")} for _ in range(random.randrange(2))],
            }
            for _ in range(random.choice([0, 1, 2, 2, 3, 4]))
        ],
        "jobs": [{"title": random.choice("pqr")} for _ in range(random.randrange(3))],
    }


def policy_of(**model: Any) -> dict[str, Any]:
    stated = {"kind": "bounded-knowledge", "k": 2, "m": 2, "counts": {"$.visits[*]": EDGES}}
    return {"version": 1, "models": [stated | model], "fields": FIELDS}


def release_of(people: Any, policy: dict[str, Any], **more: Any) -> hierdata.Release:
    return hierdata.anonymize(people, policy, seed=bytes(16), resources=SERIAL, **more)


def may_be(record: Any, person: Any, facts: list[tuple[int, str]]) -> bool:
    """Whether a published record may be a person's, to somebody with the bin and some facts of visits.

    No visit is left out, so each is shown, with its ward or without.
    """
    if record["town"] not in (person["town"], "*"):
        return False
    if record["visits_count"] != bin_of(len(person["visits"])):
        return False
    visits = sorted({at for at, _ in facts})
    places = range(len(record.get("visits", ())))
    return any(
        all(
            record["visits"][dict(zip(visits, chosen, strict=True))[at]]["ward"] in (ward, "*")
            for at, ward in facts
        )
        for chosen in permutations(places, len(visits))
    )


def keeps(records: list[Any], model: dict[str, Any]) -> bool:
    """Whether records keep the promise, by the plain twin."""
    return naive.keeps_promise(
        [OUTLINE.read(record) for record in records],
        lambda kind, at, value: (),
        k=2,
        m=int(model["m"]),
        whole=model["vertex"] == "whole",
        counted=False,
    )


def tell_least(person: Any) -> Any:
    """A person's record if only what must be published is: how many visits there are, and tests."""
    visits = [{"ward": "*", "tests": [{"code": "*"}] * len(visit["tests"])} for visit in person["visits"]]
    return {"town": "*", "visits_count": bin_of(len(visits)), "visits": visits, "jobs": []}


@with_worlds(4, 30)
def test_whoever_knows_bin_and_facts_finds_at_least_k(worlds: int) -> None:
    random, refused = Random(7), 0
    for number in range(worlds):
        people = [random_person(random) for _ in range(random.choice([14, 20, 30]))]
        model = {"m": random.choice([1, 2, 3]), "vertex": random.choice(["whole", "off"])}
        with naming(number=number, model=model):
            try:
                release = release_of(people, policy_of(**model))
            except PromiseError:
                assert not keeps([tell_least(person) for person in people], model)
                refused += 1
                continue
            records: list[Any] = list(release.records())
            assert keeps(records, model)
            # No visit is left out, nor any test below one; jobs may be.
            for record in records:
                assert record["visits_count"] == bin_of(len(record.get("visits", ())))
            lengths = Counter(len(record.get("visits", ())) for record in records)
            assert lengths == Counter(len(person["visits"]) for person in people)
            for person in people:
                wards = [(at, visit["ward"]) for at, visit in enumerate(person["visits"])]
                facts = random.sample(wards, min(len(wards), int(model["m"])))
                assert sum(may_be(record, person, facts) for record in records) >= 2
    assert 0 < refused < 20


def test_the_release_says_what_is_known_and_is_verified(tmp_path: Path) -> None:
    people = [random_person(Random(at)) for at in range(80)]
    policy, out = policy_of(), tmp_path / "out"
    release_of(people, policy, out=out)
    assert hierdata.verify(out, policy, original=people).passed
    told = json.loads((out / "public" / "release.json").read_text("utf-8"))
    assert "any 2 facts from below it still finds at least 2 records" in told["promises"][0]["statement"]
    assert "of how many $.visits[*] a person has is known too" in told["promises"][0]["statement"]
    assert any("beyond the stated bins of counts" in sentence for sentence in told["limitations"])
    assert not any("Lists were shaped" in sentence for sentence in told["limitations"])
    codebook = json.loads((out / "public" / "codebook.json").read_text("utf-8"))
    assert codebook["shape"] == [
        "$.visits_count is the bin of the number of items that a record has at $.visits[*]."
    ]
    (file,) = (out / "public").glob("records.*")
    text = file.read_text("utf-8")
    for one, other in (("[1, 2]", "3 or more"), ("3 or more", "*"), ("0", "[1, 2]")):
        changed = text.replace(json.dumps(one), json.dumps(other))
        assert changed != text
        file.write_text(changed, "utf-8")
        verdict = hierdata.verify(file, policy)
        assert verdict.forbidden["$.visits_count (not the bin of the number of vertices)"] > 0
        assert not verdict.passed
    file.write_text(text, "utf-8")
    assert hierdata.verify(file, policy).passed
    found = hierdata.attack(out, original=people, policy=policy, facts=2)
    assert all(row.smallest >= 2 for row in found.release.candidates)


@pytest.mark.full
def test_blocks_and_workers_publish_the_same_bins(tmp_path: Path) -> None:
    random = Random(3)
    people = [random_person(random) | {"town": random.choice("abcd")} for _ in range(160)]
    policy = policy_of(m=1) | {"blocks": 40}
    serial = release_of(people, policy)
    several = hierdata.anonymize(
        people, policy, seed=bytes(16), resources=hierdata.Resources("processes", workers=2)
    )
    assert public_bytes(several) == public_bytes(serial)
    assert hierdata.verify(serial, policy, original=people).passed


def test_in_xml_the_bin_is_an_element_beside_the_counted_ones(tmp_path: Path) -> None:
    people = "".join(
        '<person town="a">' + '<visit ward="x"><ill>f</ill></visit>' * (1 + at % 4) + "</person>"
        for at in range(24)
    )
    file = tmp_path / "people.xml"
    file.write_text(f'<people xmlns="urn:p">{people}</people>', "utf-8")
    policy = {
        "version": 1,
        "namespaces": {"": "urn:p"},
        "models": [{"kind": "bounded-knowledge", "k": 3, "m": 2, "counts": {"/people/person/visit": [1, 3]}}],
        "fields": {
            "/people/person/@town": FLAT,
            "/people/person/visit": {"vertex": True},
            "/people/person/visit/@ward": FLAT,
            "/people/person/visit/ill": {"role": "sensitive"},
        },
    }
    release_of(file, policy, out=tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", policy, original=file).passed
    text = (tmp_path / "out" / "public" / "records.xml").read_text("utf-8")
    assert text.count("<visit_count>[1, 2]</visit_count>") == 12
    assert text.count("<visit_count>3 or more</visit_count>") == 12


@pytest.mark.parametrize(
    ("counts", "people", "error", "what"),
    [
        ({"$.visits[*]": [50]}, 30, PromiseError, "fewer than k records have the same bins of counts"),
        (
            {"$.visits": [1]},
            30,
            PolicyError,
            r"\$\.visits does not repeat, so there is nothing to count",
        ),
        ({"$.stays[*]": [1]}, 30, PolicyError, r"^\$\.stays\[\*\]: counts: no record has such vertices"),
        ({"$": [1]}, 30, PolicyError, "does not repeat"),
        ({"visits[": [1]}, 30, PolicyError, "cannot be read at position"),
    ],
)
def test_what_cannot_be_counted_is_one_sentence(
    counts: dict[str, Any], people: int, error: type[HierdataError], what: str
) -> None:
    many = [random_person(Random(at)) for at in range(people)]
    many[0]["visits"] = [{"ward": "x", "ill": "f", "tests": [{"code": "t"}]}] * 60
    with pytest.raises(error, match=what) as failure:
        release_of(many, policy_of(counts=counts))
    assert "\n" not in str(failure.value)


def test_a_field_of_the_name_is_not_overwritten() -> None:
    people = [random_person(Random(at)) | {"visits_count": "secret"} for at in range(20)]
    with pytest.raises(InputError, match="count: the record has the field of `to` already") as failure:
        release_of(people, policy_of())
    assert "secret" not in str(failure.value)
    stated = policy_of() | {"fields": FIELDS | {"$.visits_count": FLAT}}
    with pytest.raises(PolicyError, match=r"published as \$\.visits_count: leave that field out"):
        release_of(people, stated)


def test_counts_go_with_known_roots_only() -> None:
    with pytest.raises(PolicyError, match="state `root: known`"):
        release_of([random_person(Random(1))], policy_of(root="counted"))


def test_a_policy_that_was_written_out_is_the_same_policy() -> None:
    policy = from_data(policy_of())
    again = from_data(policy.model_dump(mode="json", by_alias=True, exclude_unset=True))
    assert again == policy
    assert known_counts(again) == {("visits",): (("visits_count",), (1, 3))}
