"""Collections in blocks: the promise, the figures and the bytes are those of the whole."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata import Resources
from hierdata.ground.errors import InputError, PolicyError, PromiseError
from hierdata.pipeline.merge_blocks import Shared, find_shared_forms
from hierdata.policy.load import from_data, load
from hierdata.release.release import Release
from hierdata.sources import Collection, Form, InputSplit
from tests.end_to_end.conftest import POLICIES, SEED, STUDENTS, public_bytes
from tests.publications import measurable

LINES = STUDENTS / "students.jsonl"
SERIAL = Resources("serial")
STRANGER = b'{"id": "x", "major": "secret", "birth_year": 1990, "gpa": 3.1, "courses": []}'


def with_blocks(blocks: int | str | None, policy: str = "students-multilevel.yaml", **changes: object) -> Any:
    """A bundled policy that asks for blocks."""
    stated = load(POLICIES / policy)
    changed = stated.model_copy(update={"blocks": blocks, **changes})
    changed._folder = stated.folder
    return changed


@pytest.fixture
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in parts of some kilobytes."""
    of_collection, of_form = Collection.splits, Form.splits

    def splits(self: Collection, size: int = 30_000) -> Sequence[InputSplit]:
        return of_collection(self, size)

    monkeypatch.setattr(Collection, "splits", splits)
    for form in Form.__subclasses__():
        if "splits" in vars(form):
            own = form.splits
            monkeypatch.setattr(
                form,
                "splits",
                lambda self, path, element=None, *, alone=False, own=own: own(
                    self, path, element, alone=alone, size=20_000
                ),
            )
    assert of_form is Form.splits


@pytest.fixture(name="lines", scope="module")
def _lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first half of the students."""
    file = tmp_path_factory.mktemp("half") / "students.jsonl"
    file.write_bytes(b"".join(LINES.read_bytes().splitlines(keepends=True)[:300]))
    return file


@pytest.fixture(scope="module")
def in_blocks(lines: Path) -> Release:
    return hierdata.anonymize(lines, with_blocks(100), seed=SEED, resources=SERIAL)


def test_a_release_in_blocks_keeps_its_promise(in_blocks: Release, lines: Path) -> None:
    counts = in_blocks.report.counts
    assert in_blocks.report.passed
    assert counts.records.input == 300
    assert counts.smallest_class >= 5
    assert 200 < counts.records.published == sum(1 for _ in in_blocks.records())
    verdict = hierdata.verify(in_blocks.folder, with_blocks("whole"), original=lines)
    assert verdict.passed
    assert verdict.classes == counts.classes


def test_figures_in_blocks_are_those_of_the_files(in_blocks: Release, lines: Path) -> None:
    measured = hierdata.measure_release(in_blocks.folder, with_blocks(100), original=lines)
    reported = measurable(in_blocks.report.metrics)
    for name, figures in measured.metrics.items():
        assert reported[name] == figures, name


@pytest.mark.parametrize(
    ("executor", "workers"),
    [
        ("serial", None),
        pytest.param("processes", 1, marks=pytest.mark.full),
        pytest.param("processes", 3, marks=pytest.mark.full),
    ],
)
def test_executors_publish_the_same_bytes(
    in_blocks: Release, lines: Path, executor: str, workers: int | None, small_splits: None
) -> None:
    """Splits are many here and one there, which changes the sample of the cut only where it is thinned."""
    resources = Resources(executor, workers)
    release = hierdata.anonymize(lines, with_blocks(100), seed=SEED, resources=resources)
    assert public_bytes(release) == public_bytes(in_blocks)
    assert hierdata.verify(release.folder, with_blocks(100), resources=resources).passed


@pytest.mark.parametrize("name", ["students.json", "students.xml"])
@pytest.mark.full
def test_formats_whose_records_are_no_lines(name: str) -> None:
    policy = with_blocks(200, "students-xml.yaml" if name.endswith("xml") else "students-multilevel.yaml")
    release = hierdata.anonymize(STUDENTS / name, policy, seed=SEED, resources=SERIAL)
    assert release.report.passed
    assert release.report.counts.records.published == sum(1 for _ in release.records())


def people(count: int, ages: int = 6) -> list[dict[str, object]]:
    """People of whom the more look alike the fewer ages they have."""
    rng = random.Random(5)
    return [
        {
            "city": rng.choice(["Ghent", "Bruges", "Ypres"]),
            "age": rng.randrange(30, 30 + ages),
            "visits": [
                {"ward": rng.choice("abc"), "ill": rng.choice("uvwxyz")} for _ in range(rng.randrange(3))
            ],
        }
        for _ in range(count)
    ]


PEOPLE_POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "$.city": {"role": "quasi", "flat": True},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 3, 6]}},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].ill": {"role": "sensitive"},
    },
    "attackers": {"neighbour": {"keys": "own"}},
}


def noted(found: Shared, homes: list[int]) -> Shared:
    homes.append(len(found.homes))
    return found


@pytest.mark.parametrize(
    "heard",
    [
        pytest.param(1, id="many tasks compare forms"),
        pytest.param(64, id="one task does", marks=pytest.mark.full),
    ],
)
def test_classes_that_look_alike_in_two_blocks_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heard: int
) -> None:
    monkeypatch.setattr("hierdata.pipeline.cluster._HEARD", heard)
    homes: list[int] = []
    monkeypatch.setattr(
        "hierdata.pipeline.cluster.find_shared_forms", lambda told: noted(find_shared_forms(told), homes)
    )
    source = people(600, ages=1)
    policy = from_data({**PEOPLE_POLICY, "blocks": 40})
    release = hierdata.anonymize(source, policy, seed=SEED, resources=SERIAL)
    assert (len(homes) > 1) == (heard == 1)
    assert sum(homes) > 0
    folder = release.save(tmp_path / "release")
    measured = hierdata.measure_release(folder, policy, original=source)
    assert {name: measurable(release.report.metrics)[name] for name in measured.metrics} == measured.metrics
    for attacker, risks in measured.attackers.items():
        assert {risk: release.report.attackers[attacker][risk] for risk in risks} == risks
    verdict = hierdata.verify(folder, policy, original=source)
    assert verdict.passed
    assert release.report.counts.classes == verdict.classes
    many = hierdata.anonymize(source, policy, seed=SEED, resources=Resources("processes", 2))
    assert public_bytes(many) == public_bytes(release)


def test_blocks_that_the_promise_does_not_allow_are_refused() -> None:
    with pytest.raises(PolicyError, match="blocks: recoding representatives looks at all records at once"):
        hierdata.anonymize(LINES, with_blocks(150, recoding="representatives"), resources=SERIAL)
    with pytest.raises(PolicyError, match=r"blocks: 7 records are too few .* use 20 or more"):
        hierdata.anonymize(LINES, with_blocks(7), resources=SERIAL)
    ills = {"*": {"u": {}, "v": {}, "w": {}, "x": {}, "y": {}, "z": {}}}
    policy = {
        **PEOPLE_POLICY,
        "blocks": 40,
        "models": [{"kind": "l-e-diversity", "l": 2, "e": 0.5}],
        "fields": {
            **PEOPLE_POLICY["fields"],
            "$.visits[*].ill": {"role": "sensitive", "taxonomy": {"tree": ills}},
        },
    }
    with pytest.raises(PolicyError, match="not closed under unions"):
        hierdata.anonymize(people(200), from_data(policy), resources=SERIAL)


@pytest.mark.full
def test_too_little_memory_is_refused_with_what_is_enough() -> None:
    seed = bytes(16)  # where blocks are cut, and so how large they are, goes by the seed
    with pytest.raises(PolicyError, match=r"allow \d+ MiB, or state smaller `blocks`") as refused:
        hierdata.anonymize(LINES, with_blocks(150), seed=seed, resources=Resources("serial", memory=2**20))
    enough = int(str(refused.value).split(" MiB")[0].rpartition(" ")[2])
    for mebibytes, works in ((enough - 1, False), (enough, True)):
        resources = Resources("serial", memory=mebibytes * 2**20)
        if works:
            assert hierdata.anonymize(LINES, with_blocks(150), seed=seed, resources=resources).report.passed
        else:
            with pytest.raises(PolicyError):
                hierdata.anonymize(LINES, with_blocks(150), seed=seed, resources=resources)


def test_no_class_in_any_block(tmp_path: Path) -> None:
    policy = from_data(
        {
            **PEOPLE_POLICY,
            "blocks": 40,
            "models": [{"kind": "k-anonymity", "k": 3}],
            "fields": {**PEOPLE_POLICY["fields"], "$.city": {"role": "sensitive"}},
        }
        | {"models": [{"kind": "distinct-l-diversity", "l": 4}]}
    )
    with pytest.raises(PromiseError, match="no class that was tried"):
        hierdata.anonymize(people(200), policy, resources=SERIAL)


@pytest.mark.parametrize(
    ("executor", "at"),
    [("serial", 3), ("serial", 599), pytest.param("processes", 400, marks=pytest.mark.full)],
)
def test_a_broken_record_in_the_middle_is_told_by_its_number(
    tmp_path: Path, small_splits: None, executor: str, at: int
) -> None:
    lines = LINES.read_bytes().splitlines()
    for wrong, message in ((b'{"id": "secret', "JSON"), (STRANGER, "outside the domain")):
        broken = tmp_path / "broken.jsonl"
        broken.write_bytes(b"\n".join([*lines[:at], wrong, *lines[at + 1 :]]) + b"\n")
        before = set(tmp_path.iterdir())
        with pytest.raises(InputError, match=f"record {at + 1}") as error:
            hierdata.anonymize(broken, with_blocks(150), staging=tmp_path, resources=Resources(executor, 2))
        assert "secret" not in str(error.value)
        assert message in str(error.value)
        assert set(tmp_path.iterdir()) == before


def small(count: int) -> Iterator[dict[str, object]]:
    yield from people(count)


@pytest.mark.full
def test_a_generator_in_blocks_and_processes() -> None:
    policy = from_data({**PEOPLE_POLICY, "blocks": 40})
    release = hierdata.anonymize(small(120), policy, seed=SEED, resources=Resources("processes", 2))
    again = hierdata.anonymize(people(120), policy, seed=SEED, resources=SERIAL)
    assert list(release.records()) == list(again.records())
