"""Adult by hierdata and by other tools: whole cold processes, CSV in, CSV out, judged and attacked alike."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from hierdata.judge import judge_counted
from hierdata.pipeline.judging import judge_rules
from hierdata.policy.load import from_data
from hierdata.sources import form_of
from tests.benchmarks import adult
from tests.benchmarks.commands import anonymize, watched
from tests.benchmarks.comparison.labels import Attribute, of_hierarchy
from tests.benchmarks.comparison.linkage import Row, link
from tests.benchmarks.comparison.outcomes import Promise, Run, middle, promise
from tests.benchmarks.peers import DISTINCT, NEAR, NEAR_EQUAL, SETS, K, Setting, stated

HERE = Path(__file__).parent
RANGES = {"role": "quasi", "interval": {"steps": [1, 5, 10, 20]}}


@dataclass(frozen=True)
class Way:
    """How a tool is run in a setting: words for the page, and options of the script of the tool.

    With ``refused`` it is not run, because it cannot.
    """

    tool: str
    how: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class Comparison:
    """A setting and who is run in it."""

    name: str
    models: list[dict[str, Any]]
    ways: tuple[Way, ...]
    more: dict[str, Any] = field(default_factory=dict)


def limits(percents: Sequence[int], **more: Any) -> list[Way]:
    """anjana at some limits of suppressed rows."""
    return [
        Way("anjana", f"at most {percent} % suppressed", {"suppression": percent, **more})
        for percent in percents
    ]


NO_NODES = "cannot: publishes sets and ranges, it has no hierarchies"
NO_SETS = "cannot: publishes nodes of hierarchies"
NO_TREE = "cannot: no hierarchical distance"
AGES = Way("hierdata", "ages as ranges", {"ranges": True})
COMPARISONS = (
    Comparison(
        "k = 5, nodes of hierarchies",
        [K],
        (Way("hierdata"), *limits((0, 2, 10)), Way("anonypyx", refused=NO_NODES)),
    ),
    Comparison(
        "k = 5 and 4 distinct, nodes of hierarchies",
        [K, DISTINCT],
        (Way("hierdata"), *limits((0, 1, 2), l=4), Way("anonypyx", refused=NO_NODES)),
    ),
    Comparison(
        "k = 5 and t = 0.2, hierarchical distance",
        [K, NEAR],
        (Way("hierdata"), Way("anjana", refused=NO_TREE), Way("anonypyx", refused=NO_TREE)),
    ),
    Comparison(
        "k = 5 and t = 0.2, equal distance",
        [K, NEAR_EQUAL],
        (
            Way("hierdata"),
            *limits((0, 100), t=0.2),
            Way("anonypyx", "publishes sets; all columns as categories", {"t": 0.2}),
        ),
    ),
    Comparison(
        "k = 5, sets and ranges",
        [K],
        (Way("hierdata", "sets"), AGES, Way("anonypyx", "ages as ranges"), Way("anjana", refused=NO_SETS)),
        SETS,
    ),
    Comparison(
        "k = 5 and 4 distinct, sets and ranges",
        [K, DISTINCT],
        (
            Way("hierdata", "sets"),
            AGES,
            Way("anonypyx", "ages as ranges", {"l": 4}),
            Way("anjana", refused=NO_SETS),
        ),
        SETS,
    ),
)


@dataclass(frozen=True)
class Original:
    """The table as a file and as rows, and what its quasi-identifiers may be published as."""

    file: Path
    rows: list[Row]
    attributes: Mapping[str, Attribute]

    @classmethod
    def of(cls, file: Path) -> Original:
        return cls(file, read(file), {name: of_hierarchy(adult.hierarchy(name)) for name in adult.QUASI})


def read(file: Path) -> list[Row]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=";"))


def judged(file: Path, models: list[dict[str, Any]], original: Original) -> Promise:
    """What the judge says of a published table; t is measured against the original."""
    fields: dict[str, Any] = {f"$['{name}']": {"role": "quasi", "flat": True} for name in adult.QUASI}
    taxonomy = {"taxonomy": str(adult.hierarchy(adult.SENSITIVE))}
    fields[f"$['{adult.SENSITIVE}']"] = {"role": "sensitive", **(taxonomy if NEAR in models else {})}
    policy = from_data({"version": 1, "dataset": "adult", "models": models, "fields": fields})
    keys = (adult.SENSITIVE,)
    before = Counter(row[adult.SENSITIVE] for row in original.rows)
    rules = judge_rules(policy, {keys: None}, {keys: before})
    lines = form_of(file, policy).count_documents(file, alone=True)
    return promise(judge_counted(lines, rules))


def ncp(rows: list[Row], original: Original) -> float:
    """The mean over all cells of the original; a row that is not published counts 1 in each."""
    columns = original.attributes
    lost = sum((own.loss(row[name]) for row in rows for name, own in columns.items()), Fraction())
    lost += (len(original.rows) - len(rows)) * len(columns)
    return float(lost / (len(original.rows) * len(columns)))


def run(
    took: tuple[float, float, float], file: Path, comparison: Comparison, original: Original, **more: Any
) -> Run:
    """A run with the figures of the file that it published."""
    work = partial(figures, file, comparison, original, **more)
    return Run(took, ncp(read(file), original), work)


def figures(file: Path, comparison: Comparison, original: Original, **more: Any) -> dict[str, Any]:
    """Suppression, promise and attack, from the published file alone."""
    rows = read(file)
    columns = original.attributes
    verdict = judged(file, comparison.models, original)
    return {
        **more,
        "suppressed": len(original.rows) - len(rows),
        "classes": len({tuple(row[name] for name in columns) for row in rows}),
        "kept": verdict.kept,
        "achieved": dict(verdict.achieved),
        "attack": link(rows, original.rows, columns, adult.SENSITIVE, K["k"]).plain(),
    }


def by_hierdata(comparison: Comparison, way: Way, original: Original, folder: Path) -> Run:
    """hierdata's own command, without an engine named, its verification included."""
    place = Path(tempfile.mkdtemp(dir=folder))
    policy = stated(Setting(comparison.name, comparison.models, "", "", comparison.more))
    if way.options.get("ranges"):
        policy["fields"]["$['age']"] = RANGES
    taken = anonymize(original.file, policy, place)
    published = place / "release" / "public" / "records.csv"
    took = taken.seconds, taken.cpu, taken.megabytes
    return run(took, published, comparison, original)


def by_tool(comparison: Comparison, way: Way, original: Original, folder: Path, python: Path) -> Run:
    """A script of another tool, in its environment. A column of row numbers is taken away afterwards."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "published.csv"
    options = {"quasi": adult.QUASI, "sensitive": adult.SENSITIVE, "k": K["k"], **way.options}
    script, hierarchies = HERE / f"by_{way.tool}.py", adult.folder() / "hierarchies"
    took = watched([python, script, original.file, hierarchies, out, json.dumps(options)])
    with out.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.reader(stream, delimiter=";"))
    numbered = lines[0][0] == "index"
    if numbered:
        with out.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=";", lineterminator="\n").writerows(line[1:] for line in lines)
    return run(took, out, comparison, original, row_numbers=numbered)


def compare(
    original: Original, pythons: Mapping[str, Path], folder: Path, turns: int, only: str
) -> Iterator[dict[str, Any]]:
    """One line for each way of each setting; tools without an interpreter are left out."""
    for comparison in COMPARISONS:
        if only not in comparison.name:
            continue
        for way in comparison.ways:
            line = {"setting": comparison.name, "tool": way.tool, "how": way.how}
            if way.refused:
                yield {**line, "refused": way.refused}
                continue
            work: Callable[[], Run]
            if way.tool == "hierdata":
                work = partial(by_hierdata, comparison, way, original, folder)
            elif way.tool in pythons:
                work = partial(by_tool, comparison, way, original, folder, pythons[way.tool])
            else:
                continue
            yield line | middle(work, turns)
