"""What bounded knowledge meets in a collection: values that are too common, and patterns to count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from math import comb

from hierdata.ground.errors import HierdataError
from hierdata.policy.checks.knowledge import bounded_values, bounds_values_at
from hierdata.policy.checks.readings import resolve_readings
from hierdata.policy.checks.sizes import domain_of
from hierdata.policy.policy import Policy
from hierdata.privacy.grouping import protected_codes
from hierdata.privacy.wording import number
from hierdata.records.binding import resolve
from hierdata.records.schema import Role
from hierdata.records.survey import Keys, PathSurvey, Survey

_MINUTES = 30
"""About how long one processor counts the most occurrences of patterns that are counted."""


def values_above_alpha(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str, tuple[str, ...]]]:
    """Yield each attribute with values whose share in the whole collection is above alpha, and the values.

    The share is over the records that show a value where presence is asked for and the survey tells it, else
    over all values.
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
            shares = _shares(domain.reference or ())
            what = "of the values"
            if readings[keys].asks == "presence" and keys in survey.shown:
                shown = {value: Fraction(0) for value in domain.values}
                sets = survey.shown[keys]
                showing = sum(count for values, count in sets.items() if values)
                for values, count in sets.items():
                    for value in values:
                        if value in shown:
                            shown[value] += Fraction(count, showing)
                shares = list(shown.values())
                what = "of the records that show any"
            above = {domain.values[code]: shares[code] for code in codes if shares[code] > model.alpha}
            if above:
                some = "1 value has" if len(above) == 1 else f"{len(above)} values have"
                yield (
                    keys,
                    f"{model.kind}: in the whole collection {some} more than alpha = {number(model.alpha)} "
                    f"{what}, up to {number(max(above.values()))}: name under `values` those that matter, or "
                    "raise alpha",
                    tuple(sorted(map(str, above))),
                )


def _shares(counts: tuple[int, ...]) -> list[Fraction]:
    total = max(sum(counts), 1)
    return [Fraction(count, total) for count in counts]


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
    found = (
        f"{model.kind}: a record has {facts / survey.records:.0f} facts on average, and one has at least "
        f"{most:,}: "
    )
    if minutes > _MINUTES:
        yield (
            "models",
            f"{found}at least about {float(work):.1g} occurrences of patterns of up to {model.m} facts, and "
            f"at most {model.most_occurrences:.1g} are counted: for a block with more, only classes of whole "
            "trees are tried, and a release that shows more is refused. State a smaller m, `cap` long lists "
            "under `shape`, or drop fields",
        )
    else:
        yield (
            "models",
            f"{found}to judge m = {model.m} at least about {float(work):.1g} occurrences of patterns are "
            f"counted, about {round(minutes)} minutes of a processor, or less where siblings are alike; a "
            "smaller m takes less",
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
        below = [
            (survey.shape.find(schema.keys(kind.index)), max(1, len(kind.of_role(Role.QUASI))))
            for kind in schema.types[1:]
        ]
        total = sum(_count_vertices(there) * own for there, own in below)
        return total, max((there.longest * own for there, own in below if there is not None), default=0)
    return 0, 0


def _count_vertices(there: PathSurvey | None) -> int:
    return 0 if there is None else there.objects + there.scalars + there.texts + there.empties
