"""The exhibits of ML: multi-level privacy for hierarchical data."""

from __future__ import annotations

from hierdata.reproduction.ml.tables import exhibits

__all__ = ["exhibits"]
