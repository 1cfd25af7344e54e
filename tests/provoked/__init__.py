"""Messages that no test of a behaviour provokes: each file is a table of messages, with what leads to each.

``tests/messages.py`` tells which messages need a row.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

SECRET = "7319"
"""A value of the data in the cases, which no message may show."""

Act = Callable[[], object]


def provoke(kind: type[Exception], *cases: tuple[str, Act]) -> None:
    """Assert that each act is refused by an error of this kind that says the text, and no value."""
    told = [(said, _refusal(kind, act)) for said, act in cases]
    wrong = [(said, message) for said, message in told if said not in message or SECRET in message]
    assert not wrong, "\n".join(f"{said!r} is not what was said: {message}" for said, message in wrong)


def _refusal(kind: type[Exception], act: Act) -> str:
    try:
        with pytest.raises(kind) as refused:
            act()
    except (Exception, pytest.fail.Exception) as other:  # noqa: BLE001  what is no refusal is a fault of the case
        return f"({type(other).__name__} instead of {kind.__name__}) {other}"
    return str(refused.value)
