"""The recodings, by the name that a policy gives them."""

from __future__ import annotations

from hierdata.ground import plugins
from hierdata.ground.recodings import traits_of
from hierdata.release.recodings.base import Recoding
from hierdata.release.recodings.generalization import FullDomainRecoding, Generalization
from hierdata.release.recodings.groups import Anatomy, Slicing, SlicingByTable
from hierdata.release.recodings.representatives import Representatives
from hierdata.release.recodings.sets_and_ranges import SetsAndRanges

RECODINGS: dict[str, type[Recoding]] = {
    "generalization": Generalization,
    "representatives": Representatives,
    "full_domain": FullDomainRecoding,
    "sets_and_ranges": SetsAndRanges,
    "anatomy": Anatomy,
    "slicing": Slicing,
    "slicing_by_table": SlicingByTable,
}

__all__ = ["RECODINGS", "Recoding", "recoding_named"]


def recoding_named(name: str) -> type[Recoding]:
    """Return the recoding of a name that a policy gives: built in, or of another distribution.

    Raises PolicyError for one that cannot be imported or has no valid traits, KeyError for an unknown name.
    """
    if name in RECODINGS:
        return RECODINGS[name]
    recoding: type[Recoding] = plugins.load("recodings", name, Recoding)  # type: ignore[type-abstract]
    traits_of(name)
    return recoding
