from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.cli.overview import MOST_LINES, overview
from hierdata.cli.terminal import WIDTH
from hierdata.judge import Judgement, JudgeRules, Verdict, judge
from hierdata.privacy import KAnonymity
from hierdata.release.report.models import StewardReport
from hierdata.release.report.page import render_report
from hierdata.release.report.parts import Exact, GroupIds, KeptShare, KeptShares, Promise, Tally
from hierdata.release.report.text import describe_verdict, list_figures
from hierdata.release.report.wording import describe_judgement, sizes
from tests.report.sample import GPA, GRADE, counts, judgement, steward_report


def verdict(passed: bool = True, judgements: tuple[Judgement, ...] = (), **changed: Any) -> Verdict:
    content = {"records": 600, "classes": 119, "k": 5, "k_raw": 4}
    judged = judge([], JudgeRules((), ()))
    return replace(judged, passed=passed, judgements=judgements, **(content | changed))


OUT = Path("release")


def summary(report: StewardReport) -> str:
    return "\n".join(overview(report, OUT))


def all_figures(report: StewardReport) -> str:
    return "\n".join(list_figures(report))


def verdict_text(told: Verdict) -> str:
    return "\n".join(describe_verdict(told, ["$.ward"], {}))


def line(text: str, start: str) -> str:
    (only,) = (each for each in text.splitlines() if each.split()[:1] == [start])
    return " ".join(only.split())


def test_a_summary_tells_promised_achieved_and_lost() -> None:
    text = all_figures(steward_report())
    assert line(text, "level-alpha-k") == (
        "level-alpha-k k = 5, alpha = 0.8 0.6 0.4 0.2 0.1 held (k = 5, alpha = 0.8 0.4)"
    )
    assert line(text, "k-anonymity") == "k-anonymity k = 5 held (k = 5)"
    assert line(text, "$.courses[*]") == "$.courses[*] 9,000 of 9,100 98.9 %"
    assert line(text, "lm_cost") == (
        "lm_cost total 1,234, per_record 2.047, per_value 0.1235 (lower is better)"
    )
    assert line(text, "3") == "3 records without a class, since fewer than a class were left"
    assert line(text, "warning:") == "warning: $.gpa: the smallest level is never reached"
    assert "0 records" not in text


def test_when_everything_is_published_it_says_all() -> None:
    text = summary(steward_report(counts=counts(suppressed=0).model_copy(update={"smallest_class": 10})))
    assert "All 600 records are published, in 119 classes of 10." in text


def test_a_broken_promise_is_not_to_be_overlooked() -> None:
    broken = Promise.of(KAnonymity(k=5), [judgement(None, held=False, k="1")])
    assert "does NOT keep its promise" in summary(steward_report(passed=False, promises=(broken,)))
    text = all_figures(steward_report(passed=False, promises=(broken,)))
    assert line(text, "k-anonymity") == "k-anonymity k = 5 FAILED in 2 classes (k = 1)"


def test_columns_are_aligned() -> None:
    lines = list_figures(steward_report())
    rows = [row for row in lines if row.startswith(("  k-anonymity", "  level-alpha-k"))]
    assert len({row.index("held") for row in rows}) == 1


def test_a_verdict_that_holds() -> None:
    text = verdict_text(verdict(judgements=(judgement(GPA, k="5", alpha_1="1/3"),)))
    assert text.splitlines()[0] == "The promise holds: 600 records in 119 classes, the smallest of 5."
    assert line(text, "level-alpha-k") == "level-alpha-k $.gpa held (k = 5, alpha = 1/3)"
    assert line(text, "k").endswith(": 4")


def test_the_worst_guess_is_told_at_80_columns() -> None:
    """Whoever releases sees the largest share of a group that one value has, also where every model holds."""
    guesses = {GPA: Fraction(2, 3), GRADE: Fraction(1), "$.pay": Fraction(0), "x" * 70: Fraction(1, 100_000)}
    told = {path: Exact.of(guess) for path, guess in guesses.items()}
    for lines in (
        list_figures(steward_report(worst_guess=told)),
        describe_verdict(verdict(judgements=(judgement(GPA, k="5"),), worst_guess=guesses), [], {}),
    ):
        (at,) = (number for number, own in enumerate(lines) if own.startswith("Worst guess"))
        section = [own.removesuffix("no model limits it").rstrip() for own in lines[at : at + 5]]
        assert sorted(" ".join(own.split()) for own in section[1:]) == sorted(
            [
                f"66.7 % (2/3) {GPA}",
                f"100 % (1) {GRADE}",
                "0 % (0) $.pay",
                f"0.1 % (1/100000) {'x' * 70}",
            ]
        )
        assert max(len(own) for own in section if "xxx" not in own) <= 80
        assert [own.index(path) for path in guesses for own in section[1:] if path in own] == [22] * 4
    assert "Worst guess" not in verdict_text(verdict()), "of nothing"


def test_a_verdict_names_fields_by_their_labels() -> None:
    """A label stands where the path stood, alone in a cell or in a sentence; what has none keeps its path."""
    labels = {GPA: "grade point average", "$.ward": "ward of the stay", "$.id": "patient number"}
    judged = (
        judgement(GPA, held=False, k="5"),
        Judgement("level-alpha-k", GRADE, None, reason=f"the values at {GPA} have no level"),
    )
    told = verdict(
        False,
        judged,
        worst_guess={GPA: Fraction(1, 2), GRADE: Fraction(1, 3)},
        forbidden={"$.id": 3},
        k_exempt=2,
    )
    text = "\n".join(describe_verdict(told, ["$.ward"], labels))
    assert not [path for path in labels if path in text]
    assert text.count('"grade point average"') == 3
    assert 'compared too ("ward of the stay"): 2' in text
    assert '"patient number": must not be published and occurs 3 times' in text
    assert text.count(GRADE) == 2


def test_a_guess_that_nothing_was_promised_of_is_told_as_such() -> None:
    guesses = {GPA: Fraction(2, 3), GRADE: Fraction(1)}
    told = verdict_text(verdict(judgements=(judgement(GPA, k="5"),), worst_guess=guesses))
    assert [GPA in own for own in told.splitlines() if own.endswith("no model limits it")] == [False]
    whole = Judgement("bounded-knowledge", None, True, {"k": Fraction(5), "alpha": Fraction(1, 2)})
    assert "no model limits it" not in verdict_text(verdict(judgements=(whole,), worst_guess=guesses))


def test_a_verdict_that_fails_gives_every_reason() -> None:
    judged = (
        judgement(GPA, held=False, k="5"),
        Judgement("level-alpha-k", GRADE, None, reason="values without a level: 2"),
        Judgement("k-anonymity", None, True, {"k": Fraction(5)}),
    )
    text = verdict_text(
        verdict(
            False,
            judged,
            k_exempt=1,
            forbidden={"$.id": 1},
            malformed=2,
            not_judged=("alpha-k",),
        )
    )
    assert text.splitlines()[0].startswith("The promise does NOT hold:")
    for fact in (
        "FAILED in 2 classes (k = 5)",
        "not judged: values without a level: 2",
        "whole records",
        "k with the exempt fields compared too ($.ward): 1",
        "$.id: must not be published and occurs 1 time",
        "2 documents are not as the recoding writes them.",
        "not judged, its facts are missing: alpha-k",
    ):
        assert fact in text


def test_groups_of_persons_and_a_promise_about_nothing() -> None:
    grouped = steward_report().model_copy(update={"recoding": "anatomy"})
    assert "groups of" in sizes(grouped)
    assert sizes(grouped).endswith(" persons")
    silent = grouped.promises[0].model_copy(update={"held": True, "achieved": {}})
    assert describe_judgement(silent) == "no value is published that it could judge"


def test_an_overview_says_what_a_signer_needs_in_18_lines() -> None:
    guesses = {GPA: Exact.of(Fraction(1, 2)), GRADE: Exact.of(Fraction(2, 3))}
    half = KeptShare(kept=Exact.of(Fraction(1, 2)), attainable=Exact.of(Fraction(3, 4)))
    kept = KeptShares(total=half, vertices={"$": half, "$.courses[*].books[*]": half})
    lines = overview(steward_report(worst_guess=guesses, kept=kept), OUT)
    text = re.sub(r"\n  (?=[a-z])", " ", "\n".join(lines))
    assert lines[0] == "students: This release keeps its promise."
    assert "Every record looks like at least 4 others" in text
    for said in (
        "Given out: 600 of 603 records are published, in 119 classes of 5 to 10.",
        "Finding a person: Every record looks like at least 4 others",
        "Learning about a person: Someone who finds the records that look like a person's can guess",
        "Kept of the input: 50.0 % of at most 75.0 %",
        f"{'█' * 10}{'░' * 10}  50.0 %  600 of 603 published",
        "  $.courses[*]           9,000 of 9,100 published",
        f"In no group do more than 66.7 % have the same value at {GRADE}.",
        "Not promised: 6 things, listed in the report.",
        "Next: read the report (1 warning) before you give anything out.",
        "Report: release/steward/report.html",
        "To give out: release/public",
    ):
        assert said in text


def test_an_overview_is_short_whatever_is_told() -> None:
    """Names of any length, more types than fit, and promises of any number: what is left out is counted."""
    paths = [f"$.{'deep.' * depth}{'x' * 50}[*].y" for depth in range(12)]
    tally = Tally(input=10**9, published=10**9 - 1, suppressed=1)
    many = counts().model_copy(update={"vertices": dict.fromkeys(paths, tally)})
    told = dict.fromkeys(paths, Exact.of(Fraction(1, 3)))
    ids = GroupIds(k=1, worst_guess=told)
    long = steward_report().promises[1]
    for promised in (1, 2, 40):
        report = steward_report(
            dataset='a" k = 50 held' * 30,
            counts=many,
            worst_guess=told,
            group_ids=ids,
            promises=tuple(
                long.model_copy(update={"statement": f"{long.statement} It is {at}."})
                for at in range(promised)
            ),
            warnings=("w",) * 1000,
        )
        lines = overview(report, OUT)
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= WIDTH
        assert "and 9 more vertex types" in "\n".join(lines)
        assert not [own for own in lines if own.strip().startswith("k = 50")]
    assert "more sentences in the report" in " ".join(" ".join(lines).split())


def test_a_field_of_which_nothing_is_published_is_on_the_first_screen() -> None:
    half, none = (KeptShare(kept=Exact.of(Fraction(n, 2)), attainable=Exact.of(Fraction(1))) for n in (1, 0))
    kept = KeptShares(total=half, fields={"$.a": half, GPA: none, GRADE: none})
    assert f"50.0 %; nothing of {GPA} and 1 other; least of $.a (50.0 %)." in summary(
        steward_report(kept=kept)
    )
    page = render_report(steward_report(kept=kept))
    assert f"Nothing is kept of {GPA}, {GRADE}." in page.partition("Contents")[0]
    assert "nothing of" not in summary(steward_report(kept=KeptShares(total=half, fields={GPA: half})))


def test_what_is_cut_from_a_promise_is_counted() -> None:
    long = steward_report().promises[0].model_copy(update={"statement": "A b c. " * 400 + "End."})
    text = summary(steward_report(promises=(long,)))
    words = " ".join(text.split())
    told, rest = re.search(r"((?:A b c\. )+)\(The promise goes on: (\d+) more", words).groups()  # type: ignore[union-attr]
    assert told.count("A b c.") + int(rest) == 401


def test_a_verdict_is_short_and_shows_all_that_fails() -> None:
    paths = [f"$.a{at}" for at in range(20)]
    held = [judgement(path, k="5") for path in paths]
    failing = [judgement(path, held=False, k="1") for path in paths[:7]]
    guesses = {path: Fraction(1, at + 1) for at, path in enumerate(paths)}
    text = verdict_text(verdict(judgements=(*held, *failing), worst_guess=guesses))
    assert text.count("FAILED") == 7
    assert "and 20 more that hold: --json has them all" in text
    assert text.index("100 %") < text.index("50.0 %")
    assert "and 15 more that are not larger" in text
    assert verdict_text(verdict(judgements=tuple(held))).count("held") == 5
