"""Ask the studio without a server: what a browser would send, and what somebody else would."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp

from hierdata.studio.app import Studio
from hierdata.studio.guard import TOKEN_HEADER, Secrets
from hierdata.studio.study import StudyFolder

PORT = 4711


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def readable(self) -> str:
        """The text without markup."""
        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", self.text)).split())


class Client:
    """Asks one studio as its own pages would, unless headers say otherwise."""

    studio: Studio

    def __init__(self, app: ASGIApp, known: Secrets) -> None:
        self.app, self.known = app, known
        self.cookie = known.write_cookie().partition(";")[0]

    @classmethod
    def of(cls, study: StudyFolder) -> Client:
        """Return a client of the studio of a study."""
        known = Secrets(PORT)
        studio = Studio(study, known)
        made = cls(studio.application(), known)
        made.studio = studio
        return made

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str | None] | None = None
    ) -> Answer:
        """Ask for a path below the secret one; a header of None is left out."""
        usual: dict[str, str | None] = {"Host": self.known.host, "Cookie": self.cookie}
        if method != "GET":
            usual |= {
                "Origin": self.known.origin,
                TOKEN_HEADER: self.known.header,
                "Content-Type": "application/x-www-form-urlencoded",
                "Content-Length": str(len(body)),
            }
        sent = {key: own for key, own in (usual | (headers or {})).items() if own is not None}
        return asyncio.run(self._send(method, f"{self.known.base}{path}", body, sent))

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, headers=dict(headers))

    def post(self, path: str, fields: Any = (), headers: dict[str, str | None] | None = None) -> Answer:
        return self.ask("POST", path, urlencode(fields, doseq=True).encode(), headers)

    async def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        path, _, query = path.partition("?")
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "scheme": "http", "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", PORT),
            "headers": [(key.lower().encode(), own.encode("latin-1")) for key, own in headers.items()],
        }  # fmt: skip
        parts = [{"type": "http.request", "body": body, "more_body": False}]
        found: list[Any] = []

        async def receive() -> Any:
            if not parts:
                await asyncio.Event().wait()  # the browser stays
            return parts.pop()

        async def send(message: Any) -> None:
            found.append(message)

        await self.app(scope, receive, send)
        answered = {key.decode(): own.decode() for key, own in found[0]["headers"]}
        return Answer(found[0]["status"], answered, b"".join(one.get("body", b"") for one in found[1:]))
