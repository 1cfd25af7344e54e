"""Substitutes: tokens of the form of their values, a permutation of each form, refused where a form tells."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path
from string import digits
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import HierdataError
from hierdata.records.identifiers.base import RefusedValueError
from hierdata.records.identifiers.substitute import Substitution, count_texts, find_form
from tests.cases import for_each

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
SEED = bytes(32)
FIELDS: dict[str, Any] = {
    "$.card": {"role": "identifier", "action": {"pseudonym": {"form": "keep"}}},
    "$.town": {"role": "quasi", "flat": True},
}
POLICY: dict[str, Any] = {"version": 1, "models": [{"kind": "k-anonymity", "k": 3}], "fields": FIELDS}


def people(count: int = 8) -> list[dict[str, Any]]:
    return [
        {"card": f"AB-{104_923 * (at + 1) % 1_000_000:06}/x", "town": "ab"[at % 2]} for at in range(count)
    ]


@for_each("form", ["00", "0a", "A0-", "0.0/", "a", "0"])
def test_each_form_is_permuted(form: str) -> None:
    """Small domains in full: every text has one token, of its form, and every token is used once."""
    alphabets = {"0": digits, "a": "abcdefghijklmnopqrstuvwxyz", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    texts = ["".join(one) for one in product(*(alphabets.get(place, place) for place in form))]
    assert len(texts) == count_texts(texts[0])
    for key in (KEY, OTHER):
        own = Substitution(key, least=1)
        tokens = [own.substitute(text) for text in texts]
        assert sorted(tokens) == sorted(texts)
        assert {find_form(token) for token in tokens} == {form}
        if len(texts) > 99:
            assert tokens != texts


def test_tokens_look_drawn() -> None:
    """Neighbours go far apart, each digit occurs about as often, and few texts stay as they are."""
    own = Substitution(KEY)
    tokens = [own.substitute(f"{number:07}") for number in range(2_000)]
    assert len(set(tokens)) == 2_000
    for place in range(7):
        counts = [sum(token[place] == digit for token in tokens) for digit in digits]
        assert min(counts) > 120
        assert max(counts) < 290
    assert sum(token == f"{number:07}" for number, token in enumerate(tokens)) <= 2
    leaps = [abs(int(one) - int(other)) for one, other in pairwise(tokens)]
    assert sum(leap < 100_000 for leap in leaps) < 500


def test_one_token_by_key_and_text() -> None:
    """It does not change between runs: releases of one key can be joined."""
    assert Substitution(KEY).substitute("AB-104923/x") == Substitution(KEY).substitute("AB-104923/x")
    assert Substitution(KEY).substitute("AB-104923/x") != Substitution(OTHER).substitute("AB-104923/x")
    long = "7" * 256
    assert find_form(Substitution(KEY).substitute(long)) == "0" * 256


@for_each(
    "text, reason",
    [
        ("99999", "fewer than 1,000,000 texts"),
        ("Z-12", "fewer than 1,000,000 texts"),
        ("", "fewer than 1,000,000 texts"),
        ("M\u00fcller-1234567", "other than A to Z"),
        ("\u0661234567890", "other than A to Z"),
        ("1" * 257, "at most 256 characters"),
    ],
)
def test_what_could_be_tried_or_would_stay_is_refused(text: str, reason: str) -> None:
    """The reason never quotes the value."""
    with pytest.raises(RefusedValueError, match=reason) as refused:
        Substitution(KEY).substitute(text)
    assert not text or text not in str(refused.value)


def test_a_release_keeps_forms_and_says_that_the_key_undoes_it(tmp_path: Path) -> None:
    """Only verify with the original and the key tells tokens from values."""
    records = people()
    release = hierdata.anonymize(records, POLICY, seed=SEED, key=KEY, out=tmp_path / "out")
    cards = [row["card"] for row in release.records()]
    assert {find_form(card) for card in cards} == {"AA-000000/a"}
    assert set(cards).isdisjoint(row["card"] for row in people())
    said = json.loads((Path(release) / "public" / "release.json").read_text(encoding="utf-8"))["limitations"]
    assert any("Whoever has the key can turn them back" in sentence for sentence in said)
    assert hierdata.verify(release, POLICY, original=people(), key=KEY).passed
    with pytest.raises(HierdataError):
        hierdata.verify(release, POLICY, original=people(), key=OTHER)
    with pytest.raises(HierdataError, match="there is no key"):
        hierdata.verify(release, POLICY, original=people())
    shown = {row["card"] for row in people()}
    raw = [{**row, "card": card} for row, card in zip(release.records(), sorted(shown), strict=True)]
    assert hierdata.verify(raw, POLICY).passed
    with pytest.raises(HierdataError):
        hierdata.verify(
            raw, POLICY, original=people(), key=KEY, witness=Path(release) / "steward" / "witness.bin"
        )


def test_a_form_of_few_persons_is_refused() -> None:
    """The form itself would tell who it is; counts are told, and no value."""
    records = [*people(), {"card": "XYZ-99-1234567", "town": "a"}]
    with pytest.raises(HierdataError, match="1 form of values is that of fewer than 3 records") as refused:
        hierdata.anonymize(records, POLICY, seed=SEED, key=KEY)
    assert "XYZ" not in str(refused.value)


def test_a_substitute_has_no_length_of_its_own() -> None:
    """It is as long as its value."""
    action = {"pseudonym": {"form": "keep", "length": 20}}
    fields = {**FIELDS, "$.card": {"role": "identifier", "action": action}}
    with pytest.raises(HierdataError, match="leave `length` out"):
        hierdata.anonymize(people(), {**POLICY, "fields": fields}, seed=SEED, key=KEY)
