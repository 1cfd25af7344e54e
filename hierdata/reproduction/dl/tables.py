"""Example 2 of DL: how many values of a class are near another."""

from __future__ import annotations

from fractions import Fraction

from hierdata.domains.proximity import Neighbourhoods
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import Study

_VALUES = (40, 50, 60)
_PRINTED = (2, 3, 2)


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of DL."""
    near = Neighbourhoods.absolute(_VALUES, Fraction(15)).reach
    found = tuple(last - first + 1 for first, last in near)
    columns = ("value", "values within 15")
    return [
        Exhibit(
            "Example 2",
            "values within epsilon = 15 in the class 40, 50, 60",
            "The number of values of the class in the interval around each.",
            printed=Grid(columns, tuple(zip(map(str, _VALUES), _PRINTED, strict=True))),
            ours=Grid(columns, tuple(zip(map(str, _VALUES), found, strict=True))),
            differs="" if found == _PRINTED else "The counts differ.",
        )
    ]
