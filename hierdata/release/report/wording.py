"""Wording of numbers, parameters and verdicts, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hierdata.ground.escaping import quote
from hierdata.privacy.base import describe_achieved as describe_parameters
from hierdata.privacy.base import number, round_value
from hierdata.release.report.models import Outcome, ReleaseFile, StewardReport
from hierdata.release.report.parts import Exact, GateVerdict, Held, KeptShare, Measure, Promise, Tally


def risk_headings() -> dict[str, str]:
    """Return the metrics of an attacker, each with its column heading."""
    from hierdata.metrics import RISKS

    return {name: risk.heading for name, risk in RISKS.items()}


def attacker_rows(attackers: Mapping[str, Mapping[str, Measure]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each attacker and sensitive attribute: name, path, risks; '' for a missing risk."""
    if not attackers:
        return
    risks = risk_headings()
    for name, measures in attackers.items():
        for path in dict.fromkeys(path for measure in measures.values() for path in measure.figures):
            values = (measures[risk].figures.get(path) if risk in measures else None for risk in risks)
            yield quote(name), quote(path), *("" if value is None else round_value(value) for value in values)


def count(value: int) -> str:
    """Format a count.

    >>> count(12345)
    '12,345'
    """
    return f"{value:,}"


def percent(part: int, whole: int) -> str:
    """Format a share in percent, empty for a share of nothing; 0 % and 100 % only where exact.

    >>> percent(1, 3), percent(1, 100_000), percent(99_999, 100_000), percent(0, 0)
    ('33.3 %', '0.1 %', '99.9 %', '')
    """
    return share(part / whole) if whole else ""


def share(part: float) -> str:
    """Format a share of 1 in percent; 0 % and 100 % only where exact.

    >>> share(0.0), share(0.00001), share(0.5), share(1.0)
    ('0 %', '0.1 %', '50.0 %', '100 %')
    """
    if part in (0, 1):
        return "100 %" if part else "0 %"
    return f"{min(max(100 * part, 0.1), 99.9):.1f} %"


def kept_share(kept: KeptShare | None) -> str:
    """Format what is kept, with the most that could be where that is less than all; empty for nothing.

    >>> half, whole = Exact.of(Fraction(1, 2)), Exact.of(Fraction(1))
    >>> kept_share(KeptShare(kept=half, attainable=whole)), kept_share(KeptShare(kept=half, attainable=half))
    ('50.0 %', '50.0 % of at most 50.0 %')
    """
    if kept is None:
        return ""
    shown = share(kept.kept.value)
    most = kept.attainable
    return shown if most.exact == "1" else f"{shown} of at most {share(most.value)}"


def place(path: str) -> str:
    """Name a vertex type by its path; that of the records is empty if the policy names plain columns.

    >>> place(""), place("$"), place("$.courses[*]")
    ('records', 'records', '$.courses[*]')
    """
    return "records" if path in ("", "$") else quote(path)


def plural(amount: int, noun: str, many: str = "") -> str:
    """Format a count with its noun.

    >>> plural(1, "class", "classes"), plural(2, "record")
    ('1 class', '2 records')
    """
    return f"{count(amount)} {noun if amount == 1 else many or noun + 's'}"


def parameters(promise: Promise) -> str:
    """Format the policy's letters in one line, ``k = 5, alpha = 0.8 0.6``, without unset ones."""
    return ", ".join(
        f"{letter} = {_spell_setting(value)}"
        for letter, value in promise.parameters.items()
        if value is not None
    )


def _spell_setting(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_spell_setting(item) for item in value)
    if isinstance(value, dict):  # of a partition its depth, or the names of its blocks
        return " ".join(
            key if isinstance(setting, list) else f"{key} {_spell_setting(setting)}"
            for key, setting in value.items()
            if setting is not None
        )
    try:
        return number(Fraction(str(value)))
    except (ValueError, ZeroDivisionError):
        return str(value)


def describe_achieved(reached: Mapping[str, Exact]) -> str:
    """Describe in one line what a promise achieved."""
    return describe_parameters({letter: value.fraction for letter, value in reached.items()})


def describe_judgement(promise: Promise) -> str:
    """Describe what a promise achieved, why it was not judged, or that there was nothing to judge."""
    if promise.held and not promise.achieved:
        return "no value is published that it could judge"
    return promise.reason or describe_achieved(promise.achieved)


def limit(gate: GateVerdict) -> str:
    """Format the limit of a gate, ``<= 0.3``."""
    return f"{gate.operator} {number(Fraction(gate.limit.exact))}"


def describe_standing(held: Held, failing_classes: int) -> str:
    """Describe in a few words whether a promise held.

    >>> describe_standing(True, 0), describe_standing(False, 2), describe_standing(None, 0)
    ('held', 'FAILED in 2 classes', 'not judged')
    """
    if held is None:
        return "not judged"
    return "held" if held else f"FAILED in {plural(failing_classes, 'class', 'classes')}"


DROPPED = "dropped"
"""What happens to a field that is not published."""


def verdict(outcome: StewardReport) -> str:
    """Return the verdict in one sentence."""
    if not outcome.passed:
        return "This release does NOT keep its promise."
    if publishes_nothing(outcome):
        return "Warning: this release publishes nothing, no record shows a value. So it keeps its promise."
    return "This release keeps its promise."


def certain_guesses(outcome: Outcome) -> list[str]:
    """Return the sensitive paths at which in some group all persons may have one value."""
    return [path for path, guess in outcome.worst_guess.items() if guess.fraction == 1]


def warn_of_certainty(path: str) -> str:
    """Return the warning on a path of ``certain_guesses``, with what limits such guesses."""
    return (
        f"{path}: in some group all persons may have one value, and no promise limits that. A model that "
        "limits the share of a value, such as frequency-l or alpha-k, does so for a field with "
        "`asks: presence`; it costs more of the other fields. Or leave the field out."
    )


def least_that_fit(outcome: Outcome) -> float | None:
    """Return the fewest records that fit what bounded knowledge allows; None if nothing of it is promised."""
    fewest = (
        reached.value
        for promise in outcome.promises
        if promise.held
        for letter, reached in promise.achieved.items()
        if letter.startswith("k_")  # by the number of facts; other models have one k
    )
    return min(fewest, default=None)


def describe_worst_risk(report: StewardReport) -> str:
    """Say the chance that was measured of picking the right record; '' where classes do not bound it."""
    sizes = report.pictures.class_sizes if report.pictures else {}
    fewest = least_that_fit(report)
    if fewest is None and not sizes:
        return ""
    chance = share(1 / (fewest or min(map(int, sizes))))
    return f"Measured here: a chance of at most {chance} to pick the right record."


def list_findings(outcome: Outcome) -> list[str]:
    """Return what is promised of who could find a person; what several models promise alike, once."""
    findings = (promise.finding for promise in outcome.promises if promise.held)
    return list(dict.fromkeys(filter(None, findings)))


def list_learnings(outcome: Outcome) -> list[str]:
    """Return what is promised of what could be learned about a person; what several promise alike, once."""
    learnings = (promise.learning for promise in outcome.promises if promise.held)
    return list(dict.fromkeys(filter(None, learnings)))


def list_unlimited(outcome: Outcome) -> list[str]:
    """Return the sensitive paths of which no promise that held says what could be learned."""
    promised = [promise for promise in outcome.promises if promise.held and promise.learning]
    if any(not promise.paths for promise in promised):
        return []
    limited = {path for promise in promised for path in promise.paths}
    return [path for path in outcome.worst_guess if path not in limited]


def state_unlimited(outcome: Outcome, where: str) -> str:
    """Say that no promise limits what could be learned of the fields that ``where`` names."""
    # Where sensitive values lie in tables, the records themselves may be told apart.
    who = "people of one group" if outcome.tables else "persons whose records fit"
    return f"No promise limits it at {where}: all {who} may have one value there."


def list_guesses(outcome: Outcome) -> list[str]:
    """Say of each sensitive path how many of a group have the same value at most, where it is not all."""
    uncertain = [(path, guess) for path, guess in outcome.worst_guess.items() if guess.fraction < 1]
    return [
        f"In no group do more than {share(guess.value)} have the same value at {path}."
        for path, guess in sorted(uncertain, key=lambda pair: -pair[1].fraction)
    ]


def list_worst_types(report: StewardReport, most: int) -> list[str]:
    """Return the vertex types in their order; if there are more than ``most``, those that lost most."""
    types = [*report.counts.vertices]
    shares = {path: kept.kept.value for path, kept in report.kept.vertices.items()}
    worst = sorted(types, key=lambda path: shares.get(path, 1.0))[:most]
    return [path for path in types if path in worst]


def least_kept(report: StewardReport) -> list[tuple[str, float]]:
    """Return the fields of which something is lost, with the share that is kept, the least first."""
    kept = {path: field.kept.value for path, field in report.kept.fields.items()}
    lost = [(path, part) for path, part in kept.items() if part < 1]
    return sorted(lost, key=lambda pair: pair[1])


def publishes_nothing(outcome: StewardReport) -> bool:
    """Return whether no published record shows a value: every field was dropped, or all are ``*``."""
    dropped = all(treatment == DROPPED for treatment in outcome.fields.values())
    # Sensitive values may be in a table of their own, beside records that are empty.
    shown = outcome.kept.total is None or outcome.kept.total.kept.value > 0
    return dropped or (not shown and outcome.counts.empty_records == outcome.counts.records.published)


def describe_outcome(outcome: StewardReport) -> str:
    """Describe in one sentence what was published."""
    published = of(outcome.counts.records)
    empty = outcome.counts.empty_records
    nothing = f"; {count(empty)} of them {'shows' if empty == 1 else 'show'} nothing but *" if empty else ""
    return f"{published[0].upper()}{published[1:]} records are published, in {sizes(outcome)}{nothing}."


def of(tally: Tally) -> str:
    """Format a tally as ``600 of 603`` or ``all 600``."""
    if tally.suppressed == 0:
        return f"all {count(tally.input)}"
    return f"{count(tally.published)} of {count(tally.input)}"


def sizes(outcome: StewardReport | ReleaseFile) -> str:
    """Describe the number and sizes of the classes, or of the groups of persons."""
    counts = outcome.counts
    least, most = counts.smallest_class, counts.largest_class
    size = count(most) if least == most else f"{count(least)} to {count(most)}"
    if outcome.groups_persons:
        return f"{plural(counts.classes, 'group')} of {size} persons"
    if least_that_fit(outcome) is not None:
        return f"{plural(counts.classes, 'group')} of {size} with the same basic data"
    return f"{plural(counts.classes, 'class', 'classes')} of {size}"
