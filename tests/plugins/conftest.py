"""The toy distribution, installed; a collection and its policy; and hierdata in a process of its own."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.wheels import build, toy, unpack

ROOT = Path(__file__).parents[2]
SECRET = "Zebedee"  # a value of the data, which no message may show
NAMES = ("Anna", "Alma", "Arno", "Bela", "Bert", "Cleo", "Carl", SECRET)

POLICY = """\
version: 1
dataset: toy
format: numbered
recoding: local
engine: {steps: [{kind: chunks, factor: 2}]}
models:
  - {kind: k-anonymity, k: 3}
  - {kind: capped-share, share: "0.75"}
metrics: [mean_class_size]
gates:
  - {metric: mean_class_size, figure: records, operator: "<=", value: 30}
fields:
  $.name: {role: quasi, domain: {kind: initial}}
  $.age: {role: quasi, interval: {steps: [5, 10]}}
  $.ill: {role: sensitive}
individual: {none: "names are drawn: each record is another person"}
"""


_IN_TURN = """
import contextlib, io, json, sys
from hierdata.cli import main
ran = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(command)
    ran.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(ran))
"""


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Site:
    """A folder of a collection and its policy, and a folder of installed distributions, or none."""

    folder: Path
    site: Path | None

    def run(self, *arguments: str) -> Ran:
        """A command of hierdata in a process that sees what is installed there."""
        done = self._python("-m", "hierdata", *arguments)
        assert SECRET not in done.stdout + done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def run_all(self, *commands: Sequence[str]) -> list[Ran]:
        """Commands one after the other in one such process."""
        done = self._python("-c", _IN_TURN, json.dumps(commands))
        assert SECRET not in done.stdout + done.stderr
        assert (done.returncode, done.stderr) == (0, "")
        return [Ran(*one) for one in json.loads(done.stdout)]

    def execute(self, code: str) -> None:
        """Some lines of Python in a process that sees what is installed there."""
        done = self._python("-c", code)
        assert done.returncode == 0, done.stderr

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(str(one) for one in (self.site, ROOT) if one is not None)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "HIERDATA_SEED": "seed-of-the-tests", "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )

    def at(self, site: Path | None) -> Site:
        """The same folder, with other distributions."""
        return Site(self.folder, site)

    def say(self, name: str, changed: Mapping[str, str]) -> str:
        """A policy with some of its texts replaced."""
        text = POLICY
        for old, new in changed.items():
            assert old in text
            text = text.replace(old, new)
        (self.folder / name).write_text(text, "utf-8")
        return name


@pytest.fixture(scope="session")
def toy_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the toy, version 1.0."""
    site = tmp_path_factory.mktemp("toy") / "site"
    unpack(build(toy(), site.parent), site)
    return site


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory, toy_site: Path) -> Site:
    """Records, and a policy that names a member of each family."""
    folder = tmp_path_factory.mktemp("desk")
    rng = random.Random(1)
    rows = (
        {"name": rng.choice(NAMES), "age": rng.randint(20, 30), "ill": rng.choice(["flu", "cold", "gout"])}
        for _ in range(60)
    )
    (folder / "in.numbered").write_text("".join(f"#{json.dumps(row)}\n" for row in rows), "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    (folder / "plain.yaml").write_text(
        "version: 1\nindividual: {none: drawn}\nmodels: [{kind: k-anonymity, k: 2}]\n"
        "fields: {$.name: {role: quasi, flat: true}}\n"
    )
    return Site(folder, toy_site)


SERIAL = ("--executor", "serial")
SPREAD = ("--executor", "processes", "--workers", "2")
