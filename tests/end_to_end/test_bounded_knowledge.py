"""Bounded knowledge from the input to the release: by the plain twin, by verify, and after forging."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import HierdataError, PolicyError
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds

FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
TREE = {"*": {"A": ["1", "2"], "B": ["3", "4"]}}
FIELDS: dict[str, Any] = {
    "$.town": FLAT,
    "$.visits[*].ward": {"role": "quasi", "taxonomy": {"tree": TREE}},
    "$.visits[*].year": FLAT,
    "$.visits[*].ill": {"role": "sensitive", "asks": "value"},
    "$.visits[*].tests[*].code": FLAT,
}
ABOVE = {"1": ["A"], "2": ["A"], "3": ["B"], "4": ["B"]}
VISIT = naive.Outline("visit", ("ward", "year"), ("ill",), {"tests": naive.Outline("test", ("code",))})
OUTLINE = naive.Outline("", ("town",), (), {"visits": VISIT})


def random_person(random: Random) -> dict[str, Any]:
    def some(values: str) -> str | None:
        return random.choice([*values, None]) if random.random() < 0.2 else random.choice(values)

    visits = [
        {
            "ward": some("1234"),
            "year": some("xy"),
            "ill": random.choice("HHfc"),
            "tests": [{"code": some("tu")} for _ in range(random.randrange(3))],
        }
        for _ in range(random.randrange(1, 4))
    ]
    return {"town": random.choice("ab"), "visits": visits}


def above(kind: str, at: int, value: Any) -> Sequence[Any]:
    return ABOVE.get(value, ()) if (kind, at) == ("visit", 0) else ()


def release_of(people: list[Any], policy: dict[str, Any], out: Path | None = None) -> hierdata.Release:
    return hierdata.anonymize(people, policy, seed=bytes(16), out=out)


@with_worlds(2, 24)
def test_every_release_keeps_the_promise_by_the_plain_twin(worlds: int) -> None:
    random = Random(11)
    for number in range(worlds):
        people = [random_person(random) for _ in range(random.choice([6, 12, 25]))]
        stated = {
            "k": random.choice([2, 3]),
            "m": random.choice([1, 2, 3]),
            "vertex": random.choice(["whole", "off"]),
            "root": random.choice(["known", "known", "counted"]),
        }
        policy = {"version": 1, "models": [{"kind": "bounded-knowledge", **stated}], "fields": FIELDS}
        with naming(number=number, stated=stated):
            records: list[Any] = list(release_of(people, policy).records())
            assert len(records) == len(people)
            assert naive.keeps_promise(
                [OUTLINE.read(record) for record in records],
                above,
                k=int(stated["k"]),
                m=int(stated["m"]),
                whole=stated["vertex"] == "whole",
                counted=stated["root"] == "counted",
            )


POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "bounded-knowledge", "k": 3, "m": 2}],
    "fields": FIELDS,
}


@pytest.fixture(scope="module")
def people() -> list[Any]:
    random = Random(5)
    return [random_person(random) for _ in range(60)]


@pytest.fixture
def released(people: list[Any], tmp_path: Path) -> Path:
    release_of(people, POLICY, tmp_path / "out")
    return tmp_path / "out"


def test_a_release_is_verified_from_its_files_and_against_the_original(
    people: list[Any], released: Path
) -> None:
    verdict = hierdata.verify(released, POLICY)
    assert verdict.passed
    assert (verdict.k_raw, verdict.k_exempt) == (None, None)
    assert hierdata.verify(released, POLICY, original=people).passed
    told = json.loads((released / "public" / "release.json").read_text("utf-8"))
    assert told["promises"][0]["achieved"].keys() == {"k_0", "k_1", "k_2", "k_vertex"}
    assert any("60 persons sampled" in sentence for sentence in told["limitations"])
    codebook = json.loads((released / "public" / "codebook.json").read_text("utf-8"))
    assert codebook["missing"] == "A missing value, and one that was left out, is *."


def test_the_report_says_of_sensitive_values_what_its_files_say(people: list[Any], released: Path) -> None:
    """A vertex shows its own values: those of other records of its root class do not hide them."""
    report = json.loads((released / "steward" / "report.json").read_text("utf-8"))
    measured = hierdata.measure_release(released, POLICY, original=people).as_dict()
    names = {
        *("discrimination_rate", "disclosure_rate", "classification_metric", "reconstruction_error"),
        *("additional_information_loss", "skewness_distance", "skewness_divergence"),
    }
    for name in names:
        assert measured["metrics"][name] == report["metrics"][name]


def test_a_value_at_another_node_is_no_longer_true_of_the_original(people: list[Any], released: Path) -> None:
    """Each raw value has one node: nodes are disjoint, and a published value generalizes its own."""
    (file,) = (released / "public").glob("records.*")
    text = file.read_text("utf-8")
    for one, other in (("x", "y"), ("y", "x")):
        changed = text.replace(f'"year":"{one}"', f'"year":"{other}"').replace(
            f'"year": "{one}"', f'"year": "{other}"'
        )
        assert changed != text
        file.write_text(changed, "utf-8")
        with pytest.raises(HierdataError):
            hierdata.verify(released, POLICY, original=people)
    file.write_text(text, "utf-8")
    assert hierdata.verify(released, POLICY, original=people).passed


def test_the_input_itself_is_judged_as_a_file(people: list[Any]) -> None:
    assert not hierdata.verify(people, POLICY).passed
    alike = [{"town": "a", "visits": [{"ward": "1", "year": "x", "ill": "f", "tests": []}]}] * 3
    assert hierdata.verify(alike, POLICY).passed


XML_FIELDS: dict[str, Any] = {
    "/people/person/@town": FLAT,
    "/people/person/visit/@ward": FLAT,
    "/people/person/visit/ill": {"role": "sensitive"},
}


def test_in_xml_the_policy_says_what_repeats(tmp_path: Path) -> None:
    visits = [["1", "2"], ["1"], ["2", "1"], ["1"]]
    people = "".join(
        '<person town="a">'
        + "".join(f'<visit ward="{ward}"><ill>f</ill></visit>' for ward in own)
        + "</person>"
        for own in visits
    )
    file = tmp_path / "people.xml"
    file.write_text(f"<people>{people}</people>", "utf-8")
    model = {"kind": "bounded-knowledge", "k": 2, "m": 2}
    with pytest.raises(PolicyError, match="add a rule with vertex: true"):
        hierdata.anonymize(file, {"version": 1, "models": [model], "fields": XML_FIELDS}, seed=bytes(16))
    fields = {**XML_FIELDS, "/people/person/visit": {"vertex": True}}
    policy = {"version": 1, "models": [model], "fields": fields}
    hierdata.anonymize(file, policy, seed=bytes(16), out=tmp_path / "out")
    verdict = hierdata.verify(tmp_path / "out", policy, original=file)
    assert verdict.passed
    assert verdict.judgements[0].achieved["k_2"] == 2
    records = tmp_path / "out" / "public" / "records.xml"
    assert hierdata.verify(records, policy).passed
