"""Lines for people: the figures of a release, and a verdict. Who shows them escapes what others wrote."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from hierdata.ground.escaping import quote
from hierdata.privacy.base import describe_achieved, round_value
from hierdata.release.report import wording
from hierdata.release.report.models import StewardReport
from hierdata.release.report.names import Names

if TYPE_CHECKING:
    from hierdata.judge.rules import Judgement, Verdict

WORST_GUESS = "Worst guess: the largest share of a group that shows, or could show, one value"

KNOWN_GUESS = "Worst guess of who knows one other sensitive value of the person, or that it is missing"


_MOST_ROWS = 5
"""Judgements that hold, and worst guesses, that are shown of a verdict."""


def list_figures(report: StewardReport) -> list[str]:
    """List for the steward every figure on what was promised, achieved and lost, in lines."""
    names = Names.of(report)
    lines = _section("Promised and achieved", _promises(report))
    guesses = {path: guess.fraction for path, guess in report.worst_guess.items()}
    lines += _section(WORST_GUESS, _guesses(guesses, names))
    if report.group_ids is not None:
        known = {path: guess.fraction for path, guess in report.group_ids.worst_guess.items()}
        lines += _section(KNOWN_GUESS, _guesses(known, names))
        lines.append(f"k with group ids compared too: {wording.count(report.group_ids.k)}")
    lines += _section("Lists shaped before anything else", _shape(report, names))
    lines += _section("Published vertices", _vertices(report, names))
    lines += _section("Lost and kept", _metrics(report))
    lines += _section("What attackers learn", _attackers(report))
    lines += _section("Gates", _gates(report))
    lines += _section("Done and given up", _costs(report))
    lines += [f"{names.name(path)}: {names.text(reason)}" for path, reason in report.reasons.items()]
    lines += [f"warning: {names.text(warning)}" for warning in report.warnings]
    lines.append("What is not promised: see the limitations in release.json.")
    return lines


def _shape(report: StewardReport, names: Names) -> Iterable[tuple[str, ...]]:
    for step in report.shape:
        yield (
            step.step,
            names.name(step.path),
            f"{wording.count(step.used)} of {wording.plural(step.items, 'item')} used",
        )


def describe_verdict(verdict: Verdict, exempt: Collection[str], labels: Mapping[str, str]) -> list[str]:
    """Describe what the judge found, in lines, for ``hierdata verify``.

    ``exempt`` are the paths of the exempt fields; ``labels`` are what people call fields, by path.
    """
    judged_paths = (judgement.path for judgement in verdict.judgements if judgement.path)
    names = Names(labels, sorted({*verdict.worst_guess, *verdict.forbidden, *exempt, *judged_paths} - {""}))
    opening = "The promise holds" if verdict.passed else "The promise does NOT hold"
    groups_persons = verdict.tables and verdict.k_raw is None  # then no records are compared
    kind = ("group of persons", "groups of persons") if groups_persons else ("class", "classes")
    records, classes = wording.plural(verdict.records, "record"), wording.plural(verdict.classes, *kind)
    lines = [f"{opening}: {records} in {classes}, the smallest of {wording.count(verdict.k)}."]
    # What failed comes first, and all of it is shown.
    judged = sorted(verdict.judgements, key=lambda judgement: judgement.held is True)
    held = sum(judgement.held is True for judgement in judged)
    shown = judged[: max(_MOST_ROWS, len(judged) - held)]
    lines += _columns(_judgement_row(judgement, names) for judgement in shown)
    lines += _count_rest(len(judged) - len(shown), "that hold")
    guesses = sorted(verdict.worst_guess.items(), key=lambda guess: -guess[1])[:_MOST_ROWS]
    said = [_say_limit(verdict, path) for path, _ in guesses]
    rows = zip(_guesses(dict(guesses), names), said, strict=True)
    lines += _section(WORST_GUESS, [(*row, limited) for row, limited in rows])
    lines += _count_rest(len(verdict.worst_guess) - len(guesses), "that are not larger")
    if verdict.k_raw is not None:
        lines.append(
            f"k over the records as written, without sensitive values: {wording.count(verdict.k_raw)}"
        )
    if verdict.k_exempt is not None:
        compared = " and ".join(map(names.name, exempt))
        lines.append(f"k with the exempt fields compared too ({compared}): {wording.count(verdict.k_exempt)}")
    if verdict.group_ids is not None:
        lines.append(f"k with group ids compared too: {wording.count(verdict.group_ids.k)}")
        lines += _section(KNOWN_GUESS, _guesses(verdict.group_ids.worst_guess, names))
    lines += [
        f"{names.name(path)}: must not be published and occurs {wording.plural(times, 'time')}"
        for path, times in verdict.forbidden.items()
    ]
    if verdict.malformed:
        lines.append(f"{wording.plural(verdict.malformed, 'document')} are not as the recoding writes them.")
    lines += [f"not judged, its facts are missing: {names.text(name)}" for name in verdict.not_judged]
    return lines


def _say_limit(verdict: Verdict, path: str) -> str:
    """Say of a field that nothing was promised of its guesses, empty where something was or may have been."""
    limited = any(judgement.path == path or "alpha" in judgement.achieved for judgement in verdict.judgements)
    return "" if limited else "no model limits it"


def _count_rest(number: int, which: str) -> list[str]:
    return [f"  and {wording.count(number)} more {which}: --json has them all"] if number > 0 else []


def _judgement_row(judgement: Judgement, names: Names) -> tuple[str, str, str]:
    held = wording.describe_standing(judgement.held, judgement.failing_classes)
    if judgement.reason:
        held = f"{held}: {names.text(judgement.reason)}"
    elif judgement.achieved:
        held = f"{held} ({describe_achieved(judgement.achieved)})"
    return judgement.model, names.name(judgement.path) if judgement.path else "whole records", held


def _section(title: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = _columns(rows)
    return [title, *lines] if lines else []


def _columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Format rows of cells as aligned, indented lines."""
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]


def _promises(report: StewardReport) -> Iterable[tuple[str, ...]]:
    for promise in report.promises:
        held = wording.describe_standing(promise.held, promise.failing_classes)
        reached = wording.describe_judgement(promise)
        yield promise.kind, wording.parameters(promise), f"{held} ({reached})" if reached else held


def _guesses(guesses: Mapping[str, Fraction], names: Names) -> Iterable[tuple[str, ...]]:
    for path, guess in guesses.items():
        yield wording.share(float(guess)), f"({guess})", names.name(path)


def _vertices(report: StewardReport, names: Names) -> Iterable[tuple[str, ...]]:
    for path, tally in report.counts.vertices.items():
        kept = report.kept.vertices.get(path)
        worth = f"kept {wording.kept_share(kept)}" if kept else ""
        yield names.name(path), wording.of(tally), wording.percent(tally.published, tally.input), worth


def _metrics(report: StewardReport) -> Iterable[tuple[str, ...]]:
    for name, measure in report.metrics.items():
        shown = ", ".join(f"{figure} {round_value(value)}" for figure, value in measure.figures.items())
        yield name, f"{shown} ({measure.better} is better)"


def _attackers(report: StewardReport) -> Iterable[tuple[str, ...]]:
    if report.attackers:
        yield "", "", *wording.risk_headings().values()
    yield from wording.attacker_rows(report.attackers)


def _gates(report: StewardReport) -> Iterable[tuple[str, ...]]:
    for gate in report.gates:
        figure = "no figure" if gate.value is None else f"{gate.figure} {round_value(gate.value)}"
        verdict = f"{'passed' if gate.passed else 'FAILED'} ({wording.limit(gate)})"
        yield quote(gate.name or gate.metric), figure, verdict


def _costs(report: StewardReport) -> Iterable[tuple[str, ...]]:
    for cost in report.costs.values():
        if cost.count:
            yield wording.count(cost.count), cost.meaning
