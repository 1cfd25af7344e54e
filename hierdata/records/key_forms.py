"""What an attacker may know of a record, seen from one of its vertices, and how vertices are weighted."""

from __future__ import annotations

from typing import Literal, TypeAlias

KeyForm: TypeAlias = Literal["own", "ancestors", "record"]
"""The published quasi-identifiers of the vertex itself; those and its ancestors'; or all that is published of
the record except sensitive values: its class and the vertex in it, identical siblings pooled."""

Weight: TypeAlias = Literal["vertex", "person"]
"""Each vertex counts 1; or each person counts 1, split over their published vertices of the type."""
