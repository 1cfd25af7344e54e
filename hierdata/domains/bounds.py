"""Bounds of what a policy states: no number, list or text of it is without a limit.

A policy may come from anybody, so that nothing it states may cost more than the collection does. The limits
are far above what a release needs; the generated schema has them too.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, WithJsonSchema

LARGEST = Decimal("1e100")
"""The largest number, apart from counts."""
MOST_COUNTED = 10**9
"""The largest number of records, values or bins."""
MOST_ENTRIES = 100_000
"""The most values in a list or a map of values; a policy file has no more."""
MOST_PARTS = 1000
"""The most parts of another kind: paths, tables, gates and the like."""
MOST_STEPS = 64
"""The most steps of a hierarchy: each is looked for above every value."""
LONGEST_NAME = 200
MOST_LEVELS = 100
"""The most sensitivity levels, since every class has a share for each."""
MOST_PASSES = 1000
"""The most passes of a search over all that it has found."""
MOST_COMPARED = 10**6
"""The most others that something is compared with at a time."""

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
"""A name that the policy gives, or that of a column."""
Reason = Annotated[str, Field(min_length=1, max_length=4000)]
"""A sentence or more for the reader of the report."""
ShortText = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")]
"""A text that is safe to show in messages: at most 200 characters, no control characters."""
FileName = Annotated[str, Field(min_length=1, max_length=1000)]
"""The name of a file."""
PathName = Annotated[str, Field(max_length=2000)]
"""The path of a field, which is parsed later."""
Spelling = Annotated[str, Field(max_length=10_000)]
"""A value that is written out."""
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_COUNTED)]
"""A whole number, at least 1."""
Level = Annotated[int, Field(ge=1, le=MOST_LEVELS)]
"""A sensitivity level."""
Passes = Annotated[int, Field(strict=True, ge=0, le=MOST_PASSES)]
"""How often something is tried again."""
Compared = Annotated[int, Field(strict=True, ge=1, le=MOST_COMPARED)]
"""With how many others something is compared."""
_ANY_NUMBER = {"minimum": -float(LARGEST), "maximum": float(LARGEST)}
StatedWhole = Annotated[
    int,
    Field(strict=True, ge=-int(LARGEST), le=int(LARGEST)),
    WithJsonSchema({"type": "integer", **_ANY_NUMBER}),
]
"""A whole number that is a value."""
HEAVIEST = Decimal(100)
"""The largest weight."""
StatedWeight = Annotated[
    Decimal,
    Field(ge=0, le=HEAVIEST, decimal_places=2),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": float(HEAVIEST)}),
]
"""What a value is worth, compared with others: two decimals, so that sums are exact."""
StatedDecimal = Annotated[
    Decimal, Field(ge=-LARGEST, le=LARGEST), WithJsonSchema({"type": "number", **_ANY_NUMBER})
]
"""A number that is a value."""
