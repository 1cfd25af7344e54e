"""One run of the chain of TC on rows of Adult: the policy, and the figures of the release."""

from __future__ import annotations

from typing import Any

from hierdata.ground.errors import PromiseError
from hierdata.pipeline.anonymize import anonymize
from hierdata.reproduction.adult import MISSING, Adult

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
    "swaps": "t-closeness over MSB-KACA",
    "a swarm": "t-closeness over MSB-KACA with swarm",
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
        "t": [own.achieved["t"].value for own in report.promises if "t" in own.achieved],
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
