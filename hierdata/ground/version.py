"""The version of the build, which release files name."""

from __future__ import annotations

__version__ = "0.1.0"
