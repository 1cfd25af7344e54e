"""A loop over cases runs them all, and its failures name theirs."""

from __future__ import annotations

import pytest

from tests.cases import for_each


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
