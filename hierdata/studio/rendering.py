"""Templates filled in: the frame of all pages, charts, style, what is said after an action."""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from hierdata.ground.errors import HierdataError
from hierdata.ground.pages import read_templates
from hierdata.release.charts import STYLE as CHART_STYLE
from hierdata.release.report.style import STYLE
from hierdata.release.report.wording import count, plural, share
from hierdata.studio.guard import TOKEN_HEADER, Secrets
from hierdata.studio.page import Ask, Page
from hierdata.studio.texts import read_catalogue, say
from hierdata.studio.work import WorkState


class Renderer:
    """Makes pages of one studio."""

    def __init__(self, known: Secrets) -> None:
        self._known = known

    @cached_property
    def style(self) -> str:
        """The style of all pages: that of the report and of charts, and what only the studio has."""
        studio_style = files(__package__).joinpath("static", "studio.css").read_text("utf-8")
        return STYLE + CHART_STYLE + studio_style

    @cached_property
    def _templates(self) -> Environment:
        return read_templates(
            "hierdata.studio",
            say=say,
            base=self._known.base,
            token=self._known.header,
            token_header=TOKEN_HEADER,
            draw=lambda chart, name: Markup(chart.svg(name)),  # noqa: S704  # it escapes its texts itself
            count=count,
            plural=plural,
            share=share,
        )

    def page(self, page: Page, ask: Ask, *, said: str = "", error: str = "", code: int = 200) -> Response:
        """Return a page; ``said`` names a text about what was just done, ``error`` is a sentence."""
        from hierdata.studio.pages import PAGES

        said = said or ask.query.get("said", "")
        try:
            version = ask.study.version()
            content = page.view(ask)
        except HierdataError as refused:
            return self.trouble(str(refused), 422, page, ask)
        standing = ask.study.standing()
        survey = ask.works.state("survey")
        text = self._templates.get_template(f"{page.name}.html").render(
            **content,
            here=page,
            steps=[step for step in PAGES.values() if step.is_step],
            study=ask.study,
            works=ask.works,
            version=version,
            last=standing[-1] if len(standing) > 1 else None,
            said=said if f"said.{said}" in read_catalogue() else "",
            error=error,
            survey=survey,
            input_changed=ask.study.input_changed(),
        )
        return HTMLResponse(text, code)

    def start(self, error: str, code: int, **content: object) -> Response:
        """Return the page that asks for a collection or a study; ``error`` is a sentence."""
        text = self._templates.get_template("start.html").render(error=error, version="", **content)
        return HTMLResponse(text, code)

    def progress(self, state: WorkState) -> str:
        """Return the bar that shows how far a work is."""
        return self._templates.get_template("progress.html").render(state=state)

    def trouble(self, sentence: str, code: int, page: Page | None = None, ask: Ask | None = None) -> Response:
        """Return a page with one sentence on what went wrong, and a way back."""
        version = ""
        if ask is not None and ask.study.has_policy:
            try:
                version = ask.study.version()
            except HierdataError:  # the policy's file is what is wrong
                version = ""
        text = self._templates.get_template("trouble.html").render(
            sentence=sentence, here=page, version=version, inside=True
        )
        return HTMLResponse(text, code)

    def refuse(self, name: str, code: int) -> Response:
        """Return the page for a request that is not let in; it holds no secret of the studio."""
        text = self._templates.get_template("refused.html").render(sentence=say(name))
        return HTMLResponse(text, code)
