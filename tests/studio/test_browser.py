"""Journeys in a real browser: from a file to a signed release, and what may go wrong on the way."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hierdata.cli import main
from tests.report.test_browser import axe, browser

__all__ = ["browser"]
pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
MOST_CLICKS = 25
PATIENCE = 180_000
"""Milliseconds until a work must have ended, also on a machine with other work."""
RAW = ("48162", "1974-08-28", "P000001", "gastritis", "S000001", "Prof. ")


class Running:
    """A studio in a process of its own."""

    def __init__(self, source: Path | None, folder: Path) -> None:
        named = [] if source is None else [str(source), "--study", str(folder / "study")]
        command = [sys.executable, "-m", "hierdata", "studio", *named]
        self.process = subprocess.Popen(
            [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(2)]
        self.address = lines[-1].removeprefix("Open ").strip()
        assert self.address.startswith("http://127.0.0.1:"), lines

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


class Tab:
    """A tab that counts clicks, and notes all that a page may not do."""

    def __init__(self, context: Any, running: Running, *, refusals: bool = False) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.clicks = 0
        self.said: list[str] = []
        self.asked: set[str] = set()
        self.page.on("console", lambda message: self._note(message.text, refusals))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.add(urlsplit(request.url).netloc))
        self.page.goto(running.address)

    def _note(self, text: str, refusals: bool) -> None:
        if not (refusals and ("409" in text or "422" in text)):  # the browser's own note of a refused form
            self.said.append(text)

    def click(self, name: str, role: str = "button") -> None:
        self.clicks += 1
        self.page.get_by_role(role, name=name).first.click()

    def go(self, heading: str) -> None:
        """Follow the link to the next page, and check the page that it leads to."""
        self.clicks += 1
        self.page.locator(".next a").click()
        self.await_heading(heading)

    def await_heading(self, heading: str) -> None:
        self.page.get_by_role("heading", level=1, name=heading).wait_for()
        self.check()

    def check(self) -> None:
        """No value of the data where the page does not say so, and nothing that scrolls sideways."""
        self.page.wait_for_load_state()  # a page without its style sheet yet is wider
        text = self.page.locator("main").inner_text()
        if "This page shows values of the data" not in text:
            assert not [one for one in RAW if one in text]
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def answer_questions(self) -> None:
        """Answer each question by keeping the proposal, until none is open."""
        while self.page.locator("input[name=answer]").count():
            before = self.page.locator("main").inner_text()
            self.clicks += 1
            self.page.locator("input[name=answer]").first.check()
            self.click("Answer")
            self.page.wait_for_function(
                "text => document.querySelector('main').innerText !== text", arg=before
            )
        self.click("I have looked at all")
        self.await_heading("How values are made coarser")

    def release_and_sign(self) -> None:
        self.await_heading("Make the release, read the report, sign")
        self.click("Make the release")
        self.page.get_by_role("heading", name="Release 1").wait_for()
        self.check()
        for label, text in (
            ("Your name", "A. Steward"),
            ("recipient", "An institute"),
            ("purpose", "A study"),
        ):
            self.clicks += 1
            self.page.get_by_label(label).fill(text)
        self.click("Sign this release")
        self.page.get_by_text("Signed by A. Steward").wait_for()

    def assert_quiet(self, running: Running) -> None:
        assert self.said == []
        assert self.asked == {urlsplit(running.address).netloc}

    def assert_accessible(self) -> None:
        # The policy of the page lets no script in but its own; the tester's comes by the debugger.
        script = "axe.run().then(r => r.violations.map(v => v.id + ' ' + v.nodes[0].html))"
        assert self.page.evaluate(f"{axe()}; {script}") == []


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()


def part_of(tmp_path: Path, kind: str) -> Path:
    """Write a small collection: a part of the bundled one, or a table."""
    if kind == "students":
        records = json.loads((ROOT / "fixtures/students/students.json").read_text("utf-8"))[:40]
        file = tmp_path / "students.json"
        file.write_text(json.dumps(records), "utf-8")
    elif kind == "table":
        file = tmp_path / "jobs.csv"
        jobs = ("nurse", "doctor", "baker", "cook")
        rows = [f"{jobs[at % 4]},{20 + at % 30},{'flu' if at % 3 else 'cold'}" for at in range(60)]
        file.write_text("job,age,diagnosis\n" + "\n".join(rows) + "\n", "utf-8")
    else:
        lines = (ROOT / "fixtures/patients/patients.jsonl").read_text("utf-8").splitlines()[:60]
        file = tmp_path / "patients.jsonl"
        file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def verify_by_command(study: Path, source: Path) -> int:
    """Verify the release as the command line does, from the study's own files."""
    policy, release = study / "policy.yaml", study / "releases" / "0001"
    command = [
        "verify",
        str(release),
        "--policy",
        str(policy),
        "--root",
        str(study),
        "--original",
        str(source),
    ]
    return main([*command, "--quiet"])


def test_students_from_a_file_to_a_verified_release(context: Any, tmp_path: Path) -> None:
    source = part_of(tmp_path, "students")
    running = Running(source, tmp_path)
    tab = Tab(context, running)
    tab.page.get_by_text("40 records with").wait_for()
    tab.assert_accessible()
    tab.go("What each field is")
    tab.assert_accessible()
    tab.answer_questions()
    tab.assert_accessible()
    tab.go("What is promised")
    tab.assert_accessible()
    tab.go("What a release would keep")
    tab.go("Kept against risk")
    tab.assert_accessible()
    tab.go("Make the release, read the report, sign")
    tab.release_and_sign()
    tab.assert_accessible()
    tab.assert_quiet(running)
    assert verify_by_command(tmp_path / "study", source) == 0
    code, errors = running.end()
    assert code == 130
    assert not [one for one in RAW if one in errors]


def test_a_table_with_a_hierarchy_of_arx(context: Any, tmp_path: Path) -> None:
    source = part_of(tmp_path, "table")
    hierarchy = tmp_path / "jobs-by-field.csv"
    hierarchy.write_text("nurse;care;*\ndoctor;care;*\nbaker;food;*\ncook;food;*\n", "utf-8")
    running = Running(source, tmp_path)
    tab = Tab(context, running)
    tab.page.get_by_text("60 records with").wait_for()
    tab.go("What each field is")
    tab.answer_questions()
    tab.page.get_by_label("Categories of a file").check()
    tab.page.get_by_label("Or a file from this computer").set_input_files(str(hierarchy))
    tab.click("Change it")
    tab.page.get_by_role("rowheader", name="care", exact=True).wait_for()
    tab.go("What is promised")
    tab.page.get_by_label("Anyone").check()
    tab.click("Promise this")
    tab.page.get_by_text("Every record looks like at least 19 others").first.wait_for()
    tab.page.get_by_role("link", name="Release").first.click()
    tab.release_and_sign()
    tab.assert_quiet(running)
    assert verify_by_command(tmp_path / "study", source) == 0
    running.kill()


def test_patients_with_preview_reload_restart_and_two_tabs(
    browser: Any, context: Any, tmp_path: Path
) -> None:
    source = part_of(tmp_path, "patients")
    running = Running(source, tmp_path)
    tab = Tab(context, running, refusals=True)
    tab.page.get_by_text("60 records with").wait_for()
    tab.page.reload()
    tab.go("What each field is")
    other = context.new_page()
    other.goto(tab.page.url)
    tab.answer_questions()
    other.get_by_role("checkbox").first.check()
    other.get_by_label("Role", exact=True).last.select_option("drop")
    other.get_by_role("button", name="Give them this role").click()
    other.get_by_text("This page was older than the policy").wait_for()
    with (tmp_path / "study" / "policy.yaml").open("a", encoding="utf-8") as file:
        file.write("# by another program\n")
    tab.click("Change it")
    tab.page.get_by_text("This page was older than the policy").wait_for()
    tab.page.get_by_role("link", name="Preview").click()
    tab.await_heading("What a release would keep")
    tab.click("Make a preview")
    measured = tab.page.get_by_text("measured by attacks")
    tab.page.get_by_text("measuring risks").or_(measured).first.wait_for()
    tab.page.reload()  # what is kept is there before the attacks have ended
    measured.wait_for()
    tab.check()
    tab.assert_accessible()
    tab.click("Show a record before and after", "link")
    tab.await_heading("A record before and after")
    policy = (tmp_path / "study" / "policy.yaml").read_text("utf-8")
    assert tab.said == []
    running.kill()
    again = Running(source, tmp_path)
    tab = Tab(browser.new_context(), again)
    tab.page.get_by_role("link", name="Preview").click()
    tab.page.get_by_text("measured by attacks").wait_for()
    assert (tmp_path / "study" / "policy.yaml").read_text("utf-8") == policy
    tab.page.get_by_role("link", name="Release").first.click()
    tab.release_and_sign()
    tab.assert_quiet(again)
    assert verify_by_command(tmp_path / "study", source) == 0
    again.kill()


def test_resources_of_fhir_from_an_export_to_a_verified_release(context: Any, tmp_path: Path) -> None:
    synth = ["synth", "fhir", "--patients", "60", "--years", "2", "--out", str(tmp_path / "export")]
    assert main([*synth, "--quiet"]) == 0
    running = Running(tmp_path / "export", tmp_path)
    tab = Tab(context, running)
    tab.page.get_by_text("60 records with").wait_for()
    tab.assert_accessible()
    tab.go("What each field is")
    tab.answer_questions()
    tab.go("What is promised")
    tab.go("What a release would keep")
    tab.click("Make a preview")
    tab.page.get_by_text("measured by attacks").wait_for()
    tab.check()
    tab.go("Kept against risk")
    tab.go("Make the release, read the report, sign")
    tab.release_and_sign()
    tab.assert_quiet(running)
    assert verify_by_command(tmp_path / "study", tmp_path / "export") == 0
    assert (tmp_path / "study/releases/0001/public/records/Patient.ndjson").is_file()
    running.kill()


def test_a_study_begins_on_the_first_page(context: Any, tmp_path: Path) -> None:
    part_of(tmp_path, "patients")
    running = Running(None, tmp_path)
    tab = Tab(context, running)
    tab.assert_accessible()
    tab.click("patients.jsonl")
    tab.page.get_by_text("60 records with").wait_for()
    tab.check()
    tab.assert_quiet(running)
    running.kill()
    again = Running(None, tmp_path)
    tab = Tab(context, again)
    tab.click("patients-study")
    tab.page.get_by_text("60 records with").wait_for()
    tab.assert_quiet(again)
    again.kill()


def test_requests_of_others_are_refused_by_the_server(tmp_path: Path) -> None:
    running = Running(part_of(tmp_path, "patients"), tmp_path)
    address = urlsplit(running.address)
    base = address.path.rpartition("/")[0]
    for method, headers, code in (
        ("GET", {"Host": f"evil.example:{address.port}"}, 421),
        ("GET", {}, 403),
        ("POST", {"Origin": "http://evil.example", "Content-Length": "0"}, 403),
    ):
        asked = HTTPConnection("127.0.0.1", address.port or 0, timeout=60)
        asked.request(
            method, f"{base}/tree/do/survey" if method == "POST" else f"{base}/tree", headers=headers
        )
        assert asked.getresponse().status == code
        asked.close()
    with pytest.raises(ConnectionRefusedError):  # other addresses of the machine are not listened on
        socket.create_connection(("127.0.0.2", address.port or 0), timeout=5).close()
    running.kill()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_small_screen_and_are_accessible_in_the_dark(
    browser: Any, tmp_path: Path, scheme: str
) -> None:
    running = Running(part_of(tmp_path, "patients"), tmp_path)
    made = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    tab = Tab(made, running)
    tab.page.get_by_text("60 records with").wait_for()
    base = tab.page.url.rpartition("/")[0]
    shots = os.environ.get("HIERDATA_SCREENSHOTS")
    for name in (
        "tree",
        "roles",
        "hierarchies",
        "promise",
        "preview",
        "comparison",
        "release",
        "values?field=$.sex",
    ):
        tab.page.goto(f"{base}/{name}")
        tab.check()
        tab.assert_accessible()
        if shots:
            tab.page.screenshot(path=f"{shots}/{name.partition('?')[0]}-{scheme}-390.png", full_page=True)
    tab.assert_quiet(running)
    made.close()
    running.kill()


def test_the_bundled_patients_are_signed_in_few_clicks(context: Any, tmp_path: Path) -> None:
    """The script does only what the pages say: it follows Next, keeps proposals, makes and signs."""
    running = Running(ROOT / "fixtures/patients/patients.jsonl", tmp_path)
    tab = Tab(context, running)
    tab.page.get_by_text("500 records with").wait_for()
    tab.go("What each field is")
    tab.answer_questions()
    for heading in ("What is promised", "What a release would keep", "Kept against risk"):
        tab.go(heading)
    tab.clicks += 1
    tab.page.locator(".next a").click()
    tab.release_and_sign()
    assert tab.clicks <= MOST_CLICKS
    running.kill()
