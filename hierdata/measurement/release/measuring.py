"""Measure a release: every metric that can be computed from the published files and the original.

Also what a release file does not say: how far apart the sensitive values of each class are in their taxonomy
(LE definitions 5 and 6), and what single published values reveal (DR table 5, erratum DR-7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.similarity import NodePath, difference_matrix, distance
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.measurement.key_values import KeyLabels, label_values, plain_number, plain_values, rate_values
from hierdata.measurement.release import Rebuilt
from hierdata.metrics import Metric, metrics_of
from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.numbering import published_keys, published_vertices
from hierdata.metrics.rates import ValueRate
from hierdata.metrics.risk import Known, Risk, RiskTarget, Usual
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
            "attackers": {name: _plain(risks) for name, risks in self.attackers.items()},
            "left_out": dict(self.left_out),
            "values": [values.as_dict() for values in self.values],
            "classes": {path: [each.as_dict() for each in listed] for path, listed in self.classes.items()},
        }


def _plain(measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {name: measure.model_dump(mode="json") for name, measure in measures.items()}


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
        name: {risk: metric for risk, metric in risks.items() if risk not in left_out}
        for name, risks in bind_attackers(prepared.policy, forest.schema, forest.domains).items()
    }
    asked = [*metrics.values(), *(metric for risks in attackers.values() for metric in risks.values())]
    tallies = tally(publication, forest, asked)
    computed = {name: metric.figures(tallies) for name, metric in metrics.items()}
    measured = {name: of_metric for name, of_metric in computed.items() if of_metric}
    left_out |= {
        name: "no field of the policy has what it measures" for name in computed if name not in measured
    }
    left_out |= {
        f"{name} {figure}": "the files do not tell which siblings that look alike were aligned"
        for name in measured
        for figure in every[name].aligned
    }
    counts: Counted = tallies[count_part]
    return ReleaseMeasurement(
        figures(measured),
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
    rates |= {name: risks["discrimination_rate"] for name, risks in attackers.items()}
    values, names = list_known_values(publication, forest, rates, tallies)
    classes = list_diversities(publication, forest)
    for _, _, domain in forest.list_domains():
        if domain.path in classes:
            names[domain.path] = dict(zip(label_values(domain.values), domain.values, strict=True))
    return values, classes, names


def _at(paths: Sequence[str]) -> str:
    return ", ".join(map(place, paths))


@dataclass(frozen=True)
class ClassDiversity:
    """The diversity of the q sensitive values at one position of a class; in tables a class has one position.

    ``number`` is that of the position, from 1, in the order of the published records. ``counts`` has how many
    of the q values are v1, v2 .., the values of the attribute in ascending order. ``diversity_degree`` is DOD
    of LE definition 6, in edges, half the way; it grows with q (erratum LE-8). ``mean_pair_distance`` is the
    mean over all pairs instead. Both are None for fewer than two values.
    """

    number: int
    counts: Mapping[str, int]
    diversity_degree: Fraction | None
    mean_pair_distance: Fraction | None
    paths: Mapping[str, NodePath] = field(repr=False)

    @property
    def size(self) -> int:
        """q, the number of values."""
        return sum(self.counts.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each value, the order of the difference matrix."""
        return tuple(Counter(self.counts).elements())

    @property
    def difference_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The q x q distances between the values (LE definition 5), in the order of ``labels``."""
        return difference_matrix([self.paths[label] for label in self.labels])

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; ``distances`` has one row and column for equal values."""
        matrix = difference_matrix([self.paths[label] for label in self.counts])
        return {
            "number": self.number,
            "size": self.size,
            "diversity_degree": plain_number(self.diversity_degree),
            "mean_pair_distance": plain_number(self.mean_pair_distance),
            "values": [{"value": label, "count": count} for label, count in self.counts.items()],
            "distances": [[float(apart) for apart in row] for row in matrix],
        }


def list_diversities(publication: Publication, forest: Forest) -> dict[str, tuple[ClassDiversity, ...]]:
    """Return the diversity of each position, by the path of each sensitive attribute with a taxonomy."""
    return {
        domain.path: tuple(_diversities(publication, forest, kind, position, domain.paths, domain))
        for kind, position, domain in forest.list_domains()
        if domain.paths is not None
    }


def _diversities(
    publication: Publication,
    forest: Forest,
    kind: int,
    position: int,
    paths: tuple[NodePath, ...],
    domain: SensitiveDomain,
) -> Iterator[ClassDiversity]:
    labels = label_values(domain.values)
    path_of = dict(zip(labels, paths, strict=True))
    places = publication.positions_of(domain.path)
    vertices = np.flatnonzero((places >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    pairs = np.stack([places[vertices], codes.astype(np.int64)])[:, codes >= 0]
    distinct, counts = np.unique(pairs, axis=1, return_counts=True)
    held: dict[int, dict[int, int]] = {}
    for class_position, code, count in zip(*distinct.tolist(), counts.tolist(), strict=True):
        held.setdefault(class_position, {})[code] = count
    known: dict[tuple[tuple[int, int], ...], tuple[Fraction | None, Fraction | None]] = {}
    for number, counts_of_codes in enumerate(held.values(), 1):
        key = tuple(counts_of_codes.items())
        if key not in known:
            known[key] = _degrees(counts_of_codes, paths)
        yield ClassDiversity(number, {labels[code]: count for code, count in key}, *known[key], path_of)


def _degrees(
    counts: Mapping[int, int], paths: tuple[NodePath, ...]
) -> tuple[Fraction | None, Fraction | None]:
    """Return D / q and D / (q (q - 1) / 2), where D is the sum over all pairs."""
    size, listed = sum(counts.values()), list(counts.items())
    if size < 2:
        return None, None
    distances = (
        times * other_times * distance(paths[code], paths[other])
        for (code, times), (other, other_times) in combinations(listed, 2)
    )
    total = sum(distances, Fraction(0))
    return total / size, 2 * total / (size * (size - 1))


@dataclass(frozen=True)
class KnownValues:
    """What each published value of the keys reveals of one sensitive attribute.

    ``attacker`` is one of the policy's, None for one who knows the attribute's own vertex and those above it.
    ``keys`` are the paths of the keys, empty for the whole record. ``values`` are by label: v1, v2 .. for
    each key, separated by commas. ``distance`` and ``divergence`` compare with the original collection, the
    other figures with what is published.
    """

    attacker: str | None
    path: str
    keys: tuple[str, ...]
    values: Mapping[str, ValueRate]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "attacker": self.attacker,
            "sensitive": self.path,
            "keys": list(self.keys),
            "values": plain_values(self.values),
        }


def list_known_values(
    publication: Publication, forest: Forest, risks: Mapping[str | None, Risk], tallies: Tallies
) -> tuple[tuple[KnownValues, ...], dict[str, Mapping[str, Scalar]]]:
    """Return the figures of the values that each attacker knows, and the values by path and label.

    ``tallies`` must have the answers to the questions of ``risks`` and of the skewness of the same attackers.
    """
    names: dict[str, Mapping[str, Scalar]] = {}
    labelled: dict[RiskTarget, KeyLabels] = {}
    known_values = []
    for attacker, risk in risks.items():
        for target in risk.targets(forest.schema, forest.domains):
            if target not in labelled:
                labelled[target] = _label(publication, forest, target)
                names |= labelled[target].names
            known: JointTally = tallies[Known(target)]
            usual: JointTally = tallies[Usual(target)]
            values = rate_values(known, labelled[target].labels, usual.values)
            known_values.append(KnownValues(attacker, target.path, _paths(forest, target), values))
    return tuple(known_values), names


def _label(publication: Publication, forest: Forest, target: RiskTarget) -> KeyLabels:
    known = published_keys(publication, forest, target.kind, target.keys)
    vertices = published_vertices(publication, forest, target.kind)
    return KeyLabels.of(forest, publication.shown, publication.nodes, vertices, target.keys, known)


def _paths(forest: Forest, target: RiskTarget) -> tuple[str, ...]:
    return tuple(forest.schema.types[kind].quasi[position].path for kind, position in target.keys or ())
