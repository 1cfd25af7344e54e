"""What ``hierdata anonymize`` prints: at most 18 lines of 100 characters, more where a terminal is narrower.

In this order: what is given out, who could find a person, what could be learned of a person, what is kept,
what is not promised, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.cli.terminal import WIDTH, draw_bar, fold, line_width
from hierdata.ground.escaping import quote
from hierdata.release.report import wording
from hierdata.release.report.knowledge import MORE_MAY_FIND
from hierdata.release.report.names import Names
from hierdata.release.report.plain import split_sentences

if TYPE_CHECKING:
    from hierdata.release.report.models import StewardReport

MOST_LINES = 18
"""Lines of an overview at the full width."""
_TYPES, _FIELDS = 4, 2
"""Vertex types with a line of their own; fields that are named because they lost most."""
_LONGEST_NAME, _LONGEST_PATH = 55, 34
"""Characters of the name of the dataset, and of a path, in a line with other things."""


def overview(report: StewardReport, out: Path) -> list[str]:
    """Return the lines on a release in the folder ``out``.

    The promise has as many whole sentences as there is room for, and the number of the others.
    """
    name = quote(report.dataset)
    if len(name) > _LONGEST_NAME:
        name = quote(name[:_LONGEST_NAME].strip('"') + " ...")
    head = [
        f"{name}: {wording.verdict(report)}",
        *fold(f"Given out: {wording.describe_outcome(report)}", "", "  "),
    ]
    head += _why_so_few(report)
    rest = [*_list_kept(report), *_not_promised(report), *_next_steps(report, out)]
    most = MOST_LINES * WIDTH // line_width()
    return [*head, *_promise(report, most - len(head) - len(rest)), *rest]


def _why_so_few(report: StewardReport) -> Iterator[str]:
    """Say why fewer than half of the records are published, where an engine knows."""
    records = report.counts.records
    if 2 * records.published < records.input:
        for reason in report.reasons.values():
            yield from fold(f"Why so few: {reason}.", "", "  ")


def _promise(report: StewardReport, most: int) -> list[str]:
    """State in a limited number of lines who could find a person, and what could be learned.

    What each says first comes first, then chances, then the exact sentences, as far as there is room.
    """
    finding = [_sentences(report, text) for text in wording.list_findings(report)] or [
        ["No promise limits it."]
    ]
    learning = [_sentences(report, text) for text in wording.list_learnings(report)]
    if unlimited := wording.list_unlimited(report):
        learning.append([wording.state_unlimited(report, _name_paths(unlimited, report))])
    risk = wording.describe_worst_risk(report)
    chances = [(0, risk)] if risk and wording.list_findings(report) else []
    chances += [(1, said) for said in _measured_guess(report)]
    sentences = [(part, text[0]) for part, texts in enumerate((finding, learning)) for text in texts]
    sentences += [*chances, *((0, said) for text in finding for said in text[1:])]
    sentences += [(1, said) for text in learning for said in text[1:]]
    for count in range(len(sentences), 0, -1):
        more = wording.plural(len(sentences) - count, "more sentence")
        rest = [f"(The promise goes on: {more} in the report.)"] if count < len(sentences) else []
        first = [said for part, said in sentences[:count] if part == 0]
        second = [said for part, said in sentences[:count] if part == 1]
        lines = _paragraph("Finding a person", first + ([] if second else rest))
        lines += _paragraph("Learning about a person", second + rest) if second else []
        if len(lines) <= most:
            return lines
    return fold(f"The promise has {wording.plural(len(sentences), 'sentence')}: read them in the report.")


def _paragraph(name: str, sentences: Sequence[str]) -> list[str]:
    return fold(f"{name}: {' '.join(sentences)}", "", "  ") if sentences else []


def _sentences(report: StewardReport, text: str) -> list[str]:
    text = Names.of(report).text(text)
    for path in dict.fromkeys(path for promise in report.promises for path in promise.paths):
        if path not in report.labels:
            text = text.replace(path, quote(path))
    return split_sentences(text)


def _measured_guess(report: StewardReport) -> Iterator[str]:
    """Yield what was measured of guesses where none is certain, and who guesses better."""
    if not wording.certain_guesses(report):
        for text in wording.list_guesses(report)[:1]:
            yield from _sentences(report, text)
    known = report.group_ids and {
        path: guess.fraction for path, guess in report.group_ids.worst_guess.items()
    }
    if known:
        most = max(known.values())
        worst = [path for path, guess in known.items() if guess == most]
        chance = f"a chance of at most {wording.share(float(most))} {_at(worst, report)}"
        yield f"Someone who knows another sensitive value of the person guesses right with {chance}."


def _list_kept(report: StewardReport) -> Iterator[str]:
    """Yield what is kept: in all, of the fields that lost most, and a bar for each of a few vertex types."""
    named_by, lost = Names.of(report), wording.least_kept(report)
    nothing = [path for path, kept in lost if not kept]
    named = f"; nothing of {_name_paths(nothing, report)}" if nothing else ""
    least = [f"{named_by.name(path, _LONGEST_PATH)} ({wording.share(kept)})" for path, kept in lost if kept]
    named += f"; least of {' and '.join(least[:_FIELDS])}" if least else ""
    if report.kept.total is not None:
        yield from fold(f"Kept of the input: {wording.kept_share(report.kept.total)}{named}.", "", "  ")
    elif wording.publishes_nothing(report):
        yield "Kept of the input: 0 %."
    tallies = report.counts.vertices
    shown = wording.list_worst_types(report, _TYPES if len(tallies) <= _TYPES else _TYPES - 1)
    names = {path: named_by.name(path, _LONGEST_PATH) for path in shown}
    width = max(map(len, names.values()), default=0)
    for path, name in names.items():
        kept = report.kept.vertices.get(path)
        bar = (
            ""
            if kept is None
            else f"  {draw_bar(kept.kept.value)}  {wording.share(kept.kept.value).rjust(6)}"
        )
        yield f"  {name.ljust(width)}{bar}  {wording.of(tallies[path])} published"
    if more := len(tallies) - len(names):
        yield f"  and {wording.plural(more, 'more vertex type')} that lost no more: --metrics, or the report"


def _not_promised(report: StewardReport) -> list[str]:
    """Say how much is not promised, and first of all what groups give away, or who is not covered.

    Fields that no promise limits stand with what could be learned.
    """
    unlimited = wording.list_unlimited(report)
    certain = [path for path in wording.certain_guesses(report) if path not in unlimited]
    first = [MORE_MAY_FIND] if wording.least_that_fit(report) is not None else []
    first += [f"In some group all may have one value {_at(certain, report)}."] if certain else []
    count = wording.plural(len(report.limitations), "thing")
    return fold(" ".join([f"Not promised: {count}, listed in the report.", *first]), "", "  ")


def _next_steps(report: StewardReport, out: Path) -> Iterator[str]:
    """Yield what to do next, where the report lies, and what can be given out; a long path is not broken."""
    warnings = wording.plural(len(report.warnings), "warning") if report.warnings else "no warnings"
    yield f"Next: read the report ({warnings}) before you give anything out."
    yield f"Report: {out / 'steward' / 'report.html'}"
    yield f"To give out: {out / 'public'}"


def _at(paths: Sequence[str], report: StewardReport) -> str:
    return f"at {_name_paths(paths, report)}"


def _name_paths(paths: Sequence[str], report: StewardReport) -> str:
    also = f" and {wording.plural(len(paths) - 1, 'other')}" if len(paths) > 1 else ""
    return f"{Names.of(report).name(paths[0], _LONGEST_PATH)}{also}"
