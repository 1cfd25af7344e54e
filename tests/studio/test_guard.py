"""Who is let in, and what every answer says of itself."""

from __future__ import annotations

import pytest

from hierdata.studio.guard import TOKEN_HEADER
from tests.studio.client import Client


def test_the_first_address_works_once(client: Client) -> None:
    path = client.known.address.removeprefix(client.known.origin + client.known.base)
    assert client.get("/enter?token=guess", Cookie=None).status == 403
    first = client.get(path, Cookie=None)
    assert first.status == 303
    assert first.headers["location"] == f"{client.known.base}/"
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", f"Path={client.known.base}/"} <= set(cookie.split("; "))
    assert client.get("/tree", Cookie=cookie.partition(";")[0]).status == 200
    assert client.get(path, Cookie=None).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:4711"}, 421),  # a name that was made to lead here
        ({"Host": "localhost:4711"}, 421),
        ({"Host": "127.0.0.1:4712"}, 421),
        ({"Host": None}, 421),
        ({"Cookie": None}, 403),
        ({"Cookie": "hierdata-studio=guess"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),  # another port
    ],
)
def test_a_request_of_somebody_else_is_refused(
    client: Client, headers: dict[str, str | None], status: int
) -> None:
    for method, path in (("GET", "/tree"), ("GET", "/static/htmx.min.js"), ("POST", "/release/do/publish")):
        answer = client.ask(method, path, headers=headers)
        assert answer.status == status
        for secret in (client.known.base, client.known.header, client.cookie):
            assert secret not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:4712"},
        {"Origin": "null"},
        {"Origin": None},
        {TOKEN_HEADER: None},
        {TOKEN_HEADER: "guess"},
    ],
)
def test_a_change_needs_the_origin_and_the_token(client: Client, headers: dict[str, str | None]) -> None:
    before = client.studio.study.version()
    for path in ("/undo", "/release/do/publish", "/jobs/survey/stop", "/tree/do/survey"):
        assert client.ask("POST", path, headers=headers).status == 403
    assert client.studio.study.version() == before
    assert not client.studio.works.is_running("survey")


def test_a_change_states_its_length(client: Client) -> None:
    for length in (None, "-1", str(2**40)):
        assert client.ask("POST", "/undo", headers={"Content-Length": length}).status == 413


def test_there_is_nothing_beside_the_pages(client: Client) -> None:
    for path in (
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/release/report/../../policy.yaml",
        "/release/report/..%2f..%2fpolicy.yaml",
        "/release/signed/0001/../../../study.json",
        "/jobs/../study.json",
        "/figures/values.json",
    ):
        answer = client.get(path)
        assert answer.status in (404, 422), path
        assert "import" not in answer.text
        assert "version: 1" not in answer.text


def test_no_answer_may_be_kept_framed_or_run_what_it_brings(client: Client) -> None:
    for path in ("/tree", "/static/htmx.min.js", "/style.css", "/nothing", "/release/report/9999"):
        headers = client.get(path).headers
        assert headers["cache-control"] == "no-store"
        rules = dict(rule.partition(" ")[::2] for rule in headers["content-security-policy"].split("; "))
        assert rules == {
            "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'",
            "connect-src": "'self'", "form-action": "'self'",
            "frame-ancestors": "'none'", "base-uri": "'none'",
        }  # fmt: skip
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
