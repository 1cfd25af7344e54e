"""Claims of a release stated anew: release.json, and the summary that is made of it."""

from __future__ import annotations

from pathlib import Path

from hierdata.release.report.models import ReleaseFile
from hierdata.release.report.page import render_summary


def state_claims(public: Path, text: str) -> None:
    """Write the text as release.json into a public folder, and its summary beside it."""
    (public / "release.json").write_text(text, "utf-8")
    (public / "summary.html").write_text(render_summary(ReleaseFile.model_validate_json(text)), "utf-8")
