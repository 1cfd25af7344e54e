"""How numbers, parameters and verdicts are put into words, on the terminal and on the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hierdata.privacy import wording
from hierdata.privacy.wording import number, rounded
from hierdata.release.report.models import Outcome, Promise, Tally
from hierdata.release.report.parts import Exact, GateVerdict, Held, Measure


def risk_headings() -> dict[str, str]:
    """The metrics of an attacker, and the head of each in a table."""
    from hierdata.metrics import RISKS

    return {name: risk.heading for name, risk in RISKS.items()}


def learned(attackers: Mapping[str, Mapping[str, Measure]]) -> Iterator[tuple[str, ...]]:
    """What attackers learn, each of each sensitive attribute in a row: name, path, risks; a gap for none."""
    if not attackers:
        return
    risks = risk_headings()
    for name, measures in attackers.items():
        for path in dict.fromkeys(path for measure in measures.values() for path in measure.figures):
            own = (measures[risk].figures.get(path) if risk in measures else None for risk in risks)
            yield name, path, *("" if value is None else rounded(value) for value in own)


def count(value: int | str) -> str:
    """A count, or the bound that stands for it.

    >>> count(12345), count("<5")
    ('12,345', '<5')
    """
    return f"{value:,}" if isinstance(value, int) else value


def percent(part: int | str, whole: int | str) -> str:
    """A share in percent, empty where a count is a bound; 0 % and 100 % only where it is all or nothing.

    >>> percent(1, 3), percent(1, 100_000), percent(99_999, 100_000), percent("<5", 9), percent(0, 0)
    ('33.3 %', '0.1 %', '99.9 %', '', '')
    """
    if isinstance(part, str) or isinstance(whole, str) or not whole:
        return ""
    return share(part / whole)


def share(part: float) -> str:
    """A share of 1 in percent; 0 % and 100 % only where it is all or nothing.

    >>> share(0.0), share(0.00001), share(0.5), share(1.0)
    ('0 %', '0.1 %', '50.0 %', '100 %')
    """
    if part in (0, 1):
        return "100 %" if part else "0 %"
    return f"{min(max(100 * part, 0.1), 99.9):.1f} %"


def place(path: str) -> str:
    """Where vertices stand: a policy that names plain columns has no path for the records themselves.

    >>> place(""), place("$.courses[*]")
    ('records', '$.courses[*]')
    """
    return path or "records"


def plural(amount: int | str, noun: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "class", "classes"), plural(2, "record")
    ('1 class', '2 records')
    """
    return f"{count(amount)} {noun if amount == 1 else many or noun + 's'}"


def parameters(promise: Promise) -> str:
    """The policy's letters in one line, ``k = 5, alpha = 0.8 0.6``, but for those it leaves out."""
    return ", ".join(
        f"{letter} = {_setting(value)}" for letter, value in promise.parameters.items() if value is not None
    )


def _setting(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_setting(item) for item in value)
    if isinstance(value, dict):  # of a partition its depth, or the names of its blocks
        stated = ((key, own) for key, own in value.items() if own is not None)
        return " ".join(key if isinstance(own, list) else f"{key} {_setting(own)}" for key, own in stated)
    try:
        return number(Fraction(str(value)))
    except (ValueError, ZeroDivisionError):
        return str(value)


def achieved(reached: Mapping[str, Exact]) -> str:
    """What a promise achieved in one line."""
    return wording.achieved({letter: value.fraction for letter, value in reached.items()})


def found(promise: Promise) -> str:
    """What was achieved of a promise; why it was not judged; that there was nothing to judge."""
    if promise.held and not promise.achieved:
        return "no value is published that it could judge"
    return promise.reason or achieved(promise.achieved)


def limit(gate: GateVerdict) -> str:
    """What a gate asks for, ``<= 0.3``."""
    return f"{gate.operator} {number(Fraction(gate.limit.exact))}"


def standing(held: Held, failing_classes: int) -> str:
    """Whether a promise held, in a few words.

    >>> standing(True, 0), standing(False, 2), standing(None, 0)
    ('held', 'FAILED in 2 classes', 'not judged')
    """
    if held is None:
        return "not judged"
    return "held" if held else f"FAILED in {plural(failing_classes, 'class', 'classes')}"


def verdict(outcome: Outcome) -> str:
    """The verdict in one sentence."""
    return "This release keeps its promise." if outcome.passed else "This release does NOT keep its promise."


def published(outcome: Outcome) -> str:
    """What was published, in one sentence."""
    counts = outcome.counts
    return f"{of(counts.records)} records are published, in {sizes(outcome)}."


def of(tally: Tally) -> str:
    """``600 of 603``, or ``all 600``."""
    if tally.suppressed == 0:
        return f"all {count(tally.input)}"
    return f"{count(tally.published)} of {count(tally.input)}"


def sizes(outcome: Outcome) -> str:
    """How many classes there are, and of what size; they may be groups of persons."""
    counts = outcome.counts
    least, most = counts.smallest_class, counts.largest_class
    size = count(most) if least == most else f"{count(least)} to {count(most)}"
    if outcome.groups_persons:
        return f"{plural(counts.classes, 'group')} of {size} persons"
    return f"{plural(counts.classes, 'class', 'classes')} of {size}"
