"""Random collections with identifiers at every depth: what is published is looked at by plain code."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.ground.errors import PromiseError
from tests.cases import examples

KEY = bytes(range(7, 47))
SEED = b"a seed of sixteen bytes"
FLAT = {"role": "quasi", "flat": True}
RECODINGS = ["generalization", "sets_and_ranges", "anatomy", "slicing"]
FIELDS: dict[str, Any] = {
    "$.id": {
        "role": "identifier",
        "action": {"pseudonym": {"domain": "all", "length": 20, "identity": True}},
    },
    "$.a": FLAT,
    "$.s": {"role": "sensitive"},
    "$.note": {"role": "free_text", "action": "redact"},
    "$.rows[*].of": {"role": "identifier", "action": {"pseudonym": {"domain": "all", "length": 20}}},
    "$.rows[*].b": FLAT,
    "$.rows[*].text": {"role": "free_text", "action": {"redact": "gone"}, "optional": True},
    "$.map": {"map": True},
    "$.map[*]~": {
        "role": "identifier",
        "action": {"pseudonym": {"domain": "keys", "length": 64}},
        "optional": True,
    },
    "$.map[*]": {"role": "sensitive", "optional": True},
}

KEPT = {
    "role": "identifier",
    "action": {"pseudonym": {"domain": "all", "length": 20, "references": "keep"}},
}


def records_of(rng: Random) -> list[dict[str, Any]]:
    return [
        {
            "id": f"RAW{number}",
            "a": rng.choice("xy"),
            "s": rng.choice("123"),
            **({"note": f"RAWnote{number}"} if rng.random() < 0.7 else {}),
            "rows": [
                {
                    "of": rng.choice([f"RAW{number}", f"RAW{number}-{row}"]),
                    "b": rng.choice("uv"),
                    **({"text": "RAWtext"} if rng.random() < 0.5 else {}),
                }
                for row in range(rng.randint(1, 2))
            ],
            "map": {f"RAWkey{number}-{entry}": rng.randint(0, 2) for entry in range(rng.randint(0, 2))},
        }
        for number in range(rng.randint(6, 14))
    ]


def token(domain: str, value: str, length: int) -> str:
    """The definition, written down once more."""
    own = hmac.new(KEY, f"hierdata/pseudonym\0{domain}".encode(), "sha256").digest()
    return hmac.new(own, value.encode(), "sha256").hexdigest()[:length]


def scalars(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from scalars(inner, (*keys, key))
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner, keys)
    else:
        yield keys, value


@examples(25)
@given(st.integers(0, 10**6), st.sampled_from(RECODINGS))
def test_what_is_published_holds_tokens_and_constants_and_nothing_else(number: int, recoding: str) -> None:
    records = records_of(Random(number))
    models = [{"kind": "k-anonymity", "k": 2}]
    fields = {**FIELDS, "$.rows[*].of": KEPT} if recoding == "anatomy" else FIELDS
    stated = {"version": 1, "models": models, "fields": fields, "recoding": recoding}
    try:
        release = hierdata.anonymize(records, stated, seed=SEED, key=KEY)
    except PromiseError:
        return
    published: list[Any] = list(release.records())
    assert "RAW" not in json.dumps([published, *map(list, map(release.part, release.parts))], default=str)
    found = [pair for record in published for pair in scalars(record)]
    ids = Counter(value for keys, value in found if keys == ("id",))
    assert ids <= Counter(token("all", record["id"], 20) for record in records)
    assert len(ids) == len(published)
    assert Counter(value for keys, value in found if keys == ("rows", "of")) <= Counter(
        token("all", row["of"], 20) for record in records for row in record["rows"]
    )
    assert Counter(value for keys, value in found if keys == ("map", "key")) <= Counter(
        token("keys", key, 64) for record in records for key in record["map"]
    )
    for path, constant in ((("note",), "[removed]"), (("rows", "text"), "gone")):
        quoted = json.dumps(constant)
        allowed = {constant, "*", f"{{{quoted}, null}}", f"{{{constant}, null}}"}
        assert {value for keys, value in found if keys == path} <= allowed
    by_id = {token("all", record["id"], 20): record for record in records}
    for record in published:  # a reference leads where it led
        own = by_id[record["id"]]
        inside = {token("all", row["of"], 20) for row in own["rows"]}
        assert {row["of"] for row in record.get("rows", []) if "of" in row} <= inside
    if recoding != "anatomy":
        assert {value for keys, value in found if keys == ("rows", "of")} <= set(ids)


@pytest.mark.parametrize("recoding", RECODINGS)
def test_who_has_no_note_is_one_of_k(recoding: str) -> None:
    """Presence is generalized where quasi-identifiers are, and published where they are as they are."""
    records = [*records_of(Random(3)), *records_of(Random(4))]
    for number, record in enumerate(records):
        record |= {"id": f"RAW{number}", "rows": [], "map": {}}
    fields = {path: rule for path, rule in FIELDS.items() if path in ("$.id", "$.a", "$.s", "$.note")}
    stated = {
        "version": 1,
        "unlisted": "drop",
        "models": [{"kind": "k-anonymity", "k": 3}],
        "fields": fields,
        "recoding": recoding,
    }
    published: list[Any] = list(hierdata.anonymize(records, stated, seed=SEED, key=KEY).records())
    if recoding != "anatomy":
        forms = Counter((record.get("a"), record.get("note")) for record in published)
        assert min(forms.values()) >= 3
