"""The tables and figures of LE, on (l,e)-diversity."""

from __future__ import annotations

from hierdata.reproduction.exhibit import Exhibit
from hierdata.reproduction.le.example import show_l_diverse, show_l_e_diverse
from hierdata.reproduction.le.figures import show_figures, show_table_vi
from hierdata.reproduction.le.judged import show_definition, show_formulas
from hierdata.reproduction.le.suppression import show_suppression
from hierdata.reproduction.le.tree import show_tree_of_diseases
from hierdata.reproduction.study import Study


def exhibits(study: Study) -> list[Exhibit]:
    """Return all exhibits of LE, in the order of the paper."""
    return [
        *show_l_diverse(),
        show_tree_of_diseases(),
        show_definition(),
        *show_l_e_diverse(),
        show_suppression(),
        *show_formulas(),
        show_table_vi(study),
        *show_figures(study),
    ]
