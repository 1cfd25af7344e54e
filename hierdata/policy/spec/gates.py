"""Gates of a policy, which limit figures of the release, and the attackers that they refer to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hierdata.domains.bounds import MOST_PARTS, Name, PathName, Reason
from hierdata.domains.number import Exact
from hierdata.domains.semantic_partition import SemanticCover
from hierdata.ground import plugins
from hierdata.policy.problems import nearest
from hierdata.policy.spec.families import refuse_missing
from hierdata.policy.spec.values import PolicyPart
from hierdata.records.schema import KeyForm, Weight

if TYPE_CHECKING:
    from hierdata.metrics import Metric

_TOO_NEAR = Fraction(1, 10**12)
"""Far above the rounding error of a float figure, far below any relevant difference."""


def _check_metric_name(name: object) -> str:
    """Check a metric's name as pydantic checks a Literal. Metrics import numpy, so they are imported late."""
    from hierdata.metrics import LIMITED

    if isinstance(name, str) and (name in LIMITED or plugins.find("metrics", name)):
        return name
    if isinstance(name, str):
        refuse_missing("metrics", name, LIMITED)
    expected = f"{', '.join(map(repr, [*LIMITED][:-1]))} or {[*LIMITED][-1]!r}"
    raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})


class _MetricName:
    """The name of a metric, listed once: in the family itself."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_check_metric_name)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: object) -> dict[str, Any]:
        from hierdata.metrics import LIMITED

        named = {"type": "string", "maxLength": 200, "not": {"enum": [*LIMITED]}}
        return {"anyOf": [{"enum": [*LIMITED], "type": "string"}, named]}


MetricName = Annotated[str, _MetricName]


def _other(name: str) -> str:
    """Check the name of a metric that is measured if asked; import it, so that errors show at once."""
    from hierdata.metrics import ATTACKS, METRICS, metric_named

    if name in ATTACKS:
        return name
    if name in METRICS:
        raise ValueError(f"{name} is measured for every release: leave it out")
    if plugins.find("metrics", name) is None:
        refuse_missing("metrics", name, ())
    metric_named(name)
    return name


OtherMetric = Annotated[Name, AfterValidator(_other)]
OtherMetrics = Annotated[tuple[OtherMetric, ...], Field(max_length=100)]

_COMPARE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}
_SIGN = {"lower": "<", "higher": ">"}

_DESCRIBES = ("keys", "partition", "weight")
"""The keys that describe an attacker, apart from the attribute."""

Known = Annotated[tuple[PathName, ...], Field(min_length=1, max_length=MOST_PARTS)]


class AttackerModel(PolicyPart):
    """What an attacker knows about a person, and which values count as one to the attacker (DR 5.1).

    The attacker knows published quasi-identifiers, by default those of the sensitive attribute's own vertex
    and of its ancestors. Without ``partition`` the target is the single value.
    """

    on: PathName | None = Field(default=None, description="path of the targeted sensitive attribute")
    keys: KeyForm | Known = Field(
        default="ancestors",
        description="the published quasi-identifiers that are known: own (of the vertex), ancestors (these "
        "and its ancestors'), record (all that is published of the record except sensitive values), or paths",
    )
    partition: SemanticCover | None = Field(default=None, description="values that count as one")
    weight: Weight = Field(
        default="vertex", description="whether each vertex counts the same, or each person"
    )

    @property
    def paths(self) -> Known:
        """The keys that are stated as paths."""
        return () if isinstance(self.keys, str) else self.keys


class Gate(PolicyPart):
    """A limit on a figure of the release: if it is not kept, nothing is published.

    ``on``, ``attacker``, ``keys``, ``partition`` and ``weight`` are for metrics with a figure for each
    sensitive attribute. Without ``on`` the limit holds for the attacker's attribute, or else for all. For
    ``kept``, ``on`` is a field or a vertex type.
    """

    name: Reason | None = Field(default=None, description="what the report calls it")
    metric: MetricName = Field(description="the metric that is measured")
    figure: Name | None = Field(default=None, description="which of the metric's figures")
    operator: Literal["<=", "<", ">=", ">"] = Field(description="how the figure must compare with the value")
    value: Exact = Field(description="the limit")
    on: PathName | None = Field(
        default=None, description="path of the sensitive attribute; of kept, of any field or vertex type"
    )
    attacker: Name | None = Field(default=None, description="one of the policy's attackers")
    keys: KeyForm | Known | None = Field(
        default=None, description="the quasi-identifiers that are known, as in attackers"
    )
    partition: SemanticCover | None = Field(default=None, description="values that count as one")
    weight: Weight | None = Field(default=None, description="what counts the same, as in attackers")
    reason: Reason | None = Field(default=None, description="why this limit")

    def holds(self, value: Fraction | float) -> bool:
        """Return whether a figure keeps the limit, decided exactly for a Fraction.

        A float is not exact: one within 10^-12 of the limit does not pass, whatever the operator.

        >>> gate = Gate(metric="discrimination_rate", operator="<=", value="0.5")
        >>> gate.holds(Fraction(1, 2)), gate.holds(0.4), gate.holds(0.5), gate.holds(0.6)
        (True, True, False, False)
        """
        figure = Fraction(value)
        if isinstance(value, float) and abs(figure - self.value) <= _TOO_NEAR:
            return False
        return _COMPARE[self.operator](figure, self.value)

    @property
    def metric_class(self) -> type[Metric]:
        """The metric whose figure is limited."""
        from hierdata.metrics import metric_named

        return metric_named(self.metric)

    @property
    def is_built_in(self) -> bool:
        """Whether the metric is hierdata's own."""
        from hierdata.metrics import LIMITED

        return self.metric in LIMITED

    def attacker_in(self, attackers: Mapping[str, AttackerModel]) -> AttackerModel:
        """Return the attacker that the gate names or describes, targeting the gate's attribute if stated."""
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
        from hierdata.metrics import Risk

        metric = self.metric_class
        if not metric.gated and not issubclass(metric, Risk):
            yield f"{self.metric} has no figure that a gate may limit"
            return
        if metric.gated:
            for key in ("on", "attacker", *_DESCRIBES):
                if getattr(self, key) is not None and not (key == "on" and metric.takes_place):
                    yield f"{self.metric} takes no {key}: it looks at the whole release"
            yield from self._figure_problems(metric)
        elif self.figure is not None:
            yield f"{self.metric} has one figure for each sensitive attribute: state `on`, not `figure`"
        if self.attacker is not None and any(getattr(self, name) is not None for name in _DESCRIBES):
            yield "name an attacker or describe one by keys, partition and weight, not both"
        if self.operator[0] != _SIGN[metric.better]:
            sign = _SIGN[metric.better]
            yield (
                f"for {self.metric}, {metric.better} is better: use {sign}= or {sign}, not {self.operator}"
            )

    def _figure_problems(self, metric: type[Metric]) -> Iterator[str]:
        """Yield what is wrong with the figure of a metric that is not measured for sensitive attributes."""
        if self.on is not None and metric.takes_place:
            if self.figure is not None:
                yield f"{self.metric} has one figure at each path: state `on` or `figure`, not both"
        elif self.figure not in metric.gated:
            hint = nearest(self.figure, metric.gated) if self.figure is not None else ""
            yield f"{self.metric} needs a figure, one of {', '.join(metric.gated)}{hint}"


Gates = Annotated[tuple[Gate, ...], Field(max_length=MOST_PARTS)]
