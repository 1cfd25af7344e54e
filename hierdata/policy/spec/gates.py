"""Gates of a policy: limits on figures of the release, and the attackers whom they have in mind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hierdata.domains.number import Exact
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.policy.problems import nearest
from hierdata.policy.spec.fields import Reason
from hierdata.records.key_forms import KeyForm, Weight

_TOO_NEAR = Fraction(1, 10**12)
"""Far above the rounding of a figure that is no fraction, far below what matters."""


@dataclass(frozen=True)
class Measured:
    """What a gate must know of a metric before anything is measured.

    ``figures`` are the metric's for the whole release, empty where it has one for each sensitive attribute,
    as somebody sees it.
    """

    better: Literal["lower", "higher"]
    figures: tuple[str, ...] = ()


MEASURED = {
    "lm_cost": Measured("lower", ("total", "per_record", "per_value")),
    "certainty_penalty": Measured("lower", ("gcp", "gcp_less_one")),
    "suppression_ratio": Measured("lower", ("records", "vertices")),
    "dissimilarity_degree": Measured("higher", ("as_printed", "mean_level_distance")),
    "diversity_degree": Measured("higher", ("as_printed", "mean_pair_distance")),
    "reconstruction_error": Measured("lower", ("total", "per_tuple")),
    "additional_information_loss": Measured("lower", ("total",)),
    "disclosure_rate": Measured("lower", ("largest",)),
    "classification_metric": Measured("lower", ("mean",)),
    "discrimination_rate": Measured("lower"),
    "background_resistance": Measured("higher"),
    "identity_risk": Measured("lower"),
    "skewness": Measured("higher"),
    "skewness_distance": Measured("lower"),
    "skewness_divergence": Measured("lower"),
}
"""The metrics, which are not imported to read a policy: they bring arrays. A test compares."""

if TYPE_CHECKING:
    MetricName: TypeAlias = str
else:
    MetricName = Literal[tuple(MEASURED)]

_COMPARE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}
_SIGN = {"lower": "<", "higher": ">"}

_DESCRIBES = ("keys", "partition", "weight")
"""What makes up an attacker, beside the attribute."""

Known = Annotated[tuple[str, ...], Field(min_length=1)]


class AttackerModel(BaseModel):
    """What somebody knows of a person, and which values they do not care to tell apart (DR 5.1).

    They know published quasi-identifiers, by default those of the sensitive attribute's own vertex and its
    ancestors'; without ``partition`` they are after the single value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    on: str | None = Field(default=None, description="path of the sensitive attribute they are after")
    keys: KeyForm | Known = Field(
        default="ancestors",
        description="the published quasi-identifiers that are known: own (of the vertex), ancestors (these "
        "and its ancestors'), record (all that is published of the record but sensitive values), or paths",
    )
    partition: SemanticPartition | None = Field(default=None, description="values that count as one")
    weight: Weight = Field(
        default="vertex", description="whether each vertex counts the same, or each person"
    )

    @property
    def paths(self) -> Known:
        """The keys that are named one by one."""
        return () if isinstance(self.keys, str) else self.keys


class Gate(BaseModel):
    """A limit on a figure of the release: where it is not kept, nothing is published.

    ``on``, ``attacker``, ``keys``, ``partition`` and ``weight`` go with metrics that have a figure for each
    sensitive attribute. Without ``on`` every attribute must keep the limit, or the one that the attacker is
    after.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Reason | None = Field(default=None, description="what the report calls it")
    metric: MetricName = Field(description="the metric that is measured")
    figure: str | None = Field(default=None, description="which of the metric's figures")
    operator: Literal["<=", "<", ">=", ">"] = Field(description="how the figure must stand to the value")
    value: Exact = Field(description="the limit")
    on: str | None = Field(default=None, description="path of the sensitive attribute")
    attacker: str | None = Field(default=None, description="one of the policy's attackers")
    keys: KeyForm | Known | None = Field(
        default=None, description="the quasi-identifiers that are known, as in attackers"
    )
    partition: SemanticPartition | None = Field(default=None, description="values that count as one")
    weight: Weight | None = Field(default=None, description="what counts the same, as in attackers")
    reason: Reason | None = Field(default=None, description="why this limit")

    def holds(self, value: Fraction | float) -> bool:
        """Whether a figure keeps the limit: exactly for a Fraction.

        A float is no exact figure: one within 10^-12 of the limit does not pass, whatever the operator.

        >>> gate = Gate(metric="discrimination_rate", operator="<=", value="0.5")
        >>> gate.holds(Fraction(1, 2)), gate.holds(0.4), gate.holds(0.5), gate.holds(0.6)
        (True, True, False, False)
        """
        found = Fraction(value)
        if isinstance(value, float) and abs(found - self.value) <= _TOO_NEAR:
            return False
        return _COMPARE[self.operator](found, self.value)

    def attacker_in(self, attackers: Mapping[str, AttackerModel]) -> AttackerModel:
        """The attacker that the gate names, or the one it describes itself, after the gate's attribute."""
        if self.attacker is not None:
            named = attackers[self.attacker]
            return named.model_copy(update={"on": self.on or named.on})
        stated = {name: getattr(self, name) for name in _DESCRIBES if getattr(self, name) is not None}
        return AttackerModel(on=self.on, **stated)

    @model_validator(mode="after")
    def _consistent(self) -> Gate:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        metric = MEASURED[self.metric]
        if metric.figures:
            for key in ("on", "attacker", *_DESCRIBES):
                if getattr(self, key) is not None:
                    yield f"{self.metric} takes no {key}: it looks at the whole release"
            if self.figure not in metric.figures:
                hint = nearest(self.figure, metric.figures) if self.figure is not None else ""
                yield f"{self.metric} needs a figure, one of {', '.join(metric.figures)}{hint}"
        elif self.figure is not None:
            yield f"{self.metric} has one figure for each sensitive attribute: say on, not figure"
        if self.attacker is not None and any(getattr(self, name) is not None for name in _DESCRIBES):
            yield "an attacker is named or described by keys, partition and weight, not both"
        if self.operator[0] != _SIGN[metric.better]:
            sign = _SIGN[metric.better]
            yield (
                f"of {self.metric}, {metric.better} is better: a gate asks for {sign}= or {sign}, "
                f"not for {self.operator}"
            )
