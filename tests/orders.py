"""Releases in one order, to compare formats: records that mean the same are decoded to different content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def order_by_seed() -> Iterator[None]:
    """Let the order of publication depend on the seed alone."""

    def key(seed: bytes, prepared: object, content: bytes) -> bytes:
        return hashlib.sha256(seed).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hierdata.pipeline.anonymize.order_key", key)
        yield
