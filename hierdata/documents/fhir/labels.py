"""Labels that are no values of FHIR's types: bins of numbers, and groups of codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from hierdata.documents.document import Scalar, Value


@dataclass(frozen=True)
class RangeSpelling:
    """How the bins of a number are spelled: ``[30, 34]`` if ``integral``, else ``[0.5, 1.0)``.

    FHIR's ranges include both ends. A bin of decimal numbers ends with its last value of ``places`` decimal
    places, since values are cut after them, as ages are: ``[0.5, 1.0)`` is 0.5 to 0.9 where there is one.
    ``digits`` are the decimal places of a bin's ends by its width.

    >>> ends = RangeSpelling(False, 1, {Decimal("0.5"): 1}).ends("[0.5, 1.0)")
    >>> ends, RangeSpelling(False, 1, {Decimal("0.5"): 1}).label(*ends)
    ((Decimal('0.5'), Decimal('0.9')), '[0.5, 1.0)')
    """

    integral: bool
    places: int = 0
    digits: Mapping[Decimal, int] = field(default_factory=dict)

    def ends(self, label: Scalar) -> tuple[Scalar, Scalar] | None:
        """Return the least and the greatest value of a bin, None for another label."""
        if not isinstance(label, str) or label[:1] != "[":
            return None
        low, _, high = label[1:-1].partition(", ")
        if self.integral:
            return int(low), int(high)
        return _short(Decimal(low)), _short(Decimal(high) - self._unit)

    def label(self, low: Value, high: Value) -> str | None:
        """Return the label of the bin between two ends, None if there is none."""
        least, greatest = _number(low), _number(high)
        if least is None or greatest is None:
            return None
        if self.integral:
            if type(low) is not int or type(high) is not int:
                return None
            label = f"[{low}, {high}]"
        else:
            digits = self.digits.get(greatest + self._unit - least)
            if digits is None:
                return None
            label = f"[{least:.{digits}f}, {greatest + self._unit:.{digits}f})"
        return label if self.ends(label) == (least, greatest) else None

    @property
    def _unit(self) -> Decimal:
        return Decimal(1).scaleb(-self.places)


def _number(value: Value) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value)


def _short(number: Decimal) -> Scalar:
    """Return a number in the spelling that equal ones share: an integer if it is whole."""
    whole = number.to_integral_value()
    if number == whole:
        return int(whole)
    return Decimal(f"{number.normalize():f}")


@dataclass(frozen=True)
class TextLabels:
    """The labels of a code that are no codes of its system: groups of codes, or the beginning of codes."""

    labels: frozenset[str] = frozenset()
    ending: str | None = None

    def __contains__(self, label: object) -> bool:
        if not isinstance(label, str):
            return False
        return label in self.labels or (self.ending is not None and label.endswith(self.ending))


ALL_CODES = TextLabels()
"""Every label is a code of its system."""
