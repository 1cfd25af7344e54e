"""A server that is lost: a proxy that forwards so many bytes, then resets connections or falls silent."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Way = Literal["reset", "hang", "refuse"]
_RESET = struct.pack("ii", 1, 0)  # no lingering: closing sends a reset
_CHUNK = 4096


@dataclass
class Proxy:
    """What stands between a client and a server.

    After ``after`` bytes in both directions, or at the first ``word`` that the client sends, the connection
    is reset; with ``refuse`` so is every one from then on, and with ``hang`` nothing is forwarded any more.
    """

    port: int
    after: int | None = None
    word: bytes | None = None
    way: Way = "reset"
    deliver: bool = False
    """Whether the word still reaches the server."""
    meanwhile: Callable[[], None] = lambda: None
    """What is done when the connection is to be lost, before it is."""

    def __post_init__(self) -> None:
        self.seen = 0
        self._mute = threading.Event()
        self._lost = threading.Event()
        self._end = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []

    @property
    def lost(self) -> bool:
        """Whether the connection was lost as asked."""
        return self._lost.is_set()

    def accept(self) -> None:
        """Serve until the end."""
        while not self._end.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.lost and self.way == "refuse":
                _reset(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.port))
            except OSError:  # no server is there, as while one restarts
                _reset(client)
                continue
            self._sockets += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(*pair, pair[0] is client), daemon=True).start()

    def close(self) -> None:
        """End all connections."""
        self._end.set()
        self._listener.close()
        for one in self._sockets:
            _reset(one)

    def _forward(self, source: socket.socket, target: socket.socket, of_client: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                self.seen += len(data)
                cut = self.word is not None and of_client and self.word in data
                if self._mute.is_set() and not of_client:
                    continue
                if cut and self.deliver:
                    self._mute.set()  # the answer is lost, whenever it comes
                    target.sendall(data)
                    threading.Event().wait(0.3)
                once = not self.lost and (cut or (self.after is not None and self.seen > self.after))
                if once:
                    self._lost.set()
                    self.meanwhile()
                if once if self.way == "reset" else self.lost and self.way == "refuse":
                    for one in (source, target):
                        _reset(one)
                    return
                if self.lost and self.way == "hang":
                    self._end.wait()
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def _reset(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextlib.contextmanager
def losing(port: int, **asked: object) -> Iterator[Proxy]:
    """A proxy before the server at a port."""
    proxy = Proxy(port, **asked)  # type: ignore[arg-type]
    thread = threading.Thread(target=proxy.accept, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
