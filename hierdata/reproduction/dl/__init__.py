"""The tables and figures of DL, on (delta,l)-diversity."""

from __future__ import annotations

from hierdata.reproduction.dl.examples import show_examples
from hierdata.reproduction.dl.open_question import show_releases
from hierdata.reproduction.dl.principles import show_identity, show_monotonicity, show_procedure
from hierdata.reproduction.exhibit import Exhibit
from hierdata.reproduction.study import Study


def exhibits(study: Study) -> list[Exhibit]:
    """Return all exhibits of DL, in the order of the paper."""
    return [
        *show_examples(),
        show_identity(study),
        show_monotonicity(study),
        show_procedure(study),
        show_releases(study),
    ]
