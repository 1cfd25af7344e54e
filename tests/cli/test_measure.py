"""``hierdata measure``: figures for people and machines, values of keys for the steward alone."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import PEOPLE, Desk, Run

TABLE = "age,decade,illness\n31,30s,flu\n34,30s,cold\n58,50s,asthma\n52,50s,asthma\n"
ASKED = ("--key", "age", "--key", "decade", "--sensitive", "illness")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    return path


def test_figures_for_people(run: Run, table: Path) -> None:
    ran = run("measure", table, *ASKED, "--generalizes", "decade=age", "--metrics")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["age", "4", "1", "0", "0", "0.75", "2"] in lines
    assert ["decade", "2", "0.6667", "0.3333", "0.5", "0.5", "1", "0.5", "0.3333"] in lines
    assert ["v1", "2", "0.5", "1", "0.6667", "0.3333", "0.5", "1"] in lines
    for value in ("31", "30s", "50s", "flu", "asthma"):
        assert value not in ran.out


def test_figures_for_machines(run: Run, table: Path) -> None:
    found = run("measure", table, *ASKED, "--json").json
    assert [own["keys"] for own in found["keys"]] == [["age"], ["decade"], ["age", "decade"]]
    assert found["keys"][1]["rate"] == {"value": pytest.approx(2 / 3), "exact": "2/3"}
    assert [value["value"] for value in found["keys"][2]["values"]][:2] == ["v1, v1", "v2, v1"]
    assert (found["rows"], found["categories"], found["entropy"]) == (4, 3, 1.5)


def test_names_are_for_the_steward(run: Run, table: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    assert run("measure", table, *ASKED, "--reveal", names).code == 0
    assert names.read_text().splitlines()[2:6] == [
        "age\tv3\t52",
        "age\tv4\t58",
        "decade\tv1\t30s",
        "decade\tv2\t50s",
    ]
    assert stat.S_IMODE(names.stat().st_mode) == 0o600
    assert run("measure", table, *ASKED, "--reveal", names).code == 6


def test_many_values_are_cut_for_people_only(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "long.csv"
    table.write_text("a,x\n" + "".join(f"{at},{at % 2}\n" for at in range(25)))
    out = run("measure", table, "--key", "a", "--sensitive", "x", "--metrics").out
    assert "v20" in out
    assert "v21" not in out
    assert "and 5 more values: --json has them all" in out
    assert (
        len(run("measure", table, "--key", "a", "--sensitive", "x", "--json").json["keys"][0]["values"]) == 25
    )


def test_a_constant_is_told(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "constant.csv"
    table.write_text("a,x\n1,p\n2,p\n")
    ran = run("measure", table, "--key", "a", "--sensitive", "x")
    assert ran.code == 0
    assert "nothing to refine, and every rate is 0" in ran.out


def test_a_partition_that_does_not_fit(run: Run, table: Path, tmp_path: Path) -> None:
    partition = tmp_path / "partition.yaml"
    partition.write_text("blocks: {lungs: [flu, asthma], all: [flu]}\n")
    ran = run("measure", table, *ASKED, "--partition", partition)
    assert ran.code == 2
    assert ran.err.endswith("have each of the 3 values in one block: 1 in none, 1 repeated\n")


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--key", "hair"), 2, "no column hair"),
        (("--generalizes", "decade"), 2, "KEY=COLUMN"),
        (("--format", "xml"), 2, "one of the formats json"),
        (("--format", "csv"), 0, ""),
    ],
)
def test_usage(run: Run, table: Path, more: tuple[str, str], code: int, message: str) -> None:
    ran = run("measure", table, *ASKED, *more)
    assert ran.code == code
    assert message in ran.err


def test_broken_tables(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "short.csv"
    table.write_text("age,decade,illness\n31,30s,flu\n34\n")
    ran = run("measure", table, *ASKED)
    assert (ran.code, ran.err) == (5, "hierdata: record 2: the row has 1 cells, but the header has 3\n")
    assert run("measure", tmp_path / "nobody.csv", *ASKED).code == 6


# A release


@pytest.fixture
def release(run: Run, desk: Desk) -> tuple[object, ...]:
    """The command on a release of the desk's people."""
    desk.policy.write_text(desk.policy.read_text() + "attackers: {nurse: {keys: own, weight: person}}\n")
    assert run(*desk.command).code == 0
    return ("measure", desk.out, "--original", desk.people, "--policy", desk.policy)


def test_a_release_has_the_figures_of_its_report(run: Run, desk: Desk, release: tuple[object, ...]) -> None:
    report = json.loads((desk.out / "steward" / "report.json").read_text())
    found = run(*release, "--json").json
    for metrics in (report["metrics"], report["attackers"]["nurse"]):
        del metrics["identity_risk"]
    assert (found["metrics"], found["attackers"]) == (report["metrics"], report["attackers"])
    assert found["left_out"]["identity_risk"] == "no published record is linked to its original"
    assert (found["records"], found["published"]) == (4, 4)
    assert "dissimilarity_degree" in found["left_out"]
    (desk.out / "steward" / "report.json").unlink()
    assert run(*release, "--json").json == found


def test_a_release_for_people(run: Run, release: tuple[object, ...]) -> None:
    ran = run(*release, "--metrics")
    assert (ran.code, ran.err) == (0, "")
    assert "4 of 4 records are published" in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["suppression_ratio", "records", "0", "share", "lower", "is", "better"] in lines
    assert any(line[:2] == ["nurse", "$.visits[*].reason"] for line in lines)
    assert "Left out: dissimilarity_degree, since no field of the policy has what it measures." in ran.out
    for value in ("flu", "cold", "asthma", "west"):
        assert value not in ran.out


def test_a_release_in_a_few_lines(run: Run, release: tuple[object, ...]) -> None:
    lines = run(*release).out.splitlines()
    assert lines[0] == "4 of 4 records are published."
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 100
    assert any(line.split()[:2] == ["discrimination_rate", "0.3333"] for line in lines)
    assert any("--metrics" in line for line in lines)


def test_single_values_of_a_release(run: Run, release: tuple[object, ...], tmp_path: Path) -> None:
    found = run(*release, "--json").json
    assert [(own["attacker"], own["sensitive"]) for own in found["values"]] == [
        (None, "$.visits[*].reason"),
        ("nurse", "$.visits[*].reason"),
    ]
    for own in found["values"]:
        assert sum(one["share"]["value"] for one in own["values"]) == pytest.approx(1)
    names = tmp_path / "names.txt"
    ran = run(*release, "--reveal", names, "--metrics")
    assert "What values of $.visits[*].ward" in " ".join(ran.out.split())
    lines = [line.split("\t") for line in names.read_text().splitlines()]
    assert {path for path, *_ in lines} == set(found["values"][0]["keys"])
    assert all(label.startswith("v") for _, label, _ in lines)
    assert stat.S_IMODE(names.stat().st_mode) == 0o600


def test_the_classes_of_a_release(run: Run, desk: Desk) -> None:
    """Two classes of flu and rash, which are two edges apart on either side of the root."""
    tree = "{tree: {'*': {lungs: [flu, cold], skin: [rash]}}}"
    desk.policy.write_text(
        "version: 1\nmodels: [{kind: k-anonymity, k: 2}]\nfields:\n"
        f"  $.age: {{role: quasi, flat: true}}\n  $.illness: {{role: sensitive, taxonomy: {tree}}}\n"
    )
    desk.write([{"age": at % 2, "illness": ["flu", "flu", "rash", "cold"][at]} for at in range(4)])
    assert run(*desk.command).code == 0
    asked = ("measure", desk.out, "--original", desk.people, "--policy", desk.policy)
    classes = run(*asked, "--json").json["classes"]["$.illness"]
    assert sorted(own["diversity_degree"]["exact"] for own in classes) == ["1", "1/2"]
    far = next(own for own in classes if own["diversity_degree"]["exact"] == "1")
    assert far["distances"] == [[0, 2], [2, 0]]
    assert [own["count"] for own in far["values"]] == [1, 1]
    ran = run(*asked, "--metrics")
    assert "How far apart the values of $.illness are in each class" in " ".join(ran.out.split())
    assert "flu" not in ran.out


def test_trees(run: Run, desk: Desk, tmp_path: Path) -> None:
    tree = tmp_path / "people.json"
    visits = [{"ward": "east", "reason": "flu"}, {"ward": "west", "reason": "cold"}]
    tree.write_text(json.dumps([{"age": 31, "visits": visits}, {"age": 52, "visits": visits[:1]}]))
    ran = run("measure", tree, "--key", "$.age", "--sensitive", "$.visits[*].reason", "--metrics")
    assert ran.code == 0
    assert "2 persons, 2 categories" in " ".join(ran.out.split())
    assert ["v1", "1", "0.5", "1"] in [line.split()[:4] for line in ran.out.splitlines()]
    for keys, message in {
        "$.height": "$.height: nothing in the records matches this path",
        "$.visits": "this is never a single value, only an object",
        "$.visits[*].ward[*]": "$.visits[*].ward[*]",
    }.items():
        ran = run("measure", tree, "--key", keys, "--sensitive", "$.visits[*].reason")
        assert (ran.code, message in ran.err) == (2, True)
    ran = run("measure", tree, "--key", "age", "--sensitive", "visits")
    assert ran.code == 5
    assert "name what is below it by a path, such as $.visits[*].ward" in ran.err


def test_what_is_no_flat_table(run: Run, tmp_path: Path) -> None:
    """Folders and XML are measured by paths; one sentence says so."""
    folder, page = tmp_path / "tables", tmp_path / "people.xml"
    folder.mkdir()
    (folder / "people.csv").write_text("a,b\n1,2\n")
    page.write_text("<people><one a='1'><b>2</b></one></people>")
    asked = ("--key", "a", "--sensitive", "b")
    assert run("measure", folder, *asked).err.endswith("or for keyed tables a policy with their `tables`\n")
    assert run("measure", page, *asked).err.endswith("name columns by paths, such as $.a or /list/item/@a\n")
    by_path = ("--key", "/people/one/@a", "--sensitive", "/people/one/b")
    assert run("measure", page, *by_path).code == 0
    assert "keyed tables need `tables`" in run("measure", folder, "--key", "$.a", "--sensitive", "$.b").err


def test_a_release_of_other_people(run: Run, desk: Desk, release: tuple[object, ...], tmp_path: Path) -> None:
    desk.write([{**one, "visits": [{**one["visits"][0], "ward": "north"}]} for one in PEOPLE])
    ran = run(*release)
    assert ran.code == 4
    assert "belongs to another input or another policy" in ran.err
    assert not {"west", "east"} & set(ran.err.split())
    names = tmp_path / "names.txt"
    assert run(*release, "--reveal", names).code == 4
    assert names.read_text() in ("west\n", "east\n")
    assert stat.S_IMODE(names.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            (),
            "--key and --sensitive must be given to measure a table; a release needs --original and --policy",
        ),
        (("--key", "age"), "--sensitive must be given to measure a table"),
        (("--policy", "p.yaml"), "--original must be given to measure a release"),
        (("--original", "x.csv"), "--policy must be given to measure a release"),
        (
            ("--policy", "p.yaml", "--original", "x.csv", "--partition", "p.json"),
            "--original is for a release, --partition is for a table: use --original and --policy, or",
        ),
        (("--key", "age", "--policy", "p.yaml"), "--sensitive must be given to measure a table"),
        (("--key", "age", "--original", "x.csv"), "--original is for a release, --key is for a table"),
    ],
)
def test_one_form_at_a_time(run: Run, table: Path, options: tuple[str, ...], message: str) -> None:
    ran = run("measure", table, *options)
    assert ran.code == 2
    assert message in ran.err
