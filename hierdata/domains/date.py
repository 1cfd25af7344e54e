"""Dates, generalized to periods: ``date: {steps: [day, month, year, decade]}``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from hierdata.document import Scalar
from hierdata.domains.base import Hierarchy, Observed, QuasiDomain, Uncovered, finder, grouped
from hierdata.domains.bins import Bin, line

_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_YEARS = {"year": 1, "decade": 10, "century": 100}
_MONTHS = {"month": 1, "quarter": 3}
_ORDER = ("day", "week", "month", "quarter", "year", "decade", "century")


class Date(QuasiDomain):
    """Calendar periods around each day, and above them the root.

    A value is ISO text; a time of day and a time zone are cut off, and the day as written is what counts.
    Months are spelled ``2001-03``, years ``2001``, other periods by their first and last day, ``[2001-01-01,
    2001-03-31]``. Weeks begin on Monday. LM' is (last - first day) / (latest - earliest day of the
    collection), at most 1.

    >>> days = Date(steps=["day", "month", "year"]).compile({"2001-03-04": 1, "2001-03-09T10:00Z": 1}, Path())
    >>> days.labels[days.join(days.node_of("2001-03-04"), days.node_of("2001-03-09T10:00Z"))]
    '2001-03'
    """

    steps: tuple[Literal["day", "week", "month", "quarter", "year", "decade", "century"], ...]

    @model_validator(mode="after")
    def _ascending(self) -> Date:
        places = [_ORDER.index(step) for step in self.steps]
        if not places or any(a >= b for a, b in pairwise(places)):
            raise ValueError(f"steps must be some of {', '.join(_ORDER)}, in this order")
        return self

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """The hierarchy over the observed days."""
        ordinals = sorted(grouped(observed, _day))
        built = line(
            [(ordinal, date.fromordinal(ordinal).isoformat()) for ordinal in ordinals],
            [_periods_of(step) for step in reversed(self.steps) if step != "day"],
            span=ordinals[-1] - ordinals[0] if ordinals else 0,
            closed=True,
        )
        nodes = {ordinal: node for node, ordinal in enumerate(ordinals, built.axis.first)}

        node_of = finder(nodes, _day, built.missing)
        codebook = {"kind": "date", "steps": list(self.steps)}
        return Hierarchy(built.labels, built.ancestors, built.lm, node_of, codebook, axis=built.axis)


def _day(value: Scalar) -> int:
    """The ordinal of the value's day. Raises Uncovered."""
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Uncovered
    try:
        return date.fromisoformat(match[1]).toordinal()
    except ValueError:
        raise Uncovered from None


def _periods_of(step: str) -> Callable[[int], Bin]:
    """The bins of one calendar step over ordinals of days."""

    def bin_at(ordinal: int) -> Bin:
        day = date.fromordinal(ordinal)
        if step == "week":
            first = max(ordinal - day.weekday(), date.min.toordinal())
            last = min(ordinal - day.weekday() + 6, date.max.toordinal())
        elif step in _MONTHS:
            size = _MONTHS[step]
            month = (day.month - 1) // size * size + 1
            first = date(day.year, month, 1).toordinal()
            last = _before_month(day.year, month + size)
        else:
            size = _YEARS[step]
            year = day.year // size * size
            first = date(max(year, 1), 1, 1).toordinal()
            last = date(min(year + size - 1, date.max.year), 12, 31).toordinal()
        return Bin(first, last + 1, _label(step, date.fromordinal(first), date.fromordinal(last)))

    return bin_at


def _before_month(year: int, month: int) -> int:
    """The ordinal of the day before a month begins; month 13 is the next January."""
    if month == 13:
        return date(year, 12, 31).toordinal()
    return (date(year, month, 1) - timedelta(days=1)).toordinal()


def _label(step: str, first: date, last: date) -> str:
    if step == "month":
        return first.isoformat()[:7]
    if step == "year":
        return first.isoformat()[:4]
    return f"[{first.isoformat()}, {last.isoformat()}]"
