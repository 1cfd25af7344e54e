"""What somebody may know of a record, seen from one of its vertices, and how vertices are weighted."""

from __future__ import annotations

from typing import Literal, TypeAlias

KeyForm: TypeAlias = Literal["own", "ancestors", "record"]
"""The published quasi-identifiers of the vertex itself; those and its ancestors'; all that is published of
the record beside sensitive values: its class and the place in it, identical siblings pooled."""

Weight: TypeAlias = Literal["vertex", "person"]
"""Each vertex counts 1; or each person does, split over their published vertices of the type."""
