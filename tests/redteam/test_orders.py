"""Nothing in a release tells the order of its input."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import hierdata
from tests.bytes_source import BytesSource

SEED = b"sixteen bytes or"
SPELLED_ALIKE = ("1", '"1"', "1E+2", "1e2", '"1E+2"', "true", '"True"', '"None"')


@pytest.mark.parametrize("recoding", ["generalization", "representatives"])
def test_siblings_that_look_alike_do_not_keep_their_order(recoding: str) -> None:
    policy: dict[str, Any] = {
        "version": 1,
        "recoding": recoding,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].cost": {"role": "sensitive"},
        },
    }
    found = set()
    for order in list(permutations(SPELLED_ALIKE))[::4999]:
        visits = ",".join(f'{{"ward":"w","cost":{cost}}}' for cost in order)
        source = BytesSource(f'[{{"visits":[{visits}]}},{{"visits":[{visits}]}}]'.encode(), "in.json")
        release = hierdata.anonymize(source, policy, seed=SEED)
        found.add((release.folder / "public" / "records.json").read_bytes())
    assert len(found) == 1
