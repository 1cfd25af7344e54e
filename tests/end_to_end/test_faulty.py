"""The faults that tests inject are reached, whatever an executor's work is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from hierdata.executors.processes import Serial
from tests.end_to_end.faulty import SECRET, disturb


class Pairing:
    """A task that makes a piece of each value."""

    def __call__(self, value: int) -> list[tuple[int, int]]:
        return [(0, value)]


def test_a_fault_is_reached_in_each_kind_of_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "reached"
    disturb("raise", Pairing.__name__, marker, monkeypatch.setattr)
    with Serial(folder=tmp_path) as executor:
        held = executor.hold([1, 2, 3])
        assert list(held.map(str).collect()) == ["1", "2", "3"]
        assert not marker.exists()
        with pytest.raises(ValueError, match=SECRET):
            held.map(Pairing())
        marker.unlink()
        for bins in (1, 2):
            with pytest.raises(ValueError, match=SECRET):
                held.exchange(Pairing(), bins)
            marker.unlink()
