"""Value domains: what the values of an attribute are, how they generalize, how sensitive they are."""

from __future__ import annotations

from hierdata.domains.base import QuasiDomain
from hierdata.domains.codes import Flat, Prefix
from hierdata.domains.date import Date
from hierdata.domains.interval import Interval
from hierdata.domains.taxonomy import Taxonomy

DOMAINS: dict[str, type[QuasiDomain]] = {
    "taxonomy": Taxonomy,
    "interval": Interval,
    "date": Date,
    "prefix": Prefix,
    "flat": Flat,
}

__all__ = ["DOMAINS", "Date", "Flat", "Interval", "Prefix", "QuasiDomain", "Taxonomy"]
