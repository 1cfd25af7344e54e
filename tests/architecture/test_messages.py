"""The places that raise errors are found, and one that no test provokes is told."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data
from tests.messages import Recorder, Site, list_sites, unprovoked

SOURCE = """
def check(value, name):
    if value:
        raise PolicyError(
            f"{name} is wrong: "
            "mend it"
        )
    return InputError("broken", record=1)

class Reader:
    def read(self):
        raise self.refusal("here", f"the {self.what} ends")
        raise StopIteration
        raise typer.Exit(1)
"""


def test_places_are_listed_with_function_and_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    assert [(one.key, one.lines) for one in list_sites(tmp_path)] == [
        ("a.py check: PolicyError({} is wrong: mend it)", range(4, 8)),
        ("a.py check: InputError(broken)", range(8, 9)),
        ("a.py Reader.read: self.refusal(here, the {} ends)", range(12, 13)),
    ]


def test_a_message_that_nothing_provokes_is_told() -> None:
    site = Site("a.py", "f", "PolicyError(x)", range(4, 8))
    assert unprovoked([site], [("a.py", 5)]) == []
    assert unprovoked([site], [("a.py", 8), ("b.py", 5)]) == ["no test provokes a.py:4 PolicyError(x)"]


def test_an_error_that_is_told_in_anothers_words_is_noted() -> None:
    """A validator's ValueError becomes a PolicyError; the place that raised it is what is looked for."""
    recorder = Recorder({})
    fields = {"$.a": {"role": "quasi", "interval": {"steps": [5, 1]}}}
    with pytest.raises(PolicyError, match="ascending") as raised:
        from_data({"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields})
    recorder.note_error(raised.value)
    sites = list_sites(files="domains/*.py")
    (site,) = [one for one in sites if one.text.startswith("ValueError(steps must be positive")]
    assert any((site.file, line) in recorder.reached for line in site.lines), traceback.format_tb(raised.tb)
