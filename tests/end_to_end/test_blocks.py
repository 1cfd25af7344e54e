"""What is published does not depend on how many records are made at once."""

from __future__ import annotations

from typing import Any

import pytest

import hierdata
from tests.recodings_of_trees import TREE_RECODINGS

PEOPLE = [
    {"city": "Ghent", "ill": "ab"[at % 2], "notes": [{"text": f"n{at}"}] if at < 4 else []}
    for at in range(12)
]
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "$.city": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.notes[*].text": {"role": "insensitive", "exempt": "numbers of the notes"},
    },
}


@pytest.mark.parametrize("recoding", TREE_RECODINGS)
def test_a_type_may_have_no_vertices_among_the_records_of_a_block(
    recoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = {**POLICY, "recoding": recoding}
    seed = b"0123456789abcdef"
    whole = hierdata.anonymize(PEOPLE, policy, seed=seed)
    monkeypatch.setattr("hierdata.release.recodings.base._BLOCK", 1)
    one_by_one = hierdata.anonymize(PEOPLE, policy, seed=seed)
    for part in whole.parts:
        assert list(one_by_one.part(part)) == list(whole.part(part))
