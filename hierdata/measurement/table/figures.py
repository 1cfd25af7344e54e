"""The figures of a table; what is printed of them has no raw value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from hierdata.documents.document import Scalar
from hierdata.measurement.key_values import plain_number, plain_values
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
    def distance(self) -> Fraction | float:
        """The greatest distance."""
        return max(value.distance for value in self.values.values())

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "keys": list(self.keys),
            "rate": plain_number(self.rate),
            "resistance": plain_number(self.resistance),
            "entropy": self.entropy,
            "divergence": self.divergence,
            "distance": plain_number(self.distance),
            "identity": plain_number(self.identity),
            "skewness": plain_number(self.skewness),
            "values": plain_values(self.values),
        }


@dataclass(frozen=True)
class Measurement:
    """The rates of a table or of trees: of each key, and of all keys together if there are several (DR-8).

    ``entropy`` is H(X) in bits over ``rows`` rows, ``categories`` the values or blocks of X. In trees
    a row is a person, as ``unit`` says. Values of keys are labelled v1, v2 .. by size, numbers before text;
    ``names`` has the value behind each label.
    """

    sensitive: str
    rows: int
    categories: int
    entropy: float
    keys: tuple[KeyRates, ...]
    notes: tuple[str, ...]
    names: Mapping[str, Mapping[str, Scalar]] = field(repr=False)
    unit: Literal["row", "person"] = "row"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the names."""
        return {
            "sensitive": self.sensitive,
            "rows": self.rows,
            "unit": self.unit,
            "categories": self.categories,
            "entropy": self.entropy,
            "notes": list(self.notes),
            "keys": [own.as_dict() for own in self.keys],
        }


def notes(categories: int, left_out: int, unit: str) -> Iterator[str]:
    """Yield what must be said of a measurement."""
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        subject = f"1 {unit} has" if left_out == 1 else f"{left_out} {unit}s have"
        yield f"{subject} no sensitive value, and {'is' if left_out == 1 else 'are'} left out"
