"""Models for a draft: k-anonymity, and for each sensitive attribute a model that its values can satisfy.

Also the re-identification risk if one field or two fields of a person are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.domains.levels import Levels
from hierdata.drafting.fields import Field
from hierdata.drafting.profile import FieldProfile, Profile
from hierdata.drafting.seen import K, Proposal
from hierdata.drafting.spectrum import Spectrum
from hierdata.records.survey import Keys

_SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))
"""Limits for the share of one value in a class; a draft proposes the strictest that leaves room."""
_ROOM = Fraction(5, 4)
_COMMON = Fraction(2, 3)
"""If one value has at least this share, the other values are treated as the sensitive ones."""
_ALPHA = tuple(Fraction(tenths, 10) for tenths in (10, 6, 4, 2, 2))


@dataclass(frozen=True)
class ModelProposal:
    """A model in the form of a policy, with its meaning in words."""

    model: dict[str, Any]
    why: str
    is_open: bool = False
    """Whether the user is asked to confirm it."""


def propose_model(field: Field, proposal: Proposal) -> tuple[Proposal, ModelProposal | None]:
    """Return the proposal, with levels if its model needs them, and the model of a sensitive attribute."""
    if proposal.role != "sensitive" or field.attribute is None:
        return proposal, None
    attribute = field.attribute
    top = Fraction(attribute.values.largest, attribute.present)
    if top >= _COMMON and attribute.categories is not None:
        levels = {"by": "frequency", "sensitive": "rare"}
        guarded = replace(proposal, rule={**proposal.rule, "levels": levels})
        return guarded, _propose_levels(field, proposal.rule.get("number", False))
    share = next((share for share in _SHARES if top * _ROOM <= share), _SHARES[-1])
    model = {"kind": "frequency-l-diversity", "l": _spell_number(1 / share)}
    return proposal, ModelProposal(model, _say_share(share))


def promises(guards: Sequence[tuple[str, ModelProposal]]) -> list[ModelProposal]:
    """Return all models of a draft; attributes with the same model are combined."""
    first = ModelProposal(
        {"kind": "k-anonymity", "k": K},
        f"each record is one of at least {K} that agree in all quasi-identifiers. For a "
        "public release, require more than 5: 10 or 20",
    )
    combined: list[tuple[ModelProposal, list[str]]] = []
    for path, promise in guards:
        paths = next((paths for other, paths in combined if other == promise), None)
        if paths is None:
            combined.append((promise, [path]))
        else:
            paths.append(path)
    return [first, *(replace(promise, model={**promise.model, "on": paths}) for promise, paths in combined)]


USUAL = 2
"""How many facts others are taken to know, where records neither allow more nor demand less."""
_CLEARLY, _ABOUT = 0.1, 0.05
"""Shares of what there is to know: from the first on a choice keeps clearly more, to the second as much."""


def knowledge(m: int) -> dict[str, Any]:
    """Return what a draft proposes for records that are too wide for classes of whole trees."""
    return {"kind": "bounded-knowledge", "k": K, "m": m}


def choose_by_loss(
    trees: float | None, facts_kept: Callable[[int], float | None], searched: int
) -> ModelProposal | None:
    """Return bounded knowledge in place of k-anonymity if it keeps clearly more of wide records, else None.

    ``trees`` is what a search of a sample keeps by classes of whole trees, ``facts_kept`` tells it of
    bounded knowledge by m; None if nothing. Two facts are what is proposed: three where that keeps about as
    much, one where two keep not clearly more than whole trees.
    """
    least = (trees or 0) + _CLEARLY
    kept = {USUAL: facts_kept(USUAL)}
    usual = kept[USUAL]
    other = 3 if usual is not None and usual >= least else 1
    kept[other] = facts_kept(other)
    needed = least if other == 1 else max(least, (usual or 0) - _ABOUT)
    m = other if (kept[other] or 0) >= needed else USUAL
    if (kept[m] or 0) < least:
        return None
    beside = next((f", m: {number} {_say_kept(share)}" for number, share in kept.items() if number != m), "")
    facts = "one fact" if m == 1 else f"{m} facts"
    return ModelProposal(
        knowledge(m),
        f"CONFIRM: someone who knows all of a record's own values and any {facts} of its "
        f"lists, or one item of a list whole, finds at least {K} records that fit; can others know more? "
        f"Records are wide: in a search of {searched:,} of them this keeps {kept[m] or 0:.0%}{beside}, and "
        f"classes of whole trees, {{kind: k-anonymity, k: {K}}}, keep {_say_kept(trees)}",
        True,
    )


def _say_kept(share: float | None) -> str:
    return "nothing that is foreseen" if share is None else f"{share:.0%}"


def relax(promises: Sequence[ModelProposal]) -> list[ModelProposal]:
    """Return the promises with the widest limits for shares that a draft proposes."""
    share = _SHARES[1]
    return [
        replace(promise, model={**promise.model, "l": _spell_number(1 / share)}, why=_say_share(share))
        if "l" in promise.model
        else promise
        for promise in promises
    ]


def _say_share(share: Fraction) -> str:
    return f"no value may have more than {share} of a class"


def _propose_levels(field: Field, number: bool) -> ModelProposal:
    """Return a model with levels by frequency: rare values are limited, with room above their shares."""
    assert field.attribute is not None
    assert field.attribute.categories is not None
    counts: dict[Scalar, int] = {
        value: times
        for value, times in field.attribute.categories.items()
        if value is not None and value not in field.attribute.looks.missing
    }
    scale = Levels.model_validate({"by": "frequency", "sensitive": "rare"}).compile(counts, number)
    total, by_level = sum(counts.values()), dict.fromkeys(range(1, len(_ALPHA) + 1), 0)
    for value, times in counts.items():
        by_level[scale.level(value)] += times
    alphas = [
        max(least, Fraction(ceil(10 * _ROOM * Fraction(by_level[level], total)), 10))
        for level, least in enumerate(_ALPHA, 1)
    ]
    alpha = [_spell_number(min(Fraction(1), share)) for share in alphas]
    model = {"kind": "level-alpha-k", "k": K, "alpha": alpha}
    return ModelProposal(
        model,
        "one value is much more common than all others: rare values are sensitive (levels 2 to 5), and have "
        "at most these shares of a class",
    )


def _spell_number(number: Fraction) -> int | Decimal | str:
    """Return a number in the form used in policies."""
    if number.denominator == 1:
        return int(number)
    return Decimal(int(number * 10)) / 10 if (number * 10).denominator == 1 else f"{number}"


@dataclass(frozen=True)
class FieldRisk:
    """Shares of all records: the unique ones, and those in groups of fewer than ``k`` equal records.

    ``exact`` tells whether all values were counted; otherwise the shares are estimated from a random sample
    of the values, and ``error`` is the standard error of ``small``.
    """

    unique: float
    small: float
    exact: bool
    error: float


@dataclass(frozen=True)
class PairRisk:
    """The risk of two fields known together."""

    first: Keys
    second: Keys
    risk: FieldRisk
    gain: float
    """``risk.small`` minus that of the riskier of the two fields alone, at least 0."""


def alone(attribute: FieldProfile, records: int, k: int) -> FieldRisk:
    """Return the risk of one field. Records without a value count as equal."""
    return _risk(attribute.records, records - attribute.holders, records, k)


def together(profile: Profile, k: int) -> list[PairRisk]:
    """Return the risks of all measured pairs, those that reveal most beyond either field alone first."""
    single = {
        keys: alone(profile.attributes[keys], profile.records, k).small
        for pair in profile.pairs
        for keys in pair
        if keys in profile.attributes
    }
    pairs = []
    for (first, second), spectrum in profile.pairs.items():
        risk = _risk(spectrum, 0, profile.records, k)
        gain = risk.small - max(single.get(first, 0.0), single.get(second, 0.0))
        pairs.append(PairRisk(first, second, risk, max(0.0, gain)))
    return sorted(pairs, key=lambda pair: -pair.gain)


def _risk(spectrum: Spectrum, absent: int, records: int, k: int) -> FieldRisk:
    def share(size: int) -> float:
        count = spectrum.below(size) + (absent if absent < size else 0)
        return min(1.0, count / records)

    return FieldRisk(share(2), share(k), spectrum.exact, spectrum.error(k) / records)
