"""Rates of trees and keyed tables: persons count, beside a twin that repeats rows; in every format."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata import measure
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from tests import naive_rates as naive
from tests.cases import examples, for_each

FIXTURES = Path(__file__).parents[1] / "fixtures"
GRADE = "$.courses[*].grade"


def people(seed: int) -> list[dict[str, Any]]:
    """Persons with up to four courses; all may be missing."""
    rng = random.Random(seed)
    found = []
    for _ in range(rng.randint(2, 15)):
        courses = [
            {"code": rng.choice("xyz"), "grade": rng.choice(["A", "B", "C", None])}
            for _ in range(rng.randint(0, 4))
        ]
        found.append({"major": rng.choice(["art", "law", None]), "courses": courses})
    code, grade = {"code": "x", "grade": "A"}, {"code": "z", "grade": "B"}
    return [*found, {"major": "art", "courses": [code]}, {"major": "law", "courses": [grade, code]}]


def repeated(records: list[dict[str, Any]], wanted: str | None = None) -> list[tuple[Any, Any, Any]]:
    """Twelve rows for each person, shared equally by the courses with a grade: major, code, grade."""
    rows = []
    for record in records:
        graded = [course for course in record["courses"] if course["grade"] is not None]
        for course in graded:
            row = (record["major"], course["code"], course["grade"])
            rows += [row] * (12 // len(graded))
    return rows


@for_each("seed", range(30), few=8)
def test_figures_are_those_of_the_twin(seed: int) -> None:
    records = people(seed)
    rows = repeated(records)
    found = measure(records, keys=["$.major", "$.courses[*].code"], sensitive=GRADE)
    grades = [grade for *_, grade in rows]
    assert (found.unit, found.rows) == ("person", len(rows) // 12)
    assert math.isclose(found.entropy, naive.entropy(grades), abs_tol=1e-12)
    columns = ([major for major, *_ in rows], [code for _, code, _ in rows], [row[:2] for row in rows])
    for own, ys in zip(found.keys, columns, strict=True):
        assert math.isclose(own.rate, naive.rate(grades, ys), abs_tol=1e-12)
        assert math.isclose(own.entropy, naive.conditional(grades, ys), abs_tol=1e-12)
        assert len(own.values) == len(set(ys))
        for labels, figures in own.values.items():
            named = zip(own.keys, labels.split(", "), strict=True)
            shown = tuple(found.names[key][label] for key, label in named)
            y = shown if len(shown) > 1 else shown[0]
            assert figures.count == Fraction(ys.count(y), 12)
            assert figures.share == Fraction(ys.count(y), len(ys))
            assert math.isclose(figures.rate, naive.rate_of(grades, ys, y), abs_tol=1e-12)
            assert math.isclose(figures.refinement, naive.refinement(grades, ys, y), abs_tol=1e-12)
            assert math.isclose(figures.distance, naive.distance(grades, ys, y), abs_tol=1e-12)
            assert math.isclose(figures.divergence, naive.divergence(grades, ys, y), abs_tol=1e-12)


def test_a_long_list_is_one_person() -> None:
    """A hundred courses of one person weigh as much as the single course of another."""
    many = [{"code": "x", "grade": "A"}] * 100
    records = [{"major": "art", "courses": many}, {"major": "law", "courses": [{"code": "x", "grade": "B"}]}]
    found = measure(records, keys=["$.major"], sensitive=GRADE)
    assert (found.entropy, found.keys[0].rate) == (1, 1)
    assert [own.share for own in found.keys[0].values.values()] == [Fraction(1, 2)] * 2


def test_lists_of_many_lengths_give_floats_that_are_near() -> None:
    """The common denominator of 1 to 40 is beyond all integers of a computer."""
    records = [
        {"major": "art" if at % 2 else "law", "courses": [{"grade": "AB"[item % 2]} for item in range(at)]}
        for at in range(1, 41)
    ]
    found = measure(records, keys=["$.major"], sensitive=GRADE).keys[0]
    common = math.lcm(*range(1, 41))
    table = {
        (major, grade): sum(
            sum(course["grade"] == grade for course in one["courses"]) * (common // len(one["courses"]))
            for one in records
            if one["major"] == major
        )
        for major in ("art", "law")
        for grade in "AB"
    }

    def uncertainty(*counts: int) -> float:
        shares = [Fraction(count, sum(counts)) for count in counts]
        return -sum(share * math.log2(share) for share in shares) * sum(counts) / common

    left = sum(uncertainty(table[major, "A"], table[major, "B"]) for major in ("art", "law"))
    usual = [table["art", grade] + table["law", grade] for grade in "AB"]
    assert math.isclose(found.rate, 1 - left / uncertainty(*usual), abs_tol=1e-12)
    assert math.isclose(found.values["v1"].share, Fraction(1, 2))
    assert math.isclose(found.values["v1"].count, 20)
    json.dumps(measure(records, keys=["$.major"], sensitive=GRADE).as_dict())


def test_a_table_has_the_same_figures_by_paths() -> None:
    rows = [{"a": at % 3, "b": "xy"[at % 2], "s": "pqr"[at % 5 % 3]} for at in range(20)]
    by_name = measure(rows, keys=["a", "b"], sensitive="s").as_dict()
    by_path = measure(rows, keys=["$.a", "$.b"], sensitive="$.s").as_dict()
    for one, other in zip(by_name["keys"], by_path["keys"], strict=True):
        assert other.pop("entropy") == pytest.approx(one.pop("entropy"))
        assert {**one, "keys": other["keys"]} == other


def test_every_format_has_the_same_figures() -> None:
    asked = {"keys": ["$.major", "$.courses[*].code"], "sensitive": GRADE}
    in_xml = {
        "keys": ["/students/student/major", "/students/student/course/@code"],
        "sensitive": "/students/student/course/@grade",
    }
    students = FIXTURES / "students"
    tables = FIXTURES / "policies" / "students-tables.yaml"
    records = map(json.loads, (students / "students.jsonl").read_text().splitlines())
    found = [
        measure(students / "students.jsonl", **asked),
        measure(
            students / "students.json", policy=FIXTURES / "policies" / "students-multilevel.yaml", **asked
        ),
        measure(students / "students.xml", **in_xml),
        measure(students / "tables", policy=tables, **asked),
        measure(records, **asked),
    ]
    first, *others = [[{**own, "keys": None} for own in one.as_dict()["keys"]] for one in found]
    for other in others:
        assert other == first


def test_a_policy_says_how_values_are_spelled() -> None:
    rows = [{"a": "1", "s": "x "}, {"a": "?", "s": "x"}, {"a": "2", "s": "y"}]
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "$.a": {"role": "quasi", "flat": True, "missing": ["?"]},
            "$.s": {"role": "sensitive", "same": ["trim"]},
        },
    }
    found = measure(rows, keys=["$.a"], sensitive="$.s", policy=policy)
    assert found.categories == 2
    assert set(found.keys[0].values) == {"v1", "v2", "missing"}


def test_partitions() -> None:
    records = people(1)
    rows = repeated(records)
    blocks = {"blocks": {"good": ["A"], "bad": ["B", "C"]}}
    found = measure(records, keys=["$.major"], sensitive=GRADE, partition=blocks)
    good = [grade == "A" for *_, grade in rows]
    assert math.isclose(found.keys[0].rate, naive.rate(good, [major for major, *_ in rows]), abs_tol=1e-12)
    with pytest.raises(PolicyError, match="values in one block: 2 in none"):
        measure(records, keys=["$.major"], sensitive=GRADE, partition={"blocks": {"good": ["A"]}})


RECORDS = [{"major": "art", "address": {"city": "x"}, "courses": [{"code": "x", "grade": "A"}]}]
REFUSED: dict[str, tuple[dict[str, Any], type[HierdataError], str]] = {
    "no such key": (
        {"keys": ["$.mayor"]},
        PolicyError,
        r"\$\.mayor: nothing in the records matches this path; did you mean \$\.major",
    ),
    "no such attribute": (
        {"sensitive": "$.courses[*].mark"},
        PolicyError,
        r"\$\.courses\[\*\]\.mark: .*nothing",
    ),
    "a list": ({"keys": ["$.courses"], "sensitive": "$.major"}, PolicyError, "this is an array"),
    "an object": ({"keys": ["$.address"]}, PolicyError, "this is an object"),
    "a list without its sign": ({"keys": ["$.courses.code"]}, PolicyError, r"some paths write \[\*\]"),
    "a key in a list that the attribute is above": (
        {"keys": ["$.courses[*].code"], "sensitive": "$.major"},
        PolicyError,
        r"\$\.courses\[\*\]\.code: an item with \$\.major does not tell which of the values",
    ),
    "originals": ({"originals": {"$.major": "$.address.city"}}, PolicyError, "belongs to flat tables"),
    "not a path": ({"keys": ["$major"]}, PolicyError, "cannot be read at position 2"),
    "a column that is a list": (
        {"keys": ["major"], "sensitive": "courses"},
        InputError,
        "by a path, such as",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    asked, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message) as caught:
        measure(RECORDS, **{"keys": ["$.major"], "sensitive": GRADE, **asked})
    assert "art" not in str(caught.value)


def test_nobody_has_a_value() -> None:
    with pytest.raises(InputError, match=r"grade: no record has a value"):
        measure([{"a": 1, "courses": [{"grade": None}]}], keys=["$.a"], sensitive=GRADE)


def test_keyed_tables_need_their_policy() -> None:
    with pytest.raises(PolicyError):
        measure(FIXTURES / "students" / "tables", keys=["$.major"], sensitive=GRADE)


@pytest.mark.full
def test_a_release_of_keyed_tables_is_measured(tmp_path: Path) -> None:
    students, policy = FIXTURES / "students" / "tables", FIXTURES / "policies" / "students-tables.yaml"
    release = hierdata.anonymize(students, policy, seed=bytes(16))
    folder = release.save(tmp_path / "release")
    found = hierdata.measure_release(folder, policy, original=students)
    rate = release.report.metrics["discrimination_rate"].figures
    assert found.metrics["discrimination_rate"].figures == rate
    for own in found.values:
        assert math.isclose(sum(1 - one.rate for one in own.values.values()), 1 - rate[own.path])


records_of_trees = st.lists(
    st.fixed_dictionaries(
        {
            "major": st.sampled_from(["art", "law", None]),
            "courses": st.lists(
                st.fixed_dictionaries(
                    {"code": st.sampled_from("xyz"), "grade": st.sampled_from(["A", "B", "C"])}
                ),
                max_size=4,
            ),
        }
    ),
    max_size=8,
)


@given(records_of_trees)
@examples(25)
def test_what_does_not_matter_and_what_never_falls(drawn: list[dict[str, Any]]) -> None:
    """Lists that repeat all items, and persons that all exist twice; a further key never lowers a rate."""
    records = [*drawn, *people(0)[-2:]]
    asked: dict[str, Any] = {"keys": ["$.major", "$.courses[*].code"], "sensitive": GRADE}
    found = measure(records, **asked)
    rates = alone, _, together = [float(own.rate) for own in found.keys]
    assert alone <= together + 1e-12
    longer = [{**one, "courses": one["courses"] * 2} for one in records]
    for same in (longer, [*records, *records], records[::-1]):
        again = measure(same, **asked)
        assert [float(own.rate) for own in again.keys] == pytest.approx(rates)
        for own, before in zip(again.keys, found.keys, strict=True):
            assert {label: one.share for label, one in own.values.items()} == {
                label: one.share for label, one in before.values.items()
            }


def test_values_are_listed_in_the_order_of_their_labels() -> None:
    records = [{"a": at % 3, "b": at % 2, "list": [{"s": at % 5}]} for at in range(30)][::-1]
    found = measure(records, keys=["$.a", "$.b"], sensitive="$.list[*].s")
    assert [*found.keys[-1].values] == [f"v{a}, v{b}" for a in (1, 2, 3) for b in (1, 2)]
