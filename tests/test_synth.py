"""Synthetic records: reproducible, inside their taxonomies, as correlated and as skewed as asked."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hierdata.ground.errors import PolicyError, TargetError
from hierdata.synth import beside_patients, beside_students, patients, students, write
from hierdata.synth.students import StudentShape
from hierdata.synth.vocabulary import BREAKPOINTS, DEPARTMENTS, GRADES, TAXONOMIES, Draws, limits
from hierdata.synth.write import json_text

LEAVES = {name: {line[0] for line in lines} for name, lines in TAXONOMIES.items()}
SUBJECT = {line[0]: line[2] for line in TAXONOMIES["course"]}
FACULTY_OF_MAJOR = {line[0]: line[2] for line in TAXONOMIES["major"]}
FACULTY_OF_SUBJECT = {d.subject: d.faculty for d in DEPARTMENTS}
DEPARTMENT_OF_SUBJECT = {d.subject: d.name for d in DEPARTMENTS}
DEPARTMENT_OF_INSTRUCTOR = {line[0]: line[1] for line in TAXONOMIES["instructor"]}


def level(value: Decimal, top: int) -> int:
    """Sensitivity level of a number by ML table 2, written apart from the generator."""
    return 5 - sum(Fraction(value) / top >= point for point in BREAKPOINTS)


def sample(**changes: object) -> list[dict]:
    """Four hundred students of data set B unless told otherwise."""
    settings = {"records": 400, "depth": 3, "seed": 11, "correlation": 0.5, "skew": 0.5} | changes
    return list(students(**settings))  # type: ignore[arg-type]


def read(text: str) -> object:
    return json.loads(text, parse_float=Decimal)


@given(
    st.integers(0, 2**64),
    st.sampled_from([2, 3]),
    st.floats(0, 1, allow_nan=False),
    st.floats(0, 1, allow_nan=False),
)
def test_every_student_is_well_formed(seed: int, depth: int, correlation: float, skew: float) -> None:
    for student in students(3, depth, seed, correlation, skew):
        assert student["major"] in LEAVES["major"]
        assert type(student["birth_year"]) is int
        assert 0 <= student["gpa"] <= 4
        assert student["gpa"].as_tuple().exponent == -2
        codes = [course["code"] for course in student["courses"]]
        assert 18 <= len(codes) == len(set(codes)) <= 22
        assert set(codes) <= LEAVES["course"]
        for course in student["courses"]:
            assert course["grade"] in GRADES
            assert set(course) == ({"code", "grade"} if depth == 2 else {"code", "grade", "evaluations"})
            evaluations = course.get("evaluations", [])
            names = {item["instructor"] for item in evaluations}
            assert len(names) == len(evaluations) in ((0,) if depth == 2 else (1, 2))
            assert names <= LEAVES["instructor"]
            assert all(0 <= item["score"] <= 1 for item in evaluations)
            assert all(item["score"].as_tuple().exponent == -1 for item in evaluations)
        assert read(json_text(student)) == student


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = ([json_text(s) for s in sample(records=20, seed=seed)] for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)


def test_a_shorter_run_is_the_beginning_of_a_longer_one() -> None:
    assert sample(records=30)[:10] == sample(records=10)


def test_records_come_one_at_a_time() -> None:
    ids = [s["id"] for s in islice(students(10**12, 2, 1, 0.5, 0.5), 3)]
    assert ids == ["S000001", "S000002", "S000003"]


def test_at_correlation_1_courses_follow_the_major_and_instructors_the_course() -> None:
    people = sample(correlation=1)
    pairs = [(FACULTY_OF_MAJOR[s["major"]], SUBJECT[c["code"]], c) for s in people for c in s["courses"]]
    assert all(faculty == FACULTY_OF_SUBJECT[subject] for faculty, subject, _ in pairs)
    assert all(
        DEPARTMENT_OF_INSTRUCTOR[e["instructor"]] == DEPARTMENT_OF_SUBJECT[subject]
        for _, subject, course in pairs
        for e in course["evaluations"]
    )


@pytest.mark.parametrize("faculty", sorted({d.faculty for d in DEPARTMENTS}))
def test_at_correlation_0_courses_do_not_depend_on_the_major(faculty: str) -> None:
    people = [
        s for s in sample(records=1200, depth=2, correlation=0) if FACULTY_OF_MAJOR[s["major"]] == faculty
    ]
    counts = Counter(FACULTY_OF_SUBJECT[SUBJECT[c["code"]]] for s in people for c in s["courses"])
    # About 6,000 courses: a quarter each, with a standard deviation of 0.0056.
    assert all(abs(count / counts.total() - 0.25) < 0.025 for count in counts.values())


def test_correlation_is_gradual() -> None:
    shares = []
    for correlation in (0, 0.5, 1):
        pairs = [(s["major"], c["code"]) for s in sample(correlation=correlation) for c in s["courses"]]
        same = sum(FACULTY_OF_MAJOR[major] == FACULTY_OF_SUBJECT[SUBJECT[code]] for major, code in pairs)
        shares.append(same / len(pairs))
    assert shares[0] < 0.3 < shares[1] < 0.8 < shares[2] == 1


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"skew": 0}, (0.2,) * 5),
        ({"skew": 1}, (0.80, 0.12, 0.05, 0.02, 0.01)),
        ({"levels": (50, 35, 15, 0, 0)}, (0.5, 0.35, 0.15, 0, 0)),
    ],
)
def test_skew_or_levels_set_the_shares_of_the_levels(
    stated: dict[str, Any], expected: tuple[float, ...]
) -> None:
    people = sample(**stated, records=600)
    courses = [c for s in people for c in s["courses"]]
    for levels in (
        Counter(level(s["gpa"], 4) for s in people),
        Counter(GRADES[c["grade"]] for c in courses),
        Counter(level(e["score"], 1) for c in courses for e in c["evaluations"]),
    ):
        # The smallest sample has 600 values: a standard deviation of at most 0.021.
        assert all(
            abs(levels[n] / levels.total() - share) < 0.05 for n, share in enumerate(expected, start=1)
        )


def test_a_shape_adds_books_missing_gpas_and_students_with_one_course() -> None:
    people = sample(shape=StudentShape(courses=(3, 8), one_course=0.2, missing_gpa=0.2, books=0.5))
    assert {len(s["courses"]) for s in people} == {1, 3, 4, 5, 6, 7, 8}
    assert 40 < sum("gpa" not in s for s in people) < 120
    books = [c["books"] for s in people for c in s["courses"] if "books" in c]
    assert {len(b) for b in books} == {1, 2}
    assert {book["title"] for b in books for book in b} <= LEAVES["book"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"depth": 1},
        {"depth": 4},
        {"records": -1},
        {"seed": -1},
        {"correlation": 1.01},
        {"skew": -0.1},
        {"levels": [1, 2]},
        {"levels": [0, 0, 0, 0, 0]},
        {"levels": [1, 1, 1, 1, float("nan")]},
        {"skew": float("nan")},
    ],
)
def test_arguments_out_of_range_are_refused_at_once(wrong: dict[str, float]) -> None:
    with pytest.raises(PolicyError):
        students(**({"records": 1, "depth": 2, "seed": 1, "correlation": 0, "skew": 0} | wrong))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=9), st.integers(0, 1000))
def test_an_index_is_always_in_range(weights: list[int], seed: int) -> None:
    assert Draws(seed).index(limits(weights)) in range(len(weights))


@pytest.mark.parametrize("name", ["students.json", "students.json.gz", "students.jsonl", "students.jsonl.gz"])
@pytest.mark.parametrize("number", [0, 1, 5])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, number: int) -> None:
    people = sample(records=number)
    write(iter(people), tmp_path / name, beside_students(3))
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    found = read(text) if ".jsonl" not in name else [read(line) for line in text.splitlines()]
    assert found == people
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["students.policy.yaml", "taxonomies", name])


def test_the_same_students_give_the_same_gzip_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write(sample(records=5), tmp_path / name, beside_students(3))
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


@pytest.mark.parametrize("depth", [2, 3])
def test_the_policy_names_the_fields_that_are_there_and_taxonomies_that_exist(
    tmp_path: Path, depth: int
) -> None:
    write(sample(records=3, depth=depth), tmp_path / "a.jsonl", beside_students(depth))
    rules = yaml.safe_load((tmp_path / "a.policy.yaml").read_text())["fields"]
    named = {path.removeprefix("$.").replace("[*]", "") for path in rules}
    assert named == set(paths(sample(records=3, depth=depth), ""))
    files = {rule["taxonomy"] for rule in rules.values() if "taxonomy" in rule}
    assert files == {f"taxonomies/{p.name}" for p in (tmp_path / "taxonomies").iterdir()}


def test_the_policy_of_patients_names_the_fields_that_are_there_and_taxonomies_that_cover_them(
    tmp_path: Path,
) -> None:
    people = list(patients(30, seed=2))
    write(iter(people), tmp_path / "a.jsonl", beside_patients())
    rules = yaml.safe_load((tmp_path / "a.policy.yaml").read_text())["fields"]
    named = {path.removeprefix("$.").replace("[*]", "") for path in rules}
    assert named == set(paths(people, ""))
    codes = {
        line.split(";")[0]
        for file in (tmp_path / "taxonomies").iterdir()
        for line in file.read_text().splitlines()
    }
    for encounter in (one for person in people for one in person["encounters"]):
        shown = [item["code"] for name in ("procedures", "observations") for item in encounter[name]]
        assert {encounter["class"], *shown} <= codes


def test_patients_have_the_shape_that_the_reference_states() -> None:
    sizes, kinds = [], Counter[str]()
    for person in patients(600, seed=1):
        assert 1 <= len(person["encounters"]) <= 160
        days = [encounter["start"] for encounter in person["encounters"]]
        assert days == sorted(days)
        own = Counter[str]()
        for encounter in person["encounters"]:
            own.update({name: len(items) for name, items in encounter.items() if isinstance(items, list)})
        kinds += own
        sizes.append(len(days) + own.total())
    assert 105 < sum(sizes) / 600 < 120
    assert 300 < max(sizes) < 420
    assert set(kinds) == {"conditions", "procedures", "medications", "observations"}
    assert min(kinds.values()) > 600 * 8


@given(st.integers(0, 2**64), st.integers(0, 5), st.integers(0, 5))
def test_every_patient_is_well_formed(seed: int, fewest: int, more: int) -> None:
    for person in patients(3, seed, (fewest, fewest + more)):
        assert fewest <= len(person["encounters"]) <= fewest + more
        assert read(json_text(person)) == person
    assert list(patients(3, seed, (fewest, fewest + more)))[:2] == list(
        patients(2, seed, (fewest, fewest + more))
    )


@pytest.mark.parametrize(
    "wrong", [{"records": -1}, {"seed": -1}, {"encounters": (2, 1)}, {"encounters": (-1, 1)}]
)
def test_patients_out_of_range_are_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        patients(**({"records": 1, "seed": 1} | wrong))  # type: ignore[arg-type]


def paths(value: object, prefix: str) -> set[str]:
    if isinstance(value, list):
        return set().union(*(paths(item, prefix) for item in value))
    if isinstance(value, dict):
        return set().union(*(paths(item, f"{prefix}.{key}".lstrip(".")) for key, item in value.items()))
    return {prefix}


@pytest.mark.parametrize("taken", ["a.json", "a.policy.yaml", "taxonomies/major.csv"])
def test_nothing_that_exists_is_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine")
    with pytest.raises(TargetError, match="is already there"):
        write(sample(records=1), tmp_path / "a.json", beside_students(3))
    assert (tmp_path / taken).read_text() == "mine"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / taken]


def test_two_collections_may_share_a_folder_and_its_taxonomies(tmp_path: Path) -> None:
    write(sample(records=1, depth=2), tmp_path / "a.json", beside_students(2))
    write(sample(records=1), tmp_path / "b.json", beside_students(3))
    assert {p.name for p in (tmp_path / "taxonomies").iterdir()} == {
        "major.csv",
        "course.csv",
        "instructor.csv",
    }


def test_a_run_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def breaking() -> object:
        yield from sample(records=2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(breaking(), tmp_path / "a.jsonl.gz", beside_students(3))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be written"):
        write(sample(records=1), tmp_path / "none" / "a.json", beside_students(3))


@pytest.mark.parametrize("name", ["a.xml", "a", ".json"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PolicyError):
        write(sample(records=1), tmp_path / name, beside_students(3))
    assert list(tmp_path.iterdir()) == []
