"""The number of cases of a test by tier; many small ones in one test, as pytest costs more than most."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from hypothesis import settings

Test = Callable[..., None]
TIMES = "HIERDATA_TEST_TIMES"
"""The variable by which ``tests.benchmarks.worlds`` asks for all worlds that tests state, or more."""
FAST = "not full and not long"
"""The marks of the fast tier, as in pyproject.toml."""
SHARE = 5
"""The full tier has one of so many of the random worlds that tests state."""


@contextmanager
def naming(**case: object) -> Iterator[None]:
    """Let a failure inside say which case it is."""
    try:
        yield
    except Exception as failure:
        failure.add_note("case: " + ", ".join(f"{name}={value}" for name, value in case.items()))
        raise


def for_each(
    names: str, cases: Iterable[Any], *, member: Callable[..., str] | None = None, few: int | None = None
) -> Callable[[Test], Test]:
    """Run a test with every case in turn, as one test; a failure names its case.

    Names and cases are those of ``pytest.mark.parametrize``. Fixtures are set up once, for all cases. With
    ``member``, which says what a case belongs to, there is one test for each member of a family. With ``few``
    the fast tier runs only so many of each member, evenly spread and others for each, and the full tier all;
    of a range, which are seeds, it runs a share.
    """
    keys = [name.strip() for name in names.split(",")]
    cases_are_seeds = isinstance(cases, range)
    rows = [tuple(case) if len(keys) > 1 else (case,) for case in cases]
    assert rows, "no cases"
    assert all(len(row) == len(keys) for row in rows)

    by_member: dict[str | None, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_member.setdefault(None if member is None else member(*row), []).append(row)

    def decorate(test: Test) -> Test:
        given = inspect.signature(test)
        assert given.parameters.keys() >= set(keys)
        others = [one for name, one in given.parameters.items() if name not in keys]

        @wraps(test)
        def run_all(**fixtures: Any) -> None:
            name = fixtures.pop("member", None)
            most = None if few is None else fixtures.pop("few")
            for row in _spread(by_member[name], most, [*by_member].index(name)):
                case = dict(zip(keys, row, strict=True))
                with naming(**case):
                    test(**fixtures, **case)

        if member is not None:
            others.append(inspect.Parameter("member", inspect.Parameter.KEYWORD_ONLY))
        if few is not None:
            others.append(inspect.Parameter("few", inspect.Parameter.KEYWORD_ONLY))
        # What pytest looks at to find fixtures.
        run_all.__signature__ = given.replace(parameters=others)  # type: ignore[attr-defined]
        if few is not None:
            most = max(few, in_full(len(rows))) if cases_are_seeds else len(rows)
            sizes = [few, pytest.param(most, marks=pytest.mark.full)]
            pytest.mark.parametrize("few", sizes)(run_all)
        if member is None:
            return run_all
        return pytest.mark.parametrize("member", list(by_member))(run_all)

    return decorate


def _spread(rows: list[tuple[Any, ...]], most: int | None, turn: int) -> list[tuple[Any, ...]]:
    """Return about so many of the rows, evenly spread; which ones depends on the turn."""
    step = 1 if most is None else -(-len(rows) // most)
    return rows[turn % step :: step]


def each_once(members: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return all pairs as parameters; in the fast tier each member has one of the others, in turn."""
    return [
        pytest.param(member, other, marks=[] if number % len(others) == place else pytest.mark.full)
        for number, member in enumerate(members)
        for place, other in enumerate(others)
    ]


def first_few(few: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases of one parameter; after the first few they belong to the full tier."""
    return [
        pytest.param(case, marks=[] if number < few else pytest.mark.full)
        for number, case in enumerate(cases)
    ]


def with_worlds(fast: int, worlds: int) -> pytest.MarkDecorator:
    """Give a test its number of ``worlds``: few in the fast tier, a share of all in the full tier."""
    many = max(fast, in_full(worlds))
    return pytest.mark.parametrize("worlds", [fast, pytest.param(many, marks=pytest.mark.full)])


def examples(most: int, **others: Any) -> settings:
    """Give a property test so many examples where all are asked for, a share of them in each tier."""
    return settings(max_examples=max(3, most * settings().max_examples // 100), **others)


def in_turns(cases: Iterable[Any], turn: int, turns: int) -> list[Any]:
    """Return every so many-th case from ``turn`` on; all of them where all worlds are asked for."""
    return list(cases) if TIMES in os.environ else list(cases)[turn % turns :: turns]


def some_of(cases: Iterable[Any], few: int) -> list[Any]:
    """Return about so many cases, evenly spread; all of them where all worlds are asked for."""
    rows = [(case,) for case in cases]
    return [case for (case,) in _spread(rows, None if TIMES in os.environ else few, 0)]


def in_full(worlds: int) -> int:
    """Return how many of the worlds that a test states run outside the fast tier: a share, all, or more."""
    asked = os.environ.get(TIMES)
    return -(-worlds // SHARE) if asked is None else worlds * int(asked)
