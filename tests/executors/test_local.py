"""Spilling: the same bytes for any number of workers, private files, nothing on disk for what is small."""

from __future__ import annotations

import os
import pickle
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.executors.local import LocalExecutor
from hierdata.executors.processes import Processes, Serial
from hierdata.executors.spill import SpillPlace, Spool, put, read, scatter
from hierdata.ground.errors import TargetError
from tests.cases import examples
from tests.executors.chains import chain

MIB = 1 << 20
SMALL = 16 * 64 * 1024  # an allowance of 64 KiB: nearly everything is spilled

Opened = Callable[[Path, int | None], LocalExecutor]
each = pytest.mark.parametrize(
    "opened",
    [
        pytest.param(lambda folder, memory: Serial(folder=folder, memory=memory), id="serial"),
        *(
            pytest.param(
                lambda folder, memory, workers=workers: Processes(
                    workers=workers, folder=folder, memory=memory
                ),
                id=f"{workers} workers",
            )
            for workers in (1, 2, 3)
        ),
    ],
)

values = st.recursive(
    st.integers() | st.text() | st.binary(max_size=9000) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=8,
)


@pytest.mark.parametrize("memory", [None, 0, SMALL])
def test_the_same_bytes_for_any_number_of_workers_and_any_allowance(
    tmp_path: Path, memory: int | None
) -> None:
    made = set()
    for opened in (Serial, *(lambda w=w, **rest: Processes(workers=w, **rest) for w in (1, 2, 3))):
        with opened(folder=tmp_path, memory=memory) as executor:
            made.add(chain(executor))
    with Serial(folder=tmp_path) as executor:
        made.add(chain(executor))
    assert len(made) == 1
    assert list(tmp_path.iterdir()) == []


@each
def test_what_is_small_never_touches_the_disk(tmp_path: Path, opened: Opened) -> None:
    with opened(tmp_path, None) as executor:
        held = executor.hold([b"x" * MIB] * 4).map(len).exchange(lambda value: [(value % 5, value)], 5)
        assert list(held.collect()) == [[], [MIB] * 4, [], [], []]
        assert list(tmp_path.iterdir()) == []


@each
def test_files_are_private_and_end_with_what_they_hold(tmp_path: Path, opened: Opened) -> None:
    with opened(tmp_path, SMALL) as executor:
        first = executor.hold([1, 2, 3]).map(lambda value: bytes(MIB))
        second = first.exchange(lambda value: [(0, value), (1, value)], 2)
        (folder,) = tmp_path.iterdir()
        assert folder.name.startswith("hierdata-")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(list(folder.iterdir())) == 6
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
        first.release()
        assert len(list(folder.iterdir())) == 3
        second.release()
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


@each
def test_a_failed_stage_leaves_no_files(tmp_path: Path, opened: Opened) -> None:
    def fails(value: int) -> Iterator[tuple[int, bytes]]:
        for _ in range(5):
            yield 0, bytes(MIB)
        if value == 2:
            raise KeyError(value)
        yield 1, bytes(MIB)

    with opened(tmp_path, SMALL) as executor:
        with pytest.raises(KeyError):
            executor.hold([0, 1, 2, 3, 4]).exchange(fails, 2)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@each
def test_a_stopped_driver_leaves_nothing(tmp_path: Path, opened: Opened, stop: type[BaseException]) -> None:
    def stopping(done: int, tasks: int) -> None:
        if done >= 2:
            raise stop

    with pytest.raises(stop), opened(tmp_path, SMALL) as executor:
        executor.hold(list(range(6))).map(lambda value: bytes(2 * MIB), stopping)
    assert list(tmp_path.iterdir()) == []


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files end at this size, as a disk does that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("stage", ["map", "exchange"])
@each
def test_a_full_disk_is_one_sentence(tmp_path: Path, opened: Opened, stage: str) -> None:
    limit: AbstractContextManager[None] = largest_file(3 * MIB)
    with limit, opened(tmp_path, SMALL) as executor:  # workers inherit the limit
        held = executor.hold([1, 2, 3])
        made = {
            "map": lambda: held.map(lambda value: [bytes(MIB) for _ in range(8)]),
            "exchange": lambda: held.exchange(lambda value: ((0, np.zeros(MIB)) for _ in range(8)), 2),
        }
        with pytest.raises(TargetError, match="no space is left for intermediate results"):
            made[stage]()
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr("hierdata.executors.spill.Spool._open", lambda spool: os.fdopen(full, "wb"))
    with pytest.raises(TargetError, match="no space is left"):
        put("x" * 10, SpillPlace(tmp_path / "own" / "file", 5, 0))


def test_one_value_is_handed_on_as_it_is_when_serial(tmp_path: Path) -> None:
    value = object.__new__(type("Unpicklable", (), {"__reduce__": lambda self: 1 / 0}))
    with Serial(folder=tmp_path, memory=0) as executor:
        held = executor.hold([value]).map(lambda given: [given])
        assert next(held.collect())[0] is value
        assert next(held.exchange(lambda given: [(0, given[0])], 1).collect())[0] is value


def test_a_generator_of_pieces_is_put_away_as_it_comes(tmp_path: Path) -> None:
    """Never more than the buffer waits in memory."""
    import tracemalloc

    def pieces() -> Iterator[tuple[int, bytes]]:
        for number in range(3000):
            yield number % 100, bytes(20_000)

    tracemalloc.start()
    scattered = scatter(pieces(), 100, SpillPlace(tmp_path / "own" / "file", 0, MIB))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "own" / "file").stat().st_size > 60_000_000
    assert peak < 4 * MIB
    counts = [0] * 100
    for number, extent in scattered.extents():
        counts[number] += sum(1 for _ in read([extent]))
    assert counts == [30] * 100


@examples(60)
@given(
    pieces=st.lists(st.tuples(st.integers(0, 4), values), max_size=30),
    keep=st.integers(0, 20_000),
    buffer=st.integers(0, 20_000),
)
def test_pieces_come_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[int, Any]], keep: int, buffer: int
) -> None:
    path = tmp_path_factory.mktemp("spill") / "file"
    scattered = scatter(iter(pieces), 5, SpillPlace(path, keep, buffer))
    bins: list[list[Any]] = [[] for _ in range(5)]
    for number, extent in scattered.extents():
        bins[number].extend(read([extent]))
    assert bins == [[piece for to, piece in pieces if to == number] for number in range(5)]
    assert path.exists() == (sum(extent.length for _, extent in scattered.extents()) > keep)


@examples(60)
@given(value=values, size=st.integers(0, 3000), keep=st.integers(0, 30_000))
def test_a_value_comes_back(
    tmp_path_factory: pytest.TempPathFactory, value: Any, size: int, keep: int
) -> None:
    path = tmp_path_factory.mktemp("spill") / "file"
    array = np.arange(size)
    ((back, numbers),) = read([put((value, array), SpillPlace(path, keep, 0))])
    assert pickle.dumps(back) == pickle.dumps(value)
    assert np.array_equal(numbers, array)


def test_a_spool_that_is_left_by_an_exception_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def left() -> None:
        with Spool(SpillPlace(path, 2, 0)) as spool:
            spool.write(b"12345")
            assert path.exists()
            raise KeyError

    with pytest.raises(KeyError):
        left()
    assert not path.exists()
