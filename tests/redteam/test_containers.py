"""The tool where software runs in containers: as a user without a name or a home, from a read-only package.

And what is left where the whole container ends at once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hierdata
from tests.adversarial.marked import PEOPLE, json_policy

USER = 12345
"""A number that no list of users has."""
AS_USER = (
    *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
    # May read everything, so that it finds the interpreter wherever that is, and write nothing of others.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
NAMELESS = """
import pwd, sys
def nobody(*_):
    raise KeyError("no such user")
pwd.getpwuid = pwd.getpwnam = nobody
if len(sys.argv) > 1 and sys.argv[1] == "nowhere":
    import tempfile
    tempfile.tempdir = "/nonexistent/tmp"
    del sys.argv[1]
from hierdata.cli import main
sys.exit(main())
"""


POLICY = {
    **json_policy(),
    "models": [{"kind": "k-anonymity", "k": 2}],
    "engine": {"steps": [{"kind": "clustree", "pairing": "greedy"}]},  # little to compile
}


class Container:
    """A read-only copy of the package, an unwritable working folder, and one place for results."""

    def __init__(self, folder: Path) -> None:
        self.package, self.work, self.results, self.temporary = (
            folder / name for name in ("package", "work", "results", "tmp")
        )
        shutil.copytree(
            Path(hierdata.__file__).parent,
            self.package / "hierdata",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for place in (self.work, self.results, self.temporary):
            place.mkdir()
        # Enough of them that searches are compiled.
        lines = "".join(f"{json.dumps(one)}\n" for one in PEOPLE) * (300 // len(PEOPLE))
        (self.work / "people.jsonl").write_text(lines, "utf-8")
        (self.work / "policy.json").write_text(json.dumps(POLICY), "utf-8")
        self.as_user: tuple[str, ...] = ()
        if os.geteuid() == 0:
            assert shutil.which("setpriv"), "of util-linux: the tests run as root and become another user"
            self.as_user = AS_USER
            for place in (self.results, self.temporary):
                os.chown(place, USER, USER)
        for path in (self.package, *self.package.rglob("*"), self.work):
            path.chmod(0o555 if path.is_dir() else 0o444)

    def run(self, *words: str, home: str | None = None) -> subprocess.CompletedProcess[str]:
        unset = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "USER", "LOGNAME", "HIERDATA_SEED")
        environment = {name: value for name, value in os.environ.items() if name not in unset}
        environment |= {"PYTHONPATH": str(self.package), "TMPDIR": str(self.temporary)}
        environment |= {} if home is None else {"HOME": home}
        command = [*self.as_user, sys.executable, "-c", NAMELESS, *words]
        return subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, timeout=300, check=False
        )


@pytest.mark.long  # it compiles everything twice
def test_without_home_name_or_a_package_to_write_in(tmp_path: Path) -> None:
    container = Container(tmp_path)
    before = sorted(container.package.rglob("*"))
    for number, (words, home) in enumerate(
        (
            ((), None),
            (("--executor", "processes", "--workers", "2"), "/nonexistent"),
            ((), str(container.work)),
            ((), "/dev/null"),
        )
    ):
        out = str(container.results / f"out{number}")
        ran = container.run(
            "anonymize", "people.jsonl", "--policy", "policy.json", "--out", out, *words, home=home
        )
        assert ran.returncode == 0, ran.stderr
        # What was compiled first is kept where the temporary files are.
        assert ("compiling" in ran.stderr) == (number == 0), ran.stderr
        ran = container.run("verify", out, "--policy", "policy.json", "--original", "people.jsonl", home=home)
        assert (ran.returncode, ran.stderr) == (0, "")
    nowhere = str(container.results / "nowhere")
    ran = container.run("nowhere", "anonymize", "people.jsonl", "--policy", "policy.json", "--out", nowhere)
    assert ran.returncode == 0, ran.stderr
    assert "compiling" in ran.stderr
    for words in (("lint", "policy.json", "--data", "people.jsonl"), ("init", "people.jsonl")):
        assert container.run(*words).returncode == 0
    ran = container.run("anonymize", "people.jsonl", "--policy", "policy.json", "--out", "out")
    assert (ran.returncode, ran.stderr.count("\n")) == (6, 1)
    assert "Permission denied" in ran.stderr
    assert sorted(container.package.rglob("*")) == before
    assert {path.name for path in container.temporary.iterdir()} <= {f"hierdata-{os.geteuid() or USER}"}
    assert not [path for path in container.results.iterdir() if path.name.startswith(".")]
