"""The page on other tools, from figures alone: nothing here measures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Line = Mapping[str, Any]
HERE = Path(__file__).parent
ATTACK = ("fewer than 5", "guessed")
PARTS = {"adult": "Adult", "checks": "checks", "students": "students"}
TOOK = ("s", "CPU s", "peak MB")
ADULT = ("tool", "how", "NCP", "suppressed", "promise", *ATTACK, *TOOK)
"""Where a tool was not run, the columns from ``promise`` on are empty but for seconds and memory."""
CHECKS = ("check", "k", "l", "t", *TOOK)
LINKED = ("unique, whole tree", "unique, a few facts", "gpa guessed")
STUDENTS = (
    *("data", "way", "LM a value", "vertices kept", "suppressed", "promise"),
    *LINKED,
    "CPU s",
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def share(value: float) -> str:
    return f"{100 * value:.1f} %" if value >= 0.0005 else "0" if value == 0 else f"{100 * value:.2g} %"


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.4f}"


def loss(line: Line) -> str:
    """The loss in the middle, and the range where runs differ."""
    ends = {f"{line.get(key, line['loss']):.4f}" for key in ("least_loss", "largest_loss")}
    return f"{line['loss']:.4f}" + (f" ({' to '.join(sorted(ends))})" if len(ends) > 1 else "")


def promise(line: Line) -> str:
    """What the judge says, and where less than the default is promised to suppressed records."""
    achieved = ", ".join(
        f"{letter} {number(value)}" for letter, value in line["achieved"].items() if letter in ("k", "l", "t")
    )
    told = ["kept" if line["kept"] else "**broken**", f" ({achieved})" if achieved else ""]
    less = "; nothing promised to suppressed records" if line.get("suppressed_are") == "as published" else ""
    return "".join(told) + less


def took(line: Line) -> list[str]:
    cpu = f"{line['cpu']:.1f}" if "cpu" in line else ""
    return [f"{line['seconds']:.1f}", cpu, f"{line['megabytes']:,.0f}"]


def attack(found: Mapping[str, float]) -> list[str]:
    return [share(found[key]) for key in ("below", "guessed")]


def adult_line(line: Line) -> list[str]:
    """A row of a setting of Adult, measured or cited."""
    own = [line["tool"], line["how"]]
    told = [loss(line), f"{line['suppressed']:,}"]
    if "attack" not in line:
        return [*own, *told, *[""] * (1 + len(ATTACK)), *took(line)]
    return [*own, *told, promise(line), *attack(line["attack"]), *took(line)]


def adult_tables(found: Mapping[str, Any], cited: Sequence[Line]) -> str:
    """A table for each setting, with the best run of each other tool; cited figures come last."""
    texts = []
    for setting in dict.fromkeys(line["setting"] for line in found["adult"]):
        lines = _best([line for line in found["adult"] if line["setting"] == setting])
        lines += [{**line, "tool": "ARX"} for line in cited if line["setting"] == setting]
        rows = [adult_line(line) for line in lines if "refused" not in line]
        refused = "; ".join(f"{line['tool']} {line['refused']}" for line in lines if "refused" in line)
        texts.append(f"### {setting}\n\n{table(ADULT, rows)}" + (f"\n{refused}.\n" if refused else ""))
    return "\n".join(texts)


def _best(lines: Sequence[Line]) -> list[Line]:
    """All runs of hierdata, and of another tool the run of least loss."""
    least: dict[str, float] = {}
    for line in lines:
        least[line["tool"]] = min(line.get("loss", 2), least.get(line["tool"], 2))
    return [
        line for line in lines if line["tool"] == "hierdata" or line.get("loss", 2) == least[line["tool"]]
    ]


def check_table(found: Mapping[str, Any]) -> str:
    rows = [[line["tool"], *(number(line[key]) for key in "klt"), *took(line)] for line in found["checks"]]
    return table(CHECKS, rows)


def student_tables(found: Mapping[str, Any]) -> str:
    """A table for each promise, of the most records: what it costs, and what an attacker reaches."""
    texts = []
    shown = _of_most_records(found["students"])
    for promised in dict.fromkeys(line["promise"] for line in shown):
        lines = [line for line in shown if line["promise"] == promised]
        texts.append(f"### {promised}\n\n{table(STUDENTS, map(student_line, lines))}")
    return "\n".join(texts)


def _of_most_records(lines: Sequence[Line]) -> list[Line]:
    most = max((line["records"] for line in lines), default=0)
    return [line for line in lines if line["records"] == most]


def student_line(line: Line) -> list[str]:
    own = [line["data"], line["way"]]
    if "refused" in line:
        return [*own, line["refused"], *[""] * (len(STUDENTS) - 3)]
    told = [loss(line), share(line["vertices_kept"]), f"{line['suppressed']:,}", promise(line)]
    linked = ["not run"] * len(LINKED)
    if "attack" in line:
        whole, facts = line["attack"], line["facts"]
        linked = [share(whole["unique"]), share(facts["unique"]), share(whole["guessed"])]
    return [*own, *told, *linked, f"{line['cpu']:.1f}"]


def feature_table(features: Mapping[str, Any]) -> str:
    """Features by tool; each cell is linked with its source, further sources follow it."""
    tools, sources = features["tools"], features["sources"]
    rows = []
    for name, cells in features["rows"]:
        rows.append([name, *(_cell(cells.get(tool), sources) for tool in tools)])
    return table(("feature", *tools), rows)


def _cell(cell: Sequence[str] | None, sources: Line) -> str:
    if cell is None:
        return "-"
    text, first, *others = cell
    more = "".join(f" [(2)]({sources[source][1]})" for source in others)
    return f"[{text}]({sources[first][1]}){more}"


def summary_table(found: Mapping[str, Any], cited: Sequence[Line]) -> str:
    """For each setting the least loss of hierdata and of any other tool."""
    rows = []
    for setting in dict.fromkeys(line["setting"] for line in found["adult"]):
        lines = [line for line in (*found["adult"], *cited) if line["setting"] == setting and "loss" in line]
        own = [line for line in lines if line.get("tool") == "hierdata"]
        others = [line for line in lines if line.get("tool") != "hierdata"]
        rows.append([setting, *_least(own), *_least(others)])
    return table(("setting", "hierdata", "suppressed", "other tools", "suppressed"), rows)


def _least(lines: Sequence[Line]) -> list[str]:
    if not lines:
        return ["none", ""]
    best = min(lines, key=lambda line: line["loss"])
    named = "" if best.get("tool") == "hierdata" else f" ({best.get('tool', 'ARX')})"
    return [f"{best['loss']:.4f}{named}", f"{best['suppressed']:,}"]


def tables(found: Mapping[str, Any]) -> str:
    """The tables of a run, as they are printed."""
    parts = adult_tables(found, ()), check_table(found), student_tables(found)
    return "\n" + "\n".join(parts)


def page(found: Mapping[str, Any]) -> str:
    """The whole page."""
    cited = json.loads((HERE / "arx.json").read_text("utf-8"))
    features = json.loads((HERE / "features.json").read_text("utf-8"))
    frame = (HERE / "page.md.in").read_text("utf-8")
    filled = {
        "date": found["date"],
        "machine": found["machine"],
        "turns": ", ".join(f"{count} for {PARTS[part]}" for part, count in found["turns"].items()),
        "rows": f"{found['rows']:,}",
        "records": f"{max((line['records'] for line in found['students']), default=0):,}",
        "versions": ", ".join(f"{name} {version}" for name, version in found["versions"].items()),
        "summary": summary_table(found, cited["lines"]),
        "adult": adult_tables(found, cited["lines"]),
        "checks": check_table(found),
        "students": student_tables(found),
        "arx": f"{cited['settings']}; {cited['measured']}",
        "features": feature_table(features),
        "looked_up": features["looked_up"],
    }
    for key, text in filled.items():
        frame = frame.replace(f"@{key}@", text.rstrip("\n"))
    return frame
