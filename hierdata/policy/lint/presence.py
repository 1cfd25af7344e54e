"""What records show of sensitive attributes that are read by presence, where no class can be better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeAlias

from hierdata.documents.document import TEXT, Document, Scalar, Value
from hierdata.domains.number import identity
from hierdata.ground.errors import HierdataError
from hierdata.policy.checks.readings import resolve_readings
from hierdata.policy.checks.sizes import domain_of, pairs
from hierdata.policy.policy import Policy
from hierdata.privacy.base import ClassView
from hierdata.privacy.wording import describe_achieved
from hierdata.records.survey import Keys, Survey

Shown: TypeAlias = "dict[Keys, Counter[frozenset[Scalar]]]"
"""For each attribute, the sets of values that records show, with the number of records."""


def count_shown(documents: Iterable[Document], policy: Policy, shown: Shown) -> Iterator[Document]:
    """Yield the documents; count in ``shown`` the sets of values that each record shows."""
    shown.update((keys, Counter()) for keys in _whole_lists(policy))
    for document in documents:
        for keys, sets in shown.items():
            sets[frozenset(_values_at(document, keys))] += 1
        yield document


def presence_shortfalls(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each attribute of which more records show a value than any release without suppression may.

    The share among all records is a mean of the shares of classes, so some class has at least as much.
    """
    readings = resolve_readings(policy)
    for keys, model in pairs(policy):
        if keys is None or not model.limits_presence or keys not in survey.shown:
            continue
        rule = policy.sensitive[keys]
        with suppress(HierdataError):
            domain = domain_of(policy, keys, survey.values.get(keys, {}))
            codes = {identity(value, rule.number): code for code, value in enumerate(domain.values)}
            sets: Counter[frozenset[int]] = Counter()
            for values, count in survey.shown[keys].items():
                found = (codes.get(identity(value, rule.number)) for value in values)
                if known := frozenset(code for code in found if code is not None):
                    sets[known] += count
            view = ClassView(survey.records, dict(enumerate(domain.reference or ())), sets=sets)
            bound = model.bind_reading(domain, readings[keys], tied=True)
            if sets and not bound.holds(view):
                reached = describe_achieved(bound.achieved_parameters(view))
                yield (
                    keys,
                    f"{model.kind}: for the values that persons show, {reached} is the strongest that holds "
                    "with nothing suppressed, and the policy asks for more: some will be left out",
                )


def _whole_lists(policy: Policy) -> Iterator[Keys]:
    """Yield the attributes of which one place, or one record, has all values of a record."""
    if not policy.recoding_traits.ties_values:
        return
    pointed_at = {keys[:end] for keys in policy.quasi for end in range(1, len(keys) + 1)}
    for keys, reading in resolve_readings(policy).items():
        steps: Sequence[bool | None] = [step.many for step in policy.rules_by_keys[keys][0].steps]
        if reading.asks != "presence":
            continue
        item = keys[: len(steps) - steps[::-1].index(True)] if True in steps else ()
        if reading.within == "record" or (steps.count(True) == 1 and item not in pointed_at):
            yield keys


def _values_at(value: Value, keys: Keys) -> Iterator[Scalar]:
    """Yield the values that one record has at a path."""
    if isinstance(value, list):
        for item in value:
            yield from _values_at(item, keys)
    elif isinstance(value, dict):
        if keys and keys[0] in value:
            yield from _values_at(value[keys[0]], keys[1:])
    elif value is not None and keys in ((), (TEXT,)):
        yield value
