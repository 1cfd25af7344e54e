"""The tables of the steward's report, section by section: plain texts, escaped by the template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hierdata.ground.escaping import quote
from hierdata.privacy.base import number, round_value
from hierdata.release.report.models import ReleaseFile, StewardReport
from hierdata.release.report.names import Cell, name_figure
from hierdata.release.report.parts import (
    BANDS,
    LEFT_OUT,
    MISSING,
    GateVerdict,
    LevelTable,
    Measure,
    Pictures,
    Tally,
)
from hierdata.release.report.wording import (
    attacker_rows,
    count,
    describe_achieved,
    describe_judgement,
    describe_standing,
    kept_share,
    limit,
    of,
    parameters,
    percent,
    place,
    risk_headings,
    share,
    sizes,
)

Row = Sequence[str | Cell]


@dataclass(frozen=True)
class ReportTable:
    """A table: the first column heads the rows, the last ``numbers`` columns are right-aligned."""

    caption: str
    heads: Sequence[str]
    rows: tuple[Row, ...]
    numbers: int = 0


@dataclass(frozen=True)
class Section:
    """A part of the report: its anchor and title, with tables, sentences as a list, and lines below them."""

    anchor: str
    title: str
    tables: tuple[ReportTable, ...] = ()
    items: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def list_sections(report: StewardReport) -> list[Section]:
    """Return the sections of tables that have something to say."""
    sections = (
        Section("promised", "Promised and achieved", _promises(report)),
        Section("fields", "How each field is treated", _fields(report)),
        Section("safe-harbor", "The 18 identifiers of HIPAA's Safe Harbor", *_safe_harbor(report)),
        Section("counts", "What is published", _counts(report)),
        Section("loss", "What was lost and kept", _metrics(report)),
        Section("gates", "Limits that had to be kept", _gates(report)),
        Section(
            "costs",
            "What was done and given up, and why",
            _costs(report),
            tuple(f"{place(path)}: {reason}" for path, reason in report.reasons.items()),
        ),
        Section("levels", "Sensitivity levels", *_levels(report)),
    )
    return [section for section in sections if section.tables or section.items]


def tabulate_fineness(release: ReleaseFile) -> ReportTable | None:
    """Return a table of the published quasi-identifiers by how fine their values are; None without any."""
    rows = (
        (path, count(sum(numbers)), *map(count, numbers))
        for path, values in release.fineness.items()
        for numbers in [(values.exact, values.coarser, values.any)]
    )
    heads = ("field", "published values", "as they were", "made coarser", "* (any value)")
    return next(iter(_table("How fine the values of each field are", heads, rows, numbers=4)), None)


def _table(
    caption: str, heads: Sequence[str], rows: Iterable[Row], *, numbers: int = 0
) -> tuple[ReportTable, ...]:
    """Return a table, or none without rows."""
    listed = tuple(rows)
    return (ReportTable(caption, heads, listed, numbers),) if listed else ()


_AS_STATED = (
    "The policy says where each identifier is, and its rules were checked against that; no value was. Who "
    "signs says that nothing else in the records is one of them, also in codes and texts."
)
_NOT_CHECKED = (
    "45 CFR 164.514(b)(2)(ii) asks more: who gives the release out must not know that a person could be "
    "identified by what remains, alone or with other information. No program can say that."
)


def _safe_harbor(report: StewardReport) -> tuple[tuple[ReportTable, ...], tuple[str, ...]]:
    rows: list[Row] = [
        (identifier.letter, identifier.what, path or "-", shown)
        for identifier in report.safe_harbor
        for path, shown in (identifier.fields or {"": "none in the records, the policy says"}).items()
    ]
    table = _table(
        "45 CFR 164.514(b)(2)(i), one by one", ("", "identifier", "field", "what is published"), rows
    )
    return table, (_AS_STATED, _NOT_CHECKED) if table else ()


def _promises(report: StewardReport) -> tuple[ReportTable, ...]:
    models = _table(
        "The privacy models of the policy",
        ("model", "promised", "found", "achieved"),
        (
            (
                promise.kind,
                parameters(promise),
                describe_standing(promise.held, promise.failing_classes),
                describe_judgement(promise),
            )
            for promise in report.promises
        ),
    )
    attributes = _table(
        "Achieved at each sensitive attribute, at its worst vertex",
        ("sensitive attribute", "model", "found", "achieved"),
        (
            (
                path,
                promise.kind,
                describe_standing(reached.held, reached.failing_classes),
                describe_achieved(reached.achieved),
            )
            for promise in report.promises
            for path, reached in promise.by_path.items()
        ),
    )
    guesses = _table(
        "The worst guess: the largest share of the records of a class that show one value anywhere",
        ("sensitive attribute", "worst guess"),
        ((path, number(guess.fraction)) for path, guess in report.worst_guess.items()),
        numbers=1,
    )
    if report.group_ids is not None:
        guesses += _table(
            f"What group ids tell: {count(report.group_ids.k)} records at least agree in all their ids too",
            ("sensitive attribute", "worst guess of who knows one other sensitive value"),
            ((path, number(guess.fraction)) for path, guess in report.group_ids.worst_guess.items()),
            numbers=1,
        )
    return models + attributes + guesses


def _counts(report: StewardReport) -> tuple[ReportTable, ...]:
    counts = report.counts
    facts = [
        ("records published", of(counts.records)),
        *([("of these, show nothing but *", count(counts.empty_records))] if counts.empty_records else []),
        ("groups" if report.groups_persons else "classes", sizes(report)),
    ]
    if counts.k_raw is not None:
        facts.append(("k over the records as written, spelling and order included", count(counts.k_raw)))
    if counts.k_exempt is not None:
        facts.append(("k if the exempt fields are compared too", count(counts.k_exempt)))
    facts.append(("recoding", report.recoding))
    facts += [("file", f"public/{file.name} ({report.format})") for file in report.files]
    facts += [(f"values in {part}", ", ".join(paths)) for part, paths in report.tables.items()]
    return (
        _table("The release", ("what", "found"), facts)
        + _table(
            "Suppression by vertex type",
            ("vertex type", "input", "published", "suppressed", "suppressed, share", "kept"),
            (
                (place(path), *_tally(tally), kept_share(report.kept.vertices.get(path)))
                for path, tally in counts.vertices.items()
            ),
            numbers=5,
        )
        + _table(
            "Counts before and after",
            ("field", "values in the input", "published", "counts are too low by"),
            _marginals(report.pictures),
            numbers=3,
        )
        + _table(
            "Lists shaped before anything else",
            ("step", "list", "lists", "items", "items used"),
            (
                (figure.step, figure.path, count(figure.lists), count(figure.items), count(figure.used))
                for figure in report.shape
            ),
            numbers=3,
        )
    )


def _marginals(pictures: Pictures | None) -> Iterator[Row]:
    """Yield by field how many values there were and are: what is left out makes every count too low.

    A value of a quasi-identifier counts as published unless it is * or was left out.
    """
    if pictures is None:
        return
    for path, bands in pictures.depths.items():
        gone = sum(bands.get(band, 0) for band in (BANDS[-1], LEFT_OUT))
        yield _marginal(path, sum(bands.values()) - bands.get(MISSING, 0), gone)
    for path, changes in pictures.distributions.items():
        there = sum(change.input for change in changes)
        yield _marginal(path, there, there - sum(change.published for change in changes))


def _marginal(path: str, there: int, gone: int) -> Row:
    return path, count(there), count(there - gone), percent(gone, there)


def _tally(tally: Tally) -> Row:
    shown = (count(tally.input), count(tally.published), count(tally.suppressed))
    return (*shown, percent(tally.suppressed, tally.input))


def _metrics(report: StewardReport) -> tuple[ReportTable, ...]:
    return _table(
        "Figures",
        ("figure", "value", "unit", "range", "better"),
        (
            (
                name_figure(name, figure, report.fields),
                round_value(value),
                measure.unit[figure],
                _range(measure, figure),
                measure.better,
            )
            for name, measure in report.metrics.items()
            for figure, value in measure.figures.items()
        ),
    ) + _table(
        "What the attackers of the policy learn",
        ("attacker", "sensitive values", *risk_headings().values()),
        attacker_rows(report.attackers),
    )


def _gates(report: StewardReport) -> tuple[ReportTable, ...]:
    return _table(
        "The gates of the policy",
        ("gate", "figure", "value", "limit", "found", "who is meant", "reason"),
        (
            (
                gate.name or gate.metric,
                name_figure(gate.metric, gate.figure or "no figure", report.fields),
                "" if gate.value is None else round_value(gate.value),
                limit(gate),
                "passed" if gate.passed else "FAILED",
                _attacker(gate),
                gate.reason or "",
            )
            for gate in report.gates
        ),
    )


def _attacker(gate: GateVerdict) -> str:
    """Describe the attacker of a gate: name, known keys, whether values count by blocks, and the weight."""
    known = f"keys: {gate.keys}" if isinstance(gate.keys, str) else ", ".join(gate.keys or ())
    parts = (
        gate.attacker and quote(gate.attacker),
        known,
        "semantic partition" if gate.semantic else None,
        "each person counts the same" if gate.weight == "person" else None,
    )
    return "; ".join(part for part in parts if part)


def _range(measure: Measure, figure: str) -> str:
    high = measure.high[figure]
    return f"{measure.low[figure]} to {count(high)}" if high is not None else f"{measure.low[figure]} or more"


def _costs(report: StewardReport) -> tuple[ReportTable, ...]:
    return _table(
        "What the engine had to do and to give up",
        ("what", "count"),
        ((cost.meaning, count(cost.count)) for cost in report.costs.values() if cost.count),
        numbers=1,
    )


def _levels(report: StewardReport) -> tuple[tuple[ReportTable, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the tables of levels, no items, and lines on where levels meet."""
    tables = tuple(shown for path, table in report.levels.items() for shown in _level_table(path, table))
    lines = []
    for path, table in report.levels.items():
        meeting = ", ".join(number(Fraction(point)) for point in table.breakpoints)
        lines += [f"{path}: neighbouring levels meet at {meeting}."] if meeting else []
    return tables, (), tuple(lines)


def _level_table(path: str, table: LevelTable) -> tuple[ReportTable, ...]:
    levels = _table(
        f"{path}: sensitivity levels, 1 the least sensitive",
        ("level", "values in the input", "share", "most values at a vertex of the smallest class"),
        (
            (
                str(row.level),
                count(row.count),
                share(row.share.value),
                "no limit" if row.capacity is None else count(row.capacity),
            )
            for row in table.levels
        ),
        numbers=3,
    )
    return levels + _memberships(path, table)


def _memberships(path: str, table: LevelTable) -> tuple[ReportTable, ...]:
    sets = max((len(row.degrees) for row in table.memberships), default=0)
    return _table(
        f"{path}: degrees of membership in the fuzzy sets",
        ("at", "level", *(f"A{number}" for number in range(1, sets + 1))),
        (
            (row.at, count(row.level), *(round_value(degree) for degree in row.degrees))
            for row in table.memberships
        ),
        numbers=sets + 1,
    )


def _fields(report: StewardReport) -> tuple[ReportTable, ...]:
    kept = report.kept.fields
    rows = ((path, treatment, kept_share(kept.get(path))) for path, treatment in report.fields.items())
    return _table("Fields of the input", ("field", "treatment", "kept"), rows, numbers=1)
