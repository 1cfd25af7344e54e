"""The exhibits of TC: t-closeness for several sensitive attributes."""

from __future__ import annotations

from hierdata.reproduction.tc.tables import exhibits

__all__ = ["exhibits"]
