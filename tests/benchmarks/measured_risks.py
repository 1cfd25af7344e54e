"""Our three risks beside those of anonymeter 1.1: ``python -m tests.benchmarks.measured_risks``.

Adult (a synthetic table of its shape where it is not beside the repository), 80 % published under k = 5 and
l = 2 with eight quasi-identifiers, occupation sensitive; the rest is the control. Then the table as it is,
with nothing but its order changed. Both tools attack the same files. anonymeter has an environment of its
own, made by pip in a folder that ``--folder`` keeps; without a package index ``--alone`` prints our figures.
Lines agree where the intervals overlap. Of the table as it is every predicate that is found is right, so
that ``expected`` is exact: how many of so many tries single out, by counting all rows and columns. Controls
differ: anonymeter 1.1 multiplies what the control tells by the quotient of the two sizes, since it counts
every guess of its correction as a success.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import venv
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import hierdata
from hierdata.measurement.risks.singling_out import BY_STRINGS
from hierdata.policy.policy import Policy
from tests.benchmarks import adult
from tests.benchmarks.engine import header, row

SEED = bytes(16)
MODELS = [{"kind": "k-anonymity", "k": 5}, {"kind": "distinct-l-diversity", "l": 2}]
PACKAGE = "anonymeter==1.1.0"
COLUMNS, AGE = [*adult.QUASI, adult.SENSITIVE], "age"
TRIES = 10
_EACH = ("interval", "control")
CELLS = ("published", "facts", "expected", "ours", *_EACH, "anonymeter", *_EACH, "agree")
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


def expect(file: Path, facts: int, attacks: int) -> float:
    """The expected share of right attacks on a table as it is: one predicate for each row and columns.

    A predicate that matches one row is made of no other, so that the tries that find a new one are those of a
    coupon collector.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        rows = sorted({tuple(own[name] for name in COLUMNS) for own in csv.DictReader(stream)})
    ages = [int(own[COLUMNS.index(AGE)]) for own in rows]
    middle = median(ages)
    alone = made = 0
    for columns in combinations(range(len(COLUMNS)), facts):
        equal = [own for own in columns if COLUMNS[own] != AGE]
        groups: dict[tuple[str, ...], list[int]] = {}
        for row_, age in zip(rows, ages, strict=True):
            groups.setdefault(tuple(row_[own] for own in equal), []).append(age)
        made += len(rows)
        for own in groups.values():
            if len(equal) == facts:
                alone += len(own) == 1
                continue
            low, high = min(own), max(own)
            alone += low <= middle and own.count(low) == 1
            alone += high > middle and own.count(high) == 1
    found = alone * (1 - (1 - 1 / made) ** (TRIES * attacks))
    return min(found / attacks, 1.0)


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
            "columns": COLUMNS,
            "facts": asked.facts,
            "attacks": asked.attacks,
            "tries": TRIES * asked.attacks,
        }
        ran = subprocess.run(
            [python, "-c", PEER, json.dumps(task)], capture_output=True, text=True, check=True
        )
        theirs = json.loads(ran.stdout)
    for facts in asked.facts:
        own = ours[facts]
        rates = [own.attack_rate, own.control_rate]
        expected = f"{100 * expect(released, facts, asked.attacks):.1f} %" if released == original else "-"
        line = [name, facts, expected, *_spell(rates[0]), _share(rates[1]), "-", "-", "-", "-"]
        if str(facts) in theirs:
            rate, other = theirs[str(facts)]
            agree = rates[0] is not None and abs(rate[0] - rates[0].value) <= rate[1] + rates[0].error
            line[6:] = [*_spell(rate), _share(other), "yes" if agree else "NO"]
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
