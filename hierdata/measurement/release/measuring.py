"""Measure a release: every metric that can be computed from the published files and the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.measurement.key_values import label_values
from hierdata.measurement.release import Rebuilt
from hierdata.measurement.release.class_diversity import ClassDiversity, list_diversities
from hierdata.measurement.release.known_values import KnownValues, list_known_values
from hierdata.metrics import Metric, Risk, metrics_of
from hierdata.metrics.tallies import Counted, Tallies, count_part, tally
from hierdata.policy.plan.plan import Prepared
from hierdata.release.gates import attacker_risks, bind_attackers
from hierdata.release.report.parts import Measure, figures
from hierdata.release.report.wording import place


@dataclass(frozen=True)
class ReleaseMeasurement:
    """The figures of a release, as its report would have them, without raw values.

    ``metrics`` are by name, ``attackers`` has the risks of each attacker of the policy by name; ``left_out``
    says why a metric, or one of its figures, cannot be measured from the files. ``records`` is the number of
    records of the original, ``published`` how many of them are in the release. ``values`` has what single
    published values reveal, ``classes`` the diversity of each class, by sensitive attribute with a taxonomy.
    ``names`` has the value behind each label v1, v2 .., by path.
    """

    metrics: Mapping[str, Measure]
    attackers: Mapping[str, Mapping[str, Measure]]
    left_out: Mapping[str, str]
    records: int
    published: int
    values: tuple[KnownValues, ...]
    classes: Mapping[str, tuple[ClassDiversity, ...]]
    names: Mapping[str, Mapping[str, Scalar]] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the names."""
        return {
            "records": self.records,
            "published": self.published,
            "metrics": _plain(self.metrics),
            "attackers": {name: _plain(own) for name, own in self.attackers.items()},
            "left_out": dict(self.left_out),
            "values": [own.as_dict() for own in self.values],
            "classes": {path: [own.as_dict() for own in found] for path, found in self.classes.items()},
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
        *_name_values(rebuilt, metrics, attackers, tallies),
    )


def _name_values(
    rebuilt: Rebuilt,
    metrics: Mapping[str, Metric],
    attackers: Mapping[str, Mapping[str, Risk]],
    tallies: Tallies,
) -> tuple[
    tuple[KnownValues, ...],
    Mapping[str, tuple[ClassDiversity, ...]],
    Mapping[str, Mapping[str, Scalar]],
]:
    """Return the figures of single values and of classes, and the value behind each label."""
    publication, forest = rebuilt.publication, rebuilt.forest
    rates: dict[str | None, Any] = {None: metrics["discrimination_rate"]}
    rates |= {name: own["discrimination_rate"] for name, own in attackers.items()}
    values, names = list_known_values(publication, forest, rates, tallies)
    classes = list_diversities(publication, forest)
    for domain in (domain for own in forest.domains for domain in own if domain.path in classes):
        names[domain.path] = dict(zip(label_values(domain.values), domain.values, strict=True))
    return values, classes, names


def _at(paths: Sequence[str]) -> str:
    return ", ".join(map(place, paths))
