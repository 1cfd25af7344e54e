"""Checks of a family member against the contract of its family, on small generated collections.

They are for authors of plug-ins and need no test framework: each returns None, or raises ContractError with
one sentence that says what is wrong. hierdata's own tests run them on all built-in members.

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
