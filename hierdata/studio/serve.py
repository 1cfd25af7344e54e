"""Open a study and serve its pages on the loopback address until the process is stopped."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import uvicorn

from hierdata.ground.errors import PolicyError, TargetError, file_error
from hierdata.studio.app import Studio
from hierdata.studio.guard import HOST, Secrets
from hierdata.studio.study import StudyFolder

_PATIENCE = 0.5
"""Seconds until the browser is opened: the server listens before that."""


def open_study(source: str | None, folder: Path | None) -> StudyFolder:
    """Open the study in a folder, or begin one of a collection there.

    By default the folder is named after the collection and lies in the current folder. Raises PolicyError
    where neither is stated, or the study is of another collection; TargetError for folders.
    """
    if folder is None:
        if source is None:
            raise PolicyError("name the collection, or by --study the folder of a study that was begun")
        folder = Path(f"{Path(source).name.partition('.')[0] or 'collection'}-study")
    if not folder.exists():
        if source is None:
            raise TargetError("there is no such study: name a collection to begin one", path=str(folder))
        return StudyFolder.create(folder.absolute(), source)
    if not StudyFolder.is_study(folder):
        raise TargetError("is there and is no study: name another folder by --study", path=str(folder))
    study = StudyFolder(folder.absolute())
    if source is not None and str(Path(source).absolute()) != study.source:
        raise PolicyError(f"the study in {folder} is of another collection: name another folder by --study")
    return study


def serve(study: StudyFolder, port: int, *, browser: bool, tell: Callable[[str], None]) -> None:
    """Serve a study until a signal comes; ``tell`` is given the address. Port 0 is any free one.

    Raises TargetError if the port is taken.
    """
    with _listen(port) as listening:
        known = Secrets(listening.getsockname()[1])
        studio = Studio(study, known)
        config = uvicorn.Config(
            studio.application(),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        tell(known.address)
        if browser:
            opening = Timer(_PATIENCE, webbrowser.open, (known.address,))
            opening.daemon = True
            opening.start()
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            studio.works.close()


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        why = f"port {port} cannot be used ({error.strerror}): name another one by --port, or 0 for any"
        raise file_error(error, why) from None
    return listening
