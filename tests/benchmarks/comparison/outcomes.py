"""What is measured of a run, as it is kept in JSON beside the page."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from hierdata.judge import Verdict


@dataclass(frozen=True)
class Promise:
    """What the judge says of published records: ``kept``, and what each model achieves."""

    kept: bool
    achieved: Mapping[str, float]


def promise(verdict: Verdict) -> Promise:
    """What a verdict comes to: kept if every model held and nothing else was found."""
    achieved = {
        letter: float(value) if isinstance(value, Fraction) else value
        for judgement in verdict.judgements
        for letter, value in judgement.achieved.items()
        if judgement.path is None or len(judgement.achieved) == 1
    }
    held = all(judgement.held is True for judgement in verdict.judgements)
    return Promise(held and not verdict.forbidden and not verdict.malformed, achieved)


@dataclass(frozen=True)
class Taken:
    """Medians of some cold processes: seconds by the clock, CPU seconds and peak in MB."""

    seconds: float
    cpu: float
    megabytes: float


@dataclass(frozen=True)
class Run:
    """One cold process: what it took, the loss of what it published, and how to get the other figures."""

    took: tuple[float, float, float]
    loss: float
    figures: Callable[[], Mapping[str, Any]]


def middle(work: Callable[[], Run], turns: int) -> dict[str, Any]:
    """Repeat a run: the figures of the one with the middle loss, and the medians of what they took."""
    runs = sorted((work() for _ in range(turns)), key=lambda run: run.loss)
    medians = [statistics.median(figures) for figures in zip(*(run.took for run in runs), strict=True)]
    chosen = runs[(turns - 1) // 2]
    losses = {"loss": chosen.loss, "least_loss": runs[0].loss, "largest_loss": runs[-1].loss}
    return {**losses, **chosen.figures(), **asdict(Taken(*medians))}
