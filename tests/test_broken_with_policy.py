"""Every row of fixtures/broken/README.md that needs a policy to be refused, through the whole pipeline."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import hierdata

FOLDER = Path(__file__).parents[1] / "fixtures" / "broken" / "with-policy"
SECTION = "## Refused when it meets its policy"


def rows() -> list[tuple[str, str, int, str]]:
    """File, policy, exit code and place of each row."""
    lines = (FOLDER.parent / "README.md").read_text().partition(SECTION)[2].splitlines()
    cells = [
        [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("| `")
    ]
    return [(file, policy, int(code), where) for file, policy, _, code, where in cells]


@pytest.mark.parametrize(("file", "policy", "code", "where"), rows(), ids=lambda cell: str(cell))
def test_it_is_refused_in_one_sentence(file: str, policy: str, code: int, where: str, tmp_path: Path) -> None:
    with pytest.raises(hierdata.HierdataError) as caught:
        hierdata.anonymize(FOLDER / file, FOLDER / policy, staging=tmp_path)
    message = str(caught.value)
    assert caught.value.exit_code == code
    assert where == "-" or message.startswith(f"{where}: ")
    shown = message + "".join(traceback.format_exception(caught.value, chain=True))
    assert "7319" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "policy"),
    [("good.json", "policy.yaml"), ("good.csv", "csv.yaml"), ("tables-good", "tables.yaml")],
)
def test_the_same_records_without_a_defect_are_published(file: str, policy: str) -> None:
    assert hierdata.anonymize(FOLDER / file, FOLDER / policy).report.passed


def test_there_are_as_many_rows_as_defects() -> None:
    assert len(rows()) == len(set(rows())) >= 11
