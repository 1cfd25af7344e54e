"""Files as other programs export them: what is drafted, published and verified, and what is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

ILLS = ("flu", "asthma", "ulcer")


class Export:
    """An input with a policy, both in a folder of their own."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.folder = folder
        self.policy = folder / "policy.yaml"
        self.out = folder / "out"

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def state(self, fields: dict[str, Any], k: int = 3, **others: Any) -> None:
        stated = {"version": 1, "models": [{"kind": "k-anonymity", "k": k}], "fields": fields, **others}
        self.policy.write_text(json.dumps(stated))

    def draft(self, source: Path, *options: str) -> str:
        """Draft a policy, remove its line `draft`, and return it."""
        ran = self.run("init", source, *options)
        assert ran.code == 0, ran.err
        text = "".join(line for line in ran.out.splitlines(True) if not line.startswith("draft:"))
        self.policy.write_text(text)
        return text

    def publish(self, source: Path) -> str:
        """Publish and verify with the original; return the records as text."""
        ran = self.run("anonymize", source, "--policy", self.policy, "--out", self.out, "--quiet")
        assert ran.code == 0, ran.err
        ran = self.run("verify", self.out, "--policy", self.policy, "--original", source)
        assert ran.code == 0, ran.out + ran.err
        (records,) = (self.out / "public").glob("records*")
        return records.read_text("utf-8") if records.is_file() else ""

    def refuse(self, source: Path, code: int = 5) -> str:
        ran = self.run("anonymize", source, "--policy", self.policy, "--out", self.out, "--quiet")
        assert ran.code == code, ran.err
        return ran.err


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Export:
    return Export(run, tmp_path)


def table(header: str, rows: list[str], end: str = "\n") -> str:
    return "".join(f"{line}{end}" for line in [header, *rows])


def test_dates_in_two_orders_are_drafted_and_published_as_periods(export: Export) -> None:
    rows = [f"{day:02}.03.1960;3/{day}/2014;{ILLS[day % 3]}" for day in range(5, 23)]
    source = export.write("dates.csv", table("born;seen;ill", rows))
    drafted = export.draft(source)
    assert 'format: "%d.%m.%Y"' in drafted
    assert 'format: "%m/%d/%Y"' in drafted
    assert "1960-03" in export.publish(source)
    export.state({"born": {"role": "quasi", "date": {"steps": ["month"]}}, "seen": {"action": "drop"}} | ILL)
    shutil.rmtree(export.out)
    assert "`format`" in export.refuse(source)


def test_partial_and_impossible_dates(export: Export) -> None:
    born = [*["1974", "1974-12", "1974-12-25"] * 5, *["1980-02-30"] * 3]
    rows = [{"born": date, "ill": ILLS[at % 3]} for at, date in enumerate(born)]
    source = export.write("dates.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    formats = {"steps": ["day", "month", "year"], "format": ["iso", "%Y-%m", "%Y"]}
    export.state({"born": {"role": "quasi", "date": formats}, **ILL})
    assert "1980" not in export.refuse(source)
    export.state({"born": {"role": "quasi", "date": {**formats, "missing": "impossible"}}, **ILL})
    published = [json.loads(line).get("born") for line in export.publish(source).splitlines()]
    assert sorted(map(str, published)) == sorted([*born[:15], *["None"] * 3])


ILL = {"ill": {"role": "sensitive"}}


def test_hierarchies_of_arx_with_the_row_of_the_empty_value(export: Export) -> None:
    jobs = [*["nurse", "doctor", "", "cook, head"] * 6]
    rows = [f'"{job}",{ILLS[at // 4 % 3]}' for at, job in enumerate(jobs)]
    source = export.write("jobs.csv", table("job,ill", rows))
    export.write("job.csv", ";*;*\nnurse;med;*\ndoctor;med;*\ncook, head;*;*\n")
    export.state({"job": {"role": "quasi", "taxonomy": "job.csv"}, **ILL}, k=6)
    published = export.publish(source).splitlines()[1:]
    assert sum(row.startswith(",") for row in published) == 6
    assert sum(row.startswith(("nurse", "doctor", '"cook')) for row in published) == 18
