"""``hierdata anonymize``: what it writes and prints, and that it writes whole releases or nothing."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import PEOPLE, Desk, Run, person


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_release_has_two_rooms_and_a_summary_is_shown(run: Run, desk: Desk) -> None:
    ran = run(*desk.command)
    assert (ran.code, ran.err) == (0, "")
    assert "keeps its promise" in ran.out
    assert str(desk.out / "public") in ran.out
    assert set(files(desk.out)) == {
        *("public/records.jsonl", "public/release.json", "public/codebook.json", "public/summary.html"),
        *("steward/verification.json", "steward/report.json", "steward/report.html", "steward/witness.bin"),
    }
    assert desk.names() == {"people.jsonl", "policy.yaml", "out"}


def test_json_is_one_object_with_the_public_report_and_the_paths(run: Run, desk: Desk) -> None:
    ran = run(*desk.command, "--json")
    assert (ran.code, ran.err) == (0, "")
    answer = ran.json
    assert answer.pop("paths") == {
        "release": str(desk.out),
        "public": str(desk.out / "public"),
        "steward": str(desk.out / "steward"),
    }
    assert answer == json.loads((desk.out / "public" / "release.json").read_text())


def test_quiet_is_silent(run: Run, desk: Desk) -> None:
    ran = run(*desk.command, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_the_format_can_be_stated(run: Run, desk: Desk) -> None:
    odd = desk.people.rename(desk.folder / "people.txt")
    command = ("anonymize", odd, "--policy", desk.policy, "--out", desk.out)
    assert run(*command).code == 2
    assert run(*command, "--format", "yaml").code == 2
    assert run(*command, "--format", "jsonl", "--quiet").code == 0
    assert run("verify", desk.out, "--policy", desk.policy, "--quiet").code == 0


def test_a_seed_file_or_variable_decides_every_byte_and_is_in_none(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "seed-of-16-bytes-or-more"
    seed_file = desk.folder / "seed"
    seed_file.write_text(secret)
    releases = []
    for name, extra in (("a", ("--seed-file", seed_file)), ("b", ())):
        target = desk.folder / name
        assert run(*desk.command[:-1], target, *extra).code == 0
        releases.append(files(target))
        monkeypatch.setenv("HIERDATA_SEED", secret)
    assert releases[0] == releases[1]
    assert not any(secret.encode() in content for content in releases[0].values())


def test_a_seed_has_at_least_16_bytes(run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    seed_file = desk.folder / "seed"
    seed_file.write_bytes(b"marker-7319")
    ran = run(*desk.command, "--seed-file", seed_file)
    assert ran.code == 2
    assert "marker" not in ran.out + ran.err
    monkeypatch.setenv("HIERDATA_SEED", "marker-7319")
    ran = run(*desk.command)
    assert ran.code == 2
    assert "marker" not in ran.out + ran.err
    assert run(*desk.command, "--seed-file", desk.folder / "none").code == 6
    assert not desk.out.exists()


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_an_existing_target_is_refused_before_any_work(run: Run, desk: Desk, kind: str) -> None:
    if kind == "folder":
        desk.out.mkdir()
    elif kind == "file":
        desk.out.write_text("")
    else:
        desk.out.symlink_to("nowhere")
    desk.people.unlink()
    ran = run(*desk.command)
    assert ran.code == 6
    assert ran.err == f"hierdata: {desk.out}: is already there; choose a new name\n"


def test_the_folder_of_the_target_must_be_there_before_any_work(run: Run, desk: Desk) -> None:
    desk.people.unlink()
    ran = run(*desk.command[:-1], desk.folder / "none" / "out")
    assert (ran.code, ran.err.count("\n")) == (6, 1)


def test_fewer_records_than_k_cannot_be_published(run: Run, desk: Desk) -> None:
    desk.write(PEOPLE[:1])
    ran = run(*desk.command, "--json")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert ran.json["error"]["kind"] == "PromiseError"
    assert desk.names() == {"people.jsonl", "policy.yaml"}


def test_a_value_outside_its_domain_is_shown_to_nobody_but_the_steward(run: Run, desk: Desk) -> None:
    desk.write([*PEOPLE, person(5, 7319, "east", "flu")])
    ran = run(*desk.command, "--json")
    assert ran.code == 5
    assert "--reveal FILE" in ran.err
    assert ran.json["error"]["record"] == 5
    assert ran.json["error"]["path"] == "$.age"
    assert "7319" not in ran.out + ran.err

    revealed = desk.folder / "revealed"
    ran = run(*desk.command, "--reveal", revealed)
    assert ran.code == 5
    assert "7319" not in ran.out + ran.err
    assert revealed.read_text() == "7319\n"
    assert stat.S_IMODE(revealed.stat().st_mode) == 0o600
    assert desk.names() == {"people.jsonl", "policy.yaml", "revealed"}


def test_revealed_values_go_to_a_new_file_only(run: Run, desk: Desk) -> None:
    desk.people.unlink()
    ran = run(*desk.command, "--reveal", desk.policy)
    assert ran.code == 6
    assert "policy.yaml: is already there" in ran.err


def test_nothing_is_revealed_where_nothing_is_wrong(run: Run, desk: Desk) -> None:
    assert run(*desk.command, "--reveal", desk.folder / "revealed").code == 0
    assert not (desk.folder / "revealed").exists()


def test_the_steward_room_is_private(run: Run, desk: Desk) -> None:
    assert run(*desk.command, "--quiet").code == 0
    assert stat.S_IMODE((desk.out / "steward").stat().st_mode) == 0o700


def test_all_values_outside_their_domains_are_counted_before_the_search(run: Run, desk: Desk) -> None:
    desk.write([*PEOPLE, person(5, 7319, "east", "flu"), person(6, 7320, "east", "flu")])
    ran = run(*desk.command, "--reveal", desk.folder / "revealed")
    assert ran.code == 5
    assert "in the whole collection $.age: 2 values (2 occurrences) outside" in ran.err
    assert (desk.folder / "revealed").read_text() == "7319\n7320\n"
