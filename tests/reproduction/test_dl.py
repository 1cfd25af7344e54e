"""The page of DL: its examples and figure 3 against the golden cases, sentences that follow the numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hierdata.domains.number import exact
from hierdata.reproduction import dl_examples, dl_principles, dl_releases, exhibits_of_dl
from hierdata.reproduction.dl_examples import (
    bound_of_union,
    count_near,
    count_similar,
    largest_l,
    largest_m,
    run_printed_check,
)
from hierdata.reproduction.dl_releases import Releases
from hierdata.reproduction.exhibit import grid_of, read_printed
from tests.golden.cases import Case, agrees, load, printed_figures
from tests.reproduction.studies import small_study

GOLDEN = load("delta_l_diversity.json")
PRINTED = read_printed("DL")


def test_the_data_are_those_of_the_golden_file() -> None:
    classes: dict[str, list[int]] = {}
    for age, code, salary in PRINTED["figure 1"]["rows"]:
        assert code == "11****"
        classes.setdefault(age, []).append(salary)
    assert [{"age": age, "zip": "11****", "salary": own} for age, own in classes.items()] == GOLDEN.inputs[
        "figure_1"
    ]
    assert {name: list(own) for name, own in dl_examples.GROUPS.items()} == GOLDEN.inputs["figure_2"]
    assert [list(own) for own in dl_examples.CLASSES[:2]] == [*GOLDEN.inputs["example_1"].values()]


def test_the_data_have_the_printed_figures_of_the_golden_file() -> None:
    printed = printed_figures("delta_l_diversity.json")
    values = dict(PRINTED["section 1"]["rows"])
    assert str(values["l of distinct l-diversity, the table"]) == printed["dl.fig1.distinct"]
    assert str(values["l of frequency l-diversity, the table"]) == printed["dl.fig1.frequency"]
    assert str(values["probability of a salary in [490, 510], first class"]) == printed["dl.fig1.interval"]
    groups = {row[0]: row[1:] for row in PRINTED["figure 2"]["rows"]}
    for label, case in (("G1, epsilon = 15", "dl.em.E1"), ("G2, epsilon = 15", "dl.em.G2")):
        *counts, best = groups[label]
        shown = zip(("40", "50", "60"), counts, strict=True)
        assert printed[case] == {
            "m": str(best),
            "n": {name: count for name, count in shown if count is not None},
        }
    assert str(groups["G1, delta = 15"][-1]) == printed["dl.dl.example3"]["l"]
    answers = {row[0]: row[-1] for row in PRINTED["example 1"]["rows"]}
    assert [answers["{40, 60}"] == "yes", answers["{40, 50, 60}"] == "yes"] == printed["dl.em.abstract"]
    assert (answers["{40, 50, 60, 80}"] == "yes") == printed["dl.em.40_50_60_80"]["m_at_least_2"]


def with_counts(letter: str, best: Any, count: Any) -> Any:
    def of(values: list[int | str], **width: str) -> Any:
        numbers, (size,) = [exact(value) for value in values], map(Fraction, width.values())
        counts = zip(map(str, values), count(numbers, size), strict=True)
        return {letter: best(numbers, size), "n": dict(counts)}

    return of


def check_union(E1: list[int], E2: list[int], delta: str, l: int) -> Any:  # noqa: E741, N803
    width = Fraction(delta)
    best = [largest_l(own, width) for own in (E1, E2, E1 + E2)]
    assert best == [dl_examples.achieved_l(own, width) for own in (E1, E2, E1 + E2)]
    first, second, union = (one >= l for one in best)
    return {"E1": first, "E2": second, "union": union, "union_l": best[-1]}


def check_procedure(values: list[int], delta: str, l: int) -> Any:  # noqa: E741
    printed = run_printed_check(values, Fraction(delta))
    return {
        "correct": largest_l(values, Fraction(delta)) >= l,
        "printed_procedure": printed is None or printed >= l,
    }


KINDS: dict[str, Any] = {
    "epsilon_m": with_counts("m", largest_m, count_near),
    "delta_l": with_counts("l", largest_l, count_similar),
    "delta_l_union": check_union,
    "delta_l_union_bound": lambda n1, n2, **least: bound_of_union(n1, n2, Fraction(least["l"])),
    "delta_l_decision": check_procedure,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_definitions_give_the_golden_figures(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))


def test_both_principles_are_one_and_the_drawback_stays() -> None:
    counts = {"classes": 100, "definitions": 100, "models": 100, "drawback": 68}
    sentence = dl_principles.describe_identity(counts)
    assert "In all 100 classes" in sentence
    assert "68% of the classes get a larger l by one value less" in sentence
    other = dl_principles.describe_identity(counts | {"models": 98, "drawback": 0})
    assert other.startswith("In 2 of 100 classes l at delta is not m")
    assert other.endswith("No class gets a larger l by one value less.")


def test_the_sentence_on_unions_follows_the_counts() -> None:
    assert dl_principles.describe_unions([Fraction(2)], 100, 0, 0) == ""
    sentence = dl_principles.describe_unions([Fraction(4, 3), Fraction(2)], 100, 25, 0)
    assert "in 1 of 2 examples and in 25 of 100 random pairs (25%); none has less than the bound" in sentence
    assert "3 have less than the bound of DL-2, which is wrong" in dl_principles.describe_unions(
        [], 100, 25, 3
    )


def test_the_sentence_on_the_procedure_follows_the_counts() -> None:
    right = dict.fromkeys(("too_high", "too_low", "accepted", "refused", "windows"), 0)
    assert dl_principles.describe_procedure({1: right, 2: right}, 10) == ""
    wrong = right | {"too_high": 4, "accepted": 3, "windows": 10}
    sentence = dl_principles.describe_procedure({1: right, 2: wrong}, 10)
    assert "Of 20 random classes it gives too large an l in 4 and too small a one in 0" in sentence
    assert "accepts 3 that fail" in sentence
    assert "every class of one record" not in sentence
    alone = dl_principles.describe_procedure({1: right | {"too_high": 10, "accepted": 10}, 2: wrong}, 10)
    assert "It accepts every class of one record." in alone


def test_the_sentence_on_releases_follows_the_runs() -> None:
    run = {"rows": 9, "published": 9, "bound": 9, "loss": 0.0, "same": True}
    found = [Releases(engine, "1", 2, [run]) for engine in dl_releases.COMPARED]
    sentence = dl_releases.describe_releases(found, [run])
    assert (
        "the same classes in 2 of 2 searches and the same records in 1 of 1 judged releases of 9 rows"
        in sentence
    )
    assert "spread in 1 of 1, mondrian in 1 of 1" in sentence
    lost = [found[0], Releases("mondrian", "1", 2, [run | {"published": 8, "same": False}])]
    other = dl_releases.describe_releases(lost, [run | {"same": False}])
    assert "the same classes in 1 of 2 searches and the same records in 0 of 1" in other
    assert "spread in 1 of 1, mondrian in 0 of 1" in other


def test_the_page_has_all_figures_and_says_where_they_differ(tmp_path: Path) -> None:
    with small_study(tmp_path, scale=0.02) as study:
        found = {exhibit.label: exhibit for exhibit in exhibits_of_dl(study)}
    assert {"Figure 1", "Figure 2", "Figure 3", "Example 1", "Definition 5", "Section 6"} <= {*found}
    assert all(exhibit.ours for exhibit in found.values())
    assert found["Figure 1"].printed == grid_of(PRINTED["figure 1"])
    assert found["Figure 1"].differs == found["Example 1"].differs == ""
    assert found["Section 1"].differs.count("computed") == 2
    for label in ("Figure 1", "Figure 2", "Example 1", "Section 1", "Figure 3"):
        assert found[label].derived == found[label].ours
    assert "one principle under two names" in found["Definition 5"].differs
    assert "delta = 15/2 and epsilon = 15 ask the same of both groups" in found["Figure 2"].differs
    assert "It is not monotone" in found["Section 4, monotonicity"].differs
    assert "and refuses 0 that satisfy it" in found["Figure 3"].differs
    section = found["Section 6"]
    assert section.ours is not None
    assert {row[-1] for row in section.ours.rows} == {"yes"}


def test_relative_nearness_is_counted_by_its_definition_and_not_symmetric() -> None:
    found = dl_examples.show_relative()
    assert found.ours == found.derived
    assert found.ours is not None
    assert [row[2:] for row in found.ours.rows][-1] == ("1, 2", 1)
    assert "10 is near 15 and 15 is not near 10" in found.differs
    assert "not symmetric" in found.differs
    assert dl_examples.describe_symmetry(10, 11, Fraction(1, 2)).startswith("10 and 11 are near each other")
