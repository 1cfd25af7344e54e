from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Numeral, Scalar
from hierdata.documents.scalars import DateTime, Int64, ObjectId
from hierdata.domains.date import Date
from hierdata.domains.interval import Interval
from hierdata.drafting.values import MISSING, Looks, SeenHashes
from hierdata.records.recognition.field_names import hint_of

KEY = b"a key for tests"


def looks(*values: Scalar) -> Looks:
    seen = SeenHashes(KEY)
    seen.hashes(values)
    return seen.looks


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("someone@example.org", "email"),
        ("6f1c2d3e-1111-4222-8333-0123456789ab", "uuid"),
        ("507f1f77bcf86cd799439011", "object_id"),
        ("2001-03-04", "date"),
        ("2001-03-04T10:00:00Z", "date"),
        ("2001-02-30", "other_date"),
        ("04.03.2001", "other_date"),
        ("3/4/01", "other_date"),
        ("192.168.0.17", "ip"),
        ("2001:db8::1", "ip"),
        ("https://example.org/x", "url"),
        ("+49 89 1234567", "phone"),
        ("089/1234567", "phone"),
        ("555-123-4567", "phone"),
        ("20010304", "compact_date"),
        ("200103041030", "compact_date"),
        ("20010304103000+0100", "date"),
        ("20010231", "number"),
        (ObjectId("507f1f77bcf86cd799439011"), "object_id"),
        (ObjectId("507011778888869799439011"), "object_id"),
        (DateTime("2001-03-04T10:00:00Z"), "date"),
        (Int64(17), "number"),
        ("48123", "number"),
        ("-1.5e3", "number"),
        (17, "number"),
        (Decimal("0.5"), "number"),
        (True, "boolean"),
        ("E11.9", "medical"),
        ("ECON204", "code"),
        ("AB-1234", "code"),
        ("type 2 diabetes", "text"),
        ("Prof. ECON-5", "text"),
        ("north", "text"),
    ],
)
def test_formats_are_told_apart(value: Scalar, name: str) -> None:
    assert looks(value).formats == {name: 1}


def test_every_different_value_is_looked_at_however_many_there_are() -> None:
    seen = SeenHashes(KEY)
    seen.hashes([f"2001-01-{1 + day % 28:02}" for day in range(100)])
    seen.hashes([str(number) for number in range(20_000)])
    assert not seen.looks.only("number")
    assert seen.looks.mostly("number")
    assert len(seen) <= 1 << 12


@given(
    st.lists(st.text(max_size=12) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True), min_size=1)
)
def test_what_looks_like_dates_or_numbers_alone_fits_their_domains(values: list[Scalar]) -> None:
    seen = looks(*values)
    observed = dict.fromkeys((value for value in values if value not in MISSING), 1)
    if seen.only("date", "compact_date"):
        Date(steps=("day",)).compile(observed, None)  # type: ignore[arg-type]
    if seen.numeric:
        Interval(steps=(1,)).compile(observed, None)  # type: ignore[arg-type]


def test_equal_numbers_have_equal_hashes_and_texts_others() -> None:
    seen = SeenHashes(KEY)
    same = [1, Decimal("1.0"), Numeral("1e0"), Decimal("10e-1")]
    assert len(set(seen.hashes(same).tolist())) == 1
    others: list[Scalar] = [1, "1", True, False, "True", -1, 10, Decimal("0.1"), 0, None]
    assert len(set(seen.hashes(others).tolist())) == len(others)
    assert set(seen.hashes([None, "", "?", "NA"]).tolist()) == {0}


def test_another_key_makes_other_hashes() -> None:
    assert SeenHashes(KEY).hashes(["a"]) != SeenHashes(b"another").hashes(["a"])


def test_the_spread_passes_over_outermost_numbers() -> None:
    assert 60 < looks(*range(1930, 2010), 9999).spread() < 100
    assert looks(*range(100_000)).spread() == pytest.approx(95_000, rel=0.05)
    assert looks("1e400").spread() == 0


def test_looks_of_two_places_are_those_of_both() -> None:
    first, second = looks("a", "17"), looks("2001-03-04", "*")
    first.merge(second)
    both = looks("a", "17", "2001-03-04", "*")
    assert vars(first) == vars(both)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("name", "reference"),
        ("patient_id", "reference"),
        ("birthDate", "quasi"),
        ("date_of_birth", "quasi"),
        ("PLZ", "postal"),
        ("Diagnoses", "sensitive"),
        ("primary_diagnosis", "sensitive"),
        ("diagnosis_date", "quasi"),
        ("{urn:x}gender", "quasi"),
        ("remarks", "free_text"),
        ("xyz", None),
        ("", None),
    ],
)
def test_names_hint(name: str, hint: str | None) -> None:
    found = hint_of(name)
    assert (None if found is None else found[0]) == hint
