"""The exhibits of ML: multi-level privacy for hierarchical data."""

from __future__ import annotations

from hierdata.reproduction.exhibit import Exhibit
from hierdata.reproduction.ml import drawings, figures, tables
from hierdata.reproduction.study import Study


def exhibits(study: Study) -> list[Exhibit]:
    """Return Tables 1 and 2 and Figures 1 to 7, in the order of the paper."""
    return [
        *drawings.figure_1(),
        drawings.figure_2(),
        tables.table_1(),
        tables.figure_3(),
        tables.table_2(),
        drawings.figure_4(),
        *figures.exhibits(study),
    ]
