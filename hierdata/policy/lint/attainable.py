"""The strongest parameters that models can reach without suppression, where a policy asks for more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction

from hierdata.ground.errors import HierdataError
from hierdata.policy.checks.readings import resolve_readings
from hierdata.policy.checks.sizes import domain_of, pairs
from hierdata.policy.policy import Policy
from hierdata.privacy import PrivacyModel
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps
from hierdata.privacy.wording import describe_achieved
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
