"""The exhibits of LE: (l, e)-diversity."""

from __future__ import annotations

from hierdata.reproduction.le.tables import exhibits

__all__ = ["exhibits"]
