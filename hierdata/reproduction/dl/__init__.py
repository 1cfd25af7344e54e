"""The exhibits of DL: (delta, l)-diversity."""

from __future__ import annotations

from hierdata.reproduction.dl.tables import exhibits

__all__ = ["exhibits"]
