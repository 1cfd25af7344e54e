"""Readers of the papers find the names that they look for."""

from __future__ import annotations

import pytest

from tests.cli.conftest import ROOT, Run

ALGORITHMS = ("MLevAnonytree", "MLevCluTree", "ClusTree", "MBF", "SLOMS", "MSB-KACA")


@pytest.mark.parametrize(
    ("command", "names"),
    [("anonymize", ALGORITHMS), ("measure", ("(DR)", "(SeDR)")), ("lint", ("$.gpa=3.2",))],
)
def test_help_has_the_names_of_the_papers(run: Run, command: str, names: tuple[str, ...]) -> None:
    words = run(command, "--help").out.replace("│", " ").split()
    text = " ".join(words)
    assert all(name in text for name in names)


@pytest.mark.parametrize("page", ["papers.md", "policy/engine.md", "cli.md"])
def test_the_reference_has_the_names_of_the_papers(page: str) -> None:
    text = (ROOT / "docs" / "reference" / page).read_text("utf-8")
    wanted = {
        "papers.md": (*ALGORITHMS, "DR", "SeDR"),
        "policy/engine.md": ALGORITHMS[1:],
        "cli.md": ("SeDR",),
    }
    assert [name for name in wanted[page] if name not in text] == []


def test_choices_of_a_missing_argument_are_on_one_line(run: Run) -> None:
    ran = run("schema")
    assert ran.code == 2
    assert "Choose from: policy, release, codebook, report, verification" in " ".join(ran.err.split())


def test_what_is_no_choice_is_said_in_words_of_ours(run: Run) -> None:
    ran = run("schema", "nothing")
    assert ran.code == 2
    assert ran.err.startswith("hierdata: Invalid value for 'NAME': 'nothing' is not one of 'policy', ")
