"""Proposals for a draft: a role for each field, with the reason, to be confirmed or changed by the user.

Domains for quasi-identifiers need no file and contain no value of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from math import floor, log10
from typing import Any

from hierdata.drafting.dates import DateReading
from hierdata.drafting.fields import ABSENT, Field
from hierdata.drafting.identifiers import describe_thing, propose_identifier
from hierdata.drafting.seen import ENOUGH, FEW, FieldFacts, Proposal
from hierdata.drafting.values import Looks
from hierdata.records.recognition.field_names import is_clinical_code, tells_birth

_FEWEST = 5
_RARE = "hardly any record has it: its presence may identify the record, and its name may be data"
_LONG_TEXT = 80
_LONG_DIGITS = 9
_GRADES = ("note", "notes")
"""Words for remarks that are grades, in French and German, where the values are numbers."""
_WORDS = 5


def propose(field: Field, records: int, textual: bool) -> Proposal:
    """Return the proposal for a field, from the first judgement that has an answer.

    A field is never proposed as harmless: it is dropped, or generalized until several records share its
    value. Only sensitive values, under a model, are proposed to be published unchanged.
    """
    if field.is_map:
        return Proposal({"map": True}, "its keys look like data, such as ids or dates", _MAP)
    if field.obstacle == ABSENT:
        return Proposal({"action": "drop", "optional": True}, field.obstacle)
    if field.attribute is None:
        return Proposal({"action": "drop"}, field.obstacle)
    attribute = field.attribute
    values = attribute.values
    facts = FieldFacts(
        field,
        records,
        textual,
        attribute.looks,
        values.distinct,
        values.below(2) / attribute.present,
        attribute.owners.below(2) / max(1, attribute.owners.total),
    )
    answer = next(answer for judge in _JUDGEMENTS if (answer := judge(facts)) is not None)
    if field.inside and facts.belongs_to_one and _publishes_texts(answer, facts):
        return Proposal(
            {"role": "identifier"},
            "nearly every value belongs to one record alone",
            "use another role if its values are no traces of a person, with a domain whose steps group them",
        )
    if not answer.is_published:
        return answer
    if facts.looks.missing:
        answer = replace(answer, rule={**answer.rule, "missing": sorted(facts.looks.missing)})
    if attribute.holders < _FEWEST and records >= ENOUGH:
        return replace(answer, confirm=f"{answer.confirm}. {_RARE}" if answer.confirm else _RARE)
    return answer


def _publishes_texts(answer: Proposal, facts: FieldFacts) -> bool:
    """Return whether texts would be published that are kept or shortened, and not grouped."""
    grouped = {"interval", "date", "taxonomy"} & answer.rule.keys()
    return answer.is_published and not grouped and not answer.rule.get("number") and facts.looks.texts > 0


def _propose_marked(facts: FieldFacts) -> Proposal | None:
    if facts.looks.root:
        return Proposal(
            {"action": "drop"},
            "a value is `*`, which means any value in a release",
            "rename that value in the data if the field is to be published",
        )
    return None


def _constant(facts: FieldFacts) -> Proposal | None:
    if facts.distinct > 1 or (facts.looks.mostly("text") and facts.looks.longest > _LONG_TEXT):
        return None
    return Proposal({"role": "quasi", **flat()}, "all its values are equal")


def _structure(facts: FieldFacts) -> Proposal | None:
    """Keep what says how an object is to be read: terminologies, profiles, kinds of use."""
    repeats = facts.distinct <= FEW // 2 and 2 * facts.distinct <= facts.present
    if facts.hint != "structure" or not repeats or facts.looks.numeric:
        return None
    return Proposal({"role": "quasi", **flat()}, f"structure, {facts.by_name}")


def _free_text(facts: FieldFacts) -> Proposal | None:
    looks = facts.looks
    wordy = looks.formats["text"] > 0 and (looks.words_each >= _WORDS or looks.longest > 2 * _LONG_TEXT)
    named = facts.hint == "free_text" and looks.formats["text"] > 0 and facts.distinct > FEW
    if wordy and facts.distinct > FEW // 5:
        return Proposal({"role": "free_text"}, f"long texts, {looks.words_each:.0f} words on average")
    return Proposal({"role": "free_text"}, facts.by_name) if named else None


def _date(facts: FieldFacts) -> Proposal | None:
    looks = facts.looks
    is_born = bool(facts.field.names) and tells_birth(facts.field.names[0])
    if is_clinical_code(facts.field.names):
        return None
    if looks.only("date", "compact_date"):
        if is_born:
            born = {"date": {"steps": _DATE_STEPS[1:]}}
            return Proposal({"role": "quasi", **born}, "days of birth nearly identify: months at most")
        return Proposal({"role": "quasi", **date_steps()}, "all values are ISO dates")
    reading = looks.dates.reading()
    if reading is not None:
        return _propose_format(reading, is_born=is_born)
    if looks.mostly("date", "other_date", "compact_date"):
        return Proposal(
            {"role": "quasi", **flat()},
            "the values look like dates, but their forms contradict each other or are unknown",
            "use `date` with `format`, such as '%d.%m.%Y': in this form they can only be kept or suppressed",
        )
    return None


def _propose_format(reading: DateReading, *, is_born: bool) -> Proposal:
    """Return the proposal for dates in the formats that were found."""
    reason = f"all values are dates, written {' or '.join(reading.formats)}"
    if reading.impossible:
        counted = "value names" if reading.impossible == 1 else "values name"
        reason += f"; {reading.impossible:,} different {counted} no day of the calendar, and will be missing"
    if reading.undecided:
        choices = " or ".join((*reading.formats, *reading.undecided))
        doubt = f"which one is it? Use `date` with `format`: {choices}; `flat` keeps or suppresses values"
        return Proposal({"role": "quasi", **flat()}, f"{reason}; the values do not decide between two", doubt)
    domain = reading.domain
    if is_born:
        reason += "; days of birth nearly identify: months at most"
        domain |= {"steps": [step for step in reading.steps if step != "day"]}
        if any("%y" in name for name in reading.formats):
            domain |= {"until": date.today().year}
    return Proposal({"role": "quasi", "date": domain}, reason)


def _unique(facts: FieldFacts) -> Proposal | None:
    looks = facts.looks
    if facts.hint == "reference" and facts.unique >= 0.5:
        return Proposal({"role": "identifier"}, f"{facts.by_name}, and its values hardly repeat")
    if facts.hint == "reference" and facts.word.endswith("id") and facts.distinct > FEW:
        return Proposal(
            {"role": "identifier"},
            f"{facts.by_name}, and its values repeat",
            "does a person have several records? A model counts records, not people; use another role if it "
            "does not identify a person",
        )
    named = facts.hint not in (None, "reference")
    if not named and looks.numeric and looks.least_digits() >= _LONG_DIGITS:
        return Proposal(
            {"role": "identifier"},
            f"numbers of {_LONG_DIGITS} digits and more, as those of telephones, cards and meters are",
            "use another role if they count or measure something",
        )
    if named or not facts.nearly_unique or facts.records < ENOUGH or facts.field.inside:
        return None
    if looks.numeric and not (looks.whole or looks.padded):
        return None
    return Proposal(
        {"role": "identifier"},
        "hardly any two records have the same value",
        "use another role if it does not identify a person, with a domain whose steps group values",
    )


def _sensitive(facts: FieldFacts) -> Proposal | None:
    medical = facts.looks.mostly("medical") and facts.hint is None
    clinical = is_clinical_code(facts.field.names)
    graded = facts.hint == "free_text" and facts.word in _GRADES and facts.looks.numeric
    if facts.hint != "sensitive" and facts.outer != "sensitive" and not (medical or clinical or graded):
        return None
    rule: dict[str, Any] = {"role": "sensitive"}
    if facts.textual and facts.looks.numeric:
        rule["number"] = True
    alone = "hardly any two values are equal, and they are published unchanged" if facts.is_telling else ""
    if facts.hint == "sensitive":
        return Proposal(rule, facts.by_name, alone)
    if graded:
        return Proposal(rule, f"numbers, and {facts.by_name}: grades", alone)
    if clinical:
        return Proposal(rule, "a code of what was found or done, by the names around it", alone)
    reason = "the values look like medical codes" if medical else facts.by_outer_name
    doubt = "must it remain unknown?"
    return Proposal(rule, reason, f"{doubt} {alone.capitalize()}" if alone else doubt)


def _number(facts: FieldFacts) -> Proposal | None:
    looks = facts.looks
    named = facts.hint in ("postal", "reference")
    if not looks.numeric or named or _is_code(facts) or facts.is_listed:
        return None
    sure = facts.hint == "quasi"
    reason = facts.by_name if sure else "all values are numbers"
    if facts.distinct <= 4:
        return Proposal({"role": "quasi", **flat()}, f"{reason}, few of them", "" if sure else _DOUBT)
    return Proposal({"role": "quasi", **interval(looks)}, reason, "" if sure else _DOUBT)


def _is_code(facts: FieldFacts) -> bool:
    """Return whether digits are a code: leading zeros, or texts of one length in a format with numbers."""
    looks = facts.looks
    even = looks.shortest == looks.longest and looks.longest > 1
    return looks.padded or (not facts.textual and looks.texts > 0 and even)


def _code(facts: FieldFacts) -> Proposal | None:
    looks = facts.looks
    if looks.starred or (looks.texts == 0 and facts.hint != "postal"):
        return None
    digits = looks.numeric and (facts.hint == "postal" or _is_code(facts))
    letters = (
        looks.only("code", "medical", "number", "compact_date") and not looks.numeric and looks.shortest > 1
    )
    if not (digits or letters) or facts.distinct <= FEW // 5:
        return None
    sure = facts.hint == "postal"
    reason = facts.by_name if sure else "the values look like codes"
    doubt = "are the first characters the most significant? Otherwise write a taxonomy"
    return Proposal({"role": "quasi", **prefix(looks)}, reason, "" if sure else doubt)


def _category(facts: FieldFacts) -> Proposal | None:
    reason = facts.by_name if facts.hint == "quasi" else describe_thing(facts)
    if facts.distinct <= FEW:
        few = "a category of few values"
        doubt = "" if reason else _DOUBT
        if facts.distinct > FEW // 5:
            doubt = "a taxonomy would lose less" if reason else f"{_DOUBT}; a taxonomy would lose less"
        return Proposal({"role": "quasi", **flat()}, reason or few, doubt)
    return Proposal(
        {"role": "quasi", **flat()},
        reason or "many different values",
        "write a taxonomy: without one, most values will be suppressed. Drop it if they are names of people",
    )


_MAP = "or are they names of fields? Then give each field a rule"
_DOUBT = "can an adversary know it (quasi), or must it remain unknown (sensitive)?"

_JUDGEMENTS: tuple[Callable[[FieldFacts], Proposal | None], ...] = (
    _structure,
    propose_identifier,
    _propose_marked,
    _constant,
    _free_text,
    _date,
    _unique,
    _sensitive,
    _number,
    _code,
    _category,
)
_POSTAL_DIGITS = 5
"""Digits of a postal code, in most countries."""
_DATE_STEPS = ["day", "month", "year", "decade"]


def domain_of_looks(looks: Looks) -> dict[str, Any]:
    """Return a domain for a quasi-identifier by what its values look like alone."""
    if looks.only("date", "compact_date"):
        return date_steps()
    reading = looks.dates.reading()
    if reading is not None and not reading.undecided:
        return {"date": reading.domain}
    return interval(looks) if looks.numeric and not looks.padded else flat()


def date_steps() -> dict[str, Any]:
    """Return a domain of calendar periods."""
    return {"date": {"steps": _DATE_STEPS}}


def flat() -> dict[str, Any]:
    """Return a domain without structure: a value is kept or suppressed."""
    return {"flat": True}


def interval(looks: Looks) -> dict[str, Any]:
    """Return a domain of bins. Its steps reveal the order of magnitude of the spread, but no number."""
    widths = steps(looks.spread(), looks.whole)
    decimals = not looks.whole and all(width == int(width) for width in widths)
    return {"interval": {"steps": widths, **({"decimals": True} if decimals else {})}}


def steps(spread: float, whole: bool) -> list[Decimal]:
    """Return nested bin widths, 1 or 5 times powers of ten, from 1/100 to 1/2 of the spread; at least two.

    >>> [str(step) for step in steps(60, True)], [str(step) for step in steps(3.1, False)]
    (['1', '5', '10'], ['0.05', '0.1', '0.5', '1'])
    >>> [str(step) for step in steps(40_000, True)], [str(step) for step in steps(4, True)]
    (['500', '1000', '5000', '10000'], ['1', '2'])
    """
    exponent = floor(log10(spread)) if spread > 0 else 0
    powers = range(exponent - 3, exponent + 2)
    candidates = [Decimal(digit).scaleb(power) for power in powers for digit in (1, 5)]
    least = max(Decimal(spread) / 100, Decimal(1) if whole else Decimal(0))
    widths = [step for step in candidates if least <= step <= Decimal(spread) / 2]
    first = widths[0] if widths else max(Decimal(1), least)
    return [_plain(step) for step in (widths if len(widths) > 1 else [first, 2 * first])]


def prefix(looks: Looks) -> dict[str, Any]:
    """Return a domain of first characters of codes: all but the last, and fewer, by the longest code."""
    length = min(looks.longest, 12) if looks.texts else _POSTAL_DIGITS
    # A long code does not get a step for every length.
    lengths = {length - 1, length - 2, length // 2, length // 4 or 1}
    keep = [kept for kept in range(length - 1, 0, -1) if length <= 6 or kept in lengths]
    return {"prefix": {"keep": keep or [1]}}


def _plain(step: Decimal) -> Decimal:
    return Decimal(int(step)) if step == step.to_integral_value() else step
