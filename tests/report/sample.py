"""A report of a release, small enough to read."""

from __future__ import annotations

from fractions import Fraction

from hierdata.judge.rules import Judgement
from hierdata.metrics.base import Figure
from hierdata.privacy import KAnonymity, LevelAlphaK
from hierdata.release.report.models import ReleaseFile, StewardReport
from hierdata.release.report.parts import (
    Counts,
    Exact,
    LevelRow,
    LevelTable,
    MembershipRow,
    Promise,
    PublicCounts,
    PublicGate,
    Tally,
    costs,
    figures,
)
from hierdata.release.report.sentences import limitations

GRADE = "$.courses[*].grade"
GPA = "$.gpa"


def judgement(path: str | None, held: bool | None = True, **achieved: str) -> Judgement:
    letters = {letter: Fraction(value) for letter, value in achieved.items()}
    return Judgement("level-alpha-k", path, held, letters, failing_classes=0 if held else 2)


def promises() -> tuple[Promise, ...]:
    by_level = LevelAlphaK(k=5)
    return (
        Promise.of(KAnonymity(k=5), [Judgement("k-anonymity", None, True, {"k": Fraction(5)})]),
        Promise.of(
            by_level,
            [
                judgement(GPA, k="5", alpha_1="4/5", alpha_2="1/5"),
                judgement(GRADE, k="6", alpha_1="1/2", alpha_2="2/5"),
            ],
        ),
    )


def lm_cost() -> tuple[Figure, ...]:
    return (
        Figure("total", Fraction(2469, 2), "quasi-identifier values", 0, 10_000, "lower"),
        Figure("per_record", Fraction(823, 402), "quasi-identifier values", 0, None, "lower"),
        Figure("per_value", Fraction(2469, 20_000), "share", 0, 1, "lower"),
    )


def counts(suppressed: int = 3) -> Counts:
    return Counts(
        records=Tally(input=600 + suppressed, published=600, suppressed=suppressed),
        empty_records=0,
        vertices={
            "$": Tally(input=600 + suppressed, published=600, suppressed=suppressed),
            "$.courses[*]": Tally(input=9100, published=9000, suppressed=100),
            "$.courses[*].books[*]": Tally(input=4, published=0, suppressed=4),
        },
        classes=119,
        smallest_class=5,
        largest_class=10,
        k_raw=5,
        k_exempt=None,
    )


def grade_levels() -> LevelTable:
    return LevelTable(
        levels=(
            LevelRow(level=1, count=60, share=Exact.of(Fraction(3, 5)), capacity=4),
            LevelRow(level=2, count=40, share=Exact.of(Fraction(2, 5)), capacity=None),
        ),
        breakpoints=("5/3",),
        memberships=(MembershipRow(at="5/3", level=2, degrees=(0.5, 0.5)),),
    )


def steward_report(**changed: object) -> StewardReport:
    content: dict[str, object] = {
        "version": "0.1.0",
        "dataset": "students",
        "recoding": "generalization",
        "format": "json",
        "files": ({"name": "records.json", "sha256": "0" * 64},),
        "passed": True,
        "class_size": 5,
        "promises": promises(),
        "counts": counts(),
        "metrics": figures({"lm_cost": lm_cost()}),
        "loss_exact": True,
        "limitations": limitations([LevelAlphaK(k=5)], "generalization", {}),
        "fields": {"$.id": "dropped", GRADE: "sensitive: published, protected within classes"},
        "costs": costs({"pair_losses": 12_345, "records_left_over": 3, "records_lost_at_closing": 0}),
        "levels": {GRADE: grade_levels()},
        "reasons": {},
        "warnings": ("$.gpa: the smallest level is never reached",),
    }
    return StewardReport(**(content | changed))  # type: ignore[arg-type]


def release_file() -> ReleaseFile:
    gate = PublicGate(
        name=None,
        metric="lm_cost",
        figure="per_value",
        operator="<=",
        limit=Exact.of(Fraction(4, 5)),
        passed=True,
        attacker=None,
        keys=None,
        semantic=False,
        weight=None,
        reason=None,
    )
    own = counts()
    return ReleaseFile(
        version="0.1.0",
        dataset="students",
        recoding="generalization",
        format="json",
        files=({"name": "records.json", "sha256": "0" * 64},),  # type: ignore[arg-type]
        passed=True,
        promises=promises(),
        limitations=limitations([LevelAlphaK(k=5)], "generalization", {}),
        counts=PublicCounts(
            records=own.records.published,
            classes=own.classes,
            smallest_class=own.smallest_class,
            largest_class=own.largest_class,
            k_raw=own.k_raw,
            k_exempt=own.k_exempt,
        ),
        metrics=figures({"published_lm_cost": lm_cost()}),
        gates=(gate,),
    )
