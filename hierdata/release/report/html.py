"""The steward's report as one self-contained page: no scripts, no external resources, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape as escape_html
from string import Template

from hierdata.escaping import escape, quote
from hierdata.privacy.wording import number, round_value
from hierdata.release.report.glossary import glossary
from hierdata.release.report.models import GateVerdict, LevelTable, Measure, StewardReport, Tally
from hierdata.release.report.style import PAGE
from hierdata.release.report.wording import (
    attacker_rows,
    count,
    describe_achieved,
    describe_judgement,
    describe_outcome,
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
    verdict,
)

Row = Sequence[str]


def render(report: StewardReport) -> str:
    """Render the page for the person who signs the release: the verdict first, then the details."""
    sections = (
        _section("promised", "Promised and achieved", _promises(report)),
        _section("fields", "How each field is treated", _fields(report)),
        _section("counts", "What is published", _counts(report)),
        _section("loss", "What was lost and kept", _metrics(report)),
        _section("gates", "Limits that had to be kept", _gates(report)),
        _section("costs", "What was done and given up, and why", _costs(report)),
        _section("levels", "Sensitivity levels", _levels(report)),
        _section("warnings", "Warnings", _items(report.warnings)),
        _section("limitations", "What is not promised", _items(report.limitations)),
        _section("glossary", "What the words mean", _glossary(report)),
    )
    return Template(PAGE).substitute(
        title=_safe(f"{quote(report.dataset)}: release report"),
        dataset=_safe(quote(report.dataset)),
        state="kept" if report.passed else "broken",
        verdict=_safe(verdict(report)),
        lead="".join(f"<p>{_safe(sentence)}</p>" for sentence in _lead(report)),
        sections="".join(sections),
        version=_safe(report.version),
    )


def _safe(text: str) -> str:
    """Return a text for the page, where it is neither markup nor anything that is not seen."""
    return escape_html(escape(text))


def _lead(report: StewardReport) -> Iterable[str]:
    """Summarize the findings in plain sentences, for readers who read nothing else."""
    yield describe_outcome(report)
    yield from (promise.statement for promise in report.promises if promise.held)
    for promise in report.promises:
        if not promise.held:
            standing = describe_standing(promise.held, promise.failing_classes)
            yield f"{promise.kind}: {standing}. {promise.reason}"
            yield f"The policy asked for this: {promise.statement}"
    cost = report.metrics.get("lm_cost")
    if cost is not None and "per_value" in cost.figures:
        lost = share(cost.figures["per_value"])
        yield f"{lost} of the detail of the quasi-identifiers is lost, what is suppressed included."
    if report.warnings:
        noun = "warning" if len(report.warnings) == 1 else "warnings"
        yield f"Read the {noun} below before you sign."


def _section(name: str, title: str, body: str) -> str:
    """Render a section under its heading; empty without content."""
    if not body:
        return ""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{_safe(title)}</h2>{body}</section>'


def _table(caption: str, heads: Row, rows: Iterable[Row], *, numbers: int = 0) -> str:
    """Render a table: the first column heads the rows, the last ``numbers`` columns are right-aligned."""
    first_number = len(heads) - numbers
    body = "".join(f"<tr>{_cells(row, first_number)}</tr>" for row in rows)
    if not body:
        return ""
    top = "".join(
        f'<th scope="col"{_number(at, first_number)}>{_safe(head)}</th>' for at, head in enumerate(heads)
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{_safe(caption)}"><table>'
        f"<caption>{_safe(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: Row, first_number: int) -> str:
    head, *rest = row
    cells = (f"<td{_number(at, first_number)}>{_safe(cell)}</td>" for at, cell in enumerate(rest, start=1))
    return f'<th scope="row">{_safe(head)}</th>{"".join(cells)}'


def _number(at: int, first_number: int) -> str:
    return ' class="number"' if at >= first_number else ""


def _items(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{_safe(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def _promises(report: StewardReport) -> str:
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


def _counts(report: StewardReport) -> str:
    counts = report.counts
    facts = [
        ("records published", of(counts.records)),
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
            "Lists shaped before anything else",
            ("step", "list", "lists", "items", "items used"),
            (
                (own.step, own.path, count(own.lists), count(own.items), count(own.used))
                for own in report.shape
            ),
            numbers=3,
        )
    )


def _tally(tally: Tally) -> Row:
    shown = (count(tally.input), count(tally.published), count(tally.suppressed))
    return (*shown, percent(tally.suppressed, tally.input))


def _metrics(report: StewardReport) -> str:
    return _table(
        "Figures",
        ("metric", "figure", "value", "unit", "range", "better"),
        (
            (
                name,
                figure,
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


def _gates(report: StewardReport) -> str:
    return _table(
        "The gates of the policy",
        ("gate", "figure", "value", "limit", "found", "who is meant", "reason"),
        (
            (
                gate.name or gate.metric,
                f"{gate.metric}, {gate.figure or 'no figure'}",
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


def _costs(report: StewardReport) -> str:
    return _table(
        "What the engine had to do and to give up",
        ("what", "count"),
        ((cost.meaning, count(cost.count)) for cost in report.costs.values() if cost.count),
        numbers=1,
    ) + _items(f"{place(path)}: {reason}" for path, reason in report.reasons.items())


def _levels(report: StewardReport) -> str:
    return "".join(_level_table(path, table) for path, table in report.levels.items())


def _level_table(path: str, table: LevelTable) -> str:
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
    meeting = ", ".join(number(Fraction(point)) for point in table.breakpoints)
    breakpoints = f"<p>{_safe(f'Neighbouring levels meet at {meeting}.')}</p>" if meeting else ""
    return levels + breakpoints + _memberships(path, table)


def _memberships(path: str, table: LevelTable) -> str:
    sets = max((len(row.degrees) for row in table.memberships), default=0)
    return _table(
        f"{path}: degrees of membership in the fuzzy sets",
        ("at", "level", *(f"A{at}" for at in range(1, sets + 1))),
        (
            (row.at, count(row.level), *(round_value(degree) for degree in row.degrees))
            for row in table.memberships
        ),
        numbers=sets + 1,
    )


def _fields(report: StewardReport) -> str:
    kept = report.kept.fields
    rows = ((path, told, kept_share(kept.get(path))) for path, told in report.fields.items())
    return _table("Fields of the input", ("field", "treatment", "kept"), rows, numbers=1)


def _glossary(report: StewardReport) -> str:
    lines = (f"<dt>{_safe(word)}</dt><dd>{_safe(line)}</dd>" for word, line in glossary(report))
    return f"<dl>{''.join(lines)}</dl>"
