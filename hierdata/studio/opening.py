"""Open a study: the one that the command names, or the one that is chosen on the first page."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hierdata.documents.formats import detect
from hierdata.ground.errors import HierdataError, InputError, PolicyError, TargetError
from hierdata.studio.app import Studio, guard_pages
from hierdata.studio.guard import Secrets
from hierdata.studio.rendering import Renderer
from hierdata.studio.study import StudyFolder

_MOST_LISTED = 200
"""Studies and files of a folder that the first page offers."""
_LONGEST = 4096


def open_study(source: str, folder: Path | None) -> StudyFolder:
    """Open the study of a collection in a folder, or begin one there.

    By default the folder is named after the collection and lies in the current folder. Raises PolicyError
    where the study is of another collection, TargetError for folders.
    """
    if folder is None:
        folder = Path(f"{Path(source).name.partition('.')[0] or 'collection'}-study")
    if not folder.exists():
        return StudyFolder.create(folder.absolute(), source)
    study = continue_study(folder)
    if str(Path(source).absolute()) != study.source:
        raise PolicyError(f"the study in {folder} is of another collection: name another folder by --study")
    return study


def continue_study(folder: Path) -> StudyFolder:
    """Open the study of a folder. Raises TargetError if there is none."""
    if not folder.exists():
        raise TargetError("there is no such study: name a collection to begin one", path=str(folder))
    if not StudyFolder.is_study(folder):
        raise TargetError("is there and is no study: name another folder by --study", path=str(folder))
    return StudyFolder(folder.absolute())


def list_studies(folder: Path) -> list[str]:
    """Return the names of the studies in a folder."""
    return [path.name for path in _look_into(folder) if StudyFolder.is_study(path)][:_MOST_LISTED]


def list_collections(folder: Path) -> list[str]:
    """Return the names of the files in a folder whose format is known by their suffix."""
    return [path.name for path in _look_into(folder) if path.is_file() and _is_known(path)][:_MOST_LISTED]


def _look_into(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:  # what cannot be listed can still be named
        return []


def _is_known(path: Path) -> bool:
    try:
        detect(path.name)
    except HierdataError:
        return False
    return True


class Entrance:
    """What the browser asks: the pages of the study, and before there is one, the page that asks for it."""

    def __init__(self, known: Secrets, study: StudyFolder | None = None) -> None:
        self._known, self._renderer, self._lock = known, Renderer(known), Lock()
        self.studio: Studio | None = None
        pages = [
            Route("/", self._show),
            Route("/start/do/open", self._choose, methods=["POST"]),
            Route("/{rest:path}", self._lead, methods=["GET"]),
        ]
        self._pages: ASGIApp = guard_pages(pages, known, self._renderer)
        if study is not None:
            self._enter(study)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._pages(scope, receive, send)

    def close(self) -> None:
        """Stop all works."""
        if self.studio is not None:
            self.studio.works.close()

    async def _show(self, request: Request) -> Response:
        return await run_in_threadpool(self._page)

    async def _lead(self, request: Request) -> Response:
        """Lead every other address to the page that asks: it may be one of an earlier study."""
        return RedirectResponse(f"{self._known.base}/", 303)

    async def _choose(self, request: Request) -> Response:
        async with request.form(max_files=0) as form:
            named, chosen = str(form.get("path", "")).strip(), str(form.get("study", ""))
        try:
            await run_in_threadpool(self._open, named, chosen)
        except HierdataError as error:
            return await run_in_threadpool(self._page, str(error), 422)
        return RedirectResponse(f"{self._known.base}/", 303)

    def _open(self, named: str, chosen: str) -> None:
        """Open a study that was begun, or that of a collection. Raises HierdataError."""
        if len(named) > _LONGEST or "\0" in named or not (named or chosen):
            raise InputError("name a file or a folder")
        with self._lock:
            if self.studio is None:
                if chosen and chosen not in list_studies(Path()):
                    raise TargetError("there is no such study in this folder", path=chosen)
                self._enter(continue_study(Path(chosen)) if chosen else self._begin(named))

    def _begin(self, named: str) -> StudyFolder:
        path = Path(named).expanduser()
        return continue_study(path) if StudyFolder.is_study(path) else open_study(str(path), None)

    def _enter(self, study: StudyFolder) -> None:
        self.studio = Studio(study, self._known)
        self._pages = self.studio.application()
        if study.has_policy:
            self.studio.works.start(study, "prepare", {})

    def _page(self, error: str = "", code: int = 200) -> Response:
        here = Path()
        return self._renderer.start(
            error, code, folder=str(here.absolute()),
            studies=list_studies(here), collections=list_collections(here),
        )  # fmt: skip
