"""Checks that hold a member of a family to its family's contract, on small made-up collections.

They are for who writes a plug-in, and need no test framework: each returns None, or raises ContractError with
one sentence on what is wrong. hierdata's own tests run them on all built-in members.

>>> from hierdata.privacy import KAnonymity
>>> check_model(KAnonymity(k=3))
"""

from __future__ import annotations

from hierdata.testing.contract import ContractError
from hierdata.testing.domains import check_domain
from hierdata.testing.engines import check_engine
from hierdata.testing.formats import check_format
from hierdata.testing.metrics import check_metric
from hierdata.testing.models import check_model
from hierdata.testing.recodings import check_recoding

__all__ = [
    "ContractError",
    "check_domain",
    "check_engine",
    "check_format",
    "check_metric",
    "check_model",
    "check_recoding",
]
