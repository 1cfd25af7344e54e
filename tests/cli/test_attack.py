"""``hierdata attack``: what people and machines see, and bad input."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import PEOPLE, Desk, Run


@pytest.fixture
def asked(run: Run, desk: Desk) -> tuple[object, ...]:
    """The command on a release of the desk's people."""
    assert run(*desk.command).code == 0
    return ("attack", desk.out, "--original", desk.people, "--policy", desk.policy)


def test_figures_for_people(run: Run, asked: tuple[object, ...]) -> None:
    ran = run(*asked, "--facts", 1, "--counts", "--negative")
    assert (ran.code, ran.err) == (0, "")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "4 victims of 4 records; known of each:" in lines
    assert "0 2 2 0.0 % 0.0 % 0.0 %" in lines
    assert "0 1 1 100.0 % 100.0 % 0.0 %" in lines
    assert max(map(len, ran.out.splitlines())) <= 80
    for person in PEOPLE:
        for value in (str(person["age"]), *map(str, person["visits"][0].values())):
            assert value not in ran.out.split()


def test_figures_for_machines(run: Run, asked: tuple[object, ...]) -> None:
    found = run(*asked, "--json", "--victims", 3).json
    assert (found["records"], found["victims"], found["facts"], found["least"]) == (4, 3, 3, 2)
    assert [one["facts"] for one in found["release"]["candidates"]] == [0, 1, 2, 3]
    assert {one["path"] for one in found["release"]["guesses"]} == {"$.visits[*].reason"}
    assert found["identifiers_dropped"]["candidates"][0]["unique"] == 1
    assert json.dumps(found).count("west") == 0


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--facts", 0), 2, "greater than or equal to 1"),
        (("--victims", 0), 2, "greater than or equal to 1"),
        (("--draw", -1), 2, "greater than or equal to 0"),
        (("--original", "nobody.jsonl"), 6, "nobody.jsonl"),
    ],
)
def test_bad_input(
    run: Run, asked: tuple[object, ...], more: tuple[str, object], code: int, message: str
) -> None:
    ran = run(*asked, *more)
    assert ran.code == code
    assert message in ran.err
    assert ran.out == ""


def test_a_broken_release_is_told_from_a_broken_original(
    run: Run, desk: Desk, asked: tuple[object, ...]
) -> None:
    (records,) = (desk.out / "public").glob("records.*")
    records.write_bytes(records.read_bytes()[:-20])
    ran = run(*asked)
    assert (ran.code, ran.out) == (5, "")
    assert ran.err.rstrip().endswith("this is in the release, not in the original")
    ran = run("attack", desk.out, "--original", records, "--policy", desk.policy)
    assert ran.code == 5
    assert "in the release" not in ran.err
