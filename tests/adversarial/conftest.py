"""A bench that commands are run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adversarial.marked import SEED, Bench


@pytest.fixture
def bench(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("HIERDATA_SEED", SEED.decode())
    return Bench(tmp_path, capfd)
