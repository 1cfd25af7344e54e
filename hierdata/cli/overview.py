"""What ``hierdata anonymize`` prints: at most 15 lines of 100 characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.cli.terminal import draw_bar, fold, shorten
from hierdata.ground.escaping import quote
from hierdata.release.report.wording import (
    describe_outcome,
    kept_share,
    of,
    place,
    plural,
    publishes_nothing,
    share,
    verdict,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from hierdata.release.report.models import Promise, StewardReport

MOST_LINES = 15
"""Lines of an overview."""
_TYPES = 4
"""Vertex types with a line of their own."""
_LONGEST_NAME, _LONGEST_PATH = 55, 30
"""Characters of the name of the dataset, and of a path, in a line with other things."""


def overview(report: StewardReport, out: Path) -> list[str]:
    """Return the lines on a release in the folder ``out``: its verdict and promise, and what is kept.

    The promise has as many whole sentences as there is room for, and the number of the others.
    """
    outcome = [
        describe_outcome(report),
        *_list_kept(report),
        *_worst_guesses(report),
        *fold(_warnings(report)),
        *_places(out),
    ]
    name = quote(report.dataset)
    if len(name) > _LONGEST_NAME:
        name = quote(name[:_LONGEST_NAME].strip('"') + " ...")
    title = f"{name}: {verdict(report)}"
    return [title, *_promise(report, MOST_LINES - 1 - len(outcome)), *outcome]


def _promise(report: StewardReport, most: int) -> list[str]:
    """State the promises in words, in a limited number of lines."""
    sentences = [sentence for promise in report.promises for sentence in _sentences(promise)]
    for count in range(len(sentences), 0, -1):
        left = len(sentences) - count
        rest = f" (The promise goes on: {plural(left, 'more sentence')} in the report.)" if left else ""
        lines = fold(" ".join(sentences[:count]) + rest, "  ")
        if len(lines) <= most:
            return lines
    return fold(f"The promise has {plural(len(sentences), 'sentence')}: read them in the report.", "  ")


def _sentences(promise: Promise) -> list[str]:
    statement = promise.statement
    for path in promise.paths:
        statement = statement.replace(path, quote(path))
    return re.split(r"(?<=\.) (?=[A-Z])", statement)


def _list_kept(report: StewardReport) -> Iterator[str]:
    """Yield a bar for the first vertex types: what is kept of the input, and how many are published."""
    if report.kept.total is not None:
        yield f"Kept of the input: {kept_share(report.kept.total)}"
    elif publishes_nothing(report):
        yield "Kept of the input: 0 %"
    tallies = report.counts.vertices
    names = {path: shorten(place(path), _LONGEST_PATH) for path in islice(tallies, _TYPES)}
    width = max(map(len, names.values()), default=0)
    if more := len(tallies) - len(names):
        names = dict(islice(names.items(), _TYPES - 1))
        more += 1
    for path, name in names.items():
        own = report.kept.vertices.get(path)
        bar = "" if own is None else f"  {draw_bar(own.kept.value)}  {share(own.kept.value).rjust(6)}"
        yield f"  {name.ljust(width)}{bar}  {of(tallies[path])} published"
    if more:
        yield f"  and {plural(more, 'more vertex type')}: --metrics, or the report"


def _worst_guesses(report: StewardReport) -> Iterator[str]:
    """Yield what can be guessed at most, and who else may guess better.

    Where everybody in a class may have one value, no model promises otherwise, and the line says so.
    """
    guesses = {path: guess.fraction for path, guess in report.worst_guess.items()}
    if guesses:
        most = max(guesses.values())
        if most == 1:
            certain = [path for path, guess in guesses.items() if guess == 1]
            yield f"Not promised: in some class all may have one value {_at(certain)}."
        else:
            yield f"In no class do more than {share(float(most))} have the same sensitive value."
    known = report.group_ids and {
        path: guess.fraction for path, guess in report.group_ids.worst_guess.items()
    }
    if known:
        yield f"Worst guess of who knows another one: {_largest(known)}"


def _largest(guesses: dict[str, Fraction]) -> str:
    most = max(guesses.values())
    return f"{share(float(most))} {_at([path for path, guess in guesses.items() if guess == most])}"


def _at(paths: list[str]) -> str:
    also = f" and {plural(len(paths) - 1, 'other')}" if len(paths) > 1 else ""
    return f"at {shorten(quote(paths[0]), _LONGEST_PATH)}{also}"


def _warnings(report: StewardReport) -> str:
    found = plural(len(report.warnings), "warning") if report.warnings else "No warnings"
    limits = plural(len(report.limitations), "thing")
    verb = "is" if len(report.limitations) == 1 else "are"
    return f"{found}; {limits} {verb} not promised. Read the report before you give anything out."


def _places(out: Path) -> Iterator[str]:
    """Yield where the report lies, and what can be given out; a long path is not broken."""
    yield f"Report: {out / 'steward' / 'report.html'}"
    yield f"To give out: {out / 'public'}"
