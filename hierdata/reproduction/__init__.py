"""The five papers, each with a function that measures all its numbered tables and figures again."""

from __future__ import annotations

from hierdata.reproduction import (
    dl_examples,
    dl_principles,
    dl_releases,
    dr_rates,
    dr_tables,
    le_example,
    le_figures,
    le_formulas,
    le_operations,
    le_trees,
    ml_attacker,
    ml_clustering,
    ml_drawings,
    ml_figures,
    ml_tables,
    tc_census,
    tc_suppression,
    tc_swarm,
    tc_tables,
)
from hierdata.reproduction.exhibit import Exhibit, Paper
from hierdata.reproduction.study import Study


def exhibits_of_ml(study: Study) -> list[Exhibit]:
    """Return all exhibits of ML, in the order of the paper."""
    return [
        *ml_drawings.figure_1(),
        ml_attacker.show_attack_model(),
        ml_drawings.figure_2(),
        ml_tables.table_1(),
        ml_tables.figure_3(),
        ml_tables.table_2(),
        ml_drawings.figure_4(),
        ml_clustering.show_algorithm_2(),
        *ml_figures.exhibits(study),
    ]


def exhibits_of_le(study: Study) -> list[Exhibit]:
    """Return all exhibits of LE, in the order of the paper."""
    return [
        *le_example.show_l_diverse(),
        le_formulas.show_tree_of_diseases(),
        le_formulas.show_definition(),
        *le_example.show_l_e_diverse(),
        le_example.show_suppression(),
        le_operations.show_operations(),
        *le_formulas.show_formulas(),
        le_figures.show_table_vi(study),
        *le_figures.show_figures(study),
        le_trees.show_trees(study),
    ]


def exhibits_of_dl(study: Study) -> list[Exhibit]:
    """Return all exhibits of DL, in the order of the paper."""
    return [
        *dl_examples.show_examples(),
        dl_principles.show_identity(study),
        dl_principles.show_monotonicity(study),
        dl_principles.show_procedure(study),
        dl_releases.show_releases(study),
    ]


def exhibits_of_tc(study: Study) -> list[Exhibit]:
    """Return all exhibits of TC, in the order of the paper; section 5 comes last."""
    sloms, closeness, suppression, *results = tc_census.chain_exhibits(study)
    return [
        tc_tables.inference(),
        tc_tables.table_one(),
        tc_tables.table_two(),
        sloms,
        closeness,
        tc_tables.trace(),
        tc_tables.hierarchy(),
        tc_swarm.swarm(study),
        tc_tables.additional_loss(),
        suppression,
        tc_suppression.show_suppression_over_l(study),
        *results,
    ]


def exhibits_of_dr(study: Study) -> list[Exhibit]:
    """Return all exhibits of DR, in the order of the paper; none needs effort or data."""
    rates = dr_rates.rate_exhibits()
    return [
        dr_tables.generalization(),
        *dr_tables.anonymous_tables(),
        dr_tables.skewness_example(),
        dr_tables.original(),
        dr_tables.undefined_cases(),
        dr_tables.worked_example(),
        *rates[:4],  # tables 5 to 8
        *dr_tables.closeness(),
        *rates[4:],  # tables 10 to 13
        dr_tables.both_keys(),
    ]


PAPERS: dict[str, Paper] = {
    "ML": Paper(
        "ML",
        "A Multi-Level Privacy-Preserving Approach to Hierarchical Data Based on Fuzzy Set Theory",
        "J. Wang, G. Cai, C. Liu, J. Wu, X. Li, 2018",
        "multilevel-hierarchical.md",
        exhibits_of_ml,
    ),
    "LE": Paper(
        "LE",
        "(l, e)-Diversity: A Privacy Preserving Model to Resist Semantic Similarity Attack",
        "H. Wang, J. Han, J. Wang, L. Wang; no year printed",
        "semantic-l-e.md",
        exhibits_of_le,
        uses_adult=True,
    ),
    "DL": Paper(
        "DL",
        "(delta, l)-diversity: Privacy Preservation for Publication Numerical Sensitive Data",
        "M.-R. Zare-Mirakabad, 2012",
        "numeric-delta-l.md",
        exhibits_of_dl,
        uses_adult=True,
    ),
    "TC": Paper(
        "TC",
        "Reduction of Data Loss and Privacy Disclosure using t-closeness for Multiple Sensitive Attributes",
        "S. Saraswathi, K. Thirukumar; no year printed",
        "t-closeness.md",
        exhibits_of_tc,
        uses_adult=True,
    ),
    "DR": Paper(
        "DR",
        "The Semantic Discrimination Rate Metric for Privacy Measurements which Questions the Benefit of"
        " T-closeness over L-diversity",
        "L. P. Sondeck, M. Laurent, V. Frey, 2017",
        "discrimination-rate.md",
        exhibits_of_dr,
    ),
}
"""The papers by their code, in the order of the pages."""
