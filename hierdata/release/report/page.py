"""The steward's report and the summary for recipients as pages: no script, no request, all text escaped.

Also the glossary: a definition of each term, for readers who did not write the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from hierdata.ground.escaping import quote
from hierdata.ground.pages import allow_only, read_templates
from hierdata.release.charts import STYLE as CHART_STYLE
from hierdata.release.report import wording
from hierdata.release.report.drawings import describe_risk, draw_kept, list_pictures
from hierdata.release.report.knowledge import KNOWLEDGE, MORE_MAY_FIND
from hierdata.release.report.models import Outcome, ReleaseFile, StewardReport
from hierdata.release.report.names import Names
from hierdata.release.report.plain import split_plain
from hierdata.release.report.sentences import advise_recipients, limitations, suppression_sentences
from hierdata.release.report.style import STYLE
from hierdata.release.report.tables import list_sections, tabulate_fineness

CONTENT_POLICY = allow_only(STYLE + CHART_STYLE)
"""What a page may do: apply its own style, and nothing else."""
MOST_LIMITATIONS, MOST_FIELDS = 3, 4
"""Things that are not promised, and fields that lost most, on the first screen."""


class Signature(NamedTuple):
    """Who signed a release, when (an ISO date), to whom it is given, and for what purpose."""

    name: str
    date: str
    recipient: str
    purpose: str


def read_styled(package: str, style: str = "", **names: object) -> Environment:
    """Return the templates of a package for pages in our style, to which ``style`` is added, with charts."""
    whole = STYLE + CHART_STYLE + style
    return read_templates(
        package,
        style=Markup(whole),  # noqa: S704  # our own constants
        content_policy=allow_only(whole),
        draw=lambda chart, name: Markup(chart.svg(name)),  # noqa: S704  # it escapes its texts itself
        **names,
    )


def render_report(report: StewardReport, signature: Signature | None = None) -> str:
    """Render the page for the person who signs the release: what decides, then pictures, then tables.

    With a ``signature`` it is a signed copy; without one there are lines to write on.
    """
    return _render(
        "report.html",
        report,
        signature=signature,
        most_important=rank_limitations(report.limitations)[:MOST_LIMITATIONS],
        kept=draw_kept(report),
        guesses=wording.list_guesses(report),
        risk=describe_risk(report),
        unlimited=" and ".join(wording.list_unlimited(report)),
        nothing=[path for path, kept in wording.least_kept(report) if not kept],
        least=[pair for pair in wording.least_kept(report) if pair[1]][:MOST_FIELDS],
        pictures=list_pictures(report),
        sections=list_sections(report),
        glossary=list(glossary(report)),
    )


def render_summary(release: ReleaseFile) -> str:
    """Render ``public/summary.html`` for recipients, from nothing but release.json."""
    return _render(
        "summary.html",
        release,
        guesses=wording.list_guesses(release),
        unlimited=" and ".join(wording.list_unlimited(release)),
        advice=advise_recipients(
            release.recoding,
            every_record=wording.least_that_fit(release) is not None,
            coarser=any(values.coarser or values.any for values in release.fineness.values()),
            sensitive=bool(release.worst_guess),
        ),
        fineness=tabulate_fineness(release),
    )


def _render(template: str, outcome: Outcome, **shown: object) -> str:
    names = Names.of(outcome)
    return _environment().get_template(template).render(outcome=outcome, names=names, **shown)


_WORDS_OF_TEMPLATES = (
    "describe_outcome", "describe_standing", "kept_share", "list_findings", "list_learnings", "plural",
    "share", "sizes", "state_unlimited", "verdict",
)  # fmt: skip


@cache
def _environment() -> Environment:
    return read_styled(
        "hierdata.release.report",
        quote=quote,
        split_plain=split_plain,
        **{name: getattr(wording, name) for name in _WORDS_OF_TEMPLATES},
    )


WORDS = {
    "record": "All that is known of one individual: a tree of vertices.",
    "vertex": "An object of a record: the record itself, one of its courses, a book of that course.",
    "vertex type": "All vertices at one path ($ is the record itself); only these are ever compared.",
    "quasi-identifier": "A field by which somebody could be recognised, alone or with others.",
    "sensitive attribute": "A field whose value must not be learned about a person.",
    "class": "Published records that are equal in structure and in all quasi-identifiers; with recoding "
    "anatomy a group; under bounded knowledge the records with equal values of the record itself.",
    "group": "With recoding anatomy or slicing: vertices of one type, each of another person, that share "
    "their sensitive values, so that nobody can tell whose is which. With slicing_by_table each sensitive "
    "table has groups of its own.",
    "sensitive table": "With both kinds of slicing: a file with the values of some sensitive attributes by "
    "group; nothing ties a row of one to a row of another.",
    "place": "A vertex of a class, with those that cannot be told from it; under bounded knowledge all "
    "vertices of a type.",
    "worst guess": "The largest share of the records of a class that show one value anywhere: how sure a "
    "reader can be, who finds the class of a person, that the person has that value. Where the release does "
    "not tie values to records, the largest share that could.",
    "generalize": "To publish a broader category, an interval or a period for a value; * is any value.",
    "suppress": "To leave a vertex, with everything below it, or a whole record out of what is published.",
    "sensitivity level": "How sensitive a value is, from 1 (least) upwards, as the policy says.",
    "exempt": "A field that is published as it stands, outside the promise, for a reason the policy gives.",
    "gate": "A limit on a figure of the release: where it is not kept, nothing is published.",
}


def glossary(report: StewardReport) -> Iterator[tuple[str, str]]:
    """Return the terms of a report, the letters of its models, and its metrics, each with its meaning."""
    from hierdata.ground.plugins import find
    from hierdata.metrics import metric_named
    from hierdata.privacy import MODELS, model_named

    yield from WORDS.items()
    for kind in dict.fromkeys(promise.kind for promise in report.promises):
        known = kind in MODELS or find("models", kind) is not None
        for letter, meaning in model_named(kind).letters.items() if known else ():
            yield f"{letter}, of {kind}", f"{meaning[0].upper()}{meaning[1:]}."
    for name in report.metrics:
        yield name, metric_named(name).explanation
    for name in dict.fromkeys(risk for risks in report.attackers.values() for risk in risks):
        yield name, metric_named(name).explanation


_STANDARD = limitations([], "generalization", {})
_OTHER_RELEASES = _STANDARD[3]
_READERS = (_STANDARD[0], *KNOWLEDGE, MORE_MAY_FIND)
_GIVEN_UP = (
    suppression_sentences(judged=True, guarded=False, each_type=False)[0],
    suppression_sentences(judged=True, guarded=False, each_type=True)[0],
    "is published as it stands",
    "Group ids may single out",
    "Values keep the spelling",
    "In some group of this release all persons",
)
"""What a policy chose not to protect, or what a group gives away, or the words that say so."""


def rank_limitations(stated: Sequence[str]) -> tuple[str, ...]:
    """Return limitations with the most important first.

    First comes what the policy chose not to protect (the suppressed, exempt fields, group ids, spellings)
    and what groups give away, then what readers may not know already, what the form of the release tells, and
    other releases; then the rest. The form is the second sentence (see ``limitations``).
    """

    def rank(position: int) -> int:
        if any(words in stated[position] for words in _GIVEN_UP):
            return 0
        if any(words in stated[position] for words in _READERS):
            return 1
        return 3 if stated[position] == _OTHER_RELEASES else 2 if position == 1 else 4

    return tuple(stated[position] for position in sorted(range(len(stated)), key=rank))
