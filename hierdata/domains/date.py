"""Dates, generalized to periods: ``date: {steps: [day, month, year, decade]}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from hierdata.documents.days import date_of, day_of, spell_day
from hierdata.documents.document import Scalar
from hierdata.documents.scalars import DateTime, Timestamp
from hierdata.domains.base import (
    OLDEST,
    Bin,
    Hierarchy,
    LabelKind,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Remainder,
    Uncovered,
    group_observed,
)
from hierdata.domains.bins import bins_around, line_up, nest_bins
from hierdata.domains.bounds import Name
from hierdata.domains.date_formats import (
    ISO,
    UNTIL,
    NoSuchDay,
    Period,
    check_formats,
    format_of,
    parse_day,
    read_period,
)
from hierdata.domains.published import line_losses

_PERIOD = re.compile(r"([0-9]{4}|[+-][0-9]{6,9})(?:-([0-9]{2}))?")
"""A year or month, as it is published."""
_MIDNIGHT = "T00:00:00Z"
MIDNIGHT: dict[type, str] = {DateTime: _MIDNIGHT, Timestamp: f"{_MIDNIGHT},0"}
"""What follows the day in types that always have a time of day, where only the day is meant."""
MOST_FORMATS = 20
_PRECISION = {"day": 3, "week": 3, "month": 2, "quarter": 2}
"""How much of a date a step needs, of year, month and day: 1 where it is not here."""
_YEARS = {"year": 1, "decade": 10, "century": 100}
_MONTHS = {"month": 1, "quarter": 3}
_ORDER = ("day", "week", "month", "quarter", "year", "decade", "century")


def one_or_many(value: Any) -> Any:
    """Return a tuple of the one format that a policy states, and several as they are."""
    return (value,) if isinstance(value, str) else value


DateFormats = Annotated[
    tuple[Name, ...],
    Field(max_length=MOST_FORMATS),
    BeforeValidator(
        one_or_many,
        json_schema_input_type=Name | Annotated[tuple[Name, ...], Field(max_length=MOST_FORMATS)],
    ),
]
"""The forms in which the dates of a field are written, one or several."""


class Date(QuasiDomain):
    """Calendar periods around each day, and above them the root.

    The first step is the finest form: with ``[year, decade]`` no month and no day is published.
    A value is ISO text, the same without separators as in HL7 (``20010304``), or a date or timestamp of
    MongoDB. Time of day and time zone are ignored; the day counts as written. Years before 0 and after 9999
    have a sign and at least six digits, as in ISO 8601.

    With ``format`` a value has one of these forms of ``strptime``, the first that fits, in English; ``iso``
    are the spellings above. Values that name one day are equal, however they are written. A form without a
    day (``%Y-%m``, ``%Y``) reads partial dates: such a value is published as the first step that holds all of
    its days, and as the root if none does. With ``missing: impossible`` a value in one of the forms that the
    calendar does not have (``1898-00-00``) is missing; else it is refused.

    With ``earliest: 1936`` all dates before that year count as dates in it, so that ``1936`` means 1936 or
    earlier. It needs ``steps`` of years.

    Labels are texts: ``2001-03-04``, ``2001-03``, ``2001``, other periods by their first and last day,
    ``[2001-01-01, 2001-03-31]``. Weeks begin on Monday. LM' is (last - first day) / (latest - earliest day of
    the collection), at most 1.

    >>> days = Date(steps=["day", "month", "year"]).compile({"2001-03-04": 1, "2001-03-09T10:00Z": 1}, Path())
    >>> days.labels[days.join(days.node_of("2001-03-04"), days.node_of("2001-03-09T10:00Z"))]
    '2001-03'
    """

    called: ClassVar[str] = "date domain"
    labels_are: ClassVar[LabelKind] = "periods"
    takes: ClassVar[str] = (
        "ISO dates such as 2001-03-04, or dates in the forms under `format`, such as '%d.%m.%Y'; with "
        "`missing: impossible` those without a day in the calendar are missing"
    )

    steps: Annotated[
        tuple[Literal["day", "week", "month", "quarter", "year", "decade", "century"], ...],
        Field(min_length=1, max_length=len(_ORDER)),
    ]
    format: DateFormats = Field(
        default=(), description="how dates are written: forms of strptime, or iso; by default iso"
    )
    missing: Literal["impossible"] | None = Field(
        default=None, description="impossible: dates that the calendar does not have are missing"
    )
    earliest: Annotated[int, Field(ge=1, le=9999)] | None = Field(
        default=None, description="the year that earlier dates count as, so that it means: or earlier"
    )

    until: Annotated[int, Field(ge=100, le=9999)] | None = Field(
        default=None, description="the last year that a year of two digits (%y) means; by default 2068"
    )

    @model_validator(mode="after")
    def _ascending(self) -> Date:
        places = [_ORDER.index(step) for step in self.steps]
        if not places or any(a >= b for a, b in pairwise(places)):
            raise ValueError(f"steps must be some of {', '.join(_ORDER)}, in this order")
        check_formats(self.format)
        if self.until is not None and not any("%y" in form for form in self.format):
            raise ValueError("until needs a format with a year of two digits (%y)")
        if self.earliest is not None and self.steps[0] not in _YEARS:
            raise ValueError("earliest needs steps of years: year, decade, century")
        return self

    @property
    def remainder(self) -> Remainder | None:
        """See QuasiDomain.remainder: years, of which the earliest are one group."""
        if self.earliest is None:
            return None
        return Remainder(
            "dates",
            f"by {' or '.join(self.steps)}; {self.earliest} means {self.earliest} or earlier, which is right "
            f"until the end of {self.earliest + OLDEST + 1}",
        )

    @property
    def has_partial_values(self) -> bool:
        """Whether a value may be a period that holds others (see QuasiDomain)."""
        finest = _PRECISION.get(self.steps[0], 1)
        return any(name != ISO and format_of(name).precision < finest for name in self.format)

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed days, and partial dates."""
        periods = sorted(group_observed(observed, self._period_of))
        first, last = (periods[0][0], max(end for _, end in periods)) if periods else (0, 0)
        codebook: dict[str, Any] = {"kind": "date", "steps": list(self.steps)}
        if self.earliest is not None:
            codebook["earliest"] = self.earliest
        stated: dict[str, Any] = {"span": last - first, "codebook": codebook}
        steps = [_periods_of(step) for step in reversed(self.steps)]
        if self.has_partial_values:
            tree = nest_bins(periods, self._period_of, steps, **stated)
        else:
            days = [day for day, _ in periods]
            bins = bins_around(days, steps[-1])
            tree = line_up(
                dict(zip(periods, days, strict=True)),
                self._period_of,
                bins,
                steps[:-1],
                closed=True,
                **stated,
            )
        return tree if self.missing is None else replace(tree, node_of=self._or_missing(tree.node_of))

    def _period_of(self, value: Scalar) -> Period:
        first, last = read_period(value, self.format, UNTIL if self.until is None else self.until)
        if self.earliest is None:
            return first, last
        least = day_of(self.earliest, 1, 1)
        return max(first, least), max(last, least)

    @staticmethod
    def _or_missing(node_of: Callable[[Scalar], int]) -> Callable[[Scalar], int]:
        """Return the lookup of nodes, with that of the missing value for what the calendar does not have."""

        def find(value: Scalar) -> int:
            try:
                return node_of(value)
            except NoSuchDay:
                return node_of(None)

        return find

    def labels(self, folder: Path) -> Labels:
        """Return the labels of the periods of each step."""
        return _DateLabels(self.steps, self._period_of, self.has_partial_values)

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; LM' is the days of a period or range over those of all."""
        return line_losses(labels, _period, sets)


def _period(label: Scalar) -> tuple[int, int]:
    """Return the first and last day of a published day, period or range. Raises Uncovered for another label.

    >>> _period("2001-02")[1] - _period("2001-02")[0], _period("[2001, 2002]")[1] - _period("2001-12-31")[0]
    (27, 365)
    """
    if isinstance(label, str) and label.startswith("[") and label.endswith("]"):
        first, comma, last = label[1:-1].partition(", ")
        if not comma:
            raise Uncovered
        return _period(first)[0], _period(last)[1]
    match = _PERIOD.fullmatch(label) if isinstance(label, str) else None
    if match is None:
        # A timestamp has a counter behind a comma, which other formats than BSON spell as text.
        day = parse_day(str(label).partition(",")[0] if isinstance(label, str) else label)
        return day, day
    year, month = int(match[1]), match[2]
    try:
        first_day = day_of(year, int(month or 1), 1)
    except ValueError:
        raise Uncovered from None
    period = _periods_of("month" if month else "year")(first_day)
    return period.low, period.high - 1


@dataclass(frozen=True)
class _DateLabels(Labels):
    steps: tuple[str, ...]
    period_of: Callable[[Scalar], Period]
    partial: bool = False

    def is_finest(self, label: Scalar) -> bool:
        return _is_period(label, self.steps[0]) or (self.partial and self.is_coarser(label))

    def is_coarser(self, label: Scalar) -> bool:
        return any(_is_period(label, step) for step in self.steps[1:])

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        return _period(label)

    def leaf(self, value: Scalar) -> Hashable:
        return self.period_of(value)

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        first, last = _period(label)
        if last - first >= len(known):
            raise Uncovered
        days = {(day, day) for day in range(first, last + 1)}
        periods = (period for period in known if isinstance(period, tuple)) if self.partial else ()
        return days.union(period for period in periods if first <= period[0] and period[1] <= last)

    def is_range(self, label: str) -> bool:
        least, _, greatest = label.removeprefix("[").removesuffix("]").partition(", ")
        first, last = _first_day(least), _first_day(greatest)
        if first is None or last is None or label != f"[{least}, {greatest}]":
            return False
        low, high = map(_periods_of(self.steps[0]), (first, last))
        return low.low < high.low and (least, greatest) == (low.least, high.greatest)


def _is_period(label: Scalar, step: str) -> bool:
    """Return whether a label is that of some period of a step."""
    first = _first_day(label)
    return first is not None and label == _periods_of(step)(first).label


def _first_day(label: Scalar) -> int | None:
    """Return the first day of the period that a label spells, None if it spells none."""
    try:
        return _period(label)[0]
    except Uncovered:
        return None


def _periods_of(step: str) -> Callable[[int], Bin]:
    """Return the function that finds the bin of a day ordinal for one calendar step."""

    def bin_at(ordinal: int) -> Bin:
        if step == "day":
            return _bin(step, ordinal, ordinal + 1)
        year, month, _ = date_of(ordinal)
        if step == "week":
            first = ordinal - (ordinal - 1) % 7  # day 1 is a Monday
            return _bin(step, first, first + 7)
        if step in _MONTHS:
            size = _MONTHS[step]
            start = (month - 1) // size * size + 1
            after = (year, start + size) if start + size <= 12 else (year + 1, 1)
            return _bin(step, day_of(year, start, 1), day_of(*after, 1))
        size = _YEARS[step]
        return _bin(step, day_of(year // size * size, 1, 1), day_of(year // size * size + size, 1, 1))

    return bin_at


def _bin(step: str, first: int, after: int) -> Bin:
    least, greatest = spell_day(first), spell_day(after - 1)
    labels = {"day": least, "month": least.removesuffix("-01"), "year": least.removesuffix("-01-01")}
    return Bin(first, after, labels.get(step, f"[{least}, {greatest}]"), least, greatest)
