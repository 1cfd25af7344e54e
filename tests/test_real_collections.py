"""A small part of each real collection beside the repository, released under the policy of its benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hierdata
from tests.benchmarks.real_collections import COLLECTIONS, Collection

SERIAL = hierdata.Resources("serial")
K = 3
SEEDS = range(3)
FEW = {"ccda_xml": 40}
"""Of the summaries fewer than of the others: each has 1,500 elements."""


def some(own: Collection, folder: Path) -> tuple[Path, int]:
    """An input of the first records, and their number."""
    if not own.is_there():
        pytest.skip(f"{own.name} does not lie beside the repository")
    records = FEW.get(own.name, 200)
    return own.input(folder, records), records


@pytest.mark.parametrize("own", COLLECTIONS.values(), ids=COLLECTIONS)
def test_a_part_is_released_and_verified(own: Collection, tmp_path: Path) -> None:
    source, records = some(own, tmp_path)
    policy = own.policy(models=[{"kind": "k-anonymity", "k": K}])
    release = hierdata.anonymize(source, policy, seed=bytes(16), resources=SERIAL)
    counts = release.report.counts
    assert counts.records.input == records
    assert counts.records.suppressed < K, "k-anonymity suppresses no more than those left over"
    assert counts.smallest_class >= K
    assert 0 < release.report.metrics["lm_cost"].per_value < 1
    folder = release.save(tmp_path / "release")
    assert hierdata.verify(folder, policy, resources=SERIAL).passed
    assert json.loads((folder / "public" / "release.json").read_text("utf-8"))["passed"] is True


@pytest.mark.parametrize("own", [one for one in COLLECTIONS.values() if one.name not in FEW], ids=str)
def test_less_is_lost_than_by_the_published_algorithm(own: Collection, tmp_path: Path) -> None:
    """Under the models of the policy; the published algorithm draws its seeds, so it has three turns."""
    source, _ = some(own, tmp_path)

    def lost(seed: int, **more: Any) -> float:
        policy, drawn = own.policy(**more), bytes([seed]) * 16
        report = hierdata.anonymize(source, policy, seed=drawn, resources=SERIAL).report
        return report.metrics["lm_cost"].per_value

    published = [lost(seed, engine={"preset": own.preset}) for seed in SEEDS]
    assert lost(0) < 0.95 * sum(published) / len(published)
