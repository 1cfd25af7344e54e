"""A loop over cases runs them all, and its failures name theirs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import TIMES, for_each, in_full, in_turns, some_of, with_worlds


def test_all_cases_run_in_every_combination() -> None:
    seen: list[tuple[int, str, str]] = []

    @for_each("number", [1, 2])
    @for_each("letter, word", [("a", "one"), ("b", "two")])
    def note(number: int, letter: str, word: str) -> None:
        seen.append((number, letter, word))

    note()
    assert seen == [(1, "a", "one"), (1, "b", "two"), (2, "a", "one"), (2, "b", "two")]


def test_a_failure_names_its_case() -> None:
    @for_each("number", range(5))
    def refuse_three(number: int) -> None:
        assert number != 3

    with pytest.raises(AssertionError) as failed:
        refuse_three()
    assert failed.value.__notes__ == ["case: number=3"]


def test_a_member_runs_its_own_cases() -> None:
    seen: list[tuple[str, int]] = []

    @for_each("word, number", [("one", 1), ("two", 2), ("one", 11)], member=lambda word, _: str(word))
    def note(word: str, number: int) -> None:
        seen.append((word, number))

    (mark,) = note.pytestmark  # type: ignore[attr-defined]
    assert mark.args == ("member", ["one", "two"])
    note(member="one")
    assert seen == [("one", 1), ("one", 11)]


def test_few_cases_are_spread_over_those_of_each_member() -> None:
    seen: list[int] = []

    @for_each("number", [*range(6)], member=lambda number: str(number % 2), few=2)
    def note(number: int) -> None:
        seen.append(number)

    (sizes,) = (mark.args[1] for mark in note.pytestmark if mark.args[0] == "few")  # type: ignore[attr-defined]
    few, many = sizes
    note(member="0", few=few)
    assert seen == [0, 4]
    note(member="1", few=few)
    assert seen == [0, 4, 3]
    note(member="0", few=many.values[0])
    assert seen == [0, 4, 3, 0, 2, 4]


@with_worlds(3, 12)
def test_numbers_of_worlds(worlds: int) -> None:
    assert worlds in (3, in_full(12))


def test_a_share_of_the_worlds_runs_unless_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TIMES, raising=False)
    assert [in_full(worlds) for worlds in (1, 10, 11)] == [1, 2, 3]
    monkeypatch.setenv(TIMES, "1")
    assert in_full(12) == 12
    monkeypatch.setenv(TIMES, "5")
    assert in_full(12) == 60


def test_a_share_of_seeds_runs_and_all_cases_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TIMES, raising=False)

    def note(case: int) -> None:
        assert case >= 0

    sizes = []
    for cases in (range(12), [*range(12)], range(4)):
        run: Any = for_each("case", cases, few=2)(note)
        (marked,) = (mark.args[1] for mark in run.pytestmark)
        sizes.append([getattr(size, "values", (size,))[0] for size in marked])
    assert sizes == [[2, 3], [2, 12], [2, 2]]


def test_cases_in_turns_are_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TIMES, raising=False)
    found = [in_turns("abcde", turn, 3) for turn in range(3)]
    assert found == [["a", "d"], ["b", "e"], ["c"]]
    monkeypatch.setenv(TIMES, "2")
    assert in_turns("abcde", 1, 3) == [*"abcde"]


def test_some_cases_are_all_of_them_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TIMES, raising=False)
    assert some_of("abcdefg", 3) == ["a", "d", "g"]
    assert some_of("ab", 3) == ["a", "b"]
    monkeypatch.setenv(TIMES, "1")
    assert some_of("abcdefg", 3) == [*"abcdefg"]
