from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hierdata.judge import Judgement, JudgeRules, Verdict, judge
from hierdata.privacy import KAnonymity
from hierdata.release.report.models import Exact, Promise, StewardReport
from hierdata.release.report.text import describe_verdict, summarize
from hierdata.release.report.wording import describe_judgement, sizes
from tests.report.sample import GPA, GRADE, counts, judgement, steward_report


def verdict(passed: bool = True, judgements: tuple[Judgement, ...] = (), **changed: Any) -> Verdict:
    content = {"records": 600, "classes": 119, "k": 5, "k_raw": 4}
    judged = judge([], JudgeRules((), ()))
    return replace(judged, passed=passed, judgements=judgements, **(content | changed))


def summary(report: StewardReport) -> str:
    return "\n".join(summarize(report))


def verdict_text(told: Verdict) -> str:
    return "\n".join(describe_verdict(told))


def line(text: str, start: str) -> str:
    (only,) = (each for each in text.splitlines() if each.split()[:1] == [start])
    return " ".join(only.split())


def test_a_summary_tells_promised_achieved_and_lost() -> None:
    text = summary(steward_report())
    assert text.splitlines()[0] == "students: This release keeps its promise."
    assert text.splitlines()[1] == "600 of 603 records are published, in 119 classes of 5 to 10."
    assert line(text, "level-alpha-k") == (
        "level-alpha-k k = 5, alpha = 0.8 0.6 0.4 0.2 0.1 held (k = 5, alpha = 0.8 0.4)"
    )
    assert line(text, "k-anonymity") == "k-anonymity k = 5 held (k = 5)"
    assert line(text, "$.courses[*]") == "$.courses[*] 9,000 of 9,100 98.9 %"
    assert line(text, "lm_cost") == (
        "lm_cost total 1,234, per_record 2.047, per_value 0.1235 (lower is better)"
    )
    assert line(text, "3") == "3 records suppressed because fewer than a class were left"
    assert line(text, "warning:") == "warning: $.gpa: the smallest level is never reached"
    assert "0 records" not in text


def test_when_everything_is_published_it_says_all() -> None:
    text = summary(steward_report(counts=counts(suppressed=0).model_copy(update={"smallest_class": 10})))
    assert "all 600 records are published, in 119 classes of 10." in text


def test_a_broken_promise_is_not_to_be_overlooked() -> None:
    broken = Promise.of(KAnonymity(k=5), [judgement(None, held=False, k="1")])
    text = summary(steward_report(passed=False, promises=(broken,)))
    assert "does NOT keep its promise" in text
    assert line(text, "k-anonymity") == "k-anonymity k = 5 FAILED in 2 classes (k = 1)"


def test_columns_are_aligned() -> None:
    lines = summarize(steward_report())
    rows = [row for row in lines if row.startswith(("  k-anonymity", "  level-alpha-k"))]
    assert len({row.index("held") for row in rows}) == 1


def test_a_verdict_that_holds() -> None:
    text = verdict_text(verdict(judgements=(judgement(GPA, k="5", alpha_1="1/3"),)))
    assert text.splitlines()[0] == "The promise holds: 600 records in 119 classes, the smallest of 5."
    assert line(text, "level-alpha-k") == "level-alpha-k $.gpa held (k = 5, alpha = 1/3)"
    assert line(text, "k").endswith(": 4")


def test_the_worst_guess_is_told_at_80_columns() -> None:
    """Whoever releases sees the largest share of a class that one value has, also where every model holds."""
    guesses = {GPA: Fraction(2, 3), GRADE: Fraction(1), "$.pay": Fraction(0), "x" * 70: Fraction(1, 100_000)}
    told = {path: Exact.of(guess) for path, guess in guesses.items()}
    for lines in (
        summarize(steward_report(worst_guess=told)),
        describe_verdict(verdict(judgements=(judgement(GPA, k="5"),), worst_guess=guesses)),
    ):
        (at,) = (number for number, own in enumerate(lines) if own.startswith("Worst guess"))
        section = lines[at : at + 5]
        assert [" ".join(own.split()) for own in section[1:]] == [
            f"66.7 % (2/3) {GPA}",
            f"100 % (1) {GRADE}",
            "0 % (0) $.pay",
            f"0.1 % (1/100000) {'x' * 70}",
        ]
        assert max(map(len, section[:4])) <= 80
        assert [own.index(path) for own, path in zip(section[1:], guesses, strict=True)] == [22] * 4
    assert "Worst guess" not in verdict_text(verdict()), "of nothing"


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
        "k with the exempt fields compared too: 1",
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
