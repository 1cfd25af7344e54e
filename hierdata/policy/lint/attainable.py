"""What models can reach on a collection with nothing suppressed, where a policy asks for more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction

from hierdata.domains.base import Observed
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import HierdataError
from hierdata.policy.policy import Policy
from hierdata.privacy import PrivacyModel
from hierdata.privacy.base import ClassView, Constraint, ShareCaps
from hierdata.privacy.wording import achieved
from hierdata.records.survey import Keys, Survey


def shortfalls(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Each attribute with a model that cannot hold unless something is suppressed, and what could."""
    for keys, model in pairs(policy):
        if keys is None:
            continue
        with suppress(HierdataError):
            domain = domain_of(policy, keys, survey.values.get(keys, {}))
            counts = dict(enumerate(domain.reference or ()))
            if most := falls_short(model, model.bind(domain), survey.records, counts):
                reached = f"with nothing suppressed, {achieved(most)} is the strongest that holds"
                yield keys, f"{model.kind}: {reached}, and the policy asks for more"


def pairs(policy: Policy) -> Iterator[tuple[Keys | None, PrivacyModel]]:
    """Each model with each sensitive attribute that it judges; None for those on whole records."""
    for model, scope in policy.scoped_models:
        if not model.per_attribute:
            yield None, model
            continue
        for keys in policy.sensitive:
            if scope is None or keys in scope:
                yield keys, model


def largest(policy: Policy, survey: Survey, size: int) -> Iterator[str]:
    """The models that no class of fewer than ``size`` records satisfies, each with its attribute."""
    for keys, model in pairs(policy):
        domain = None if keys is None else domain_of(policy, keys, survey.values.get(keys, {}))
        if model.bind(domain).min_class_size >= size:
            yield model.kind if domain is None else f"{model.kind} at {domain.path}"


def domain_of(policy: Policy, keys: Keys, observed: Observed) -> SensitiveDomain:
    """The domain of a sensitive attribute whose values were observed."""
    rule = policy.sensitive[keys]
    scale, taxonomy = rule.scale(observed), rule.semantics(policy.folder)
    return SensitiveDomain.build(str(policy.by_keys[keys][0]), observed, scale, rule.number, taxonomy)


def falls_short(
    model: PrivacyModel, bound: Constraint, records: int, counts: Mapping[int, int]
) -> dict[str, Fraction]:
    """The strongest parameters that hold with nothing suppressed where the model asks for more, else none.

    ``counts`` are those of all values of the attribute, by code. Of a monotone model they are judged as one
    class: classes that hold make a union that holds. Where a class may have one of each group, or counts
    numbers with those near them, the largest group (LE-3) or the fullest window (DL) decides.

    >>> from hierdata.privacy import FrequencyLDiversity
    >>> model, domain = FrequencyLDiversity(l=2), SensitiveDomain("$.s", ("flu", "HIV"))
    >>> falls_short(model, model.bind(domain), 4, {0: 3, 1: 1})
    {'l': Fraction(4, 3)}
    """
    if bound.monotone:
        view = ClassView(records, counts)
        return {} if bound.holds(view) else bound.achieved(view)
    caps = bound.caps
    if caps is None or not caps.necessary or not any(counts.values()):
        return {}
    if caps.reach is None and caps.most != 1:
        return {}
    letter = next(iter(model.combine))
    most = Fraction(sum(counts.values()), _fullest(caps, counts))
    return {letter: most} if most < getattr(model, letter) else {}


def _fullest(caps: ShareCaps, counts: Mapping[int, int]) -> int:
    """The most values of which a class can hold one: of a group, or from a group to the last it reaches."""
    sizes = [0] * len(caps.share)
    for code, count in counts.items():
        sizes[caps.group_of[code]] += count
    if caps.reach is None:
        return max(sizes)
    return max(sum(sizes[group : last + 1]) for group, (_, last) in enumerate(caps.reach))
