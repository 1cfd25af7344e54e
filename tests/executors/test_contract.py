"""What holds for every executor: order, exchange, exceptions, and that nothing stays behind."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierdata.executors import EXECUTORS, Executor, open_executor
from hierdata.ground.errors import InputError, PolicyError

MIB = 1 << 20


def files(folder: Path) -> list[Path]:
    """What the executor keeps on disk; Spark's own folders are its own business until it is closed."""
    return [path for path in folder.glob("hierdata-*/*") if path.is_file()]


class MangledError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, code: int, *, limit: int) -> None:
        super().__init__(f"code {code} above {limit}")
        self.code = code


def by_remainder(bins: int) -> Callable[[int], Iterator[tuple[int, tuple[int, int]]]]:
    def scatter(value: int) -> Iterator[tuple[int, tuple[int, int]]]:
        for piece in range(value):
            yield (value + piece) % bins, (value, piece)

    return scatter


def expected(values: list[int], bins: int) -> list[list[tuple[int, int]]]:
    made: list[list[tuple[int, int]]] = [[] for _ in range(bins)]
    for value in values:
        for piece in range(value):
            made[(value + piece) % bins].append((value, piece))
    return made


def test_results_come_in_the_order_of_the_values(executor: Executor) -> None:
    def slow(value: int) -> int:
        time.sleep(0.02 * (value % 3 == 0))
        return value * value

    held = executor.hold(range(20)).map(slow)
    assert held.count == 20
    assert list(held.collect()) == [value * value for value in range(20)]
    assert list(held.collect()) == list(held.map(lambda value: value).collect())


def test_no_values_at_all(executor: Executor) -> None:
    nothing: list[int] = []
    held = executor.hold(nothing)
    assert list(held.map(str).collect()) == []
    assert list(held.exchange(by_remainder(3), 3).collect()) == [[], [], []]


@pytest.mark.parametrize("bins", [1, 7, 40])
@pytest.mark.parametrize("values", [[5], [4, 0, 9, 1, 30, 2]], ids=["one", "many"])
def test_pieces_come_in_the_order_of_values_then_of_making(
    executor: Executor, values: list[int], bins: int
) -> None:
    held = executor.hold(values).map(lambda value: value).exchange(by_remainder(bins), bins)
    assert held.count == bins
    assert list(held.collect()) == expected(values, bins)
    assert list(held.map(len).collect()) == [len(those) for those in expected(values, bins)]


def test_many_pieces_and_bins(executor: Executor) -> None:
    bins = 300
    values = [500] * 4
    lengths = executor.hold(values).exchange(by_remainder(bins), bins).map(len)
    assert list(lengths.collect()) == [len(those) for those in expected(values, bins)]


def test_big_values_and_pieces_keep_type_bytes_and_place(executor: Executor) -> None:
    def make(seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        fixed = rng.random(1000)
        fixed.flags.writeable = False
        return {
            "wide": rng.integers(0, 9, (700, 1000)),
            "fixed": fixed,
            "words": ["x" * seed] * 5,
            "none": None,
        }

    def scatter(value: dict[str, Any]) -> Iterator[tuple[int, Any]]:
        for row, part in enumerate(np.array_split(value["wide"], 7)):
            yield row % 2, part
        yield 1, value["words"]

    def prints(pieces: list[Any]) -> list[str]:
        return [hashlib.sha256(pickle.dumps(piece)).hexdigest() for piece in pieces]

    held = executor.hold([1, 2, 3]).map(make)
    for seed, value in enumerate(held.collect(), 1):
        wanted = make(seed)
        assert value.keys() == wanted.keys()
        assert np.array_equal(value["wide"], wanted["wide"])
        assert value["wide"].flags.writeable
        assert not value["fixed"].flags.writeable
        assert value["words"] == wanted["words"]
    bins: list[list[Any]] = [[], []]
    for seed in (1, 2, 3):
        for number, piece in scatter(make(seed)):
            bins[number].append(piece)
    exchanged = held.exchange(scatter, 2)
    for got, want in zip(exchanged.collect(), bins, strict=True):
        assert len(got) == len(want)
        assert all(np.array_equal(one, other) for one, other in zip(got, want, strict=True))
    assert list(exchanged.map(prints).collect()) == [prints(pieces) for pieces in bins]


def test_closures_and_local_classes_travel(executor: Executor) -> None:
    class Pair:
        def __init__(self, left: int, right: int) -> None:
            self.left, self.right = left, right

    constants = np.arange(200_000)

    def outer(factor: int) -> Callable[[Pair], Pair]:
        return lambda pair: Pair(pair.left * factor, int(constants[pair.right]))

    made = list(executor.hold([Pair(1, 2), Pair(3, 4)]).map(outer(10)).collect())
    assert [(pair.left, pair.right) for pair in made] == [(10, 2), (30, 4)]
    assert all(isinstance(pair, Pair) for pair in made)


def test_progress_is_told_up_to_the_end(executor: Executor) -> None:
    told: list[tuple[int, int]] = []
    held = executor.hold([1, 2, 3]).map(str, lambda done, tasks: told.append((done, tasks)))
    assert list(held.collect()) == ["1", "2", "3"]
    assert told == sorted(told)
    assert told[-1] == (3, 3)
    told.clear()
    list(
        held.exchange(lambda value: [(0, value)], 1, lambda done, tasks: told.append((done, tasks))).collect()
    )
    assert told[-1] == (3, 3)


def test_exceptions_arrive_as_they_were_raised(executor: Executor) -> None:
    def broken(value: int) -> int:
        try:
            raise ValueError("a raw value")
        except ValueError:
            raise InputError("not a number", record=17, path="$.major", revealed=["raw"]) from ValueError(
                "raw"
            )

    with pytest.raises(InputError) as caught:
        list(executor.hold([1, 2]).map(broken).collect())
    error = caught.value
    assert str(error) == "record 17, $.major: not a number"
    assert (error.message, error.record, error.path, error.revealed) == (
        "not a number",
        17,
        "$.major",
        ("raw",),
    )
    if executor.kind != "serial":
        assert (error.__cause__, error.__context__) == (None, None)


def test_exceptions_of_any_making_arrive(executor: Executor) -> None:
    def mangled(value: int) -> int:
        raise MangledError(value, limit=3)

    with pytest.raises(MangledError, match=r"^code 5 above 3$") as caught:
        list(executor.hold([5]).map(mangled).collect())
    assert caught.value.code == 5

    def missing(value: int) -> int:
        raise FileNotFoundError(2, "No such file", "name")

    with pytest.raises(FileNotFoundError) as absent:
        list(executor.hold([5]).map(missing).collect())
    assert absent.value.filename == "name"


@pytest.mark.parametrize("stage", ["map", "exchange"])
def test_the_first_failing_task_counts_and_the_executor_goes_on(executor: Executor, stage: str) -> None:
    def fails(value: int) -> Iterator[tuple[int, bytes]]:
        yield 0, bytes(MIB)
        if value == 3:
            time.sleep(0.3)  # later than the others, but earlier in order
        if value >= 3:
            raise KeyError(value)

    held = executor.hold(range(8))
    made = {
        "map": lambda: held.map(lambda value: list(fails(value))),
        "exchange": lambda: held.exchange(fails, 1),
    }
    with pytest.raises(KeyError) as caught:
        made[stage]()
    assert caught.value.args == (3,)
    assert list(held.map(lambda value: value + 1).collect()) == list(range(1, 9))


def test_a_piece_for_a_bin_that_there_is_not(executor: Executor) -> None:
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match="there are 3 bins"):
            list(executor.hold([1]).exchange(lambda value, bad=wrong: [(bad, value)], 3).collect())


def test_values_are_held_until_they_are_released(executor: Executor, tmp_path: Path) -> None:
    held = executor.hold(range(40)).map(lambda value: bytes(2 * MIB) + bytes([value]))
    exchanged = held.exchange(lambda value: [(0, value), (1, value[-1:])], 2)
    held.release()
    assert list(exchanged.map(len).collect()) == [40, 40]
    exchanged.release()
    held.release()
    assert files(tmp_path) == []
    with pytest.raises(RuntimeError, match="released"):
        list(held.collect())
    executor.close()
    executor.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", EXECUTORS)
def test_an_executor_is_opened_by_name(kind: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="at least one worker"):
        open_executor(kind, workers=0, folder=tmp_path)
    if kind != "spark":
        with pytest.raises(PolicyError, match="a master is only for Spark"):
            open_executor(kind, master="local[2]", folder=tmp_path)
    with pytest.raises(PolicyError, match="there is no executor"):
        open_executor("threads", folder=tmp_path)


def test_the_family_is_cheap_to_name() -> None:
    code = (
        "import sys, hierdata.executors as e;"
        "print([m for m in ('numpy', 'cloudpickle', 'pyspark', 'multiprocessing', 'subprocess') "
        "if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
