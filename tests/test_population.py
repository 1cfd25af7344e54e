"""Who of a population fits a class: counted row by row here, and asked of judge and engines."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.documents.document import Scalar, Siblings
from hierdata.domains import DOMAINS
from hierdata.domains.base import QuasiDomain
from hierdata.ground.errors import InputError, PolicyError, PromiseError, TargetError, VerificationError
from hierdata.judge import JudgeRules, judge
from hierdata.policy.plan.compared import read_population
from hierdata.privacy import KMap
from hierdata.privacy.population import Compared, Population
from tests import naive_distributions as naive

SEED = b"a seed of sixteen bytes"
TREE = {"tree": {"*": {"Science": ["CS", "EE"], "Arts": ["Law", "1.0"]}}}


def table(folder: Path, rows: Iterable[dict[str, Any]], delimiter: str = ",") -> Path:
    rows = list(rows)
    file = folder / "population.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return file


def domain(**stated: Any) -> QuasiDomain:
    ((key, value),) = stated.items()
    return DOMAINS[key].model_validate(value)


def population(
    folder: Path, column: list[Any], of: QuasiDomain, missing: str = ""
) -> Callable[[Scalar], int]:
    file = table(folder, ({"name": "x", "a": cell} for cell in column))
    compared = Compared(("a",), "$.a", "a", of, frozenset(filter(None, [missing])))
    read = read_population(file, None, [compared], folder)
    return lambda label: read.count([label])


@pytest.mark.parametrize(
    ("stated", "cells", "shown"),
    [
        (
            {"interval": {"steps": [1, 5, 10]}},
            ["19", "20", "24", "25", "29", "x", "", "24.5"],
            {
                "[20, 24]": 2,
                "[20, 29]": 4,
                24: 1,
                "24": 1,
                Decimal("24.0"): 1,
                "*": 8,
                None: 1,
                "[90, 99]": 0,
            },
        ),
        (
            {"prefix": {"keep": [5, 3, 1]}},
            ["48123", "48199", "40000", "481", "7"],
            {"481**": 2, "4****": 3, "48123": 1, 48123: 1, "481": 1, "4**": 1, 7: 1, "*": 5},
        ),
        (
            {"date": {"steps": ["day", "month", "year"]}},
            ["2001-03-04", "2001-03-09", "2001-04-01", "2002-03-04", "yesterday"],
            {"2001-03": 2, "2001": 3, "2001-03-04": 1, "*": 5, "2003": 0},
        ),
        # Below the first step or keep nothing is published, so nobody fits it.
        ({"interval": {"steps": [5, 10]}}, ["20", "24", "25"], {"[20, 24]": 2, "[20, 29]": 3, 24: 0}),
        ({"prefix": {"keep": [3]}}, ["48123", "48199", "481"], {"481**": 2, "48123": 0, "481": 1}),
        ({"flat": True}, ["m", "f", "f", "007", "7"], {"f": 2, 7: 1, "007": 1, "*": 5, "x": 0}),
        ({"flat": True}, ["true", "false", "1"], {True: 1, "1": 1, "true": 1}),
        (
            {"taxonomy": TREE},
            ["CS", "EE", "EE", "Law", "1", "1.0", "Music"],
            {"CS": 1, "Science": 3, "Arts": 3, "*": 7, 1: 2, "Music": 0},
        ),
    ],
)
def test_every_domain_counts_what_a_label_stands_for(
    tmp_path: Path, stated: dict[str, Any], cells: list[Any], shown: dict[Scalar, int]
) -> None:
    count = population(tmp_path, cells, domain(**stated))
    assert {label: count(label) for label in shown} == shown


def test_numbers_are_spelled_as_the_policy_says(tmp_path: Path) -> None:
    for cells in (["1", "2", "7"], ["1", "2.5", "7", "99"]):
        decimal = domain(interval={"steps": [5], "decimals": True, "domain": [0, 9]})
        assert population(tmp_path, cells, decimal)("[0, 5)") == 2
    assert population(tmp_path, ["1", "2.5", "7"], domain(interval={"steps": [5]}))("[0, 4]") == 1


def test_missing_cells_fit_what_is_missing_and_everything(tmp_path: Path) -> None:
    count = population(tmp_path, ["a", "?", "", "b"], domain(flat=True), missing="?")
    assert (count(None), count("?"), count("*")) == (2, 0, 4)


AGES = {"interval": {"steps": [1, 5, 20]}}


def people(rng: random.Random, count: int) -> list[dict[str, Any]]:
    return [
        {"age": rng.randint(20, 59), "major": rng.choice(["CS", "EE", "Law"]), "sex": rng.choice("mf")}
        for _ in range(count)
    ]


def policy(file: Path, *models: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}, *models],
        "population": {"file": str(file), **more},
        "fields": {
            "$.age": {"role": "quasi", **AGES},
            "$.study.major": {"role": "quasi", "taxonomy": TREE},
            "$.sex": {"role": "quasi", "flat": True},
            "$.courses[*].code": {"role": "quasi", "flat": True},
            "$.ill": {"role": "sensitive"},
        },
    }


def record(person: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return {
        "age": person["age"],
        "study": {"major": person["major"]},
        "sex": person["sex"],
        "courses": [{"code": "A1"}] * rng.randint(0, 1),
        "ill": rng.choice(["flu", "cold", "HIV"]),
    }


COLUMNS = {"$.age": "age", "$.study.major": "major", "$.sex": "sex"}


def stands_for(label: Any) -> Callable[[Any], bool]:
    """What a published label says, in the words of the domains."""
    if label == "*":
        return lambda value: True
    if str(label).startswith("["):
        low, high = map(int, str(label).strip("[]").split(","))
        return lambda value: low <= value <= high
    if label in ("Science", "Arts"):
        return lambda value: value in TREE["tree"]["*"][label]
    return lambda value: value == label


@pytest.fixture
def town(tmp_path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Path]:
    rng = random.Random(5)
    everybody = people(rng, 400)
    return everybody, [record(person, rng) for person in everybody[:80]], table(tmp_path, everybody, ";")


def test_releases_keep_k_map_and_delta_presence_counted_row_by_row(
    town: tuple[list[dict[str, Any]], list[dict[str, Any]], Path],
) -> None:
    everybody, records, file = town
    models = ({"kind": "k-map", "k": 9}, {"kind": "delta-presence", "delta_max": "3/5", "delta_min": "1/50"})
    stated = policy(file, *models, columns=COLUMNS)
    release = hierdata.anonymize(records, stated, seed=SEED)
    verdict = hierdata.verify(release.folder, stated, original=records)
    classes: dict[str, list[dict[str, Any]]] = {}
    for published in release.records():
        form = {key: value for key, value in published.items() if key != "ill"}
        classes.setdefault(repr(sorted(form.items(), key=str)), []).append(published)
    found = []
    for members in classes.values():
        first = members[0]
        shown = {
            "age": stands_for(first["age"]),
            "major": stands_for(first["study"]["major"]),
            "sex": stands_for(first["sex"]),
        }
        found.append((len(members), sum(naive.fits(person, shown) for person in everybody)))
    assert verdict.passed
    assert all(naive.k_map(fitting, 9) for _, fitting in found)
    low, high = Fraction(1, 50), Fraction(3, 5)
    assert all(naive.delta_presence(size, fitting, low, high) for size, fitting in found)
    by_model = {judgement.model: judgement.achieved for judgement in verdict.judgements}
    assert by_model["k-map"] == {"k": min(fitting for _, fitting in found)}
    quotients = [Fraction(*pair) for pair in found]
    assert by_model["delta-presence"] == {"delta_min": min(quotients), "delta_max": max(quotients)}


def test_another_population_is_refused(
    town: tuple[list[dict[str, Any]], list[dict[str, Any]], Path], tmp_path: Path
) -> None:
    everybody, records, file = town
    stated = policy(file, {"kind": "k-map", "k": 3}, columns=COLUMNS)
    hierdata.anonymize(records, stated, seed=SEED).save(tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", stated).passed
    table(tmp_path, everybody[:-1], ";")
    with pytest.raises(VerificationError, match="population table differs from the one"):
        hierdata.verify(tmp_path / "out", stated)
    with pytest.raises(VerificationError, match="another policy"):
        hierdata.verify(tmp_path / "out", policy(file, {"kind": "k-map", "k": 3}, columns={"$.sex": "sex"}))
    file.unlink()
    with pytest.raises(TargetError, match="population"):
        hierdata.verify(tmp_path / "out", stated)


def test_a_population_that_is_none_of_the_collection_fails(
    town: tuple[list[dict[str, Any]], list[dict[str, Any]], Path], tmp_path: Path
) -> None:
    everybody, records, _ = town
    file = table(tmp_path, everybody[200:201])
    stated = policy(file, {"kind": "delta-presence", "delta_max": 1}, columns={"$.sex": "sex"})
    verdict = hierdata.verify(records, stated)
    assert not verdict.passed
    with pytest.raises(PromiseError):
        hierdata.anonymize(records, stated, seed=SEED)


def test_columns_are_the_names_of_the_quasi_identifiers(
    town: tuple[list[dict[str, Any]], list[dict[str, Any]], Path], tmp_path: Path
) -> None:
    everybody, records, file = town
    model = {"kind": "k-map", "k": 3}
    with pytest.raises(PolicyError, match=r"\$\.study\.major.*no column 'study\.major'"):
        hierdata.anonymize(records, policy(file, model), seed=SEED)
    with pytest.raises(PolicyError, match=r"courses.*compared with the record itself"):
        hierdata.anonymize(records, policy(file, model, columns={"$.courses[*].code": "sex"}), seed=SEED)
    with pytest.raises(PolicyError, match="is not a quasi-identifier"):
        hierdata.anonymize(records, policy(file, model, columns={"$.ill": "sex"}), seed=SEED)
    named = table(tmp_path, ({**one, "study.major": one["major"]} for one in everybody))
    assert hierdata.anonymize(records, policy(named, model), seed=SEED).report.passed


def test_models_and_table_come_together(tmp_path: Path) -> None:
    file = table(tmp_path, [{"sex": "m"}])
    with pytest.raises(PolicyError, match="no model asks for a population table"):
        hierdata.anonymize([], policy(file), seed=SEED)
    without = policy(file, {"kind": "k-map", "k": 3})
    del without["population"]
    with pytest.raises(PolicyError, match="k-map needs a population table"):
        hierdata.anonymize([], without, seed=SEED)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no header"),
        ("sex,sex\nm,f\n", "same name"),
        ("sex,age\nm\n", r"record 1: the row has 1 cells"),
        ("sex,age\nm,\xff\n", "not UTF-8"),
    ],
)
def test_broken_tables_are_refused_without_their_values(tmp_path: Path, content: str, reason: str) -> None:
    file = tmp_path / "population.csv"
    file.write_bytes(content.encode("latin-1"))
    compared = Compared(("sex",), "$.sex", "sex", domain(flat=True))
    with pytest.raises(InputError, match=reason) as refused:
        read_population(file, None, [compared], tmp_path)
    assert "population.csv" in str(refused.value)


def test_many_rows_are_counted_in_bits(tmp_path: Path) -> None:
    rng = random.Random(1)
    ages = [rng.randint(0, 99) for _ in range(5000)]
    sexes = [rng.choice("mf") for _ in ages]
    file = table(tmp_path, ({"age": age, "sex": sex} for age, sex in zip(ages, sexes, strict=True)))
    columns = [
        Compared(("age",), "$.age", "age", domain(**AGES)),
        Compared(("sex",), "$.sex", "sex", domain(flat=True)),
    ]
    read: Population = read_population(file, None, columns, tmp_path)
    for low in range(0, 100, 5):
        expected = sum(low <= age <= low + 4 and sex == "f" for age, sex in zip(ages, sexes, strict=True))
        assert read.count([f"[{low}, {low + 4}]", "f"]) == expected
    assert read.count(["*", "*"]) == 5000


@pytest.mark.parametrize("age", [24, "24", Siblings(["24"]), Decimal("24.0")])
def test_the_judge_reads_a_published_value_in_every_format(tmp_path: Path, age: Any) -> None:
    file = table(tmp_path, [{"age": 24}, {"age": 24}, {"age": 25}])
    compared = Compared(("person", "age"), "$.person.age", "age", domain(**AGES))
    read = read_population(file, None, [compared], tmp_path)
    rules = JudgeRules((), ((KMap(k=2), None),), population=read)
    verdict = judge([{"person": {"age": age}}, {"person": {"age": "[25, 29]"}}], rules)
    (judgement,) = verdict.judgements
    assert (judgement.held, judgement.failing_classes, judgement.achieved) == (False, 1, {"k": 1})


def test_without_a_table_the_judge_does_not_judge() -> None:
    verdict = judge([{"age": 24}], JudgeRules((), ((KMap(k=1), None),)))
    assert not verdict.passed
    assert verdict.judgements[0].held is None
    assert verdict.judgements[0].reason == "no population table was given"


def test_more_people_than_the_population_has_are_refused_with_their_number(tmp_path: Path) -> None:
    table(tmp_path, [{"a": "x"}] * 7)
    stated = {
        "version": 1,
        "models": [{"kind": "k-map", "k": 8}],
        "fields": {"a": {"role": "quasi", "flat": True}},
        "population": {"file": str(tmp_path / "population.csv")},
    }
    with pytest.raises(PromiseError, match="has 7 rows: no larger k can work"):
        hierdata.anonymize([{"a": "x"}] * 3, stated)


@pytest.mark.parametrize("recoding", ["full_domain", "generalization"])
def test_who_lacks_a_value_is_counted_row_by_row_in_every_recoding(tmp_path: Path, recoding: str) -> None:
    """A missing value fits a cell that is empty, or all cells where it is published as ``*``."""
    parents = {"a": "n", "b": "n", "c": "s", "d": "s"}
    tree = {"tree": {"*": {"n": ["a", "b"], "s": ["c", "d"]}}}
    missing = 0
    for number in range(6):
        draw = random.Random(number)
        share = (number % 3) / 3

        def value(draw: random.Random = draw, share: float = share) -> str | None:
            return None if draw.random() < share else draw.choice("abcd")

        people = [{"town": value(), "job": value()} for _ in range(12)]
        rows = [{"town": value() or "", "job": value() or ""} for _ in range(40)]
        policy = {
            "version": 1,
            "recoding": recoding,
            "population": {"file": str(table(tmp_path, rows))},
            "models": [{"kind": "k-map", "k": 3}],
            "fields": {f"$.{name}": {"role": "quasi", "taxonomy": tree} for name in ("town", "job")},
        }
        records: list[Any] = list(hierdata.anonymize(people, policy, seed=SEED).records())

        def fits(row: dict[str, str], record: dict[str, Any]) -> bool:
            return all(
                record.get(name) in ("*", row[name] or None, parents.get(row[name], "*")) for name in row
            )

        assert records
        assert all(sum(fits(row, one) for row in rows) >= 3 for one in records)
        missing += sum(one.get(name) is None for one in records for name in ("town", "job"))
    assert missing or recoding == "full_domain"
