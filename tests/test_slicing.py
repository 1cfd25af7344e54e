"""Slicing: correlation and clusters by hand and against twins, the recoding, the judge, every format."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from numpy.typing import NDArray

import hierdata
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.judge import JudgeRules, SensitiveRule, judge
from hierdata.metrics import METRICS
from hierdata.privacy import DistinctLDiversity, KAnonymity
from hierdata.records.path import parse
from hierdata.release.recodings import correlation
from hierdata.release.recodings.correlation import (
    categories,
    cluster_attributes,
    distances,
    mean_square_contingency,
)
from tests import naive_slicing
from tests.cases import examples
from tests.contracts.test_engines import collections
from tests.contracts.test_recodings import published
from tests.end_to_end.small import write_csv

SEED = b"sixteen bytes or"


def column(values: str) -> NDArray[np.int64]:
    return np.array([ord(value) for value in values], np.int64)


# The coefficient


@pytest.mark.parametrize(
    ("left", "right", "phi"),
    [
        ("aabb", "xxyy", Fraction(1)),
        ("aabb", "xyxy", Fraction(0)),
        # Of a 2x2 table (n_11 n_22 - n_12 n_21)^2 over the product of the margins: (9 - 1)^2 / 4^4.
        ("aaaabbbb", "xxxyxyyy", Fraction(1, 4)),
        # Cells 2, 2, 1, 1; rows of 2, columns of 3: 4/6 + 4/6 + 1/6 + 1/6 - 1, divided by 2 - 1.
        ("aabbcc", "xxyyxy", Fraction(2, 3)),
        # A finer attribute tells the coarser one: 1, though not the other way round.
        ("aabbcc", "xxxxyy", Fraction(1)),
        ("aaaa", "xyxy", Fraction(0)),
        ("aaaa", "xxxx", Fraction(0)),
        ("", "", Fraction(0)),
    ],
)
def test_contingency_by_hand(left: str, right: str, phi: Fraction) -> None:
    assert mean_square_contingency(column(left), column(right)) == phi
    assert mean_square_contingency(column(right), column(left)) == phi


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


@given(pairs)
def test_contingency_is_that_of_the_formula(rows: list[tuple[int, int]]) -> None:
    left, right = np.array(rows, np.int64).T
    found = mean_square_contingency(left, right)
    assert found == naive_slicing.contingency(left.tolist(), right.tolist())
    assert found == mean_square_contingency(right, left)
    assert 0 <= found <= 1
    finer, coarser = sorted((left.tolist(), right.tolist()), key=lambda one: -len(set(one)))
    tells = len(set(zip(finer, coarser, strict=True))) == len(set(finer))
    assert (found == 1) == (tells and len(set(coarser)) > 1)


@given(pairs)
@examples(50)
def test_contingency_is_the_square_of_cramers_v(rows: list[tuple[int, int]]) -> None:
    from scipy.stats.contingency import association  # half a second that only this test needs

    left, right = np.array(rows, np.int64).T
    table = pandas.crosstab(left, right).to_numpy()
    assume(min(table.shape) > 1)
    assert float(mean_square_contingency(left, right)) == pytest.approx(association(table, "cramer") ** 2)


def test_counts_that_no_float_tells_apart() -> None:
    """Exact at any size: one row among a million that breaks a rule."""
    left = np.arange(1_000_000) % 2
    right = left.copy()
    right[0] = 1
    n = 500_000
    expected = naive_slicing.contingency([*left[:1000].tolist()], [*right[:1000].tolist()])
    assert mean_square_contingency(left[:1000], right[:1000]) == expected
    assert mean_square_contingency(left, right) == Fraction((n * (n - 1)) ** 2, n * n * (n - 1) * (n + 1))


# Categories


def domain(values: list[Any]) -> tuple[SensitiveDomain, NDArray[np.int32]]:
    built = SensitiveDomain.build("$.a", Counter(value for value in values if value is not None))
    codes = [-1 if value is None else built.code_of(value) for value in values]
    return built, np.array(codes, np.int32)


def test_numbers_are_cut_into_bins_of_equal_frequency() -> None:
    values = [*range(100)]
    found = categories(*domain(values))
    assert np.bincount(found).tolist() == [10] * 10
    assert found.tolist() == sorted(found.tolist())


def test_equal_numbers_share_a_bin_and_what_is_missing_has_its_own() -> None:
    values = [None, *[0] * 70, *range(1, 31)]
    found = categories(*domain(values))
    assert found[0] == -1
    assert set(found[1:71].tolist()) == {0}
    assert Counter(found[71:].tolist()) == {7: 10, 8: 10, 9: 10}


def test_few_numbers_and_texts_are_not_cut() -> None:
    for values in ([*range(20)] * 3, [f"v{at}" for at in range(100)]):
        built, codes = domain(values)
        assert categories(built, codes).tolist() == codes.tolist()


@given(st.lists(st.none() | st.integers(0, 60), min_size=1, max_size=120))
@examples(50)
def test_bins_are_those_of_the_twin(values: list[int | None]) -> None:
    found = categories(*domain(values)).tolist()
    expected = naive_slicing.binned(values)
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


# Clusters


def apart(*rows: list[int]) -> NDArray[np.int64]:
    return np.array(rows, np.int64)


def test_clusters_by_hand() -> None:
    """0 and 2 lie together, 1 and 3: medoids 0 and 1 cost 1 + 2; no pair is cheaper, none comes first."""
    distance = apart([0, 9, 1, 8], [9, 0, 7, 2], [1, 7, 0, 9], [8, 2, 9, 0])
    assert cluster_attributes(distance, 2) == ((0, 2), (1, 3))
    # With three, the dearest pair parts: 1 alone is left to pay.
    assert cluster_attributes(distance, 3) == ((0, 2), (1,), (3,))


def test_ties_go_to_the_first_attributes() -> None:
    same = apart(*[[0 if a == b else 5 for b in range(5)] for a in range(5)])
    assert cluster_attributes(same, 2) == ((0, 2, 3, 4), (1,))


def test_a_medoid_belongs_to_itself_even_where_another_is_as_near() -> None:
    nothing = np.zeros((4, 4), np.int64)
    assert cluster_attributes(nothing, 3) == ((0, 3), (1,), (2,))


columns = st.integers(2, 6).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 2), min_size=8, max_size=8), min_size=size, max_size=size)
)


@given(columns, st.integers(1, 5))
@examples(60)
def test_clusters_are_those_of_all_medoids_tried(drawn: list[list[int]], wanted: int) -> None:
    wanted = min(wanted, len(drawn))
    found = cluster_attributes(distances([np.array(own, np.int64) for own in drawn]), wanted)
    assert {frozenset(own) for own in found} == naive_slicing.clusters(drawn, wanted)
    assert found == tuple(sorted(found))


@given(columns, st.integers(1, 5))
@examples(60)
def test_exchanges_come_to_a_partition_of_no_less_cost(drawn: list[list[int]], wanted: int) -> None:
    """The way for many attributes, on few: as many clusters, each attribute in one, never a better sum."""
    wanted = min(wanted, len(drawn))
    distance = distances([np.array(own, np.int64) for own in drawn])

    def cost(found: tuple[tuple[int, ...], ...]) -> int:
        return sum(min(int(distance[list(own), m].sum()) for m in own) for own in found)

    exact = cluster_attributes(distance, wanted)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(correlation, "_CHOICES", 0)
        found = cluster_attributes(distance, wanted)
    assert len(found) == wanted
    assert sorted(at for own in found for at in own) == [*range(len(drawn))]
    assert cost(found) >= cost(exact)


# The recoding


FIELDS: dict[str, Any] = {
    "age": {"role": "quasi", "interval": {"steps": [1, 10, 40]}},
    "zip": {"role": "quasi", "prefix": {"keep": [3, 2, 1]}},
    "job": {"role": "sensitive"},
    "pay": {"role": "sensitive"},
    "ill": {"role": "sensitive"},
}
MODELS = [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}]


def people(count: int = 60, seed: int = 1) -> list[dict[str, Any]]:
    """Jobs and pay go together, illnesses go with nothing."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        job = rng.choice("abc")
        row = {"age": rng.randint(20, 60), "zip": rng.choice(["481", "482", "513"]), "job": job}
        found.append(row | {"pay": {"a": 1, "b": 2, "c": 3}[job], "ill": rng.choice("wxyz")})
    return found


def policy(prefix: str = "$.", **changes: Any) -> dict[str, Any]:
    fields = {f"{prefix}{name}": rule for name, rule in FIELDS.items()}
    return {"version": 1, "recoding": "slicing", "models": MODELS, "fields": fields} | changes


def values(release: hierdata.Release, part: str, *names: str) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in release.part(part):
        assert row.keys() == {"group", "count", *names}
        found[row["group"], *(row[name] for name in names)] += row["count"]
    return found


def test_attributes_that_go_together_share_a_table() -> None:
    release = hierdata.anonymize(people(), policy(sensitive_tables=2), seed=SEED)
    assert release.report.tables == {"sensitive-1": ("$.job", "$.pay"), "sensitive-2": ("$.ill",)}
    groups = Counter(record["group"] for record in release.records())
    for part, names in (("sensitive-1", ("job", "pay")), ("sensitive-2", ("ill",))):
        held: Counter[int] = Counter()
        for (group, *_), count in values(release, part, *names).items():
            held[group] += count
        assert held == groups, "one id for all tables"


def test_every_attribute_has_a_table_of_its_own_unless_the_policy_says_otherwise() -> None:
    release = hierdata.anonymize(people(), policy(), seed=SEED)
    assert release.report.tables == {
        f"sensitive-{at}": (f"$.{name}",) for at, name in enumerate(("job", "pay", "ill"), 1)
    }
    assert release.parts == ("records", "sensitive-1", "sensitive-2", "sensitive-3")


@pytest.mark.parametrize(
    ("stated", "tables"),
    [
        (1, [("$.job", "$.pay", "$.ill")]),
        (3, [("$.job",), ("$.pay",), ("$.ill",)]),
        (9, [("$.job",), ("$.pay",), ("$.ill",)]),
        ([["$.ill", "$.job"], ["$.pay"]], [("$.job", "$.ill"), ("$.pay",)]),
        ([["$.ill"], ["$['pay']", "$.job"]], [("$.ill",), ("$.job", "$.pay")]),
    ],
)
def test_tables_are_those_asked_for(stated: Any, tables: list[tuple[str, ...]], tmp_path: Path) -> None:
    asked = policy(sensitive_tables=stated)
    release = hierdata.anonymize(people(), asked, seed=SEED)
    assert [*release.report.tables.values()] == tables
    verdict = hierdata.verify(release.save(tmp_path / "out"), asked)
    assert verdict.passed
    assert verdict.tables == release.report.tables


def test_the_records_are_generalized_and_state_the_true_values_of_their_group() -> None:
    rows = [person | {"age": at} for at, person in enumerate(people(80))]
    fields = policy()["fields"] | {"$.age": {"role": "insensitive", "exempt": "so that the test can see"}}
    release = hierdata.anonymize(rows, policy(fields=fields, sensitive_tables=2), seed=SEED)
    expected: dict[str, Counter[tuple[Any, ...]]] = {"1": Counter(), "2": Counter()}
    for record in release.records():
        person = rows[record["age"]]
        assert record.keys() == {"age", "zip", "group"}
        expected["1"][record["group"], person["job"], person["pay"]] += 1
        expected["2"][record["group"], person["ill"]] += 1
    assert values(release, "sensitive-1", "job", "pay") == expected["1"]
    assert values(release, "sensitive-2", "ill") == expected["2"]


def test_it_loses_what_generalization_loses_and_the_links_between_tables() -> None:
    """Of one table the reconstruction error is that of anatomy's formula; of more it grows."""
    one, more = (
        hierdata.anonymize(people(), policy(sensitive_tables=tables), seed=SEED).report.metrics
        for tables in (1, 3)
    )
    assert one["lm_cost"] == more["lm_cost"]
    assert one["discrimination_rate"] == more["discrimination_rate"]
    assert (
        0
        < one["reconstruction_error"].figures["per_tuple"]
        < more["reconstruction_error"].figures["per_tuple"]
    )


def test_reconstruction_error_by_hand(tmp_path: Path) -> None:
    """One class, jobs a a b and illnesses x y x.

    In one table each combination has a share of 1/3: 1 - 2/3 + 1/3 = 2/3 for each of three. In two tables
    p is 2/3 2/3 = 4/9 for (a, x), 2/9 for (a, y) and (b, x); sum p^2 is 5/9 5/9 = 25/81. So the sum is
    3 - 2 (4/9 + 2/9 + 2/9) + 3 25/81 = 3 - 16/9 + 25/27 = 58/27.
    """
    rows = [{"zip": "1", "job": job, "ill": ill} for job, ill in ("ax", "ay", "bx")]
    fields = {
        "$.zip": {"role": "quasi", "flat": True},
        "$.job": {"role": "sensitive"},
        "$.ill": {"role": "sensitive"},
    }
    for tables, total in ((1, "2"), (2, "58/27")):
        stated = policy(fields=fields, models=[{"kind": "k-anonymity", "k": 3}], sensitive_tables=tables)
        release = hierdata.anonymize(rows, stated, seed=SEED)
        assert release.report.metrics["reconstruction_error"].exact["total"] == total


@pytest.mark.parametrize("name", METRICS)
def test_figures_lie_in_their_range(name: str) -> None:
    for built in collections():
        _, publication = published(built, KAnonymity(k=3), "slicing")
        for figure in METRICS[name]().of(publication, built.forest):
            assert figure.low <= figure.value, figure
            assert figure.high is None or figure.value <= figure.high, figure


def test_what_is_promised_is_said_of_records() -> None:
    release = hierdata.anonymize(people(), policy(sensitive_tables=2), seed=SEED)
    stated = release.report
    assert stated.promises[0].statement == (
        "Every record looks like at least 2 others in everything that others may know."
    )
    assert any("Nothing ties the rows of two tables to each other" in one for one in stated.limitations)
    assert not any("each type by itself" in one for one in stated.limitations)
    book = json.loads((release.folder / "public" / "codebook.json").read_text("utf-8"))
    assert "each file that belongs to its type" in book["groups"]
    assert stated.counts.k_raw == stated.counts.smallest_class >= 3


# Trees


def families(count: int = 40, seed: int = 3) -> list[dict[str, Any]]:
    rng = Random(seed)
    return [
        {
            "zip": rng.choice("ab"),
            "ill": rng.choice("xyz"),
            "visits": [
                {"ward": rng.choice("uv"), "cost": rng.randint(1, 3), "drug": rng.choice("mn")}
                for _ in range(rng.randint(0, 3))
            ],
        }
        for _ in range(count)
    ]


TREES: dict[str, Any] = {
    "version": 1,
    "recoding": "slicing",
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "$.zip": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].cost": {"role": "sensitive"},
        "$.visits[*].drug": {"role": "sensitive"},
    },
}


def test_trees_have_tables_for_each_vertex_type(tmp_path: Path) -> None:
    release = hierdata.anonymize(families(), TREES, seed=SEED)
    assert release.report.tables == {
        "sensitive-1": ("$.ill",),
        "sensitive-visits-1": ("$.visits[*].cost",),
        "sensitive-visits-2": ("$.visits[*].drug",),
    }
    folder = release.save(tmp_path / "out")
    verdict = hierdata.verify(folder, TREES, original=families())
    assert verdict.passed
    assert verdict.k == verdict.k_raw >= 2
    for record in release.records():
        groups = [visit["group"] for visit in record.get("visits", ())]
        assert len(set(groups)) == len(groups)


def test_values_of_different_vertices_share_no_table() -> None:
    asked = TREES | {"sensitive_tables": [["$.ill", "$.visits[*].cost"], ["$.visits[*].drug"]]}
    with pytest.raises(hierdata.PolicyError, match="values of other vertices"):
        hierdata.anonymize(families(), asked, seed=SEED)


# What the policy refuses


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sensitive_tables": 0}, "greater than or equal to 1"),
        ({"sensitive_tables": [["$.job", "$.pay"]]}, "in no table"),
        ({"sensitive_tables": [["$.job", "$.pay"], ["$.ill", "$.job"]]}, "in more than one place"),
        ({"sensitive_tables": [["$.job", "$.pay"], ["$.ill"], ["$.zip"]]}, "not a sensitive field"),
        ({"sensitive_tables": [["$.job", "$.pay"], ["$.ill"], ["$.nobody"]]}, "not a sensitive field"),
        ({"sensitive_tables": 2, "recoding": "generalization"}, "only recoding slicing"),
        ({"sensitive_tables": 2, "recoding": "anatomy"}, "only recoding slicing"),
        ({"fields": {"$.zip": {"role": "quasi", "flat": True}}, "models": MODELS[:1]}, "there are none"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(hierdata.PolicyError, match=said):
        hierdata.anonymize(people(), policy(**changes), seed=SEED)


@pytest.mark.parametrize(("old", "new"), [("zip", "group"), ("ill", "count")])
def test_names_that_groups_need_are_refused(old: str, new: str) -> None:
    fields = {path.replace(f".{old}", f".{new}"): rule for path, rule in policy()["fields"].items()}
    rows = [{new if key == old else key: value for key, value in row.items()} for row in people()]
    with pytest.raises(hierdata.PolicyError, match="recoding: slicing writes a field"):
        hierdata.anonymize(rows, policy(fields=fields), seed=SEED)


# Every format


def in_json(folder: Path) -> Path:
    (folder / "in.json").write_text(json.dumps(people()), "utf-8")
    return folder / "in.json"


def in_jsonl(folder: Path) -> Path:
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in people()), "utf-8")
    return folder / "in.jsonl"


def in_csv(folder: Path) -> Path:
    return write_csv(folder / "in.csv", people())


def in_parquet(folder: Path) -> Path:
    pandas.DataFrame(people()).to_parquet(folder / "in.parquet")
    return folder / "in.parquet"


def in_xml(folder: Path) -> Path:
    root = etree.Element("list")
    for row in people():
        item = etree.SubElement(root, "item", zip=row["zip"], ill=row["ill"])
        for name in ("age", "job", "pay"):
            etree.SubElement(item, name).text = str(row[name])
    etree.ElementTree(root).write(folder / "in.xml", encoding="utf-8", xml_declaration=True)
    return folder / "in.xml"


XML = {"/list/item/" + ("@" if name in ("zip", "ill") else "") + name: rule for name, rule in FIELDS.items()}


@pytest.mark.parametrize(
    "write", [in_json, in_jsonl, in_csv, in_parquet, in_xml], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("tables", [None, pytest.param(2, marks=pytest.mark.full)])
def test_every_format_is_written_read_and_judged(
    write: Callable[[Path], Path], tables: int | None, tmp_path: Path
) -> None:
    source = write(tmp_path)
    stated = policy(sensitive_tables=tables) | ({"fields": XML} if source.suffix == ".xml" else {})
    release = hierdata.anonymize(source, stated, seed=SEED)
    folder = release.save(tmp_path / "out")
    count = 3 if tables is None else 2
    assert {file.name for file in (folder / "public").iterdir()} == {
        *("release.json", "codebook.json", "summary.html"),
        *(["records.xsd"] if source.suffix == ".xml" else []),
        *(
            f"{part}{source.suffix}"
            for part in ("records", *(f"sensitive-{at}" for at in range(1, count + 1)))
        ),
    }
    verdict = hierdata.verify(folder, stated)
    assert verdict.passed
    assert verdict.malformed == 0
    assert hierdata.verify(folder, stated, original=source) == verdict
    assert hierdata.verify(folder / "public", stated).passed
    like_json = hierdata.anonymize(people(), policy(sensitive_tables=tables), seed=SEED).report
    assert release.report.counts.records == like_json.counts.records
    assert release.report.counts.classes == like_json.counts.classes
    last = folder / "public" / f"sensitive-{count}{source.suffix}"
    last.unlink()
    (folder / "public" / "records.xsd").unlink(missing_ok=True)  # it says that there is one table more
    assert not hierdata.verify(folder / "public", stated).passed, "a table is missing"


def test_one_count_of_a_csv_is_forged(tmp_path: Path) -> None:
    source = in_csv(tmp_path)
    folder = hierdata.anonymize(source, policy(), seed=SEED).save(tmp_path / "out")
    file = folder / "public" / "sensitive-3.csv"
    with file.open(encoding="utf-8", newline="") as stream:
        header, first, *others = csv.reader(stream)
    first[-1] = str(int(first[-1]) + 1)
    file.write_text("".join(",".join(row) + "\n" for row in (header, first, *others)), "utf-8")
    assert not hierdata.verify(folder / "public", policy()).passed


def test_keyed_tables(tmp_path: Path) -> None:
    persons = [{"pid": f"p{at}", **person} for at, person in enumerate(families())]
    visits = [{"pid": person["pid"], **visit} for person in persons for visit in person["visits"]]
    folder = tmp_path / "in"
    folder.mkdir()
    write_csv(folder / "people.csv", [{key: row[key] for key in ("pid", "zip", "ill")} for row in persons])
    write_csv(folder / "visits.csv", visits)
    stated = TREES | {"tables": {"people": {"key": "pid"}, "visits": {"parent": "people", "on": "pid"}}}
    release = hierdata.anonymize(folder, stated, seed=SEED)
    out = release.save(tmp_path / "out")
    assert {file.name for file in (out / "public").glob("sensitive*")} == {
        "sensitive-1.csv",
        "sensitive-visits-1.csv",
        "sensitive-visits-2.csv",
    }
    verdict = hierdata.verify(out, stated, original=folder)
    assert verdict.passed
    assert verdict == hierdata.verify(out, stated)
    with (out / "public" / "records" / "visits.csv").open(encoding="utf-8", newline="") as stream:
        assert next(csv.reader(stream)) == ["pid", "ward", "group"]


# The judge against a slow one


SENSITIVE = {(): ("a", "b"), ("v",): ("c",)}
RULES = JudgeRules(
    tuple(
        SensitiveRule((*keys, name), str(parse(f"$.{'.'.join((*keys, name))}")))
        for keys, names in SENSITIVE.items()
        for name in names
    ),
    (),
    listed=frozenset({("q",), ("v",), ("v", "w"), ("a",), ("b",), ("v", "c")}),
    vertices=frozenset({("v",)}),
    recoding="slicing",
)


def sliced(rng: Random, *, apart: bool) -> tuple[list[Any], dict[str, list[Any]]]:
    """Records in classes with groups, and their tables; all right unless values are few."""
    records: list[Any] = []
    parts: dict[str, list[Any]] = {part: [] for part in tables(apart=apart)}
    below = 0
    for number in range(rng.randint(1, 3)):
        size, look = rng.randint(2, 3), rng.choice("xy")
        visits = []
        for _ in range(rng.randint(0, 2)):
            below += 1
            visits.append({"w": rng.choice("uv"), "group": below})
            parts["sensitive-v-1"] += rows(rng, below, size, ("c",))
        record = {"q": look, "group": number, **({"v": visits} if visits else {})}
        records += [record | ({"v": rng.sample(visits, len(visits))} if visits else {}) for _ in range(size)]
        for part, names in (
            [("sensitive-1", ("a",)), ("sensitive-2", ("b",))] if apart else [("sensitive-1", ("a", "b"))]
        ):
            parts[part] += rows(rng, number, size, names)
    rng.shuffle(records)
    return records, {part: own for part, own in parts.items() if own}


def rows(rng: Random, group: int, size: int, names: tuple[str, ...]) -> list[Any]:
    held = Counter(tuple(rng.choice((1, 2, 2, None)) for _ in names) for _ in range(size))
    return [
        {"group": group, "count": count}
        | {name: value for name, value in zip(names, own, strict=True) if value is not None}
        for own, count in held.items()
    ]


def tables(*, apart: bool) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    root = {"sensitive-1": ("a",), "sensitive-2": ("b",)} if apart else {"sensitive-1": ("a", "b")}
    return {**{part: ((), names) for part, names in root.items()}, "sensitive-v-1": (("v",), ("c",))}


def forged(rng: Random, records: list[Any], parts: dict[str, list[Any]]) -> None:
    """One thing changed at random."""
    every = [*records, *(visit for record in records for visit in record.get("v", ()))]
    lines = [row for own in parts.values() for row in own]
    pick = rng.randrange(8)
    target = rng.choice(every if pick < 3 else lines or every)
    if pick == 0:
        target["group"] = rng.choice((0, 1, 2, 3, 9, "1", 1.5, None))
    elif pick == 1:
        target[rng.choice(("a", "b", "c", "z"))] = 1
    elif pick == 2:
        target[rng.choice(("q", "w"))] = rng.choice("xyuv")
    elif pick == 3:
        target["count"] = rng.choice((0, 1, 2, -1, 1.0, "x", None))
    elif pick == 4:
        target["group"] = rng.choice((0, 1, 2, 3, 9, None))
    elif pick == 5:
        target[rng.choice("abcz")] = 2
    elif pick == 6:
        parts.pop(rng.choice([*tables(apart=True)]), None)
    else:
        parts[rng.choice(("sensitive", "sensitive-3", "sensitive-v-2", "sensitive-2"))] = [
            {"group": 0, "count": 1}
        ]


def listed(records: list[Any]) -> bool:
    """No field that the rules do not list."""
    return all(
        record.keys() <= {"q", "v", "group"}
        and all(visit.keys() <= {"w", "group"} for visit in record.get("v", ()))
        for record in records
    )


@given(st.integers(0, 2**40), st.booleans(), st.integers(0, 2), st.sampled_from((1, 1, 2)))
@examples(400)
def test_the_judge_agrees_with_a_slow_one(number: int, apart: bool, forgeries: int, least: int) -> None:
    rng = Random(number)
    records, parts = sliced(rng, apart=apart)
    records, parts = json.loads(json.dumps([records, parts]))
    for _ in range(forgeries):
        forged(rng, records, parts)
    models = ((KAnonymity(k=2), None), (DistinctLDiversity(l=least), None))
    rules = replace(RULES, tables=None if apart else 1, models=models)
    verdict = judge(records, rules, parts)
    found = naive_slicing.judge(records, parts, SENSITIVE, tables(apart=apart))
    expected = listed(records) and naive_slicing.passes(
        found, 2, lambda _, counts: not counts or len(counts) >= least
    )
    assert verdict.passed == expected
    if found.fits and listed(records):
        assert (verdict.classes, verdict.k) == (len(found.classes), min(found.classes))
