"""Whole releases by other executors: each file the same, whatever the format, the models and the faults."""

from __future__ import annotations

import csv
import gzip
import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata import Resources
from hierdata.ground.errors import GateError, InputError
from hierdata.policy.load import from_data
from hierdata.release.release import Release
from tests.end_to_end import resource_export
from tests.end_to_end.conftest import POLICIES, SEED, STUDENTS
from tests.end_to_end.faulty import SECRET, small_parts
from tests.end_to_end.test_faults import POLICY, STAGES, Place, people
from tests.executors.conftest import SPARK, no_spark, spark, swept  # noqa: F401  (fixtures)
from tests.publications import measurable

PROCESSES = pytest.param(Resources("processes", 2), id="processes")
BY_SPARK = pytest.param(Resources("spark", 2), id="spark", marks=SPARK)


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small collections in several splits."""
    small_parts(monkeypatch.setattr)


@pytest.fixture(params=[PROCESSES, BY_SPARK])
def resources(request: pytest.FixtureRequest) -> Resources:
    if request.param.executor == "spark":
        request.getfixturevalue("spark")
    found: Resources = request.param
    return found


def files_of(release: Release) -> dict[str, bytes]:
    """Every file of a release, by its path in the folder."""
    found = release.folder
    return {str(path.relative_to(found)): path.read_bytes() for path in found.rglob("*") if path.is_file()}


Case = Callable[[Path], tuple[Path, Any]]


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return path


def rows(count: int = 240) -> list[dict[str, Any]]:
    """Flat people; some values are missing, as None."""
    rng = random.Random(11)
    return [
        {
            "id": f"{SECRET}{number}",
            "town": rng.choice([None, *(SECRET + town for town in ("oslo", "bergen", "rome"))]),
            "age": rng.randrange(20, 50),
            "score": SECRET + rng.choice("aaabbbccde"),
            "note": SECRET + rng.choice("xy"),
        }
        for number in range(count)
    ]


FLAT: dict[str, Any] = {
    "version": 1,
    "blocks": 60,
    "models": [{"kind": "k-anonymity", "k": 4}],
    "fields": {
        "id": {"role": "identifier", "action": "drop"},
        "town": {"role": "quasi", "flat": True},
        "age": {"role": "quasi", "interval": {"steps": [1, 5, 20], "domain": [0, 99]}},
        "score": {"role": "sensitive"},
        "note": {"role": "insensitive", "exempt": "drawn by lot and never given out"},
    },
}


def json_lines(folder: Path) -> tuple[Path, Any]:
    return lines(folder / "people.jsonl", people()), POLICY


def zipped(folder: Path) -> tuple[Path, Any]:
    path = folder / "people.jsonl.gz"
    path.write_bytes(gzip.compress(lines(folder / "people.jsonl", people()).read_bytes()))
    return path, POLICY


def json_array(folder: Path) -> tuple[Path, Any]:
    (folder / "people.json").write_text(json.dumps(people()), "utf-8")
    return folder / "people.json", POLICY


def xml(folder: Path) -> tuple[Path, Any]:
    return STUDENTS / "students.xml", changed("students-xml.yaml", blocks=200)


def csv_table(folder: Path) -> tuple[Path, Any]:
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows()[0]))
        writer.writeheader()
        writer.writerows(rows())
    return folder / "rows.csv", FLAT


def parquet(folder: Path) -> tuple[Path, Any]:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows()), folder / "rows.parquet", row_group_size=50)
    return folder / "rows.parquet", FLAT


def keyed_tables(folder: Path) -> tuple[Path, Any]:
    return STUDENTS / "tables", changed("students-tables.yaml", blocks=200)


def changed(name: str, **changes: object) -> Any:
    from hierdata.policy.load import load

    stated = load(POLICIES / name)
    found = stated.model_copy(update=changes)
    found._folder = stated.folder
    return found


def with_facts(folder: Path) -> tuple[Path, Any]:
    fields = {
        **FLAT["fields"],
        "score": {"role": "sensitive", "levels": {"by": "frequency", "sensitive": "rare"}},
    }
    models = [{"kind": "level-alpha-k", "k": 5, "alpha": [1, 1, 0.8, 0.6, 0.4]}]
    return lines(folder / "rows.jsonl", rows()), FLAT | {"fields": fields, "models": models}


def in_a_population(folder: Path) -> tuple[Path, Any]:
    with (folder / "population.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["town", "age"])
        writer.writerows([row["town"], row["age"]] for row in rows() * 3)
    models = [{"kind": "k-map", "k": 6}]
    population = {"file": str(folder / "population.csv")}
    return lines(folder / "rows.jsonl", rows()), FLAT | {"models": models, "population": population}


def unlisted_and_exempt(folder: Path) -> tuple[Path, Any]:
    reason = "drawn by lot and never given out"
    fields = {**POLICY["fields"], "$.visits[*].ill": {"role": "insensitive", "exempt": reason}}
    del fields["$.city"]
    models = [{"kind": "k-anonymity", "k": 3}]
    return lines(folder / "people.jsonl", people()), POLICY | {
        "fields": fields,
        "models": models,
        "unlisted": {"keep": reason},
    }


def whole(folder: Path) -> tuple[Path, Any]:
    """One block, and a model that looks at the whole."""
    models = [{"kind": "t-closeness", "t": 0.4}]
    return lines(folder / "rows.jsonl", rows(120)), FLAT | {"models": models, "blocks": "whole"}


def bulk_export(folder: Path) -> tuple[Path, Any]:
    """Resources of FHIR in a file for each type, joined by their references."""
    return resource_export.write_ndjson(folder / "export"), resource_export.POLICY


CASES = [json_lines, zipped, json_array, xml, csv_table, parquet, keyed_tables, bulk_export]
CASES += [with_facts, in_a_population, unlisted_and_exempt, whole]
# Formats that are read as a whole are no other way for Spark, which takes longest.
BY_SPARK_TOO = [json_lines, bulk_export, parquet, with_facts]
LONG = [parquet, with_facts]  # by Spark: other splits, and other models, by the same executor


def marks_of(kind: Any, case: Case) -> list[Any]:
    """One case is fast, and some by Spark are in the third tier."""
    if kind is BY_SPARK and case in LONG:
        return [pytest.mark.long, *(mark for mark in kind.marks if mark.name != "full")]
    return [*kind.marks, *([] if case is csv_table else [pytest.mark.full])]


@pytest.mark.parametrize(
    ("case", "resources"),
    [
        pytest.param(
            *(case, kind.values[0]),
            id=f"{kind.id}-{case.__name__}",
            marks=marks_of(kind, case),
        )
        for kind, cases in ((PROCESSES, CASES), (BY_SPARK, BY_SPARK_TOO))
        for case in cases
    ],
    indirect=["resources"],
)
def test_every_file_is_the_same(case: Case, resources: Resources, tmp_path: Path) -> None:
    source, policy = case(tmp_path)
    expected = hierdata.anonymize(source, policy, seed=SEED, resources=Resources("serial"))
    release = hierdata.anonymize(source, policy, seed=SEED, resources=resources)
    assert files_of(release) == files_of(expected)
    counts = release.report.counts.records
    assert int(counts.published) + int(counts.suppressed) == counts.input
    verdict = hierdata.verify(release.folder, policy, resources=resources)
    assert verdict.passed
    assert verdict == hierdata.verify(release.folder, policy, resources=Resources("serial"))
    measured = hierdata.measure_release(release.folder, policy, original=source)
    assert {name: measurable(release.report.metrics)[name] for name in measured.metrics} == measured.metrics


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers(workers: int, tmp_path: Path) -> None:
    source, policy = json_lines(tmp_path)
    expected = hierdata.anonymize(source, policy, seed=SEED, resources=Resources("serial"))
    release = hierdata.anonymize(source, policy, seed=SEED, resources=Resources("processes", workers))
    assert files_of(release) == files_of(expected)


SCHEMA = {"type": "object", "properties": {"age": {"type": "integer", "maximum": 49}}}


def test_a_late_record_that_breaks_the_schema(resources: Resources, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), "utf-8")
    found = rows()
    found[201]["age"] = 77
    policy = from_data({**FLAT, "schema": "schema.json"}, tmp_path)
    with pytest.raises(InputError, match=r"^record 202: .*rule properties/age/maximum") as error:
        hierdata.anonymize(lines(tmp_path / "rows.jsonl", found), policy, resources=resources)
    assert SECRET not in str(error.value)


def test_a_late_record_that_is_broken(
    resources: Resources, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "rows.jsonl", rows())
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:150], b'{"town": "zqbroken\n', *whole[151:]]))
    before = set(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"^record 151") as error:
        hierdata.anonymize(path, FLAT, staging=tmp_path, resources=resources)
    assert SECRET not in str(error.value) + "".join(capfd.readouterr())
    assert set(tmp_path.iterdir()) == before


def test_a_gate_that_fails(resources: Resources, tmp_path: Path) -> None:
    policy = FLAT | {"gates": [{"metric": "lm_cost", "figure": "per_value", "operator": "<=", "value": 0}]}
    with pytest.raises(GateError):
        hierdata.anonymize(
            lines(tmp_path / "rows.jsonl", rows()), policy, staging=tmp_path, resources=resources
        )
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Place]:
    """A place for commands whose Spark executors have processes of their own."""
    if reason := no_spark():
        pytest.skip(reason)
    place = Place(tmp_path / "place")
    yield place
    place.nothing_left()


CLUSTER = ("--master", "local-cluster[2,1,1024]")


@pytest.mark.long  # test_spark_cluster.py kills one in the full tier
def test_an_executor_killed_in_the_middle(cluster: Place) -> None:
    assert cluster.run("-", "-", "--executor", "serial").code == 0
    expected = cluster.release()
    ended = cluster.run("executor", STAGES["cluster"], *CLUSTER)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert cluster.release() == expected


@pytest.mark.full
@pytest.mark.skipif(no_spark() is not None, reason=str(no_spark()))
@pytest.mark.parametrize("seconds", [0.5, 1.5, 8])
def test_a_signal_while_spark_starts_or_works(tmp_path: Path, seconds: float) -> None:
    """Java holds the command's output: if it did not end, the output would not."""
    place = Place(tmp_path)
    process = place.begin("-", "-", "--master", "local[2]")
    while place.found() == place.names and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    ended = place.ended(process)
    assert ended.code in (143, 0)
    if ended.code == 0:
        place.release()
    place.nothing_left()
