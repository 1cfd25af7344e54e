"""The domain of a sensitive attribute: codes, values, levels."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hierdata.documents.document import Numeral, Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.levels import Levels
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.records.values import Values

GPA = Levels.model_validate({"domain": [0, 4], "sensitive": "low"}).compile({})
LETTERS = Levels.model_validate({"by": {"A": 1, "B": 2, "E": 5}}).compile({})


def test_a_sensitive_domain_has_a_code_for_each_value_and_its_level() -> None:
    values = Values(["3.9", Decimal("3.90"), 0, None, "9", "x"])
    domain = SensitiveDomain.build("$.gpa", values, GPA)
    assert (domain.values, domain.levels, domain.level_count) == ((0, Decimal("3.9")), (5, 1), 5)
    assert domain.code_of("3.90") == domain.code_of(Numeral("39e-1")) == 1
    for value in ("9", "x", None, True):
        with pytest.raises(Uncovered):
            domain.code_of(value)


def test_codes_do_not_depend_on_the_order_of_the_values() -> None:
    values: list[Scalar] = ["b", 2, "a", Decimal("1.50"), True, "2"]
    domain = SensitiveDomain.build("$.x", Values(values))
    assert domain.values == (Decimal("1.5"), 2, "2", "a", "b", "true")
    assert SensitiveDomain.build("$.x", Values(values[::-1])) == domain
    assert [domain.code_of(value) for value in (2, "2", True)] == [1, 2, 5]
    assert domain.levels is None
    assert SensitiveDomain("$.x", domain.values).code_of("a") == 3


def test_text_is_a_number_where_the_policy_says_so() -> None:
    domain = SensitiveDomain.build("$.x", Values(["1", "1.0", "x"]), None, number=True)
    assert (domain.values, domain.code_of("1.00")) == ((1,), 0)


def test_a_map_leaves_out_the_values_without_a_level() -> None:
    domain = SensitiveDomain.build("$.grade", Values(["A", "Z", "E"]), LETTERS)
    assert (domain.values, domain.levels) == (("A", "E"), (1, 5))
