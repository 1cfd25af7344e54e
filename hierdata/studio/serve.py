"""Serve the pages of a study on the loopback address until the process is stopped."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from threading import Timer

import uvicorn

from hierdata.ground.errors import file_error
from hierdata.studio.guard import HOST, Secrets
from hierdata.studio.opening import Entrance
from hierdata.studio.study import StudyFolder

_PATIENCE = 0.5
"""Seconds until the browser is opened: the server listens before that."""


def serve(study: StudyFolder | None, port: int, *, browser: bool, tell: Callable[[str], None]) -> None:
    """Serve a study until a signal comes; ``tell`` is given the address. Port 0 is any free one.

    Without a study the first page asks which one.

    Raises TargetError if the port is taken.
    """
    with _listen(port) as listening:
        known = Secrets(listening.getsockname()[1])
        entrance = Entrance(known, study)
        config = uvicorn.Config(
            entrance,
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
            entrance.close()


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
