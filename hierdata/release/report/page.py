"""The steward's report and the summary for recipients as pages: no script, no request, all text escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from hierdata.ground.escaping import quote
from hierdata.ground.pages import allow_only, read_templates
from hierdata.release.charts import STYLE as CHART_STYLE
from hierdata.release.charts import Chart
from hierdata.release.report.drawings import describe_risk, draw_guesses, draw_kept, list_pictures
from hierdata.release.report.glossary import glossary
from hierdata.release.report.importance import rank_limitations
from hierdata.release.report.models import Outcome, ReleaseFile, StewardReport
from hierdata.release.report.style import STYLE
from hierdata.release.report.tables import list_sections
from hierdata.release.report.wording import (
    count,
    describe_outcome,
    describe_standing,
    kept_share,
    parameters,
    plural,
    share,
    sizes,
    verdict,
)

_ALL_STYLE = STYLE + CHART_STYLE
CONTENT_POLICY = allow_only(_ALL_STYLE)
"""What a page may do: apply its own style, and nothing else."""
MOST_LIMITATIONS = 3
"""Things that are not promised, on the first screen."""


def render_report(report: StewardReport) -> str:
    """Render the page for the person who signs the release: what decides, then pictures, then tables."""
    return _render(
        "report.html",
        report,
        most_important=rank_limitations(report.limitations)[:MOST_LIMITATIONS],
        kept=draw_kept(report),
        guesses=draw_guesses(report),
        risk=describe_risk(report.pictures.class_sizes if report.pictures else {}),
        pictures=list_pictures(report),
        sections=list_sections(report),
        glossary=list(glossary(report)),
    )


def render_summary(release: ReleaseFile) -> str:
    """Render ``public/summary.html`` for recipients, from nothing but release.json."""
    return _render("summary.html", release, guesses=draw_guesses(release))


def _render(template: str, outcome: Outcome, **shown: object) -> str:
    return _environment().get_template(template).render(outcome=outcome, **shown)


def _draw(chart: Chart, name: str) -> Markup:
    """Return a chart; it escapes its texts itself."""
    return Markup(chart.svg(name))  # noqa: S704


@cache
def _environment() -> Environment:
    return read_templates(
        "hierdata.release.report",
        style=Markup(_ALL_STYLE),  # noqa: S704  # our own constant
        content_policy=CONTENT_POLICY,
        draw=_draw,
        quote=quote,
        count=count,
        plural=plural,
        share=share,
        sizes=sizes,
        kept_share=kept_share,
        parameters=parameters,
        verdict=verdict,
        describe_outcome=describe_outcome,
        describe_standing=describe_standing,
    )
