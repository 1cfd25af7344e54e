"""All tables and examples of DR, in the paper's order; it has no figures."""

from __future__ import annotations

from hierdata.reproduction.dr.arguments import both_keys, skewness_example, undefined_cases, worked_example
from hierdata.reproduction.dr.rates import rate_exhibits
from hierdata.reproduction.dr.records import anonymous, closeness, generalization, original
from hierdata.reproduction.exhibit import Exhibit
from hierdata.reproduction.study import Study


def exhibits(study: Study) -> list[Exhibit]:
    """Return the exhibits of DR; they need neither effort nor data."""
    rates = {exhibit.label: exhibit for exhibit in rate_exhibits()}
    before, after = (
        ("Table 5", "Table 6", "Table 7", "Table 8"),
        ("Table 10", "Table 11", "Table 12", "Table 13"),
    )
    return [
        generalization(),
        anonymous(
            "2",
            "a 3-anonymous table of diseases",
            "Three classes of three. Everybody in the first has lung cancer.",
            ("Age*",),
            {"k": 3},
        ),
        anonymous(
            "3",
            "a 3-diverse table of salaries and diseases",
            "Three classes of three, with three different values of each attribute.",
            ("ZIP Code*", "Age*"),
            {"k": 3, "distinct l of Salary": 3, "distinct l of Disease": 3},
        ),
        skewness_example(),
        original(),
        undefined_cases(),
        worked_example(),
        *(rates[label] for label in before),
        *closeness(),
        *(rates[label] for label in after),
        both_keys(),
    ]
