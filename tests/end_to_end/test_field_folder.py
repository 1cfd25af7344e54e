"""The folder of inputs that failed in the field, each as its README.md says what is right.

``HIERDATA_FIELD=FOLDER pytest -m full tests/end_to_end/test_field_folder.py`` runs all lines of its table.
The folder is no part of this repository; ``test_field_table.py`` has inputs of the same kinds.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import run
from sys import executable

import pytest

import hierdata
from hierdata.ground.errors import InputError
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import load
from hierdata.release.release import Release
from hierdata.release.report.wording import verdict
from tests.end_to_end.test_field_table import anonymize, publish, written

VARIABLE = "HIERDATA_FIELD"


def follow(folder: Path, name: str) -> Release:
    """Return the release under the policy of the same stem."""
    path = folder / name
    return anonymize(path, path.with_suffix(".yaml").read_text("utf-8"))


def names_repeat(folder: Path) -> None:
    roles, release = publish(folder / "names_repeat.csv")
    assert roles["$.patient_name"] == "identifier"
    assert release.report.counts.records.input == 5
    assert "Person" not in written(release)


def one_record_each(folder: Path) -> None:
    assert hierdata.init(folder / "one_record_each").records == 6
    assert publish(folder / "one_record_each")[1].report.counts.records.published == 6


def deep_records(folder: Path) -> None:
    release = follow(folder, "deep_records.xml")
    assert release.report.counts.records.published == 4
    assert hierdata.verify(release, folder / "stated.yaml").passed


def dates_other(folder: Path) -> None:
    with pytest.raises(InputError, match="`format`"):
        follow(folder, "dates_other.csv")
    stated = (folder / "dates_other.yaml").read_text()
    for field, form in ("born", "%d.%m.%Y"), ("seen", "%m/%d/%Y"):
        steps = f"{field}: {{role: quasi, date: {{steps: [month, year]"
        assert steps in stated
        stated = stated.replace(steps, f"{steps}, format: '{form}'")
    assert anonymize(folder / "dates_other.csv", stated).report.counts.records.published == 12
    shown = written(publish(put_alone(folder, "dates_other.csv"))[1])
    assert "1960" in shown
    assert "2014" in shown


def dates_one_bad(folder: Path) -> None:
    (born, _) = hierdata.init(folder / "dates_one_bad.csv").fields
    assert born.proposal.rule["date"]["missing"] == "impossible"
    assert "1 different value names no day" in born.proposal.reason
    publish(folder / "dates_one_bad.csv")


def arx(folder: Path) -> None:
    assert follow(folder, "arx.csv").report.counts.records.published == 12


def arx_empty(folder: Path) -> None:
    assert follow(folder, "arx_empty.csv").report.counts.records.published == 12


def cr_only(folder: Path) -> None:
    stated = (folder / "age_ill.yaml").read_text()
    assert anonymize(folder / "cr_only.csv", stated).report.counts.records.published == 12


def latin1(folder: Path) -> None:
    for name in ("latin1.csv", "latin1.xml"):
        with pytest.raises(InputError, match="state its `encoding`, such as latin-1"):
            hierdata.init(folder / name)
    model = "version: 1\nencoding: latin-1\nmodels: [{kind: k-anonymity, k: 3}]\n"
    table = "  town: {role: quasi, flat: true}\n  name: {role: identifier}\n  ill: {role: sensitive}\n"
    tree = "  /s/p/town: {role: quasi, flat: true}\n  /s/p/ill: {role: sensitive}\n"
    for name, rules in (("latin1.csv", table), ("latin1.xml", tree)):
        own = put_alone(folder, name)
        assert "Köln" in written(anonymize(own, f"{model}fields:\n{rules}"))


def decimal_comma(folder: Path) -> None:
    with pytest.raises(InputError, match=r"csv: \{decimal: ','\}"):
        follow(folder, "decimal_comma.csv")
    stated = (folder / "decimal_comma.yaml").read_text()
    release = anonymize(folder / "decimal_comma.csv", f"csv: {{decimal: ','}}\n{stated}")
    assert release.report.counts.records.published == 12
    draft = hierdata.init(folder / "decimal_comma.csv")
    assert draft.stated["csv"]["decimal"] == ","
    assert {one.path: one.proposal.rule for one in draft.fields}["$.gehalt"]["number"] is True


def preamble(folder: Path) -> None:
    with pytest.raises(InputError, match=r"skip them with `csv: \{comment: '#'\}`"):
        anonymize(folder / "preamble.csv", (folder / "age_ill.yaml").read_text())
    assert publish(put_alone(folder, "preamble.csv"))[1].report.counts.records.input == 12


def single_or_list(folder: Path) -> None:
    roles, release = publish(folder / "single_or_list.jsonl")
    assert roles["$.dx[*]"] == "sensitive"
    assert all(isinstance(one["dx"], list) for one in release.records())


def fhir_patient(folder: Path) -> None:
    roles, release = publish(folder / "fhir_patient.ndjson")
    for path in ("identifier[*].value", "name[*].text", "name[*].family", "telecom[*].value"):
        assert roles[f"$.{path}"] == "identifier"
    shown = written(release)
    for text in ("urn:oid:1.2.3", "fhir/birth-place", "1974"):
        assert text in shown
    for text in ("Person", "example.org/u", "5550", "MRN", "80036"):
        assert text not in shown


def code_and_label(folder: Path) -> None:
    roles, _ = publish(folder / "code_and_label.csv")
    assert "quasi" not in (roles["$.score_id"], roles["$.performance_score"])
    known = "".join(f"  {name}: {{role: quasi, flat: true}}\n" for name in ("dept", "score_id"))
    policy = folder / "own.yaml"
    policy.write_text(
        "version: 1\nmodels: [{kind: k-anonymity, k: 3}]\n"
        f"fields:\n{known}  performance_score: {{role: sensitive}}\n"
    )
    survey, hints = survey_collection(folder / "code_and_label.csv", load(policy))
    told = [one.message for one in lint(load(policy), survey, hints) if one.path == "score_id"]
    assert any("this tells performance_score, which is sensitive" in message for message in told)


def flat_pairs(folder: Path) -> None:
    rows = list(follow(folder, "flat_pairs.csv").records())
    assert len(rows) == 24
    for pair in combinations(rows[0], 2):
        shown = [tuple(row[name] for name in pair) for row in rows]
        assert all(shown.count(one) >= 3 for one in shown if "*" not in one)


def comments(folder: Path) -> None:
    with pytest.raises(InputError, match="JSON has no comments"):
        hierdata.init(folder / "comments.json")


def grades(folder: Path) -> None:
    roles, _ = publish(folder / "grades.csv")
    assert roles["$.address"] == roles["$.reason"] == "quasi"
    assert {roles[f"$.{name}"] for name in ("health", "G1", "G2", "G3")} == {"sensitive"}


def all_dropped(folder: Path) -> None:
    _, release = publish(folder / "all_dropped.jsonl")
    assert "publishes nothing" in verdict(release.report)
    path = str(folder / "all_dropped.jsonl")
    command = [executable, "-m", "hierdata", "lint", str(folder / "drafted.yaml"), "--data", path]
    assert "Foreseen: 0 % kept" in run(command, capture_output=True, text=True, check=True).stdout


def sparse_events(folder: Path) -> None:
    """Both commands are run with compiled kernels at hand; two runs of one differ by 10 %."""
    path = folder / "sparse_events.jsonl"
    _, release = publish(path)
    assert "http://x.example" not in written(release)
    policy, out = str(folder / "drafted.yaml"), str(folder / "again")
    whole = cpu("anonymize", str(path), "--policy", policy, "--out", out)
    assert cpu("lint", policy, "--data", str(path)) <= 1.1 * whole


def cpu(*command: str) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    run([executable, "-m", "hierdata", *command], check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def put_alone(folder: Path, name: str) -> Path:
    """Return a copy in a folder of its own, since releases have fixed names."""
    (folder / "alone" / name).mkdir(parents=True)
    return Path(shutil.copy(folder / name, folder / "alone" / name))


TABLE: tuple[Callable[[Path], None], ...] = (
    *(names_repeat, one_record_each, deep_records, dates_other, dates_one_bad, arx, arx_empty, cr_only),
    *(latin1, decimal_comma, preamble, single_or_list, fhir_patient, code_and_label, flat_pairs),
    *(comments, grades, all_dropped, sparse_events),
)


@pytest.mark.full
@pytest.mark.parametrize("line", TABLE, ids=lambda line: line.__name__)
def test_the_folder(line: Callable[[Path], None], tmp_path: Path) -> None:
    given = os.environ.get(VARIABLE)
    if not given:
        pytest.skip(f"{VARIABLE} names no folder of inputs")
    folder = tmp_path / line.__name__
    shutil.copytree(given, folder)
    line(folder)


@pytest.mark.full
def test_every_line_of_the_table_is_run() -> None:
    """By the first word of each line; one line has two files."""
    given = os.environ.get(VARIABLE)
    if not given:
        pytest.skip(f"{VARIABLE} names no folder of inputs")
    lines = [line for line in (Path(given) / "README.md").read_text().splitlines() if line.startswith("| ")]
    named = {line.removeprefix("| ").split(maxsplit=1)[0] for line in lines} - {"input", "---"}
    assert {name.strip("/,").partition(".")[0] for name in named} == {line.__name__ for line in TABLE}
