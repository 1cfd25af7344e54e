"""The five papers, each with a function that measures all its numbered tables and figures again."""

from __future__ import annotations

from hierdata.reproduction import dl, dr, le, ml, tc
from hierdata.reproduction.exhibit import Paper

PAPERS: dict[str, Paper] = {
    "ML": Paper(
        "ML",
        "A Multi-Level Privacy-Preserving Approach to Hierarchical Data Based on Fuzzy Set Theory",
        "J. Wang, G. Cai, C. Liu, J. Wu, X. Li, 2018",
        "multilevel-hierarchical.md",
        ml.exhibits,
    ),
    "LE": Paper(
        "LE",
        "(l, e)-Diversity: A Privacy Preserving Model to Resist Semantic Similarity Attack",
        "H. Wang, J. Han, J. Wang, L. Wang; no year printed",
        "semantic-l-e.md",
        le.exhibits,
        uses_adult=True,
    ),
    "DL": Paper(
        "DL",
        "(delta, l)-diversity: Privacy Preservation for Publication Numerical Sensitive Data",
        "M.-R. Zare-Mirakabad, 2012",
        "numeric-delta-l.md",
        dl.exhibits,
        uses_adult=True,
    ),
    "TC": Paper(
        "TC",
        "Reduction of Data Loss and Privacy Disclosure using t-closeness for Multiple Sensitive Attributes",
        "S. Saraswathi, K. Thirukumar; no year printed",
        "t-closeness.md",
        tc.exhibits,
        uses_adult=True,
    ),
    "DR": Paper(
        "DR",
        "The Semantic Discrimination Rate Metric for Privacy Measurements which Questions the Benefit of"
        " T-closeness over L-diversity",
        "L. P. Sondeck, M. Laurent, V. Frey, 2017",
        "discrimination-rate.md",
        dr.exhibits,
    ),
}
"""The papers by their code, in the order of the pages."""
