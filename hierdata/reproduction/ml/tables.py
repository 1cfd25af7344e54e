"""Tables 1 and 2 of ML: fuzzy sets of value levels, and the sensitivity levels that follow from them."""

from __future__ import annotations

from fractions import Fraction

from hierdata.domains.membership import value_sets
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import Study

SETS = ("low", "very low", "middle", "very high", "high")
"""The paper's names of A1..A5."""
_GPAS = ("0.8", "1.6", "2.3", "2.7", "3.5", "3.9")
_DEGREES = (
    ("0.4", "0", "0", "0", "0", "0"),
    ("0.2", "0.6", "0", "0", "0", "0"),
    ("0", "0.4", "0.55", "0", "0", "0"),
    ("0", "0", "0.45", "0.95", "0", "0"),
    ("0", "0", "0", "0.025", "0.625", "0.925"),
)


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of ML."""
    found = [[own.degree(Fraction(gpa)) for gpa in _GPAS] for own in value_sets(0, 4)]
    printed = [[Fraction(degree) for degree in row] for row in _DEGREES]
    columns = ("value level", *_GPAS)
    return [
        Exhibit(
            "Table 1",
            "degrees of membership of six GPAs in the five value levels",
            "The domain is 0 to 4; the sets are those of section 3.3.",
            printed=Grid(columns, tuple((name, *row) for name, row in zip(SETS, printed, strict=True))),
            ours=Grid(columns, tuple((name, *row) for name, row in zip(SETS, found, strict=True))),
            differs="" if found == printed else "Some degrees differ.",
            errata=("ML-1",),
        )
    ]
