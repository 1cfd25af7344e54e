"""Blocks and splits of any size: no record is lost, figures are those of the files, forgeries show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import hierdata
from hierdata import Resources
from hierdata.ground.errors import PromiseError, VerificationError
from hierdata.policy.load import from_data
from hierdata.privacy import KAnonymity, LevelAlphaK
from hierdata.release.release import Release
from tests.cases import examples
from tests.end_to_end import small
from tests.end_to_end.conftest import SEED
from tests.end_to_end.faulty import small_parts
from tests.publications import measurable

SERIAL = Resources("serial")
LEVELS = LevelAlphaK(k=3, alpha=(1, 1, 1, 1, 1))


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    """Records as JSON Lines, missing ones left out."""
    present = [{key: value for key, value in one.items() if value is not None} for one in records]
    path.write_text("".join(json.dumps(one) + "\n" for one in present), "utf-8")
    return path


def published(release: Release) -> list[dict[str, Any]]:
    written = (release.folder / "public" / "records.jsonl").read_bytes()
    return [json.loads(line) for line in written.splitlines()]


@pytest.mark.full
@examples(5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(30, 150),
    seed=st.integers(0, 1000),
    blocks=st.integers(12, 80),
    split=st.integers(300, 8000),
    flat=st.booleans(),
)
def test_no_record_is_lost_and_figures_are_those_of_the_files(
    tmp_path_factory: pytest.TempPathFactory, count: int, seed: int, blocks: int, split: int, flat: bool
) -> None:
    folder = tmp_path_factory.mktemp("random")
    source = lines(folder / "people.jsonl", (small.rows if flat else small.trees)(count, seed))
    fields = small.FLAT if flat else small.NESTED
    policy = from_data(small.policy(fields, KAnonymity(k=3), LEVELS, folder=folder, blocks=blocks))
    with pytest.MonkeyPatch.context() as patch:
        small_parts(patch.setattr, split)
        try:
            release = hierdata.anonymize(source, policy, seed=SEED, resources=SERIAL)
        except PromiseError:
            return
        counts = release.report.counts
        assert counts.records.input == count
        assert len(published(release)) == counts.records.published
        assert int(counts.records.published) + int(counts.records.suppressed) == count
        measured = hierdata.measure_release(release.folder, policy, original=source)
        assert {
            name: measurable(release.report.metrics)[name] for name in measured.metrics
        } == measured.metrics
        verdict = hierdata.verify(release.folder, policy, original=source)
    assert verdict.passed
    assert verdict.classes == counts.classes


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Release]:
    """A collection, its policy, and its release in blocks."""
    folder = tmp_path_factory.mktemp("genuine")
    source = lines(folder / "people.jsonl", small.trees(200))
    policy = from_data(small.policy(small.NESTED, KAnonymity(k=3), folder=folder, blocks=40))
    release = hierdata.anonymize(source, policy, seed=SEED, resources=SERIAL)
    release.save(folder / "release")
    return source, policy, release


def relabelled(records: list[dict[str, Any]]) -> None:
    """One record of a class says something else of its age."""
    records[0]["age"] = "20" if records[0]["age"] != "20" else "21"


def doubled(records: list[dict[str, Any]]) -> None:
    records.append(records[0])


def shortened(records: list[dict[str, Any]]) -> None:
    del records[0]


def exchanged(records: list[dict[str, Any]]) -> None:
    """A record takes the visits of one that looks otherwise."""
    other = next(one for one in records if forms(one) != forms(records[0]))
    records[0]["visits"] = other["visits"]


def forms(record: dict[str, Any]) -> Any:
    return sorted(str(visit.get("ward")) for visit in record["visits"])


@pytest.mark.parametrize("forge", [relabelled, doubled, shortened, exchanged], ids=lambda it: it.__name__)
def test_forged_releases_are_refused(
    genuine: tuple[Path, Any, Release], forge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the judge who walks several splits of the file, as by the one who walks it at once."""
    source, policy, release = genuine
    records = published(release)
    forge(records)
    folder = tmp_path / "forged"
    for path in release.folder.rglob("*"):
        if path.is_file():
            copy = folder / path.relative_to(release.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    lines(folder / "public" / "records.jsonl", records)
    found: list[bool | str] = []
    for size in (2000, 2**24):
        with monkeypatch.context() as patch:
            small_parts(patch.setattr, size)
            try:
                found.append(hierdata.verify(folder, policy, original=source).passed)
            except VerificationError as error:
                found.append(str(error))
    assert found[0] == found[1]
    assert found[0] is not True
