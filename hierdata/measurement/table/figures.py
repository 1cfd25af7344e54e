"""The figures of a table; what is printed of them has no raw value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.metrics.rates import ValueRate


@dataclass(frozen=True)
class KeyRates:
    """What keys together reveal of the sensitive attribute X (DR definitions 3, 4 and 7).

    - ``rate``: DR_X(Y), 0..1, lower is better; the paper's homogeneity risk (table 7);
    - ``resistance``: 1 - DR_X(Y), higher is better; against homogeneity and background knowledge (table 8);
    - ``entropy``: H(X|Y) in bits;
    - ``divergence``, ``distance``: the greatest of any value (see ValueRate), since no rate detects a skew
      (erratum DR-10);
    - ``identity``: DR_O(Y), where O is the column that Y generalizes (table 6), else None;
    - ``skewness``: DR_X(O) - DR_X(Y) (section 6.1), 0..1 where each value of O has one of Y: what
      generalizing took away, not what an attacker gains (erratum DR-10);
    - ``values``: the figures of each value, by its label.
    """

    keys: tuple[str, ...]
    rate: Fraction | float
    entropy: float
    identity: Fraction | float | None
    skewness: Fraction | float | None
    values: Mapping[str, ValueRate]

    @property
    def resistance(self) -> Fraction | float:
        """1 - DR_X(Y)."""
        return 1 - self.rate

    @property
    def divergence(self) -> float:
        """The greatest relative entropy in bits."""
        return max(value.divergence for value in self.values.values())

    @property
    def distance(self) -> Fraction:
        """The greatest distance."""
        return max(value.distance for value in self.values.values())

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "keys": list(self.keys),
            "rate": _plain(self.rate),
            "resistance": _plain(self.resistance),
            "entropy": self.entropy,
            "divergence": self.divergence,
            "distance": _plain(self.distance),
            "identity": _plain(self.identity),
            "skewness": _plain(self.skewness),
            "values": [
                {
                    "value": label,
                    "count": value.count,
                    "share": _plain(value.share),
                    "entropy": value.entropy,
                    "rate": _plain(value.rate),
                    "refinement": _plain(value.refinement),
                    "divergence": value.divergence,
                    "distance": _plain(value.distance),
                }
                for label, value in self.values.items()
            ],
        }


@dataclass(frozen=True)
class Measurement:
    """The rates of a table: of each key, and of all keys together if there are several (DR-8).

    ``entropy`` is H(X) in bits over ``rows`` rows, ``categories`` the values or blocks of X. Values of keys
    are labelled v1, v2 .. by size, numbers before text; ``names`` has the value behind each label.
    """

    sensitive: str
    rows: int
    categories: int
    entropy: float
    keys: tuple[KeyRates, ...]
    notes: tuple[str, ...]
    names: Mapping[str, Mapping[str, Scalar]] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the names."""
        return {
            "sensitive": self.sensitive,
            "rows": self.rows,
            "categories": self.categories,
            "entropy": self.entropy,
            "notes": list(self.notes),
            "keys": [own.as_dict() for own in self.keys],
        }


def _plain(value: Fraction | float | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"value": float(value), "exact": str(value) if isinstance(value, Fraction) else None}
