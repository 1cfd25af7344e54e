"""The page of LE: its worked example against the golden cases, and sentences that follow the numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hierdata.reproduction import (
    exhibits_of_le,
    le_claims,
    le_example,
    le_figures,
    le_formulas,
    le_operations,
    le_trees,
)
from hierdata.reproduction.exhibit import Exhibit, Grid, grid_of, read_printed
from hierdata.reproduction.le_claims import Contrast, Repeats
from hierdata.reproduction.study import synthesize_adult
from tests.golden.cases import Case, agrees, load, printed_figures
from tests.reproduction.studies import small_study

GOLDEN = load("le_diversity.json")
PRINTED = read_printed("LE")


def test_the_data_are_those_of_the_golden_file() -> None:
    assert PRINTED["figure 1"]["variants"] == GOLDEN.inputs["taxonomy_variants"]
    rows = [
        [number, age, sex, int(code), disease]
        for number, age, sex, code, disease in PRINTED["table I"]["rows"]
    ]
    assert rows == GOLDEN.inputs["table_I"]
    for tables, name in (("II", "III"), ("IV", "V")):
        groups = le_example.groups_of(grid_of(PRINTED[f"table {tables}"]))
        assert sorted(map(sorted, groups)) == sorted(
            map(sorted, GOLDEN.inputs[f"grouping_tables_{tables}_{name}"])
        )


def test_the_data_have_the_printed_figures_of_the_golden_file() -> None:
    printed = printed_figures("le_diversity.json")
    distances = dict(PRINTED["figure 1"]["distances"]["rows"])
    assert str(distances["Flu, pneumonia"]) == printed["le.sim.flu.pneumonia"]
    assert str(distances["Flu, Gastritis"]) == printed["le.sim.flu.gastritis"]
    assert str(dict(PRINTED["formula 5"]["rows"])["IL of tuple 1"]) == printed["le.il.t1.true_point_only"]
    rows = {row[2]: row for row in PRINTED["table IV"]["rows"]}
    for number, code in ((6, "13226"), (8, "13482")):
        age, sex, zip_code, _ = rows[code]
        assert {"age": age, "sex": sex, "zip": int(zip_code)} == printed[f"le.tableIV.row.t{number}"]


def parents(taxonomy: str | None = None, taxonomy_inline: Any = None) -> Any:
    return taxonomy_inline or le_formulas.variants()[str(taxonomy)]


def similarity(taxonomy: str, a: str, b: str) -> Any:
    found = le_formulas.distance(parents(taxonomy), a, b)
    assert found == le_formulas.measure_distance(parents(taxonomy), a, b)
    return found


def check(classes: list[list[str]], l: int, e: str, taxonomy: str | None = None, **inline: Any) -> Any:  # noqa: E741
    own = parents(taxonomy, **inline)
    answers = [le_formulas.is_l_e_diverse(own, values, l, Fraction(e)) for values in classes]
    return {"satisfied": all(answers), "per_class": answers}


def degree(measure: Any, name: str) -> Any:
    def of(classes: list[list[str]], taxonomy: str | None = None, taxonomy_inline: Any = None) -> Any:
        own = parents(taxonomy, taxonomy_inline)
        found = [measure(own, values) for values in classes]
        average = sum(found) / len(found)
        assert le_formulas.measure_classes(own, classes, "diversity_degree")[name] == average
        return {"per_class": found, "average": average}

    return of


def mbf_bucket_sizes(bucket_sizes: list[int], l: int) -> Any:  # noqa: E741
    published = le_example.publish_buckets(bucket_sizes, l)
    assert published == le_example.most_publishable(bucket_sizes, l)
    return published


KINDS: dict[str, Any] = {
    "similarity": similarity,
    "le_diversity_check": check,
    "information_loss_tuple": lambda class_values, tuple_value: le_formulas.lose(class_values, tuple_value),
    "information_loss_tuple_true_point_only": lambda class_values, tuple_value: le_formulas.lose(
        class_values, tuple_value, true_point_only=True
    ),
    "diversity_degree": degree(le_formulas.diversity_degree, "as_printed"),
    "mean_pair_distance": degree(le_formulas.mean_pair_distance, "mean_pair_distance"),
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


def test_suppression_is_that_of_the_golden_cases() -> None:
    for case in GOLDEN.by_kind()["mbf_bucket_sizes"]:
        assert mbf_bucket_sizes(**case.input) == case.expected["published"]


def test_a_gap_to_what_is_possible_is_told() -> None:
    most, ours = (Grid(("sizes", "published"), (("2, 1; l = 2", rows),)) for rows in (2, 0))
    assert le_example.describe_gap(most, most) == ""
    assert le_example.describe_gap(most, ours) == "MBF does not publish what is possible for 2, 1; l = 2."


def test_a_union_that_satisfies_the_model_is_not_called_a_failure() -> None:
    found = le_formulas.show_definition()
    assert found.ours is not None
    assert found.ours == found.derived
    assert "The union of groups 1 and 2 of table V fails" in found.differs
    *groups, union = found.ours.rows
    held = tuple("yes" if cell == "no" else cell for cell in union)
    assert "union" not in le_formulas.describe_diversity([*groups, held])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_formulas_give_the_golden_figures(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))


def test_mbf_draws_from_the_printed_buckets() -> None:
    values = [str(row[-1]) for row in le_example.table_i()]
    buckets = le_formulas.find_buckets(le_formulas.variants()["A"], values, Fraction(1))
    (case,) = (case for case in GOLDEN.cases if case.id == "le.buckets.tableI")
    assert [[at + 1 for at in own] for own in buckets] == case.expected
    groups = le_example.publish_example("MBF").groups
    assert sorted(number for own in groups for number in own) == list(range(1, 10))
    assert all(len({number - 1 for number in own} & {*bucket}) == 1 for own in groups for bucket in buckets)


def test_rows_of_table_iv_that_are_not_in_table_i_are_named() -> None:
    sentence = le_example.describe_unknown_rows(grid_of(PRINTED["table IV"]))
    assert sentence == "2 printed rows are not in table I: 36, M, 13226; 53, M, 13482."
    assert le_example.describe_unknown_rows(grid_of(PRINTED["table II"])) == ""


def test_groups_are_compared_as_sets() -> None:
    one, other = [frozenset({1, 2}), frozenset({3, 4})], [frozenset({1, 3}), frozenset({2, 4})]
    assert le_example.describe_other_groups(one, one[::-1]) == ""
    assert "0 of ours are printed ones" in le_example.describe_other_groups(one, other)
    assert "Our groups have 4 tuples" in le_example.describe_other_groups(one, [frozenset({1, 2, 3, 4})])


def contrast(x: int, plain: dict[str, Any], semantic: dict[str, Any]) -> Contrast:
    usual = {"classes": 5, "suppressed": 0, "rows": 100, "loss": 0, "loss_published": 0, "degree": 0}
    usual |= {"mean_distance": 0, "seconds": 1}

    def repeats(own: dict[str, Any]) -> Repeats:
        return Repeats(({name: Fraction(value) for name, value in (usual | own).items()},))

    return Contrast(x, repeats(plain), repeats(semantic))


@pytest.mark.parametrize(
    ("published", "charged", "words"),
    [
        ((1, 2), (1, 2), ("more holds as the paper counts", "With 1 for each suppressed row it holds:")),
        ((2, 1), (1, 2), ("more does not hold as the paper counts", "row it holds: more at 1 of 1 points")),
        ((2, 2), (2, 1), ("equal at 1 of 1 points", "row it does not hold: less at 1 of 1 points")),
    ],
)
def test_the_sentence_on_loss_follows_the_numbers(
    published: tuple[int, int], charged: tuple[int, int], words: tuple[str, ...]
) -> None:
    plain, semantic = (
        {"loss_published": one, "loss": other} for one, other in zip(published, charged, strict=True)
    )
    sentence = le_claims.describe_loss([contrast(4, plain, semantic | {"suppressed": 25})], "n")
    assert all(word in sentence for word in words), sentence
    assert "suppresses 25.0 % of the rows, l-diversity 0.0 %" in sentence


def test_a_claim_that_holds_at_some_points_holds_in_part() -> None:
    found = [contrast(2, {"degree": 1}, {"degree": 2}), contrast(3, {"degree": 2}, {"degree": 1})]
    assert "degree holds in part: higher at 1, lower at 1 of 2 points" in le_claims.describe_degree(
        found, "l"
    )


def test_growth_of_the_degree_is_told_only_where_it_grows() -> None:
    grown = [contrast(2, {"degree": 1}, {"degree": 2}), contrast(3, {"degree": 3}, {"degree": 4})]
    assert "the degree rises under both" in le_claims.describe_degree(grown, "l")
    assert "rises" not in le_claims.describe_degree(grown, "n")
    assert "rises" not in le_claims.describe_degree(grown[::-1], "l")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [((1, 2), "takes longer holds:"), ((2, 1), "takes longer does not hold"), ((20, 21), "equal at 1 of 1")],
)
def test_the_sentence_on_time_follows_the_numbers(seconds: tuple[int, int], words: str) -> None:
    plain, semantic = ({"seconds": own} for own in seconds)
    assert words in le_claims.describe_time([contrast(4, plain, semantic)], "n")


@pytest.mark.parametrize(
    "describe", [le_claims.describe_loss, le_claims.describe_degree, le_claims.describe_time]
)
def test_settings_without_classes_are_told_and_not_compared(describe: Any) -> None:
    lost = contrast(6, {}, {"classes": 0, "suppressed": 100})
    assert describe([lost], "l") == "At l = 6 (l,e)-diversity publishes nothing; that is not compared."
    assert describe([contrast(5, {}, {}), lost], "l").endswith(
        "At l = 6 (l,e)-diversity publishes nothing; that is not compared."
    )


def test_the_experiment_reaches_the_closed_form(tmp_path: Path) -> None:
    """What is suppressed follows from the sizes of the buckets (LE-3)."""
    from tests import naive_mbf

    with small_study(tmp_path, scale=1) as study:
        found = le_figures.measure_setting(study.adult, "MBF", 500, 4, 1)
        education = [str(row["education"]) for row in study.adult.draw(le_figures.COLUMNS, 500, 1)]
    group_of = {
        value: group
        for groups in le_figures.TREE_OF_EDUCATION.values()
        for group, values in groups.items()
        for value in values
    }
    sizes = [sum(group_of[value] == group for value in education) for group in {*group_of.values()}]
    published = naive_mbf.closed_form(sizes, 4)
    assert found["suppressed"] == str(500 - published)
    assert Fraction(found["loss"]) == Fraction(found["loss_published"]) + 500 - published
    assert found["seconds"] >= 0


def test_the_page_has_all_tables_and_figures(tmp_path: Path) -> None:
    with small_study(tmp_path, scale=0.01) as study:
        found = {exhibit.label: exhibit for exhibit in exhibits_of_le(study)}
    numbered = {
        *(f"Table {at}" for at in ("I", "II", "III", "IV", "V", "VI")),
        *(f"Figure {at}" for at in range(1, 8)),
    }
    assert numbered <= {*found}
    assert all(
        isinstance(exhibit, Exhibit) and exhibit.ours
        for label, exhibit in found.items()
        if label != "Table I"
    )
    assert all(found[f"Figure {at}"].charts and found[f"Figure {at}"].differs for at in range(2, 8))
    assert found["Table VI"].differs.endswith("The paper has 32,561 rows, this table 1,000.")
    losses = found["Formulas (2) to (6)"]
    assert losses.derived is not None
    assert losses.derived.rows[1][1] == Fraction(2, 3)
    assert losses.differs.startswith("IL of tuple 1: printed 0.44, computed 2/3.")
    assert found["Figure 1"].derived == found["Figure 1"].ours
    assert "Gastritis, Cancer" in found["Figure 1"].differs
    degrees = found["Formulas (8) to (10)"]
    assert isinstance(degrees.ours, Grid)
    assert degrees.derived == degrees.ours


def test_operations_grow_with_n_as_the_paper_says_and_by_a_heap_less() -> None:
    measured = [(n, m, le_operations._measure(n, m)) for n, m in ((80, 8), (160, 8), (80, 80), (160, 160))]
    assert [(one.classes, own.classes) for _, _, (one, own) in measured] == [
        (n // 4, n // 4) for n in (80, 160, 80, 160)
    ]
    for n, m, (printed, own) in measured:
        assert (m - 1) * n // 4 <= printed.count <= n * m * m  # at least one pass over the buckets a class
        assert n <= own.count <= 5 * n
    fixed, worst = ([own for own in measured if (own[1] == 8) == small] for small in (True, False))
    assert worst[1][2][0].count > 2.5 * worst[0][2][0].count
    assert fixed[1][2][0].count < 2.5 * fixed[0][2][0].count
    told = le_operations.describe_growth(measured)
    assert told.startswith("With m = 8, 2 times the rows take 2.0 times the comparisons as printed")
    lost = [(n, m, (printed, le_operations.Operations(0, 1))) for n, m, (printed, _) in measured]
    assert "another number of classes" in le_operations.describe_growth(lost)


def test_groups_of_both_trees_are_the_buckets_of_the_definition() -> None:
    for tree in le_trees.TREES.values():
        parents = {
            leaf: (below, top) for top, inner in tree.items() for below, own in inner.items() for leaf in own
        }
        for e in le_trees.ES:
            groups = le_trees.find_groups(tree, e)
            assert sorted(leaf for group in groups for leaf in group) == sorted(parents)
            for a in parents:
                for b in parents:
                    apart = 0 if a == b else 1 if parents[a] == parents[b] else 2
                    apart = 3 if parents[a][1] != parents[b][1] else apart
                    assert any({a, b} <= {*group} for group in groups) == (apart <= e)


def test_each_e_on_a_tree_publishes_what_is_possible_and_no_more() -> None:
    adult = synthesize_adult(400)
    for e, l in ((1, 3), (2, 2), (2, 3)):  # noqa: E741
        found: Any = le_trees.measure_similarity(adult, "occupation", "MBF", e, 400, l, 1)
        assert 1 - Fraction(found["suppressed"]) / int(found["rows"]) == Fraction(found["most"])
    nothing: Any = le_trees.measure_similarity(adult, "education", "MBF", 2, 400, 3, 1)
    assert nothing["most"] == nothing["classes"] == "0"
