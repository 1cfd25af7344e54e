from __future__ import annotations

from tests.reproduction import errata


def test_the_errata_of_the_pages_are_those_of_the_fixtures() -> None:
    assert errata.TARGET.read_text("utf-8") == errata.text()
