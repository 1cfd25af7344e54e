"""What single published values reveal of a sensitive attribute, by attacker (DR table 5, erratum DR-7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.measurement.key_values import KeyLabels, plain_values, rate_values
from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.numbering import published_keys, published_vertices
from hierdata.metrics.rates import ValueRate
from hierdata.metrics.risk import Known, Risk, RiskTarget, Usual
from hierdata.metrics.tallies import Tallies
from hierdata.records.schema import Role


@dataclass(frozen=True)
class KnownValues:
    """What each published value of the keys reveals of one sensitive attribute.

    ``attacker`` is one of the policy's, None for somebody who knows the attribute's own vertex and those
    above it. ``keys`` are the paths of the keys, empty for the whole record. ``values`` are by label: v1, v2
    .. for each key, separated by commas. ``distance`` and ``divergence`` compare with the original
    collection, the other figures with what is published.
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
    found = []
    for attacker, risk in risks.items():
        for target in risk.targets(forest.schema, forest.domains):
            if target not in labelled:
                labelled[target] = _label(publication, forest, target)
                names |= labelled[target].names
            known: JointTally = tallies[Known(target)]
            usual: JointTally = tallies[Usual(target)]
            values = rate_values(known, labelled[target].labels, usual.values)
            found.append(KnownValues(attacker, target.path, _paths(forest, target), values))
    return tuple(found), names


def _label(publication: Publication, forest: Forest, target: RiskTarget) -> KeyLabels:
    known = published_keys(publication, forest, target.kind, target.keys)
    vertices = published_vertices(publication, forest, target.kind)
    return KeyLabels.of(forest, publication.shown, publication.nodes, vertices, target.keys, known)


def _paths(forest: Forest, target: RiskTarget) -> tuple[str, ...]:
    return tuple(
        forest.schema.types[kind].of_role(Role.QUASI)[position].path for kind, position in target.keys or ()
    )
