"""A study measures each point once, keeps it, and never takes a point of something else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hierdata.pipeline import points as module
from hierdata.pipeline.points import digest_build, digest_folder
from hierdata.reproduction.study import Adult, Effort, Study, synthesize_adult
from tests.reproduction.studies import small_study

CALLS: list[Any] = []


def square(number: int) -> int:
    CALLS.append(number)
    if number < 0:
        raise ValueError("negative")
    return number * number


def count_rows(adult: Adult, factor: int) -> int:
    CALLS.append(factor)
    return factor * len(adult.rows)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with small_study(tmp_path, scale=1, adult=synthesize_adult(2000)) as made:
        yield made


@pytest.fixture(autouse=True)
def _nothing_called() -> None:
    CALLS.clear()


def asked(*numbers: int) -> list[dict[str, int]]:
    return [{"number": number} for number in numbers]


def test_results_are_in_order_and_each_point_is_measured_once(study: Study) -> None:
    assert study.measure(square, asked(3, 2, 3)) == [9, 4, 9]
    assert study.measure(square, asked(2, 5)) == [4, 25]
    assert CALLS == [3, 2, 5]


def test_an_interrupted_run_goes_on_where_it_was(study: Study) -> None:
    with pytest.raises(ValueError, match="negative"):
        study.measure(square, asked(2, 3, -1, 4))
    CALLS.clear()
    assert study.measure(square, asked(2, 3, 4)) == [4, 9, 16]
    assert CALLS == [4]


def test_a_point_that_was_being_written_is_measured_again(study: Study) -> None:
    study.measure(square, asked(2))
    (point,) = study.points.folder.glob("*.json")
    point.rename(point.with_suffix(".123"))  # what a killed worker leaves
    assert study.measure(square, asked(2)) == [4]
    assert CALLS == [2, 2]


def test_points_of_another_build_are_not_taken(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.measure(square, asked(2))
    monkeypatch.setattr(module, "digest_build", lambda: "another")
    assert study.measure(square, asked(2)) == [4]
    assert CALLS == [2, 2]


@pytest.mark.parametrize(
    "change",
    [
        lambda package: (package / "ground/version.py").write_bytes(b"# changed"),
        lambda package: (package / "reproduction/data/ML.json").write_bytes(b"{}"),
        lambda package: (package / "engines/kaca/engine.py").unlink(),
        lambda package: (package / "judge/walk.py").rename(package / "judge/other.py"),
        lambda package: (package / "new.py").write_bytes(b""),
    ],
)
def test_any_change_of_the_package_is_another_build(tmp_path: Path, change: Callable[[Path], Any]) -> None:
    package = tmp_path / "hierdata"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(module.__file__).parents[1], package, ignore=left_out)
    assert digest_folder(package) == digest_build()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "version.pyc").write_bytes(b"compiled")
    assert digest_folder(package) == digest_build()
    change(package)
    assert digest_folder(package) != digest_build()


def test_points_on_another_table_are_not_taken(study: Study) -> None:
    assert study.measure_on_adult(count_rows, [{"factor": 2}]) == [4000]
    other = Study(study.effort, synthesize_adult(1000), study.points)
    assert other.measure_on_adult(count_rows, [{"factor": 2}]) == [2000]
    assert study.measure_on_adult(count_rows, [{"factor": 2}]) == [4000]
    assert CALLS == [2, 2]


def test_progress_names_the_paper_and_what_is_measured(study: Study, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    watched = Study(
        study.effort, study.adult, replace(study.points, progress=lambda *each: told.append(each))
    )
    watched.measure(square, asked(2))
    assert told[-1][1:] == (1, 1)
    assert "square" in told[-1][0]


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"scale": 0}, {"scale": 1.5}, {"slow_scale": 0}])
def test_an_effort_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least one repeat"):
        Effort(**{"name": "x", "repeats": 1, **wrong})  # type: ignore[arg-type]


def test_an_effort_scales_records_but_not_below_the_least() -> None:
    effort = Effort("x", 1, scale=0.1)
    assert [effort.scale_records(each, 20) for each in (1000, 100, 10)] == [100, 20, 10]
