"""Published values that lead to one person: keys and names that are no identifiers in the policy.

Values of a field that belong to one record each are a key of the person, at whatever depth; so are names of
persons, however often they occur, and exact days of birth. A policy that publishes them, or sets of them,
says why under ``accept``. Sensitive values that nobody else has single a record out too, whatever its class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, Literal, TypeAlias

from hierdata.documents.document import Document, Scalar
from hierdata.domains.base import Observed
from hierdata.policy.checks.knowledge import known_values
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.lint.attainable import values_at
from hierdata.policy.policy import Policy
from hierdata.records.recognition.contents import shape_of_name
from hierdata.records.recognition.field_names import hint_of, tells_birth
from hierdata.records.recognition.persons import meaning_of
from hierdata.records.survey import Keys, Survey

Owners: TypeAlias = "dict[Keys, Counter[Scalar]]"
"""For each field in a list, how many records have each of its values."""

_ENOUGH = 20
"""With fewer records, or fewer values, values that belong to one record each may be chance."""
_NEARLY_ALL = 0.9
_ROWS = 4
"""A value with more records than as many classes is more likely a category than a person."""
_NAMED = 0.3
_MOSTLY = 0.8
_REMEDY = (
    "Give it `role: identifier`, or another domain whose steps group its values. Or say under `accept: "
    "{unique: {PATH: REASON}}` why that is no risk"
)


def count_owners(documents: Iterable[Document], policy: Policy, owners: Owners) -> Iterator[Document]:
    """Yield the documents; count in ``owners`` the records that have each value of a field in a list."""
    owners.update(
        (keys, Counter()) for keys in _texts_kept(policy) if len(keys) > 1 or keys in policy.vertices
    )
    for document in documents:
        for keys, counted in owners.items():
            counted.update(set(values_at(document, keys)))
        yield document


def find_traces(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each published field that leads to one person, with what is wrong; none with a reason."""
    accepted = {policy.path(text).keys for text in policy.accept.unique}
    for keys in _texts_kept(policy):
        if keys in accepted:
            continue
        counts: Observed = survey.owners.get(keys) or survey.values.get(keys) or {}
        known: Observed = {value: count for value, count in counts.items() if value is not None}
        if _is_name(keys, known):
            yield keys, f"names of persons, which would be published. {_REMEDY}"
        elif _may_trace(policy, keys) and _belongs_to_one(known, survey.records):
            single = list(known.values()).count(1)
            yield (
                keys,
                f"{single:,} of {len(known):,} values belong to one record each, so that a value leads to "
                f"its person. {_REMEDY}",
            )
    if policy.recoding_traits.shows_members:
        for keys in find_birth_days(policy):
            if keys not in accepted:
                yield (
                    keys,
                    "exact days of birth would be published, alone or in sets: begin its `steps` with month "
                    "or year, or say under `accept: {unique: {PATH: REASON}}` why that is no risk",
                )


def find_filling(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each field of the record whose values fill whole classes, as rows of one person would."""
    size = class_size(policy)
    for keys, domain in policy.quasi.items():
        inside = policy.is_inside(keys)
        hint = hint_of(keys[-1])
        if inside or not domain.keeps_texts or size < 2 or (hint is not None and hint[0] != "reference"):
            continue
        observed: Observed = survey.values.get(keys) or {}
        filling = [
            count for value, count in observed.items() if value is not None and size <= count <= _ROWS * size
        ]
        if len(filling) >= _ENOUGH // 2 and 2 * sum(filling) > survey.records:
            yield (
                keys,
                f"{len(filling):,} values have {size} to {_ROWS * size} records each, so that all of a class "
                "may have one. If the field says whose a record is, k counts records, not persons: "
                "`individual` unites the records of each",
            )


def find_birth_days(policy: Policy) -> Iterator[Keys]:
    """Yield the fields with days of birth whose finest form is the day."""
    for keys, domain in policy.quasi.items():
        steps = getattr(domain, "steps", ())
        if steps[:1] == ("day",) and any(map(tells_birth, keys[-2:])):
            yield keys


def leads_to_persons(policy: Policy, survey: Survey) -> bool:
    """Return whether sets of the values of a class would show what leads to single persons."""
    return (
        any(find_birth_days(policy))
        or any(True for _ in find_traces(policy, survey))
        or bool(policy.accept.unique)
    )


def _texts_kept(policy: Policy) -> Iterator[Keys]:
    """Yield the fields whose values are published one by one, not grouped by periods, bins or a taxonomy."""
    for keys, (_, rule) in policy.rules_by_keys.items():
        if keys in policy.pseudonyms or keys in policy.date_shifts:
            continue
        domain = policy.quasi.get(keys)
        if (domain is not None and domain.keeps_texts) or (
            keys in policy.sensitive and not rule.reads_numbers
        ):
            yield keys


def _may_trace(policy: Policy, keys: Keys) -> bool:
    """Return whether single values may be published: in lists, as sensitive ones, or by the recoding.

    A value of the record itself that is generalized is published only if several records share it.
    """
    inside = policy.is_inside(keys)
    hint = hint_of(keys[-1])
    if hint is not None and hint[0] == "postal":
        return False
    return inside or (policy.recoding_traits.shows_members and (hint is None or hint[0] != "quasi"))


def _belongs_to_one(known: Observed, records: int) -> bool:
    texts = [count for value, count in known.items() if isinstance(value, str)]
    if records < _ENOUGH or len(texts) < _ENOUGH or 2 * len(texts) < len(known):
        return False
    return texts.count(1) >= _NEARLY_ALL * sum(texts)


def _is_name(keys: Keys, known: Observed) -> bool:
    """Return whether these are names of persons, by the field's name and its values."""
    meaning = meaning_of([key.removeprefix("@") for key in reversed(keys)])
    if meaning is None or meaning.kind not in ("name", "part", "person") or len(known) < 3:
        return False
    shapes = Counter(shape_of_name(str(value)) for value in known)
    named = (shapes["named"] + shapes["titled"] + shapes["given"]) >= _NAMED * len(known)
    formed = len(known) - shapes[""] - shapes["coded"] >= _MOSTLY * len(known)
    return formed and (named or meaning.kind != "person")


_FEW_VALUES = 10
"""Below so many different values nothing is said."""
_REPORTED, _ENOUGH_LEFT = Fraction(1, 100), Fraction(1, 200)
"""Shares of singled-out values: from the first on they are reported; a form leaving the second is advised."""


def find_singled_out(
    policy: Policy, survey: Survey
) -> Iterator[tuple[Literal["warning", "note"], Keys, str]]:
    """Yield the sensitive fields whose values single out records, and what helps; a warning for most values.

    Somebody who knows such a value finds the record, whatever its class. A field whose values are facts of
    bounded knowledge is left aside, since a value that few have is not published there.
    """
    known = known_values(policy)
    for keys in policy.sensitive:
        observed = {value: times for value, times in survey.values.get(keys, {}).items() if value is not None}
        alone, total = sum(times == 1 for times in observed.values()), sum(observed.values())
        if keys in known or len(observed) < _FEW_VALUES or alone < total * _REPORTED:
            continue
        share = f"{float(Fraction(100 * alone, total)):.1f} %"
        message = (
            f"exact values single out records: {alone} of {total} values ({share}) occur once, and whoever "
            "knows one finds its record"
        )
        yield "warning" if 2 * alone > total else "note", keys, f"{message}: {_advise(observed, total)}"


def _advise(observed: Mapping[Any, int], total: int) -> str:
    """Name the finest round numbers that single out hardly anybody, with what they lose."""
    numbers = [
        (Fraction(value), times)
        for value, times in observed.items()
        if isinstance(value, int | Decimal) and not isinstance(value, bool)
    ]
    low, high = (pick((number for number, _ in numbers), default=Fraction(0)) for pick in (min, max))
    if len(numbers) < len(observed) or low == high:
        return "publish a coarser form of them (`publish`), or leave the field out"
    for step in _steps(high - low):
        bins: dict[int, int] = {}
        for number, times in numbers:
            bin_ = (number / step + Fraction(1, 2)).__floor__()
            bins[bin_] = bins.get(bin_, 0) + times
        alone = sum(times == 1 for times in bins.values())
        if alone <= total * _ENOUGH_LEFT:
            remainder = f"{float(Fraction(100 * alone, total)):.1f} %"
            lost = f"{float(100 * step / (high - low)):.1f} %"
            return f"`publish: {{round: {_spell(step)}}}` leaves {remainder} and loses {lost} of the detail"
    return "publish a coarser form of them (`publish`), or leave the field out"


def _steps(width: Fraction) -> Iterator[Fraction]:
    """Yield 1, 2 and 5 times powers of ten, from a thousandth of a range to a quarter of it."""
    power = Fraction(1)
    while power > width / 1000:
        power /= 10
    while power * 10 <= width / 1000:
        power *= 10
    for exponent in count():
        for factor in (1, 2, 5):
            step = power * factor * Fraction(10) ** exponent
            if step > width / 4:
                return
            if step >= width / 1000:
                yield step


def _spell(step: Fraction) -> str:
    return f"{Decimal(step.numerator) / Decimal(step.denominator):f}"
