"""The application: addresses, forms, errors as pages, and the events that tell how far a work is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from hierdata.ground.errors import HierdataError
from hierdata.studio.guard import RequestGuard, Secrets
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.pages import PAGES
from hierdata.studio.rendering import Renderer
from hierdata.studio.study import StaleError, StudyFolder
from hierdata.studio.work import Works
from hierdata.studio.worker import describe_fault

STATIC = Path(__file__).parent / "static"
_TICK = 0.3
"""Seconds between two looks at a work."""


class Studio:
    """One study and its works, as the pages see them."""

    def __init__(self, study: StudyFolder, known: Secrets) -> None:
        self.study, self.works, self.known = study, Works(), known
        self.renderer = Renderer(known)
        if study.figures("survey") is None:
            self.works.start(study, "survey", {})

    def application(self) -> ASGIApp:
        """Return the application with its guard."""
        pages = [
            Route("/", self._begin),
            Route("/jobs/{name}/events", self._events),
            Route("/jobs/{name}/stop", self._stop, methods=["POST"]),
            Route("/undo", self._undo, methods=["POST"]),
            *(Route(f"/{page.name}", partial(self._show, page)) for page in PAGES.values()),
            *(
                Route(f"/{page.name}/do/{name}", partial(self._act, page, name), methods=["POST"])
                for page in PAGES.values()
                for name in page.actions
            ),
            *(
                Route(f"/{page.name}/{name}/{{rest:path}}", partial(self._answer_extra, page, name))
                for page in PAGES.values()
                for name in page.extras
            ),
        ]
        return guard_pages(pages, self.known, self.renderer)

    async def _begin(self, request: Request) -> Response:
        first = next(iter(PAGES))
        return RedirectResponse(f"{self.known.base}/{first}", 303)

    async def _show(self, page: Page, request: Request) -> Response:
        ask = Ask(self.study, self.works, dict(request.query_params))
        return await run_in_threadpool(self.renderer.page, page, ask)

    async def _answer_extra(self, page: Page, name: str, request: Request) -> Response:
        ask = Ask(self.study, self.works, dict(request.query_params), rest=request.path_params["rest"])
        return await run_in_threadpool(page.extras[name], ask)

    async def _act(self, page: Page, name: str, request: Request) -> Response:
        async with request.form(max_files=1, max_fields=25_000) as form:
            return await self._answer_form(page, page.actions[name], form, request)

    async def _answer_form(self, page: Page, action: Any, form: FormData, request: Request) -> Response:
        ask = Ask(self.study, self.works, dict(request.query_params), form)
        try:
            done = cast(Done, await run_in_threadpool(action, ask))
        except StaleError:
            return await run_in_threadpool(self.renderer.page, page, ask, said="stale", code=409)
        except HierdataError as error:
            return await run_in_threadpool(self.renderer.page, page, ask, error=str(error), code=422)
        return self._go(done)

    def _go(self, done: Done) -> Response:
        query = "&".join(
            part for part in (done.query, urlencode({"said": done.said}) if done.said else "") if part
        )
        return RedirectResponse(f"{self.known.base}/{done.page}{'?' if query else ''}{query}", 303)

    async def _undo(self, request: Request) -> Response:
        async with request.form() as form:
            page = _page_of(form)
            return await self._answer_form(page, partial(_undo, page), form, request)

    async def _stop(self, request: Request) -> Response:
        await run_in_threadpool(self.works.stop, request.path_params["name"])
        async with request.form() as form:
            return self._go(Done(_page_of(form).name, "stopped"))

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self._tell(request.path_params["name"]), media_type="text/event-stream")

    async def _tell(self, name: str) -> AsyncIterator[str]:
        """Yield how far a work is, and at its end one event more."""
        last = None
        while (state := self.works.state(name)) is not None and state.is_running:
            if state != last:
                last = state
                yield _event("progress", self.renderer.progress(state))
            await asyncio.sleep(_TICK)
        yield _event("ended", "")


def guard_pages(pages: Sequence[BaseRoute], known: Secrets, renderer: Renderer) -> ASGIApp:
    """Return an application of pages below the secret path, with their style and scripts, and its guard."""

    async def answer_style(request: Request) -> Response:
        return Response(renderer.style, media_type="text/css")

    beside = [Mount("/static", StaticFiles(directory=STATIC)), Route("/style.css", answer_style)]
    inner = Router([Mount(known.base, app=Router([*beside, *pages], default=_miss))], default=_miss)
    return RequestGuard(_Careful(inner, renderer), known, renderer.refuse)


def _page_of(form: FormData) -> Page:
    """Return the page that a form of the frame was sent from."""
    return PAGES.get(str(form.get("page"))) or next(iter(PAGES.values()))


def _undo(page: Page, ask: Ask) -> Done:
    change = ask.study.undo(ask.version)
    return Done(page.name, "undone" if change else "nothing_to_undo")


def _event(name: str, content: str) -> str:
    lines = "".join(f"data: {line}\n" for line in content.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


async def _miss(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


class _Careful:
    """Turns what nobody caught into a page that names the place, never a value; logs nothing."""

    def __init__(self, app: ASGIApp, renderer: Renderer) -> None:
        self._app, self._renderer = app, renderer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def note(message: Any) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except HTTPException as error:
            answer = self._renderer.refuse("refused.address", error.status_code)
        except HierdataError as error:
            answer = self._renderer.trouble(str(error), 422)
        except Exception as error:  # noqa: BLE001  (a traceback could show raw values)
            answer = self._renderer.trouble(describe_fault(error), 500)
        else:
            return
        if not begun and scope["type"] == "http":
            await answer(scope, receive, send)
