"""What the models of a policy ask for beyond what a collection can give without suppression.

By value, by presence, and under bounded knowledge: values that are too common, and patterns to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import comb
from typing import TypeAlias

from hierdata.documents.document import TEXT, Document, Scalar, Value
from hierdata.domains.number import identity
from hierdata.ground.errors import HierdataError
from hierdata.policy.checks.knowledge import bounded_values, bounds_values_at
from hierdata.policy.checks.records import count_vertices
from hierdata.policy.checks.sensitive import domain_of, pairs, resolve_readings
from hierdata.policy.policy import Policy
from hierdata.privacy import PrivacyModel
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps, describe_achieved, number
from hierdata.privacy.grouping import protected_codes
from hierdata.records.binding import resolve
from hierdata.records.survey import Keys, Survey


def shortfalls(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each attribute with a model that cannot hold without suppression, and what could hold."""
    readings = resolve_readings(policy)
    for keys, model in pairs(policy):
        # How many persons have a value, the survey does not tell.
        if keys is None or (readings[keys].asks == "presence" and model.limits_presence):
            continue
        with suppress(HierdataError):
            domain = domain_of(policy, keys, survey.values.get(keys, {}))
            counts = dict(enumerate(domain.reference or ()))
            if most := falls_short(model, model.bind(domain), survey.records, counts):
                reached = f"with nothing suppressed, {describe_achieved(most)} is the strongest that holds"
                yield keys, f"{model.kind}: {reached}, and the policy asks for more"


def largest(policy: Policy, survey: Survey, size: int) -> Iterator[str]:
    """Yield the models that no class of fewer than ``size`` records satisfies, each with its attribute."""
    for keys, model in pairs(policy):
        domain = None if keys is None else domain_of(policy, keys, survey.values.get(keys, {}))
        if model.bind(domain).min_class_size >= size:
            yield model.kind if domain is None else f"{model.kind} at {domain.path}"


def falls_short(
    model: PrivacyModel, bound: Constraint, records: int, counts: Mapping[int, int]
) -> dict[str, Fraction]:
    """Return the strongest parameters that hold without suppression if the model asks for more, else {}.

    ``counts`` maps each value's code to its number of occurrences in the collection. For a model closed under
    unions all values are judged as one class: if classes satisfy it, so does their union. Where a class may
    hold one value of each group, or numbers count together with those near them, the largest group (LE-3) or
    the fullest window (DL) decides.

    >>> from hierdata.domains.sensitive import SensitiveDomain
    >>> from hierdata.privacy import FrequencyLDiversity
    >>> model, domain = FrequencyLDiversity(l=2), SensitiveDomain("$.s", ("flu", "HIV"))
    >>> falls_short(model, model.bind(domain), 4, {0: 3, 1: 1})
    {'l': Fraction(4, 3)}
    """
    if bound.closed_under_union:
        view = ClassView(records, counts)
        return {} if bound.holds(view) else bound.achieved_parameters(view)
    caps = bound.caps
    if caps is None or not caps.necessary or not any(counts.values()):
        return {}
    if caps.reach is None and caps.most != 1:
        return {}
    letter = next(iter(model.combine))
    most = Fraction(sum(counts.values()), _fullest(caps, counts))
    return {letter: most} if most < getattr(model, letter) else {}


def _fullest(caps: FrequencyCaps, counts: Mapping[int, int]) -> int:
    """Return the size of the largest group, or of the largest range from a group to the last in its reach."""
    sizes = [0] * len(caps.share)
    for code, count in counts.items():
        sizes[caps.group_of[code]] += count
    if caps.reach is None:
        return max(sizes)
    return max(sum(sizes[group : last + 1]) for group, (_, last) in enumerate(caps.reach))


Shown: TypeAlias = "dict[Keys, Counter[frozenset[Scalar]]]"
"""For each attribute, the sets of values that records show, with the number of records."""


def count_shown(documents: Iterable[Document], policy: Policy, shown: Shown) -> Iterator[Document]:
    """Yield the documents; count in ``shown`` the sets of values that each record shows."""
    shown.update((keys, Counter()) for keys in _whole_lists(policy))
    for document in documents:
        for keys, sets in shown.items():
            sets[frozenset(values_at(document, keys))] += 1
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
            codes = {identity(value, rule.reads_numbers): code for code, value in enumerate(domain.values)}
            sets: Counter[frozenset[int]] = Counter()
            for values, count in survey.shown[keys].items():
                coded = (codes.get(identity(value, rule.reads_numbers)) for value in values)
                if known := frozenset(code for code in coded if code is not None):
                    sets[known] += count
            view = ClassView(survey.records, dict(enumerate(domain.reference or ())), sets=sets)
            bound = model.bind_reading(domain, readings[keys], tied=True)
            if sets and not bound.holds(view):
                reached = describe_achieved(bound.achieved_parameters(view))
                yield (
                    keys,
                    f"{model.kind}: for the values that persons show, {reached} is the strongest that holds "
                    "with nothing suppressed. The policy asks for more, so some will be left out",
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


def values_at(value: Value, keys: Keys) -> Iterator[Scalar]:
    """Yield the values that one record has at a path."""
    if isinstance(value, list):
        for item in value:
            yield from values_at(item, keys)
    elif isinstance(value, dict):
        if keys and keys[0] in value:
            yield from values_at(value[keys[0]], keys[1:])
    elif value is not None and keys in ((), (TEXT,)):
        yield value


_MINUTES = 30
"""About how long one processor counts the most occurrences of patterns that are counted."""


def values_above_alpha(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str, tuple[str, ...]]]:
    """Yield each attribute with values whose share in the whole collection is above alpha, and the values.

    The share is over the records that show a value where presence is asked for and the survey has counted it,
    else over all values.
    """
    model = policy.knowledge
    if model is None or model.alpha is None:
        return
    stated, readings = bounded_values(policy), resolve_readings(policy)
    for keys in policy.sensitive:
        if not bounds_values_at(policy, keys):
            continue
        with suppress(HierdataError):
            domain = domain_of(policy, keys, survey.values.get(keys, {}))
            codes = range(len(domain.values)) if stated is None else protected_codes(domain, stated[keys])
            total = max(sum(domain.reference or ()), 1)
            shares = [Fraction(count, total) for count in domain.reference or ()]
            base = "of the values"
            at_persons = readings[keys].asks == "presence"
            if at_persons and keys in survey.shown:
                shown = {value: Fraction(0) for value in domain.values}
                sets = survey.shown[keys]
                showing = sum(count for values, count in sets.items() if values)
                for values, count in sets.items():
                    for value in values:
                        if value in shown:
                            shown[value] += Fraction(count, showing)
                shares = list(shown.values())
                base = "of the records that show any"
            above = {domain.values[code]: shares[code] for code in codes if shares[code] > model.alpha}
            if above:
                some = "1 value has" if len(above) == 1 else f"{len(above)} values have"
                first = ". They are left out first where that keeps more" if at_persons else ""
                yield (
                    keys,
                    f"{model.kind}: in the whole collection {some} more than alpha = {number(model.alpha)} "
                    f"{base}, up to {number(max(above.values()))}. Name under `values` those that matter, or "
                    f"raise alpha{first}",
                    tuple(sorted(map(str, above))),
                )


def estimate_patterns(policy: Policy, survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield that counting patterns will take long, or that there are more than are counted.

    The estimate is a lower bound: one record has the longest list of the collection, or as many facts as the
    mean, and all others have the same number. Records of different sizes have more patterns than equal ones.
    """
    model = policy.knowledge
    if model is None or not survey.records:
        return
    facts, longest = _count_facts(policy, survey)
    most, others = max(longest, -(-facts // survey.records)), survey.records - 1
    rest = Fraction(max(facts - most, 0), max(others, 1))
    work = sum(comb(most, taken) + others * _choose(rest, taken) for taken in range(1, model.m + 1))
    minutes = _MINUTES * work / model.most_occurrences
    if minutes < 1:
        return
    sizes = (
        f"{model.kind}: a record has {facts / survey.records:.0f} facts on average, and one has at least "
        f"{most:,}. "
    )
    if minutes > _MINUTES:
        yield (
            "models",
            f"{sizes}Patterns of up to {model.m} facts occur at least about {float(work):.1g} times, and "
            f"at most {model.most_occurrences:.1g} are counted. Of a block with more, only classes of whole "
            "trees are tried. A release that shows more is refused. State a smaller m, `cap` long lists "
            "under `shape`, or drop fields",
        )
    else:
        yield (
            "models",
            f"{sizes}To judge m = {model.m} takes about {round(minutes)} minutes of a processor, or less "
            f"where siblings are alike: at least about {float(work):.1g} occurrences of patterns are counted"
            ". A smaller m takes less",
        )


def _choose(things: Fraction, taken: int) -> Fraction:
    """Return the number of choices, also for a number of things that is not whole."""
    whole = int(things)
    low, high = comb(whole, taken), comb(whole + 1, taken)
    return low + (high - low) * (things - whole)


def _count_facts(policy: Policy, survey: Survey) -> tuple[int, int]:
    """Count the facts below the roots of the collection, and those of the longest list: one record's."""
    with suppress(HierdataError):
        schema = resolve(policy.rules(), survey.shape, unlisted=policy.unlisted_fields).schema
        total, longest = 0, 0
        for kind in schema.types[1:]:
            shape, facts_each = survey.shape.find(schema.keys(kind.index)), max(1, len(kind.quasi))
            total += count_vertices(shape) * facts_each
            longest = max(longest, 0 if shape is None else shape.longest * facts_each)
        return total, longest
    return 0, 0
