"""Table 5 of DR: the rates of the keys of its Table 4."""

from __future__ import annotations

from hierdata.pipeline.measure import measure
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import Study

_AGES = (22, 22, 22, 45, 63, 40, 35, 35, 32)
_DISEASES = (
    "colon cancer", "stomach cancer", "lung cancer", "stomach cancer", "diabetes", "aids", "aids", "flu",
    "lung cancer",
)  # fmt: skip
_PRINTED = 0.7


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of DR."""
    rows = [{"age": age, "disease": disease} for age, disease in zip(_AGES, _DISEASES, strict=True)]
    found = round(float(measure(rows, keys=["age"], sensitive="disease").keys[0].rate), 2)
    return [
        Exhibit(
            "Table 5",
            "discrimination rates of the keys of Table 4",
            "The rate of age, with disease as the sensitive attribute.",
            printed=Grid(("key", "rate"), (("age", _PRINTED),)),
            ours=Grid(("key", "rate"), (("age", found),)),
            differs="" if found == _PRINTED else f"The paper prints {_PRINTED}, the formulas give {found}.",
        )
    ]
