"""The exhibits of TC: t-closeness for several sensitive attributes."""

from __future__ import annotations

from hierdata.reproduction.exhibit import Exhibit
from hierdata.reproduction.study import Study
from hierdata.reproduction.tc.census import chain_exhibits
from hierdata.reproduction.tc.equations import additional_loss, hierarchy, trace
from hierdata.reproduction.tc.swarm import swarm
from hierdata.reproduction.tc.tables import table_one, table_two


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of TC, in the paper's order; section 5 comes last."""
    sloms, closeness, suppression, *results = chain_exhibits(study)
    return [
        table_one(),
        table_two(),
        sloms,
        closeness,
        trace(),
        hierarchy(),
        swarm(study),
        additional_loss(),
        suppression,
        *results,
    ]


__all__ = ["exhibits"]
