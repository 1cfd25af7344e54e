"""The example of definition 2 of LE: how far apart two diseases are."""

from __future__ import annotations

from hierdata.domains.similarity import distance
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import Study

_PATHS = {"flu": (0, 1, 2, 3), "pneumonia": (0, 1, 2, 4), "gastritis": (0, 5, 6, 7)}
_PRINTED = {("flu", "pneumonia"): 1, ("flu", "gastritis"): 3}


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of LE."""
    found = {pair: distance(_PATHS[pair[0]], _PATHS[pair[1]]) for pair in _PRINTED}
    columns = ("values", "half the path")
    return [
        Exhibit(
            "Definition 2, example",
            "similarity of diseases",
            "Half the number of edges between two values of the tree of diseases.",
            printed=Grid(columns, tuple((" and ".join(pair), value) for pair, value in _PRINTED.items())),
            ours=Grid(columns, tuple((" and ".join(pair), value) for pair, value in found.items())),
            differs="" if found == _PRINTED else "The distances differ.",
            errata=("LE-1",),
        )
    ]
