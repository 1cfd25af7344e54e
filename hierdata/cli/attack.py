"""``hierdata attack``: run an adversary against a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AsJson, FormatName, KeyFd, Quiet, Reveal, Root, key_for, with_format
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say, show

if TYPE_CHECKING:
    from hierdata.measurement.adversary.attack import Candidates
    from hierdata.measurement.risks.rates import MeasuredRisk
    from hierdata.pipeline.attack import Attack


_LEGEND = (
    "candidates: the published records that agree with the most of what is known",
    "prior: how often the most frequent value is right for these victims",
    "right: how often the most frequent value among the candidates is",
    "surest: the largest share of one value among the candidates of a victim",
)

ReleaseFolder = Annotated[
    str | None, typer.Argument(metavar="[RELEASE]", help="The folder of a release, or a file of its records.")
]

ControlFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Individuals who are not in the release; by default those of the policy's control.",
    ),
]

DataFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Instead of a release: records of any origin, such as those of a synthesizer."
    ),
]

OtherRelease = Annotated[
    str | None,
    typer.Option(
        "--with", metavar="RELEASE", help="Another release of the same fields: who is found by both together."
    ),
]

PersonPath = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The value of the original that says whose a record is; then persons are counted.",
    ),
]

KnownCounts = Annotated[
    bool, typer.Option("--counts", help="The adversary also knows how many vertices of each type there are.")
]

KnownAbsences = Annotated[
    bool, typer.Option("--negative", help="The adversary also knows as many values that the victim lacks.")
]

DrawNumber = Annotated[
    int, typer.Option(min=0, max=2**31 - 1, help="Another number draws other victims and facts.")
]


def attack(
    *,
    published: ReleaseFolder = None,
    original: Annotated[str, typer.Option(help="The input it was made from.")],
    policy: Annotated[Path, typer.Option(help="Its policy.")],
    control: ControlFile = None,
    data: DataFile = None,
    other: OtherRelease = None,
    facts: Annotated[
        int, typer.Option(min=1, max=8, help="The most facts that an adversary knows of a victim.")
    ] = 3,
    victims: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="The number of victims, and of attacks of each sort.")
    ] = 1000,
    counts: KnownCounts = False,
    negative: KnownAbsences = False,
    draw: DrawNumber = 1,
    person: PersonPath = None,
    key_fd: KeyFd = None,
    root: Root = None,
    as_format: FormatName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    reveal: Reveal = None,
) -> None:
    """Print who can be singled out of a release and linked, and what can be inferred, beside a control.

    An adversary knows the quasi-identifiers of the root of each victim and some facts below it, and looks for
    the published records that agree. Beside it: the same against the input with its identifiers dropped only.
    """
    with session(as_json, reveal):
        from hierdata.ground.errors import PolicyError
        from hierdata.pipeline.attack import attack as run

        if (published is None) == (data is None):
            raise PolicyError("name a RELEASE, or other records by --data, one of them")
        loaded = with_format(policy, as_format, root)
        with Feedback(quiet or as_json) as feedback:
            outcome = run(
                published if data is None else data,
                loaded,
                original=original,
                control=control,
                as_data=data is not None,
                other=other,
                facts=facts,
                victims=victims,
                counts=counts,
                negative=negative,
                draw=draw,
                person=person,
                key=key_for(loaded, key_fd),
                progress=feedback.listener,
            )
        if as_json:
            print_json(outcome.as_dict())
        else:
            _show(outcome)


def _show(attack: Attack) -> None:
    from hierdata.release.report.wording import plural

    facts = f"0 to {plural(attack.facts, 'fact')}"
    known = ["all quasi-identifiers of the root", f"{facts} below it"]
    if attack.by_facts:
        known = [f"{facts} at the root or below it"]
    known += ["which is one record of each victim"] if attack.persons is not None else []
    known += ["the number of vertices of each type"] if attack.counts else []
    known += ["as many values that the person lacks"] if attack.negative else []
    whose = "" if attack.persons is None else f"{plural(attack.persons, 'person')} with "
    say(f"{plural(attack.victims, 'victim')} of {whose}{plural(attack.records, 'record')}; known of each:")
    say(*(f"- {line}" for line in known))
    for title, candidates in (
        ("Candidates in the release", attack.release.candidates),
        ("Candidates in both releases", attack.both or ()),
        ("Candidates if only identifiers were dropped", attack.identifiers_dropped.candidates),
    ):
        headings = ["facts", "smallest", "median", f"below {attack.least}", "unique", "none"]
        if candidates:
            show(title, headings, [_candidates_row(row) for row in candidates])
    for count in (0, attack.facts):
        rows = _guess_rows(attack, count)
        if rows:
            headings = ["attribute", "prior", "right", "surest", "dropped", "surest"]
            show(f"Best guesses with {plural(count, 'fact')}", headings, rows)
    say(*_LEGEND)
    if attack.both is not None:
        say("in both: candidates that are linked to one in the other release, where they are fewer")
    if attack.persons is not None:
        say("with --person, candidates are the persons who have such records")
    _show_risks(attack)


_RISK_HEADINGS = ("facts", "right", "wrong", "none", "chance", "control", "risk", "95 %")
_RISK_LEGEND = (
    "right, wrong: attacks whose guess was; none: no clue, so no guess",
    "chance: the share of guesses at random that were right",
    "control: the share of right attacks on persons who are not in the release",
    "risk: right of all attacks, r; with a control (r - control) / (1 - control)",
)


def _show_risks(attack: Attack) -> None:
    tables: dict[str, list[MeasuredRisk]] = {}
    for risk in attack.risks:
        name = risk.risk.replace("_", " ").capitalize()
        tables.setdefault(f"{name} by {risk.by}" if risk.on is None else f"{name} of {risk.on}", []).append(
            risk
        )
    for title, risks in tables.items():
        show(title, _RISK_HEADINGS, [_risk_row(risk) for risk in risks])
    say(*_RISK_LEGEND)
    if attack.isolation is not None:
        c, chance = attack.isolation
        say(f"yardstick: a guess isolates one of the smallest class, {c}, in {_percent(chance)}")
    for line in attack.not_measured:
        say(f"not measured: {line}")


def _risk_row(risk: MeasuredRisk) -> list[str]:
    rates = (risk.baseline_rate, risk.control_rate)
    low, high = risk.ci
    return [
        str(risk.facts),
        str(risk.n_success),
        str(risk.n_wrong),
        str(risk.n_refused),
        *("-" if rate is None else _percent(rate.value) for rate in rates),
        _percent(risk.value),
        f"{100 * low:.1f} to {100 * high:.1f}",
    ]


def _candidates_row(row: Candidates) -> list[str]:
    shares = (_percent(share) for share in (row.below, row.unique, row.none))
    return [str(row.facts), str(row.smallest), f"{row.median:g}", *shares]


def _guess_rows(attack: Attack, count: int) -> list[list[str]]:
    pairs = zip(attack.release.guesses, attack.identifiers_dropped.guesses, strict=True)
    return [
        [guess.path, *map(_percent, (guess.prior, guess.right, guess.surest, other.right, other.surest))]
        for guess, other in pairs
        if guess.facts == count and guess.asked
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
