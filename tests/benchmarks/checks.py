"""Eight checks of a published table, and who else makes them: a slow twin and pycanon."""

from __future__ import annotations

import json
import math
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.documents.document import Document
from hierdata.judge import JudgeRules, Verdict
from hierdata.pipeline.judging import judge_rules
from hierdata.policy.policy import Policy
from hierdata.sources import form_of
from tests.benchmarks import adult

FACTOR = 3
MODELS: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 5},
    {"kind": "distinct-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": 2},
    {"kind": "entropy-l-diversity", "l": 2},
    {"kind": "recursive-cl-diversity", "c": FACTOR, "l": 2},
    {"kind": "basic-beta-likeness", "beta": 4},
    {"kind": "enhanced-beta-likeness", "beta": 4},
    {"kind": "delta-disclosure", "delta": 4, "absent": "ignore"},
]
NEAR = 2e-6
"""Entropy and delta are given in millionths, rounded to the safe side."""


@dataclass(frozen=True)
class Published:
    """A published table, and what a judge is told of it."""

    file: Path
    policy: Policy
    rules: JudgeRules

    @classmethod
    def of(cls, file: Path, sensitive: adult.Column) -> Published:
        """``sensitive`` is the original's column, which the release is compared with."""
        policy = adult.policy(adult.SENSITIVE, MODELS, "mondrian")
        counts = np.bincount(sensitive.codes, minlength=len(sensitive.values)).tolist()
        known = {
            value: count
            for value, count in zip(sensitive.values, counts, strict=True)
            if count and value != adult.MISSING
        }
        keys = (adult.SENSITIVE,)
        return cls(file, policy, judge_rules(policy, {keys: None}, {keys: known}))

    def lines(self) -> Iterator[tuple[Document, int]]:
        """As ``verify`` reads it: equal lines once."""
        return form_of(self.file, self.policy).count_documents(self.file, alone=True)

    def documents(self) -> Iterator[Document]:
        return form_of(self.file, self.policy).read(self.file, alone=True)


def by_twin(documents: Iterable[Document], reference: Mapping[Any, int]) -> dict[str, float]:
    """What each model achieves, by the definitions' words."""
    classes: defaultdict[frozenset[tuple[str, Any]], list[Any]] = defaultdict(list)
    for document in documents:
        form = frozenset((key, value) for key, value in document.items() if key != adult.SENSITIVE)
        classes[form].append(document.get(adult.SENSITIVE))
    found: defaultdict[str, list[float]] = defaultdict(list)
    for members in classes.values():
        found["k-anonymity"].append(len(members))
        values = [value for value in members if value not in (None, adult.MISSING)]
        for model, figure in _class_by_twin(values, reference).items() if values else ():
            found[model].append(figure)
    largest = {"basic-beta-likeness", "enhanced-beta-likeness", "delta-disclosure"}
    return {model: (max if model in largest else min)(figures) for model, figures in found.items()}


def _class_by_twin(values: list[Any], reference: Mapping[Any, int]) -> dict[str, float]:
    """One class of a flat table, by the values that are not missing."""
    counts = Counter(values)
    sizes = sorted(counts.values(), reverse=True)
    shares = {value: Fraction(count, len(values)) for value, count in counts.items()}
    before = {value: Fraction(reference[value], sum(reference.values())) for value in counts}
    beta = max(0.0, *(float(shares[value] / before[value] - 1) for value in counts))
    reached = [least for least in range(1, len(sizes) + 1) if sizes[0] < FACTOR * sum(sizes[least - 1 :])]
    found = {
        "distinct-l-diversity": len(counts),
        "frequency-l-diversity": float(1 / max(shares.values())),
        "entropy-l-diversity": math.exp(-sum(float(q) * math.log(q) for q in shares.values())),
        "recursive-cl-diversity": max(reached, default=0),
        "basic-beta-likeness": beta,
        "delta-disclosure": max(abs(math.log(shares[value] / before[value])) for value in counts),
    }
    if all(
        before[value] == 1 or shares[value] <= (1 - math.log(before[value])) * before[value]
        for value in counts
    ):
        found["enhanced-beta-likeness"] = beta
    return found


def by_judge(verdict: Verdict) -> dict[str, float]:
    return {
        judgement.model: float(next(iter(judgement.achieved.values())))
        for judgement in verdict.judgements
        if judgement.achieved
    }


def agree(verdict: Verdict, own: Published) -> bool:
    """Whether judge and twin say the same of a table."""
    (rule,) = own.rules.sensitive
    assert rule.reference is not None
    twin, judged = by_twin(own.documents(), rule.reference), by_judge(verdict)
    # Where one class refuses every beta, there is a figure of the other classes, but no beta holds.
    return judged.keys() == twin.keys() and all(abs(judged[model] - twin[model]) <= NEAR for model in twin)


_PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], sep=";", dtype=str, keep_default_na=False)
sensitive = [sys.argv[2]]
quasi = [name for name in frame.columns if name not in sensitive]
found = {}
for name in ("k_anonymity", "l_diversity", "entropy_l_diversity", "recursive_c_l_diversity",
             "basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure"):
    start = time.process_time()
    arguments = (frame, quasi) if name == "k_anonymity" else (frame, quasi, sensitive)
    answer = getattr(anonymity, name)(*arguments)
    found[name] = (str(answer), time.process_time() - start)
print(json.dumps(found))
"""
COUNTERPARTS = {
    "k-anonymity": "k_anonymity",
    "distinct-l-diversity": "l_diversity",
    "frequency-l-diversity": None,
    "entropy-l-diversity": "entropy_l_diversity",
    "recursive-cl-diversity": "recursive_c_l_diversity",
    "basic-beta-likeness": "basic_beta_likeness",
    "enhanced-beta-likeness": "enhanced_beta_likeness",
    "delta-disclosure": "delta_disclosure",
}
REMARKS = {
    "frequency-l-diversity": "pycanon has no such check",
    "entropy-l-diversity": "pycanon cuts off to a whole number",
    "recursive-cl-diversity": f"l at c = {FACTOR}; pycanon's c begins with the rarest value",
    "enhanced-beta-likeness": "pycanon cuts off at -ln of the rarest value's share",
}


def by_pycanon(interpreter: Path, file: Path) -> dict[str, tuple[str, float]]:
    """pycanon's answers and CPU seconds, in an interpreter of its own: its requirements conflict."""
    done = subprocess.run(
        [interpreter, "-c", _PYCANON, file, adult.SENSITIVE], check=True, capture_output=True, text=True
    )
    found: dict[str, tuple[str, float]] = json.loads(done.stdout)
    return found
