"""LE's experiment: one table in classes of MBF under (l,e)-diversity or l-diversity, measured."""

from __future__ import annotations

import time
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

from hierdata.engines import ENGINES
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import publish_grouped
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.reproduction.adult import MISSING, Adult
from hierdata.reproduction.encoded import EncodedRecords, encode_records
from hierdata.reproduction.study import JSON

COLUMNS = ("age", "workclass", "marital-status", "sex", "race", "education")
"""The six attributes of table VI; the last is sensitive."""
TREE_OF_EDUCATION: dict[str, Any] = {
    "school": {
        "primary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "secondary": ["9th", "10th", "11th", "12th", "HS-grad"],
    },
    "higher": {
        "college": ["Some-college", "Assoc-voc", "Assoc-acdm"],
        "university": ["Bachelors", "Masters"],
        "professional": ["Prof-school", "Doctorate"],
    },
}
"""Our tree of education, for which the paper gives none (LE-13): leaves at depth 3, five buckets at e = 1."""
PRESETS = {"l-diversity": "anatomy-l", "(l,e)-diversity": "MBF"}
"""The models that section V compares, and the preset of each; both run the same engine."""
E = 1
_TIMED = 5
"""How often a search is run for its time."""


def policy_for(preset: str, l: int) -> Policy:  # noqa: E741  (the paper's letter)
    """Return the policy of a setting: quasi-identifiers as they are, education in our tree."""
    quasi = {f"$['{name}']": {"role": "quasi", "flat": True, "missing": [MISSING]} for name in COLUMNS[1:-1]}
    age = {"role": "quasi", "interval": {"steps": [1, 5, 10, 20]}}
    sensitive = {"role": "sensitive", "taxonomy": {"tree": {"*": TREE_OF_EDUCATION}}}
    model: dict[str, Any] = {"kind": "frequency-l-diversity", "l": l}
    if preset == "MBF":
        model = {"kind": "l-e-diversity", "l": l, "e": E}
    return from_data(
        {
            "version": 1,
            "fields": {"$.age": age, **quasi, "$.education": sensitive},
            "models": [model],
            "engine": {"preset": preset},
        }
    )


def search_classes(data: EncodedRecords, seed: int) -> Partition:
    """Return the classes that MBF finds, ties broken by a seed."""
    (stage,) = data.prepared.stages
    rng = np.random.default_rng(seed)
    return ENGINES["mbf"](kind="mbf").step(data.forest, Scope.of(data.forest), stage.constraints, None, rng)


def measure_classes_of(data: EncodedRecords, partition: Partition) -> dict[str, Fraction]:
    """Return what section V measures, and what it leaves out.

    ``suppressed`` rows; ``loss`` with 1 for each of them and ``loss_published`` without (LE-6);
    ``degree`` as printed and the mean distance of two values of a class (LE-8). Both are 0 without classes.
    """
    publication = publish_grouped(data.forest, (partition,), ())
    gone = int((partition.equivalence_class < 0).sum())
    loss = METRICS["reconstruction_error"]().of(publication, data.forest)[0].value
    degree, mean = (one.value for one in METRICS["diversity_degree"]().of(publication, data.forest))
    found: dict[str, int | float | Fraction] = {
        "suppressed": gone,
        "classes": partition.class_count,
        "loss_published": Fraction(loss) - gone,
        "loss": loss,
        "degree": degree,
        "mean_distance": mean,
    }
    return {name: Fraction(value) for name, value in found.items()}


def measure_setting(adult: Adult, preset: str, n: int, l: int, seed: int) -> JSON:  # noqa: E741
    """Measure one setting on n rows drawn by the seed; fractions as text, ``seconds`` as a number.

    ``seconds`` are CPU seconds of the search, the median of five runs after one that compiles.
    """
    rows = adult.draw(COLUMNS, n, seed)
    data = encode_records(rows, policy_for(preset, l))
    partition = search_classes(data, seed)
    spent = []
    for _ in range(_TIMED):
        start = time.process_time()
        search_classes(data, seed)
        spent.append(time.process_time() - start)
    figures = {name: str(value) for name, value in measure_classes_of(data, partition).items()}
    return {**figures, "rows": str(len(rows)), "seconds": median(spent)}
