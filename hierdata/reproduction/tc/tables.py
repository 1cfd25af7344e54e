"""The worked example of TC: how far a class is from its table."""

from __future__ import annotations

from fractions import Fraction

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import TCloseness
from hierdata.privacy.base import ClassView
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import Study

_DISEASES = ("SARS", "pneumonia", "bronchitis", "intestinal cancer", "gastric flu", "gastric ulcer")
_PATHS = ((0, 1, 2), (0, 1, 3), (0, 1, 4), (0, 5, 6), (0, 5, 7), (0, 5, 8))
_HEIGHTS = (2, 1, 0, 0, 0, 1, 0, 0, 0)
_PRINTED = Fraction(1, 2)


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of TC."""
    domain = SensitiveDomain("$.disease", _DISEASES, paths=_PATHS, reference=(1,) * 6, heights=_HEIGHTS)
    model = TCloseness.model_validate({"t": 1, "distance": "hierarchical"})
    found = model.bind(domain).achieved_parameters(ClassView(3, {0: 1, 1: 1, 2: 1}))["t"]
    columns = ("class", "distance")
    return [
        Exhibit(
            "Table II, first class",
            "distance of the class from the table",
            "The earth mover's distance by the tree of diseases.",
            printed=Grid(columns, (("1, 3, 4", _PRINTED),)),
            ours=Grid(columns, (("1, 3, 4", found),)),
            differs="" if found == _PRINTED else f"The paper prints {_PRINTED}, we get {found}.",
            errata=("TC-2",),
        )
    ]
