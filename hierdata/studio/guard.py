"""Who may ask the studio, and what a page of it may do in the browser.

The server listens on the loopback address only. The first address holds a token that works once; it leads to
a cookie, which this studio's pages alone are sent back with: they lie below a secret path, because cookies do
not know ports. A change needs a second token in a header as well, and the right Origin; every request needs
the right Host, so that no other name can be made to lead here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from threading import Lock

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
TOKEN_HEADER = "X-Studio-Token"  # noqa: S105  (the name of a header)
_COOKIE = "hierdata-studio"
_BYTES = 32
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""What a page may do, unless its answer states a policy of its own, which is as strict."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
LARGEST_BODY = 64 * 2**20
"""Bytes of a request, which may bring a file."""
_SAFE = ("GET", "HEAD")


class Secrets:
    """The secrets of a studio that was started: they end with it."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://{HOST}:{port}"
        self.host = f"{HOST}:{port}"
        self.base = f"/{secrets.token_hex(8)}"
        self.header = secrets.token_urlsafe(_BYTES)
        self._cookie = secrets.token_urlsafe(_BYTES)
        self._first: str | None = secrets.token_urlsafe(_BYTES)
        self._lock = Lock()
        self.address = f"{self.origin}{self.base}/enter?token={self._first}"

    def use_first(self, token: str) -> bool:
        """Return whether a token is that of the first address, which is then used up."""
        with self._lock:
            fits = self._first is not None and _equal(token, self._first)
            if fits:
                self._first = None
            return fits

    def knows_cookie(self, header: str) -> bool:
        """Return whether a Cookie header has the cookie of this studio."""
        try:
            cookie = SimpleCookie(header).get(_COOKIE)
        except CookieError:
            return False
        return cookie is not None and _equal(cookie.value, self._cookie)

    def knows_header(self, header: str) -> bool:
        """Return whether a header has the token that changes need."""
        return _equal(header, self.header)

    def write_cookie(self) -> str:
        """Return the header that sets the cookie."""
        return f"{_COOKIE}={self._cookie}; Path={self.base}/; HttpOnly; SameSite=Strict"


def _equal(text: str, known: str) -> bool:
    return secrets.compare_digest(text.encode(), known.encode())


Refuse = Callable[[str, int], Response]
"""Makes the page that says why a request is refused, by the name of its text."""


class RequestGuard:
    """Lets requests through to the application that may ask, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, known: Secrets, refuse: Refuse) -> None:
        self._app, self._known, self._refuse = app, known, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    if name not in headers:
                        headers[name] = value
            await send(message)

        answer = self._answer(scope)
        await (self._app if answer is None else answer)(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer that the application must not give, None if it may."""
        headers, path, known = Headers(scope=scope), scope["path"], self._known
        if headers.getlist("host") != [known.host]:
            return self._refuse("refused.host", 421)
        if not path.startswith(f"{known.base}/"):
            return self._refuse("refused.address", 404)
        if path == f"{known.base}/enter":
            return self._enter(scope)
        if not known.knows_cookie(headers.get("cookie", "")):
            return self._refuse("refused.cookie", 403)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return self._refuse("refused.origin", 403)
        if scope["method"] in _SAFE:
            return None
        if headers.get("origin") != known.origin:
            return self._refuse("refused.origin", 403)
        if not known.knows_header(headers.get(TOKEN_HEADER, "")):
            return self._refuse("refused.token", 403)
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return self._refuse("refused.length", 413)
        return None

    def _enter(self, scope: Scope) -> Response:
        token = scope["query_string"].decode("latin-1").removeprefix("token=")
        if scope["method"] != "GET" or not self._known.use_first(token):
            return self._refuse("refused.first", 403)
        answer = RedirectResponse(f"{self._known.base}/", 303)
        answer.headers["Set-Cookie"] = self._known.write_cookie()
        return answer
