"""Adult by hierdata beside what other tools reach: ``python -m tests.benchmarks.peers`` prints a table.

The task: eight quasi-identifiers with their hierarchies, occupation sensitive. NCP is the mean LM' of all
cells of all rows, a suppressed row counting 1; every class satisfies the models, t against the original. Each
run is a whole cold command, verification included. The figures of the other tools were measured on a machine
of the same kind and are repeated here; ours are those of this run. It needs the Adult table beside the
repository.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import adult
from tests.benchmarks.commands import anonymize
from tests.benchmarks.engine import header, row
from tests.benchmarks.tables import SCALED, SEED

K = {"kind": "k-anonymity", "k": 5}
DISTINCT = {"kind": "distinct-l-diversity", "l": 4}
NEAR = {"kind": "t-closeness", "t": "0.2", "distance": "hierarchical"}
NEAR_EQUAL = {"kind": "t-closeness", "t": "0.2", "distance": "equal"}
SETS = {"recoding": "sets_and_ranges"}


@dataclass(frozen=True)
class Setting:
    """A line of the table: what is asked, what a peer reaches, and the bar."""

    name: str
    models: list[dict[str, Any]]
    peer: str
    bar: str
    more: dict[str, Any] = field(default_factory=dict)
    factor: int = 1
    twice: bool = False


SETTINGS = (
    Setting("k = 5", [K], "ARX 0.0329 in 1.8 s, 0.0284 in 5.3 s", "0.0282, none, 2 s"),
    Setting(
        "k = 5, 4 distinct", [K, DISTINCT], "ARX 0.0443 in 2.4 s, 0.0407 in 4.9 s", "0.0404, none, 2.5 s"
    ),
    Setting(
        "k = 5, t = 0.2 hierarchical",
        [K, NEAR],
        "ARX 0.363 (1,308 suppressed) in 10.5 s, 0.323 (1,018) in 85 s",
        "0.28, none, 15 s",
    ),
    Setting(
        "k = 5, t = 0.2 equal",
        [K, NEAR_EQUAL],
        "ARX 0.456 (4,424) in 9 s",
        "0.43, at most 90 suppressed, 15 s",
    ),
    Setting("k = 5, sets and ranges", [K], "anonypyx 0.0179 in 15 s", "0.0141, 2.5 s", SETS),
    Setting("k = 5, 4 distinct, sets and ranges", [K, DISTINCT], "anonypyx 0.0251 in 16 s", "0.022", SETS),
    Setting("k = 5", [K], "ARX 0.0093 in 2.6 s, 804 MB", "0.0093, 6 s, 600 MB", factor=SCALED),
    Setting("k = 5, 4 distinct", [K, DISTINCT], "ARX 0.0220 in 6.1 s", "", factor=SCALED),
    Setting(
        "k = 5, t = 0.2 hierarchical",
        [K, NEAR],
        "ARX publishes classes of 0.2897",
        "no class above 0.2",
        factor=SCALED,
    ),
    Setting("k = 5, 16 quasi-identifiers", [K], "ARX 0.149 in 24.6 s", "0.12, none, 25 s", twice=True),
)


def with_copies(own: adult.Table) -> adult.Table:
    """Every quasi-identifier once more, three cells of ten drawn anew from their column."""
    rng = np.random.default_rng(7)
    found = dict(own)
    for name in adult.QUASI:
        codes = own[name].codes.copy()
        anew = rng.random(len(codes)) < 0.3
        codes[anew] = own[name].codes[rng.integers(0, len(codes), int(anew.sum()))]
        found[f"{name}-2"] = adult.Column(own[name].values, codes)
    return found


def stated(setting: Setting) -> dict[str, Any]:
    """The policy of a setting; the engine is the one that hierdata takes by itself."""
    policy = adult.policy(adult.SENSITIVE, setting.models, None, **setting.more)
    plain: dict[str, Any] = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    fields = plain["fields"]
    fields[f"$['{adult.SENSITIVE}']"]["taxonomy"] = str(adult.hierarchy(adult.SENSITIVE))
    if setting.twice:
        fields.update(
            {path.replace("']", "-2']"): rule for path, rule in fields.items() if rule["role"] == "quasi"}
        )
    return plain


def measured(setting: Setting, file: Path, place: Path, seed: bytes | None) -> list[str]:
    """Run the command; its figures."""
    taken = anonymize(file, stated(setting), place, seed=seed)
    told = taken.release
    records = told["counts"]["records"]
    reached = [
        promise["achieved"]["t"]["value"] for promise in told["promises"] if "t" in promise["achieved"]
    ]
    return [
        f"{told['metrics']['lm_cost']['per_value']:.4f}",
        f"{records['suppressed']:,}",
        f"{told['counts']['classes']:,}",
        f"{max(reached):.4f}" if reached else "",
        *(f"{taken.seconds:.1f}", f"{taken.cpu:.1f}", f"{taken.megabytes:.0f}"),
    ]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="settings whose name has this text")
    options.add_argument("--rows", type=int, help="only the first rows")
    options.add_argument("--seeds", type=int, default=0, help="runs of each setting, with seeds 1 to this")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if not adult.is_there():
        sys.exit("the Adult table does not lie beside the repository: nothing can be compared")
    small = adult.table(adult.WITHOUT_MISSING, asked.rows)
    header(
        "Adult, whole cold commands",
        *("setting", "rows", "NCP", "suppressed", "classes", "largest t", "s", "CPU s", "peak MB"),
        *("bar: NCP, suppressed, time", "another tool"),
    )
    with tempfile.TemporaryDirectory() as temporary:
        for setting in SETTINGS:
            if asked.only not in setting.name:
                continue
            own = small if setting.factor == 1 else adult.scaled(small, setting.factor, SEED)
            own = with_copies(own) if setting.twice else own
            rows = f"{len(own['age'].codes):,}"
            for seed in range(1, asked.seeds + 1) if asked.seeds else (None,):
                place = Path(tempfile.mkdtemp(dir=temporary))
                file = adult.write(own, place / "table.csv")
                drawn = None if seed is None else sha256(str(seed).encode()).digest()
                name = setting.name if seed is None else f"{setting.name}, seed {seed}"
                row(name, rows, *measured(setting, file, place, drawn), setting.bar, setting.peer)


if __name__ == "__main__":
    main()
