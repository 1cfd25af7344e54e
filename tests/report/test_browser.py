"""The pages in a real browser: no message, no request, nothing that axe finds, no scrolling."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hierdata.comparison.comparison import build_comparison
from hierdata.comparison.page import write_page
from hierdata.comparison.variants import list_variants
from hierdata.release.report.page import render_report, render_summary
from tests.report.sample import release_file
from tests.report.test_page import drawn_report

pytestmark = pytest.mark.full

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 4}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {"$.age": {"role": "quasi", "flat": True}, "$.ill": {"role": "sensitive"}},
}
NEEDED = "HIERDATA_NEEDS_BROWSER"
"""Set by .ci/run: there a missing browser is a failure."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None and NEEDED not in os.environ:
        pytest.skip("no chromium is here; on Debian: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "report": render_report(drawn_report()),
        "summary": render_summary(release_file()),
        "comparison": compared_page(),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return [folder / f"{name}.html" for name in texts]


def compared_page() -> str:
    """A page with dominated and other policies, one without a release, and the cost of a promise."""
    variants = list_variants(
        POLICY, {"k": [3, 5, 10**6]}, {}, [POLICY["models"][0]["kind"], POLICY["models"][1]["kind"]]
    )
    figures = [
        {
            "refused": "under k-anonymity a class needs more records" if "0" in one.name else None,
            "records": 600,
            "published": 590 - at,
            "classes": 40,
            "smallest": 5,
            "kept": f"{7 - at}/8",
            "kept_fields": {"$.age": "1/2", "$.visits[*].ward": "3/4"},
            "worst_guess": {"$.ill": f"{at + 3}/9", "$.visits[*].why": "1/2"},
            "seconds": 1.5,
        }
        for at, one in enumerate(variants)
    ]
    found = build_comparison(variants, figures)
    assert any(one.dominated_by for one in found)
    assert any(one.refused for one in found)
    assert found.costs
    return write_page(found, found.costs)


def axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_quiet_and_accessible(browser: Any, pages: list[Path], width: int, scheme: str) -> None:
    for file in pages:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(file.as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        script = "axe.run().then(r => [r.passes.length, r.violations.map(v => v.id + ' ' + v.nodes[0].html)])"
        passed, violations = page.evaluate(f"{axe()}; {script}")
        assert violations == []
        assert passed > 10
        assert said == []
        assert asked == [file.as_uri()]
        context.close()


def test_everything_is_there_without_scripts_and_on_paper(browser: Any, pages: list[Path]) -> None:
    report, *_ = pages
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("svg[role=img]").count() > 5
    assert page.get_by_role("heading", level=1).inner_text() == "This release keeps its promise."
    folded = page.locator("details").first
    assert not folded.locator("table").first.is_visible()
    folded.locator("summary").press("Enter")
    assert folded.locator("table").first.is_visible()
    assert page.pdf().startswith(b"%PDF")
    context.close()


def test_the_first_key_leads_to_the_content_and_links_lead_to_their_place(
    browser: Any, pages: list[Path]
) -> None:
    page = browser.new_page()
    page.goto(pages[0].as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    for link in page.locator("nav a").all():
        name = (link.get_attribute("href") or "").removeprefix("#")
        assert page.locator(f"[id='{name}']").count() == 1
    page.close()


def test_a_comparison_prints_the_policies_that_are_open(browser: Any, pages: list[Path]) -> None:
    page = browser.new_page()
    page.goto(pages[2].as_uri())
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").count() == 3
    first, second = page.locator("details").all()[:2]
    assert first.locator("summary").is_visible()
    assert not first.locator("pre").is_visible()
    page.emulate_media(media="screen")
    second.locator("summary").press("Enter")
    page.emulate_media(media="print")
    assert second.locator("pre").is_visible()
    page.close()
