"""Records given as Python objects, and exact JSON text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from hierdata.documents.formats.objects import dumps_exact, from_python
from hierdata.errors import InputError


def cyclic() -> list[object]:
    inner: list[object] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "infinite"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1e401"), "exponent"),
        pytest.param(10**4300, "4300", id="long"),
        (date(7319, 1, 1), "type date"),
        (b"7319", "type bytes"),
        ({7319: 1}, "key has the type int"),
        ("7319\ud800", "surrogate"),
        (cyclic(), "64 deep"),
    ],
)
def test_what_no_reader_would_accept_is_refused_by_type(value: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        from_python({"a": [value]}, record=3)
    assert caught.value.record == 3
    assert "7319" not in str(caught.value)


def test_a_record_is_a_dict() -> None:
    with pytest.raises(InputError, match="type list"):
        from_python([{"a": 1}])


def test_floats_become_the_decimals_that_they_print() -> None:
    class Loud(float):
        def __repr__(self) -> str:
            return "loud"

    assert from_python({"a": 0.1, "b": 1e22, "c": Loud(2.5)}) == {
        "a": Decimal("0.1"),
        "b": Decimal("1e22"),
        "c": Decimal("2.5"),
    }


def test_types_without_a_spelling_in_json_are_not_written() -> None:
    for value in (0.5, Decimal("Infinity"), object()):
        with pytest.raises(InputError, match="cannot be written"):
            dumps_exact({"a": value})  # type: ignore[dict-item]
