"""Gates of a policy: limits on figures of the release, and the attackers whom they have in mind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hierdata.domains.number import Exact
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.errors import PolicyError
from hierdata.policy.fields import Reason
from hierdata.policy.problems import Problem, nearest
from hierdata.records.path import parse

if TYPE_CHECKING:
    from hierdata.policy.model import Policy
    from hierdata.records.survey import Keys

_TOO_NEAR = Fraction(1, 10**12)
"""Far above the rounding of a figure that is no fraction, far below what matters."""


@dataclass(frozen=True)
class Measured:
    """What a gate must know of a metric before anything is measured.

    ``figures`` are the metric's, empty where it has one for each sensitive attribute, as somebody sees it.
    """

    better: Literal["lower", "higher"]
    figures: tuple[str, ...] = ()


MEASURED = {
    "lm_cost": Measured("lower", ("total", "per_record", "per_value")),
    "suppression_ratio": Measured("lower", ("records", "vertices")),
    "dissimilarity_degree": Measured("higher", ("as_printed", "mean_level_distance")),
    "diversity_degree": Measured("higher", ("as_printed", "mean_pair_distance")),
    "reconstruction_error": Measured("lower", ("total", "per_tuple")),
    "discrimination_rate": Measured("lower"),
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

Known = Annotated[tuple[str, ...], Field(min_length=1)]


class AttackerModel(BaseModel):
    """What somebody knows of a person, and which values they do not care to tell apart (DR 5.1).

    Without ``keys`` they know every published quasi-identifier of the sensitive attribute's own vertex and of
    those above it; without ``partition`` they are after the single value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Known | None = Field(default=None, description="paths of the quasi-identifiers that are known")
    partition: SemanticPartition | None = Field(default=None, description="values that count as one")


class Gate(BaseModel):
    """A limit on a figure of the release: where it is not kept, nothing is published.

    ``on``, ``keys``, ``partition`` and ``attacker`` go with metrics that have a figure for each sensitive
    attribute. Without ``on`` every attribute must keep the limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Reason | None = Field(default=None, description="what the report calls it")
    metric: MetricName = Field(description="the metric that is measured")
    figure: str | None = Field(default=None, description="which of the metric's figures")
    operator: Literal["<=", "<", ">=", ">"] = Field(description="how the figure must stand to the value")
    value: Exact = Field(description="the limit")
    on: str | None = Field(default=None, description="path of the sensitive attribute")
    attacker: str | None = Field(default=None, description="one of the policy's attackers")
    keys: Known | None = Field(default=None, description="paths of the quasi-identifiers that are known")
    partition: SemanticPartition | None = Field(default=None, description="values that count as one")
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
        """The attacker that the gate names, or the one it describes itself."""
        if self.attacker is not None:
            return attackers[self.attacker]
        return AttackerModel(keys=self.keys, partition=self.partition)

    @model_validator(mode="after")
    def _consistent(self) -> Gate:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        metric = MEASURED[self.metric]
        if metric.figures:
            for key in ("on", "attacker", "keys", "partition"):
                if getattr(self, key) is not None:
                    yield f"{self.metric} takes no {key}: it looks at the whole release"
            if self.figure not in metric.figures:
                hint = nearest(self.figure, metric.figures) if self.figure is not None else ""
                yield f"{self.metric} needs a figure, one of {', '.join(metric.figures)}{hint}"
        elif self.figure is not None:
            yield f"{self.metric} has one figure for each sensitive attribute: say on, not figure"
        if self.attacker is not None and (self.keys is not None or self.partition is not None):
            yield "an attacker is named or described by keys and partition, not both"
        if self.operator[0] != _SIGN[metric.better]:
            sign = _SIGN[metric.better]
            yield (
                f"of {self.metric}, {metric.better} is better: a gate asks for {sign}= or {sign}, "
                f"not for {self.operator}"
            )


def problems(policy: Policy) -> Iterator[Problem]:
    """What is wrong with the policy's attackers and gates beside its fields."""
    for name, attacker in policy.attackers.items():
        yield from _key_problems(policy, ("attackers", name), attacker.keys, ())
    for index, gate in enumerate(policy.gates):
        where = ("gates", index)
        if gate.attacker is not None and gate.attacker not in policy.attackers:
            hint = nearest(gate.attacker, policy.attackers)
            yield (*where, "attacker"), f"there is no attacker {gate.attacker}{hint}"
            continue
        if MEASURED[gate.metric].figures:
            continue
        if gate.on is not None and (
            reason := _stranger(policy, gate.on, policy.sensitive, "sensitive field")
        ):
            yield (*where, "on"), reason
            continue
        if not policy.sensitive:
            yield where, f"{gate.metric} measures sensitive fields, and there are none"
            continue
        measured = [*policy.sensitive] if gate.on is None else [keys_of(policy, gate.on)]
        attacker = gate.attacker_in(policy.attackers)
        yield from _key_problems(policy, where, attacker.keys, measured)
        if attacker.partition is not None and len(measured) > 1:
            yield where, "a partition is of one attribute's values: name the attribute under on"
        elif attacker.partition is not None and attacker.partition.depth is not None:
            path, rule = policy.by_keys[measured[0]]
            if getattr(rule, "taxonomy", None) is None:
                yield where, f"a partition by depth needs a taxonomy on {path}"


def keys_of(policy: Policy, text: str) -> Keys:
    """The keys of a path that the policy names outside its fields."""
    return parse(text, policy.namespaces).keys


def _key_problems(
    policy: Policy, where: tuple[int | str, ...], known: Known | None, measured: Iterable[Keys]
) -> Iterator[Problem]:
    """Keys that are no quasi-identifiers, or stand where the attributes that are measured do not."""
    for text in known or ():
        if reason := _stranger(policy, text, policy.quasi, "published quasi-identifier"):
            yield (*where, "keys"), reason
            continue
        keys = keys_of(policy, text)
        above = (keys[:depth] for depth in range(len(keys), 0, -1))
        home = next((vertex for vertex in above if vertex in policy.vertices), ())
        for attribute in measured:
            if attribute[: len(home)] != home:
                path = policy.by_keys[attribute][0]
                yield (
                    (*where, "keys"),
                    f"{text} belongs neither to the vertex of {path} nor to one above it",
                )


def _stranger(policy: Policy, text: str, fields: Mapping[Keys, object], what: str) -> str | None:
    """Why a path is none of these fields; None where it is."""
    try:
        if keys_of(policy, text) in fields:
            return None
    except PolicyError as error:
        return str(error)
    return f"{text} is no {what}{nearest(text, [str(policy.by_keys[keys][0]) for keys in fields])}"
