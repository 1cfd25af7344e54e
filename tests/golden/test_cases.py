from __future__ import annotations

from fractions import Fraction

import pytest

from tests.golden.cases import agrees

THIRD = {"exact": "1/3", "value": 1 / 3}


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (THIRD, Fraction(1, 3)),
        (THIRD, 1 / 3 + 1e-10),
        ({"value": 0.7}, Fraction(7, 10)),
        ({"p": THIRD, "q": [True, 2]}, {"p": Fraction(1, 3), "q": (True, 2)}),
    ],
)
def test_agrees(expected, value):
    assert agrees(expected, value)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (THIRD, Fraction(10**12 + 1, 3 * 10**12)),
        (THIRD, 1 / 3 + 1e-8),
        ({"exact": "1", "value": 1.0}, True),
        (1, True),
        ("1/3", Fraction(1, 3)),
        ({"p": THIRD}, {"p": Fraction(1, 3), "q": 1}),
        ([1, 2], [1]),
        ([1], 1),
    ],
)
def test_differs(expected, value):
    assert not agrees(expected, value)
