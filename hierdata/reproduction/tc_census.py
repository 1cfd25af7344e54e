"""Figures 1 and 2 of TC as runs on Adult, and the claims of section 5: disclosure and losses over t."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from hierdata.ground.errors import PromiseError
from hierdata.pipeline.anonymize import anonymize
from hierdata.privacy.base import round_value
from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, point_of
from hierdata.reproduction.study import MISSING, Adult, Study

QUASI: dict[str, dict[str, Any]] = {
    "age": {"interval": {"steps": [1, 5, 10, 20, 40], "domain": [0, 100]}},
    "sex": {"flat": True},
    "race": {"flat": True},
    "marital-status": {"flat": True},
}
"""Quasi-identifiers; the paper names age, gender and zip code, and Adult has no zip code (TC-9)."""
_GOVERNMENT = ["Federal-gov", "Local-gov", "State-gov"]
_OFFICE = ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"]
_CRAFT = ["Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"]
_SERVICE = ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"]
_PRIMARY = ["Preschool", "1st-4th", "5th-6th", "7th-8th"]
_SECONDARY = ["9th", "10th", "11th", "12th", "HS-grad"]
_COLLEGE = ["Some-college", "Assoc-voc", "Assoc-acdm"]
_DEGREE = ["Bachelors", "Masters", "Prof-school", "Doctorate"]
TREES: dict[str, dict[str, Any]] = {
    "occupation": {"office": _OFFICE, "craft": _CRAFT, "service": _SERVICE},
    "salary-class": {"<=50K": None, ">50K": None},
    "workclass": {
        "private": ["Private"],
        "own": ["Self-emp-inc", "Self-emp-not-inc"],
        "government": _GOVERNMENT,
        "unpaid": ["Without-pay", "Never-worked"],
    },
    "education": {
        "school": {"primary": _PRIMARY, "secondary": _SECONDARY},
        "higher": {"college": _COLLEGE, "degree": _DEGREE},
    },
    "relationship": {
        "family": ["Husband", "Wife", "Own-child", "Other-relative"],
        "none": ["Not-in-family", "Unmarried"],
    },
}
"""The five sensitive attributes of the paper, with taxonomies of ours."""
_RARE = ("salary-class", "workclass")
"""Attributes with a value of three quarters of the rows: no group is 2-diverse in them."""
DISTANCES = ("equal", "ordered", "hierarchical")
K, L = 5, 2
CHAINS = {
    "swaps": "t-closeness over MSB-KACA with swap",
    "a swarm": "t-closeness over MSB-KACA",
    "shared groups, swaps": "t-closeness over MSB-KACA with shared groups",
}
BASES = {"groups by table": "MSB-KACA", "shared groups": "MSB-KACA with shared groups"}
FIGURES = {
    "disclosure": "disclosure rate, mean of the attributes",
    "gcp": "global certainty penalty",
    "additional": "additional information loss",
    "suppressed": "suppression ratio",
}


def release_figures(
    adult: Adult, preset: str, distance: str, t: str | None, rows: int, seed: int
) -> dict[str, Any]:
    """Anonymize rows of Adult by a preset; return the figures of the release, "none" where none is made."""
    education = "education-num" if distance == "ordered" else "education"
    names = [education if name == "education" else name for name in TREES]
    records = adult.draw([*QUASI, *names], rows, seed)
    policy = _policy(preset, names, distance, t)
    try:
        report = anonymize(records, policy, seed=seed.to_bytes(16)).report
    except PromiseError:
        return {"none": True}
    rates = [value for name, value in report.metrics["disclosure_rate"].figures.items() if name != "largest"]
    counts = report.counts
    return {
        "none": False,
        "disclosure": sum(rates) / len(rates),
        "gcp": report.metrics["certainty_penalty"].figures["gcp"],
        "additional": report.metrics["additional_information_loss"].figures["total"],
        "suppressed": report.metrics["suppression_ratio"].figures["records"],
        "tables": [[path.strip("$[]'.") for path in paths] for paths in report.tables.values()],
        "classes": counts.classes,
        "smallest": counts.smallest_class,
        "records": counts.records.published,
        "united": report.costs["classes_united"].count if "classes_united" in report.costs else 0,
        "t": [promise.achieved["t"].value for promise in report.promises if "t" in promise.achieved],
    }


def _policy(preset: str, names: list[str], distance: str, t: str | None) -> dict[str, Any]:
    """Return the policy; without a stated distance each attribute has the one that suits it."""
    fields: dict[str, Any] = {f"$['{name}']": {"role": "quasi", **domain} for name, domain in QUASI.items()}
    for name in names:
        rule: dict[str, Any] = {"role": "sensitive", "missing": [MISSING]}
        if distance == "hierarchical":
            rule["taxonomy"] = {"tree": {"*": TREES[name]}}
        fields[f"$['{name}']"] = rule
    models: list[dict[str, Any]] = [
        {"kind": "k-anonymity", "k": K},
        _diverse(L, [name for name in names if name not in _RARE]),
        _diverse("5/4", [name for name in names if name in _RARE]),
    ]
    if t is not None:
        stated = {"distance": "equal"} if distance == "equal" else {}
        models.append({"kind": "t-closeness", "t": t, **stated})
    accept = {} if "shared" in preset else {"accept": {"group-ids": "an experiment, nothing is given out"}}
    return {"version": 1, "models": models, "fields": fields, "engine": {"preset": preset}, **accept}


def _diverse(least: int | str, names: list[str]) -> dict[str, Any]:
    return {"kind": "frequency-l-diversity", "l": least, "on": [f"$['{name}']" for name in names]}


TS = ("0.5", "0.4", "0.3", "0.2", "0.1")
_ROWS = 1000
_LEAST = 200
_LETTERS = "abcd"
Series = tuple[str, str]
"""A chain and a distance."""
_SHARED: Series = ("shared groups, swaps", "equal")
SERIES: tuple[Series, ...] = (
    *((chain, distance) for chain in ("swaps", "a swarm") for distance in DISTANCES),
    _SHARED,
)


@dataclass(frozen=True)
class Runs:
    """The figures of all repeats: of MSB-KACA by how it groups, and of each series by t."""

    rows: int
    ts: tuple[str, ...]
    bases: dict[str, list[dict[str, Any]]]
    chains: dict[Series, dict[str, list[dict[str, Any]]]]

    def base(self, grouping: str, figure: str) -> float | None:
        """Return the mean over the repeats of MSB-KACA; None where there was no release."""
        return _mean(self.bases[grouping], figure)

    def chain(self, series: Series, t: str, figure: str) -> float | None:
        """Return the mean over the repeats of a series at t."""
        return _mean(self.chains[series][t], figure)


def chain_exhibits(study: Study) -> Iterator[Exhibit]:
    """Yield figures 1 and 2 and equation 9, then what section 5 claims."""
    runs = _measure(study)
    first = runs.bases["groups by table"][0]
    yield _workflow("Figure 1", "the steps of MSB-KACA", first, runs.rows, None)
    yield _workflow(
        "Figure 2",
        "t-closeness over MSB-KACA",
        runs.chains["swaps", "hierarchical"]["0.3"][0],
        runs.rows,
        "0.3",
    )
    yield _suppression(first, runs.rows)
    for letter, figure in zip(_LETTERS, FIGURES, strict=True):
        yield _over_t(letter, figure, runs)
    yield _claims(runs)


def _measure(study: Study) -> Runs:
    rows = study.effort.scale_records(_ROWS, _LEAST)
    ts = TS if study.effort.scale == 1 else TS[::2]  # the claims are counted at the smallest
    settings: list[tuple[str, str, str | None]] = [(preset, "equal", None) for preset in BASES.values()]
    settings += [(CHAINS[chain], distance, t) for chain, distance in SERIES for t in ts]
    arguments = {
        (preset, distance, t): {"preset": preset, "distance": distance, "t": t, "rows": rows}
        for preset, distance, t in settings
    }
    runs = study.repeat(release_figures, arguments, range(study.effort.repeats))
    bases = {grouping: runs[preset, "equal", None] for grouping, preset in BASES.items()}
    chains = {series: {t: runs[CHAINS[series[0]], series[1], t] for t in ts} for series in SERIES}
    return Runs(rows, ts, bases, chains)


def _workflow(label: str, title: str, run: dict[str, Any], rows: int, t: str | None) -> Exhibit:
    """Return a figure that draws steps, with what each gave in one run."""
    steps: list[tuple[Cell, ...]] = [("records of Adult", "", f"{rows:,}")]
    if not run["none"]:
        tables = "; ".join(", ".join(paths) for paths in run["tables"])
        steps += [
            ("vertical partition, by correlation", "sensitive_tables: correlated", tables),
            (f"l-diversity for each table, l = {L}", "msb", f"{run['records']:,} records in groups"),
        ]
        if t is not None:
            steps.append(
                (
                    f"reordering until t = {t}",
                    "swap",
                    f"largest distance {run['t'][0]:.3g}; united: {run['united']}",
                )
            )
        steps += [
            (f"k-anonymity, k = {K}", "kaca", f"{run['classes']} classes, the smallest of {run['smallest']}"),
            ("linking by group ids", "slicing_by_table", f"{len(run['tables'])} ids a record"),
        ]
    return Exhibit(
        label,
        title,
        "A drawing of the steps, without figures. Beside each step what does it here, and what it gave in "
        "one run.",
        ours=Grid(("step", "here", "in one run"), tuple(steps)),
        differs="" if not run["none"] else "No release could be made of these rows.",
        errata=("TC-9", "TC-10", "TC-11"),
    )


def _suppression(run: dict[str, Any], rows: int) -> Exhibit:
    lost = None if run["none"] else rows - run["records"]
    ratio = None if lost is None else Fraction(lost, rows)
    measured = None if run["none"] else float(run["suppressed"])
    return Exhibit(
        "Equation 9",
        "suppression ratio",
        "Suppressed tuples over n, which is not defined. No example is printed; this is one run of MSB-KACA.",
        derived=Grid(("suppressed", "tuples of the original", "ratio"), ((lost, rows, ratio),)),
        ours=Grid(("metric", "ratio"), (("suppression_ratio", measured),)),
        differs=""
        if ratio is None or measured is None or measured == float(ratio)
        else f"The formula gives {round_value(float(ratio))}, our metric {round_value(measured)}.",
        errata=("TC-8",),
    )


def _over_t(letter: str, figure: str, runs: Runs) -> Exhibit:
    """Return one figure of all chains over t, beside that of MSB-KACA."""
    names = [f"{chain}, {distance}" for chain, distance in SERIES]
    base = runs.base("groups by table", figure)
    shared = runs.base("shared groups", figure)
    rows: list[tuple[Cell, ...]] = [
        ("MSB-KACA", *(shared if series == _SHARED else base for series in SERIES))
    ]
    rows += [(f"t = {t}", *(runs.chain(series, t, figure) for series in SERIES)) for t in runs.ts]
    lines = tuple(
        Line(name, tuple(_points(runs.chains[series], figure)))
        for name, series in zip(names, SERIES, strict=True)
    )
    changes = [_change(runs, series, figure) for series in SERIES]
    return Exhibit(
        f"Section 5 ({letter})",
        f"{FIGURES[figure]}, over t",
        f"The paper says how this figure is expected to move and prints no number. {runs.rows:,} rows of "
        f"the table, "
        f"five sensitive attributes, k = {K}, l = {L} (5/4 where one value has three quarters of the rows).",
        ours=Grid(("", *names), tuple(rows)),
        charts=(
            LineChart(
                FIGURES[figure],
                f"{FIGURES[figure]} of {len(SERIES)} chains for t from {runs.ts[-1]} to {runs.ts[0]}.",
                "t",
                FIGURES[figure],
                lines,
            ),
        ),
        differs=f"From MSB-KACA to the smallest t with a release: {'; '.join(filter(None, changes))}.",
        errata=("TC-4", "TC-12"),
    )


def _points(by_t: dict[str, list[dict[str, Any]]], figure: str) -> Iterator[Point]:
    for t in reversed(by_t):
        values = [run[figure] for run in by_t[t] if not run["none"]]
        if values:
            yield point_of(float(t), values)


def _change(runs: Runs, series: Series, figure: str) -> str:
    """Say from what to what a figure moves."""
    base = runs.base("shared groups" if series == _SHARED else "groups by table", figure)
    last = _last(runs, series)
    end = None if last is None else runs.chain(series, last, figure)
    if base is None or end is None:
        return ""
    return f"{', '.join(series)} {round_value(base)} to {round_value(end)}"


def _last(runs: Runs, series: Series) -> str | None:
    """Return the smallest t that all repeats reach."""
    reached = [t for t in runs.ts if runs.chain(series, t, "gcp") is not None]
    return reached[-1] if reached else None


def _claims(runs: Runs) -> Exhibit:
    """Return the two claims of section 5, for each chain, at the smallest t."""
    rows: list[tuple[Cell, ...]] = []
    fewer = kept = 0
    for series in SERIES:
        grouping = "shared groups" if series == _SHARED else "groups by table"
        last = _last(runs, series)
        if last is None:
            continue
        pairs = [(runs.base(grouping, figure), runs.chain(series, last, figure)) for figure in FIGURES]
        if any(before is None or after is None for before, after in pairs):
            continue
        changes = [float(after or 0) - float(before or 0) for before, after in pairs]
        rows.append((", ".join(series), f"t = {last}", *changes))
        fewer += changes[0] < 0
        kept += max(changes[1:]) <= 0
    return Exhibit(
        "Section 5",
        "the claims: less disclosure, and the most utility",
        "Disclosure is expected to be the least and utility the most. The change of each figure from "
        "MSB-KACA to the smallest t; negative is better.",
        ours=Grid(("chain", "t", *FIGURES), tuple(rows)),
        differs=f"Disclosure falls in {fewer} of {len(rows)} chains. In {kept} of {len(rows)} no loss "
        "rises: closeness has to be paid for."
        if kept < len(rows)
        else "",
        errata=("TC-12",),
    )


def _mean(runs: Sequence[dict[str, Any]], figure: str) -> float | None:
    """Return the mean over the repeats; None unless all have a release."""
    return None if any(run["none"] for run in runs) else fmean(run[figure] for run in runs)
