"""Rates of flat tables: beside the slow twin, in every form of table, under every form of partition."""

from __future__ import annotations

import csv
import json
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hierdata
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.ground.errors import HierdataError, InputError, PolicyError, TargetError
from hierdata.measurement.table import Measurement
from tests import naive_rates as naive

Rows = list[dict[str, Any]]
BLOCKS = {"blocks": {"few": ["a", "b"], "many": ["c", "d"]}}


def random_table(seed: int) -> Rows:
    """Coarse repeats age and fine mixes; a key may be missing."""
    rng = random.Random(seed)
    size, kinds = rng.randint(1, 40), rng.randint(1, 4)
    return [
        {
            "age": (age := rng.randint(1, 6)),
            "decade": "young" if age < 4 else "old",
            "zip": rng.choice(["x", "y", None]),
            "illness": rng.choice("abcd"[:kinds]),
        }
        for _ in range(size)
    ]


def column(rows: Rows, *names: str) -> list[Any]:
    return [tuple(row[name] for name in names) for row in rows]


each_table = pytest.mark.parametrize("rows", [random_table(seed) for seed in range(60)], ids=range(60))


@each_table
@pytest.mark.parametrize("partition", [None, BLOCKS], ids=["values", "blocks"])
def test_figures_are_those_of_the_twin(rows: Rows, partition: Any) -> None:
    xs = [value in "ab" if partition else value for (value,) in column(rows, "illness")]
    found = hierdata.measure(
        rows, keys=["age", "zip"], sensitive="illness", partition=partition, originals={"zip": "age"}
    )
    assert found.entropy == pytest.approx(naive.entropy(xs), abs=1e-12)
    for own in found.keys:
        ys = column(rows, *own.keys)
        assert float(own.rate) == pytest.approx(naive.rate(xs, ys), abs=1e-12)
        assert own.entropy == pytest.approx(naive.conditional(xs, ys), abs=1e-12)
        assert len(own.values) == len(set(ys))
        for labels, figures in own.values.items():
            names = zip(own.keys, labels.split(", "), strict=True)
            y = tuple(found.names[key][label] for key, label in names)
            assert figures.count == ys.count(y)
            assert figures.share == Fraction(ys.count(y), len(ys))
            assert float(figures.rate) == pytest.approx(naive.rate_of(xs, ys, y), abs=1e-12)
            assert float(figures.refinement) == pytest.approx(naive.refinement(xs, ys, y), abs=1e-12)
            assert figures.entropy == pytest.approx(naive.entropy(naive.given(xs, ys, y)), abs=1e-12)
            assert float(figures.distance) == pytest.approx(naive.distance(xs, ys, y), abs=1e-12)
            assert figures.divergence == pytest.approx(naive.divergence(xs, ys, y), abs=1e-12)
    ages, zips = column(rows, "age"), column(rows, "zip")
    of_zip = found.keys[1]
    assert of_zip.identity is not None
    assert of_zip.skewness is not None
    assert float(of_zip.identity) == pytest.approx(naive.rate(ages, zips), abs=1e-12)
    assert float(of_zip.skewness) == pytest.approx(naive.rate(xs, ages) - naive.rate(xs, zips), abs=1e-12)


@each_table
def test_what_the_errata_say_of_rates(rows: Rows) -> None:
    """DR-7: what values leave adds up. DR-8: more keys tell no less, coarser ones no more."""
    found = hierdata.measure(rows, keys=["age", "decade", "zip"], sensitive="illness")
    age, decade, zip_code, together = found.keys
    for own in found.keys:
        if found.categories > 1:
            assert sum(1 - float(one.rate) for one in own.values.values()) == pytest.approx(
                1 - float(own.rate)
            )
        assert float(own.rate) <= float(together.rate) + 1e-12
        assert 0 <= own.rate <= 1
        assert own.resistance == 1 - own.rate
    assert float(decade.rate) <= float(age.rate) + 1e-12
    assert zip_code.keys == ("zip",)


OVERLAPPING = {"few": ["a", "b"], "odd": ["a", "c"], "many": ["b", "c", "d"]}


@each_table
def test_of_overlapping_blocks_the_set_counts(rows: Rows) -> None:
    """DR equation 6 with sX = the domains that hold x: the twin replaces values by sets of names."""
    xs = [
        frozenset(name for name, own in OVERLAPPING.items() if value in own)
        for (value,) in column(rows, "illness")
    ]
    partition = {"blocks": OVERLAPPING, "overlapping": True}
    found = hierdata.measure(rows, keys=["age", "zip"], sensitive="illness", partition=partition)
    assert found.categories == len(set(xs))
    for own in found.keys:
        assert float(own.rate) == pytest.approx(naive.rate(xs, column(rows, *own.keys)), abs=1e-12)
    paths = {f"$.{name}": name for name in ("age", "zip")}
    as_trees = hierdata.measure(rows, keys=[*paths], sensitive="$.illness", partition=partition)
    assert [float(own.rate) for own in as_trees.keys] == pytest.approx(
        [float(own.rate) for own in found.keys]
    )


@each_table
def test_disjoint_blocks_that_may_overlap_are_a_partition(rows: Rows) -> None:
    asked: dict[str, Any] = {"keys": ["age", "zip"], "sensitive": "illness"}
    free = hierdata.measure(rows, partition={**BLOCKS, "overlapping": True}, **asked)
    assert free == hierdata.measure(rows, partition=BLOCKS, **asked)


def test_overlapping_blocks_by_hand() -> None:
    """Two blocks share tb, so there are three sets; the ward tells one of them from the others."""
    rows = [{"ward": 1, "x": "flu"}, {"ward": 2, "x": "tb"}, {"ward": 2, "x": "ebola"}]
    rows += [{"ward": 1, "x": "cold"}]
    blocks = {"lungs": ["flu", "tb", "cold"], "endemic": ["tb", "ebola"]}
    found = hierdata.measure(
        rows, keys=["ward"], sensitive="x", partition={"blocks": blocks, "overlapping": True}
    )
    assert (found.entropy, found.categories) == (1.5, 3)
    assert found.keys[0].rate == Fraction(2, 3)


PEOPLE: Rows = [
    {"age": 31, "weight": Decimal("60.5"), "ward": "west", "illness": "flu"},
    {"age": 31, "weight": Decimal("60.50"), "ward": "east", "illness": "cold"},
    {"age": 34, "weight": Decimal(70), "ward": "east", "illness": "flu"},
    {"age": 58, "weight": None, "ward": "east", "illness": "flu"},
]


def written(folder: Path, form: str) -> Any:
    path = folder / f"people.{form}"
    plain = [{**row, "weight": row["weight"] and float(row["weight"])} for row in PEOPLE]
    if form == "csv":
        with path.open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(PEOPLE[0]))
            table.writeheader()
            table.writerows(plain)
    elif form == "json":
        path.write_text(json.dumps(plain))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in plain))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(plain), path)
    else:
        return {"frame": pd.DataFrame, "arrow": pa.Table.from_pylist, "dicts": iter}[form](plain)
    return path


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "frame", "arrow", "dicts"])
def test_every_form_of_table_has_the_same_figures(form: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"keys": ["age", "weight", "ward"], "sensitive": "illness"}
    assert (
        hierdata.measure(written(tmp_path, form), **asked).as_dict()
        == hierdata.measure(PEOPLE, **asked).as_dict()
    )


def test_equal_numbers_are_one_value_and_missing_is_one() -> None:
    found = hierdata.measure(PEOPLE, keys=["weight"], sensitive="illness")
    assert {label: own.count for label, own in found.keys[0].values.items()} == {
        "v1": 2,
        "v2": 1,
        "missing": 1,
    }
    assert found.names == {"weight": {"v1": Decimal("60.5"), "v2": 70, "missing": None}}
    assert "60.5" not in repr(found)
    assert "60.5" not in str(found.as_dict())


def test_truth_is_no_number() -> None:
    rows = [{"a": True, "x": "p"}, {"a": 1, "x": "q"}]
    assert hierdata.measure(rows, keys=["a"], sensitive="x").keys[0].rate == 1


def test_rows_without_a_sensitive_value_are_left_out() -> None:
    rows = [*PEOPLE, {"age": 99, "ward": "west"}]
    found = hierdata.measure(rows, keys=["age"], sensitive="illness")
    assert found.rows == 4
    assert found.notes == ("1 row has no sensitive value, and is left out",)
    assert 99 not in found.names["age"].values()


def test_of_a_constant_nothing_is_refined() -> None:
    """Erratum DR-11."""
    found = hierdata.measure([{"a": 1, "x": "p"}, {"a": 2, "x": "p"}], keys=["a"], sensitive="x")
    assert (found.keys[0].rate, found.entropy, found.categories) == (0, 0, 1)
    assert {(one.rate, one.refinement, one.distance) for one in found.keys[0].values.values()} == {(0, 0, 0)}
    assert found.notes == (
        "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0",
    )


def rate(partition: Any, sensitive: str = "illness") -> Fraction | float:
    rows = [
        {"age": age, "illness": illness, "gpa": gpa}
        for age, illness, gpa in [
            (1, "flu", "3.9"),
            (1, "cold", "3.8"),
            (2, "rash", "0.5"),
            (2, "burn", "0.2"),
        ]
    ]
    found: Measurement = hierdata.measure(rows, keys=["age"], sensitive=sensitive, partition=partition)
    return found.keys[0].rate


def test_partitions_in_every_form(tmp_path: Path) -> None:
    lungs = {"blocks": {"lungs": ["flu", "cold"], "skin": ["rash", "burn"]}}
    (tmp_path / "tree.csv").write_text("flu;lungs;*\ncold;lungs;*\nrash;skin;*\nburn;skin;*\n")
    file = tmp_path / "partition.yaml"
    file.write_text("depth: 1\ntaxonomy: tree.csv\n")
    assert rate(None) == Fraction(1, 2)
    assert [rate(one) for one in (lungs, SemanticPartition.model_validate(lungs), file, str(file))] == [1] * 4
    assert rate({"levels": {"by": {"flu": 1, "cold": 2, "rash": 1, "burn": 2}}}) == 0
    assert rate({"levels": {"domain": [0, 4], "sensitive": "low"}}, "gpa") == 1


BAD_PARTITIONS = {
    "misses": ({"blocks": {"a": ["flu", "cold"]}}, "2 in none, 0 repeated"),
    "repeats": ({"blocks": {"a": ["flu", "cold", "rash"], "b": ["rash", "burn"]}}, "0 in none, 1 repeated"),
    "misses, though blocks may overlap": (
        {"blocks": {"a": ["flu", "cold"], "b": ["cold"]}, "overlapping": True},
        "each of the 4 values in a block: 2 in none",
    ),
    "overlapping bins": (
        {"equal_width": 2, "overlapping": True},
        "overlapping belongs to blocks",
    ),
    "no level": ({"levels": {"by": {"flu": 1}}}, "each of the 4 values in one block: 3 in none"),
    "no leaf": ({"depth": 1, "taxonomy": {"tree": {"*": {"l": ["flu"], "m": ["cold"]}}}}, "2 in none"),
    "two forms": (
        {"blocks": {"a": ["flu"]}, "levels": {"by": {"flu": 1}}},
        "state a partition by exactly one of blocks, ",
    ),
    "no form": ({}, "state a partition by exactly one of blocks, "),
    "no numbers": ({"equal_width": 2}, "bins need numbers, but 4 of the 4 values are not numbers"),
    "no tree": ({"depth": 1}, "depth and taxonomy must be stated together"),
    "unknown": ({"block": {}}, "unknown key 'block'; did you mean blocks?"),
}


@pytest.mark.parametrize("name", BAD_PARTITIONS)
def test_partitions_that_do_not_fit(name: str) -> None:
    partition, message = BAD_PARTITIONS[name]
    with pytest.raises(PolicyError, match=message) as caught:
        rate(partition)
    assert "burn" not in str(caught.value)


def test_values_without_a_block_are_for_the_steward() -> None:
    with pytest.raises(PolicyError) as caught:
        rate({"levels": {"by": {"flu": 1, "cold": 1, "rash": 2}}})
    assert caught.value.revealed == ("burn",)


ASKED: dict[str, Any] = {"keys": ["age"], "sensitive": "illness"}
REFUSED: dict[str, tuple[Any, dict[str, Any], type[HierdataError], str]] = {
    "no such key": (PEOPLE, {"keys": ["hair"]}, PolicyError, "the table has no column hair"),
    "no such attribute": (PEOPLE, {"sensitive": "hair"}, PolicyError, "the table has no column hair"),
    "no keys": (PEOPLE, {"keys": []}, PolicyError, "at least one key"),
    "a text of keys": (PEOPLE, {"keys": "age"}, PolicyError, "in a list"),
    "twice": (PEOPLE, {"keys": ["age", "age"]}, PolicyError, "named twice"),
    "key is sensitive": (PEOPLE, {"keys": ["illness"]}, PolicyError, "cannot be a key"),
    "no key": (PEOPLE, {"originals": {"ward": "age"}}, PolicyError, "ward: an original"),
    "nested": ([{"age": [1], "illness": "flu"}], {}, InputError, "record 1, age: a table must be flat"),
    "endless": ([{"age": 10**1001, "illness": "flu"}], {}, InputError, "record 1, age: .*too many digits"),
    "empty": ([], {}, InputError, "no rows"),
    "all missing": ([{"age": 1, "illness": None}], {}, InputError, "no row has a value"),
    "bytes": (b"age,illness", {}, PolicyError, "it has the type bytes"),
    "XML": ("people.xml", {}, PolicyError, "a table must be flat, but XML is not"),
    "unknown format": ("people.csv", {"format": "xml"}, PolicyError, "one of the formats"),
    "no file": ("nobody.csv", {}, TargetError, "cannot read"),
    "folder": (".", {}, PolicyError, "name the file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_measured(name: str) -> None:
    table, more, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        hierdata.measure(table, **{**ASKED, **more})


def test_a_column_of_a_table_may_be_empty(tmp_path: Path) -> None:
    """Its header says that it is there, though no row has a value."""
    table = tmp_path / "table.csv"
    table.write_text("age,ward,illness\n1,,flu\n2,,cold\n")
    assert hierdata.measure(table, keys=["ward"], sensitive="illness").keys[0].rate == 0
    with pytest.raises(PolicyError, match="no column hair"):
        hierdata.measure(table, keys=["hair"], sensitive="illness")


def test_one_level_is_never_apart_from_itself() -> None:
    levels = {"by": {"x": 1, "y": 1}}
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive", "levels": levels}}
    policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    release = hierdata.anonymize([{"a": "q", "s": value} for value in "xyxy"], policy)
    assert "dissimilarity_degree" not in release.report.metrics
