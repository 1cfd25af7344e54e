"""Our three risks beside those of anonymeter 1.1: ``python -m tests.benchmarks.measured_risks``.

Adult (a synthetic table of its shape where it is not beside the repository), 80 % published under k = 5 and
l = 2 with eight quasi-identifiers, occupation sensitive; the rest is the control. Then the table as it is,
with nothing but its order changed. Both tools attack the same files. anonymeter has an environment of its
own, made by pip in a folder that ``--folder`` keeps; without a package index ``--alone`` prints our figures.
Lines agree where the intervals overlap. Controls differ: anonymeter 1.1 multiplies what the control tells
by the quotient of the two sizes, since it counts every guess of its correction as a success.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from random import Random
from typing import Any

import hierdata
from hierdata.measurement.risks.singling_out import BY_STRINGS
from hierdata.policy.policy import Policy
from tests.benchmarks import adult
from tests.benchmarks.engine import header, row

SEED = bytes(16)
MODELS = [{"kind": "k-anonymity", "k": 5}, {"kind": "distinct-l-diversity", "l": 2}]
PACKAGE = "anonymeter==1.1.0"
CELLS = ("published", "facts", "ours", "interval", "control", "anonymeter", "interval", "control", "agree")
PEER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
from anonymeter.evaluators import SinglingOutEvaluator
asked = json.loads(sys.argv[1])
def read(file):
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    return table.replace("?", "")[asked["columns"]]
tables = [read(asked[name]) for name in ("original", "published", "control")]
for name in asked["columns"]:
    try:
        columns = [pd.to_numeric(table[name]) for table in tables]
    except ValueError:
        continue
    for table, column in zip(tables, columns):
        table[name] = column
ori, syn, control = tables
found = {}
for facts in asked["facts"]:
    own = SinglingOutEvaluator(ori, syn, asked["attacks"], facts, control, asked["tries"], seed=1)
    own.evaluate(mode="multivariate" if facts > 1 else "univariate")
    results = own.results()
    found[facts] = [tuple(results.attack_rate), tuple(results.control_rate)]
print(json.dumps(found))
"""


def written(folder: Path, rows: int) -> tuple[Path, Path]:
    """Those who are published, and the control."""
    own = adult.table(adult.WITHOUT_MISSING, rows)
    whole = adult.write(own, folder / "whole.csv", ",")
    head, *lines = whole.read_text("utf-8").splitlines()
    Random(1).shuffle(lines)
    first = len(lines) * 4 // 5
    files = folder / "published.csv", folder / "control.csv"
    for file, part in zip(files, (lines[:first], lines[first:]), strict=True):
        file.write_text("\n".join([head, *part, ""]), encoding="utf-8")
    return files


def python_of(folder: Path) -> Path:
    """The interpreter of an environment with anonymeter."""
    found = folder / "anonymeter" / "bin" / "python"
    if not found.exists():
        venv.create(folder / "anonymeter", with_pip=True)
        subprocess.run([found, "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    return found


def compare(
    folder: Path,
    policy: Policy,
    named: tuple[str, Path],
    asked: argparse.Namespace,
    python: Path | None,
) -> None:
    """The lines of one published file, with its name."""
    name, released = named
    original, control = folder / "published.csv", folder / "control.csv"
    found = hierdata.attack(
        released,
        policy,
        original=original,
        control=control,
        as_data=released.is_file(),
        facts=max(asked.facts),
        victims=asked.attacks,
    )
    ours = {own.facts: own for own in found.risks if own.by == BY_STRINGS}
    theirs: dict[str, Any] = {}
    if python is not None:
        (records,) = [released] if released.is_file() else (released / "public").glob("records.*")
        task = {
            "original": str(original),
            "published": str(records),
            "control": str(control),
            "columns": [*adult.QUASI, adult.SENSITIVE],
            "facts": asked.facts,
            "attacks": asked.attacks,
            "tries": 10 * asked.attacks,
        }
        ran = subprocess.run(
            [python, "-c", PEER, json.dumps(task)], capture_output=True, text=True, check=True
        )
        theirs = json.loads(ran.stdout)
    for facts in asked.facts:
        own = ours[facts]
        rates = [own.attack_rate, own.control_rate]
        line = [name, facts, *_spell(rates[0]), _share(rates[1]), "-", "-", "-", "-"]
        if str(facts) in theirs:
            rate, other = theirs[str(facts)]
            agree = rates[0] is not None and abs(rate[0] - rates[0].value) <= rate[1] + rates[0].error
            line[5:] = [*_spell(rate), _share(other), "yes" if agree else "NO"]
        row(*line)
        sys.stdout.flush()


def _share(rate: Any) -> str:
    return "-" if rate is None else f"{100 * rate[0]:.1f} %"


def _spell(rate: Any) -> list[str]:
    if rate is None:
        return ["-", "-"]
    value, error = rate
    return [_share(rate), f"{100 * max(value - error, 0):.1f} to {100 * min(value + error, 1):.1f}"]


def main(argv: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=30_162)
    options.add_argument("--attacks", type=int, default=1000)
    options.add_argument("--facts", type=int, nargs="+", default=[2, 3, 5])
    options.add_argument("--folder", type=Path, help="where the environment of anonymeter is kept")
    options.add_argument("--alone", action="store_true", help="print our figures only")
    asked = options.parse_args(argv)
    header("Singling out, as strings", *CELLS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        python = None if asked.alone else python_of(asked.folder or folder)
        original, _ = written(folder, asked.rows)
        policy = adult.policy(adult.SENSITIVE, MODELS, "mondrian", csv={"delimiter": ","})
        hierdata.anonymize(original, policy, out=folder / "release", seed=SEED)
        compare(folder, policy, ("k = 5, l = 2", folder / "release"), asked, python)
        compare(folder, policy, ("as it is", original), asked, python)


if __name__ == "__main__":
    main()
