"""The documentation as a site: built strictly, and whole without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    config = ROOT / ".mkdocs" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    # A proxy that is not there: whatever asks for something fails.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    built = subprocess.run(
        [*command, "--site-dir", str(folder)],
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.full
def test_no_page_requests_anything_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))  # and the one for what is not there
    for page in pages:
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?([^\" >]+)", text)
        loaded += re.findall(r"<link\b[^>]*rel=\"?(?:stylesheet|preload|preconnect|icon)[^>]*", text)
        assert loaded
        assert [one for one in loaded if "//" in one] == [], page.name
        for name in loaded:
            if "<" not in name and page.name != "404.html":
                assert (page.parent / name.partition("?")[0]).exists(), f"{page.name}: {name}"
    styles = "".join(file.read_text("utf-8") for file in site.rglob("*.css"))
    assert not re.search(r"url\(['\"]?https?:|@import", styles)


@pytest.mark.full
def test_the_search_knows_every_page(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    pages = {
        page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        for page in (ROOT / "docs").rglob("*.md")
    }
    assert pages - {"index.html"} <= found
    assert (site / "search" / "search_index.js").stat().st_size > 100_000


@pytest.mark.full
def test_files_named_by_code_blocks_are_their_titles(site: Path) -> None:
    page = (site / "how-to" / "tables.html").read_text("utf-8")
    assert '<span class="filename">wards.yaml</span>' in page
    assert "file=wards.yaml" not in page
