"""How far somebody who knows one value, or two, comes in finding the record."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.drafting.profile import Attribute, Profile
from hierdata.drafting.spectrum import Spectrum
from hierdata.records.survey import Keys


@dataclass(frozen=True)
class Risk:
    """Shares of all records: those that nobody else is like, and those like fewer than ``k`` with themselves.

    ``exact`` tells whether all values were counted; else the shares are estimated from a random sample of the
    values, and ``error`` is the standard error of ``small``.
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
    risk: Risk
    gain: float
    """The share of all records that are in groups below ``k`` by both fields, and not by one alone."""


def alone(attribute: Attribute, records: int, k: int) -> Risk:
    """The risk of one field. Records without a value are like each other."""
    return _risk(attribute.records, records - attribute.holders, records, k)


def together(found: Profile, k: int) -> list[PairRisk]:
    """The risks of all pairs that were measured; those first that tell most beyond either field alone."""
    single = {
        keys: alone(found.attributes[keys], found.records, k).small
        for pair in found.pairs
        for keys in pair
        if keys in found.attributes
    }
    pairs = []
    for (first, second), spectrum in found.pairs.items():
        risk = _risk(spectrum, 0, found.records, k)
        gain = risk.small - max(single.get(first, 0.0), single.get(second, 0.0))
        pairs.append(PairRisk(first, second, risk, max(0.0, gain)))
    return sorted(pairs, key=lambda pair: -pair.gain)


def _risk(spectrum: Spectrum, absent: int, records: int, k: int) -> Risk:
    def share(size: int) -> float:
        count = spectrum.below(size) + (absent if absent < size else 0)
        return min(1.0, count / records)

    return Risk(share(2), share(k), spectrum.exact, spectrum.error(k) / records)
