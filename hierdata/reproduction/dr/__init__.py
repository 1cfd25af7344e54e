"""The exhibits of DR: the semantic discrimination rate."""

from __future__ import annotations

from hierdata.reproduction.dr.tables import exhibits

__all__ = ["exhibits"]
