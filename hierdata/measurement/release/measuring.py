"""Measure a release: every metric that can be computed from the published files and the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hierdata.measurement.release import Rebuilt
from hierdata.metrics import metrics_of
from hierdata.metrics.tallies import Counted, count_part, tally
from hierdata.policy.plan.plan import Prepared
from hierdata.release.gates import attacker_risks, bind_attackers
from hierdata.release.report.parts import Measure, figures
from hierdata.release.report.wording import place


@dataclass(frozen=True)
class ReleaseMeasurement:
    """The figures of a release, as its report would have them, without raw values.

    ``metrics`` are by name, ``attackers`` has the risks of each attacker of the policy by name; ``left_out``
    says why a metric, or one of its figures, cannot be measured from the files. ``records`` is the number of
    records of the original, ``published`` how many of them are in the release.
    """

    metrics: Mapping[str, Measure]
    attackers: Mapping[str, Mapping[str, Measure]]
    left_out: Mapping[str, str]
    records: int
    published: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "records": self.records,
            "published": self.published,
            "metrics": _plain(self.metrics),
            "attackers": {name: _plain(own) for name, own in self.attackers.items()},
            "left_out": dict(self.left_out),
        }


def _plain(measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {name: one.model_dump(mode="json") for name, one in measures.items()}


def measure_rebuilt(rebuilt: Rebuilt, prepared: Prepared) -> ReleaseMeasurement:
    """Measure every metric that applies, and the risks of the policy's attackers."""
    publication, forest = rebuilt.publication, rebuilt.forest
    left_out = {}
    every = metrics_of(prepared.policy.metrics)
    for name, metric in every.items():
        if metric.ties and rebuilt.untied:
            left_out[name] = f"the release does not link the values of one vertex: {_at(rebuilt.untied)}"
        if metric.linked:
            left_out[name] = "no published record is linked to its original"
        if metric.counts_exempt and rebuilt.uncounted:
            left_out[name] = f"exempt values and their number are not published: {_at(rebuilt.uncounted)}"
    metrics = {
        name: metric.under(prepared.policy.diversity)
        for name, metric in every.items()
        if name not in left_out
    }
    attackers = {
        name: {risk: metric for risk, metric in own.items() if risk not in left_out}
        for name, own in bind_attackers(prepared.policy, forest.schema, forest.domains).items()
    }
    asked = [*metrics.values(), *(metric for own in attackers.values() for metric in own.values())]
    tallies = tally(publication, forest, asked)
    found = {name: metric.figures(tallies) for name, metric in metrics.items()}
    left_out |= {
        name: "no field of the policy has what it measures" for name, own in found.items() if not own
    }
    left_out |= {
        f"{name} {figure}": "the files do not tell which siblings that look alike were aligned"
        for name, own in found.items()
        if own
        for figure in every[name].aligned
    }
    counts: Counted = tallies[count_part]
    return ReleaseMeasurement(
        figures({name: own for name, own in found.items() if own}),
        attacker_risks(attackers, tallies),
        left_out,
        counts.records,
        counts.published_records,
    )


def _at(paths: Sequence[str]) -> str:
    return ", ".join(map(place, paths))
