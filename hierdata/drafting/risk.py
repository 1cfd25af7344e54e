"""Re-identification risk if one field or two fields of a person are known."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.drafting.profile import FieldProfile, Profile
from hierdata.drafting.spectrum import Spectrum
from hierdata.records.survey import Keys


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


def together(found: Profile, k: int) -> list[PairRisk]:
    """Return the risks of all measured pairs, those that reveal most beyond either field alone first."""
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


def _risk(spectrum: Spectrum, absent: int, records: int, k: int) -> FieldRisk:
    def share(size: int) -> float:
        count = spectrum.below(size) + (absent if absent < size else 0)
        return min(1.0, count / records)

    return FieldRisk(share(2), share(k), spectrum.exact, spectrum.error(k) / records)
