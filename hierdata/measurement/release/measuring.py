"""What is measured of a release: every metric that the published files and the original tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hierdata.measurement.release import Rebuilt
from hierdata.metrics import metrics_of
from hierdata.metrics.tallies import Counted, counted, tally
from hierdata.policy.plan.plan import Prepared
from hierdata.release.gates import bind_attackers, learned
from hierdata.release.report.parts import Measure, figures
from hierdata.release.report.wording import place


@dataclass(frozen=True)
class ReleaseMeasurement:
    """The figures of a release, as its report would have them: no raw value is among them.

    ``metrics`` by their names; ``attackers`` has the risks that each of the policy's is, by
    their names; ``left_out`` says of metrics why the files do not tell them. ``records`` are those of the
    original, of which so many are ``published``.
    """

    metrics: Mapping[str, Measure]
    attackers: Mapping[str, Mapping[str, Measure]]
    left_out: Mapping[str, str]
    records: int
    published: int

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "records": self.records,
            "published": self.published,
            "metrics": _plain(self.metrics),
            "attackers": {name: _plain(own) for name, own in self.attackers.items()},
            "left_out": dict(self.left_out),
        }


def _plain(measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {name: one.model_dump(mode="json") for name, one in measures.items()}


def measured(rebuilt: Rebuilt, prepared: Prepared) -> ReleaseMeasurement:
    """Every metric that applies, and the policy's attackers."""
    publication, forest = rebuilt.publication, rebuilt.forest
    left_out = {}
    every = metrics_of(prepared.policy.metrics)
    for name, metric in every.items():
        if metric.ties and rebuilt.untied:
            left_out[name] = (
                f"nothing published ties the values of one vertex together: {_at(rebuilt.untied)}"
            )
        if metric.linked:
            left_out[name] = "no published record is linked to its original"
        if metric.counts_exempt and rebuilt.uncounted:
            left_out[name] = f"exempt values are not published, nor how many: {_at(rebuilt.uncounted)}"
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
    counts: Counted = tallies[counted]
    return ReleaseMeasurement(
        figures({name: own for name, own in found.items() if own}),
        learned(attackers, tallies),
        left_out,
        counts.records,
        counts.published_records,
    )


def _at(paths: Sequence[str]) -> str:
    return ", ".join(map(place, paths))
