"""Gates: the policy's limits on figures of a release, checked after the judge has passed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import GateError, PolicyError
from hierdata.ground.escaping import quote
from hierdata.policy.checks.gates import after
from hierdata.policy.policy import Policy
from hierdata.policy.problems import nearest
from hierdata.policy.spec.gates import AttackerModel, Gate
from hierdata.privacy.base import number
from hierdata.records.schema import KeyForm, Schema
from hierdata.release.report.parts import Exact, GateVerdict, Measure, figures

if TYPE_CHECKING:
    from hierdata.metrics import Metric, Risk
    from hierdata.metrics.tallies import Tallies


@dataclass(frozen=True)
class BoundGate:
    """A gate and the metric of its figure; its verdict repeats ``stated`` (see describe_gate)."""

    gate: Gate
    metric: Metric
    stated: dict[str, Any]

    def judge(self, tallies: Tallies) -> GateVerdict:
        """Return the verdict. The worst of several figures decides; without a figure the gate fails."""
        measured = [
            figure for figure in self.metric.figures(tallies) if self.gate.figure in (None, figure.name)
        ]
        if not measured:
            return GateVerdict(**(self.stated | {"figure": None}), value=None, exact=None, passed=False)
        worst = (max if self.gate.metric_class.better == "lower" else min)(
            measured, key=lambda figure: Fraction(figure.value)
        )
        return GateVerdict(
            **(self.stated | {"figure": worst.name}),
            value=float(worst.value),
            exact=worst.exact,
            passed=all(self.gate.holds(figure.value) for figure in measured),
        )


def bind_gates(
    policy: Policy, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]
) -> tuple[BoundGate, ...]:
    """Bind the gates of a policy to a collection, before the search.

    Attackers are checked even if no gate names them. Raises PolicyError for keys that are neither at the
    attribute's own vertex nor above it, and for partitions that miss or repeat a value.
    """
    bind_attackers(policy, schema, domains)
    return tuple(_bind_gate(policy, gate, schema, domains) for gate in policy.gates)


def _bind_gate(
    policy: Policy, gate: Gate, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]
) -> BoundGate:
    stated = describe_gate(policy, gate)
    if gate.on is not None and gate.metric_class.takes_place:
        return BoundGate(gate, _metric_at_path(policy, gate, schema), stated)
    if gate.metric_class.gated:
        return BoundGate(gate, gate.metric_class.under(policy.diversity), stated)
    metric = _bound_to(cast("type[Risk]", gate.metric_class), policy, gate.attacker_in(policy.attackers))
    metric.targets(schema, domains)
    return BoundGate(gate, metric, stated)


def _metric_at_path(policy: Policy, gate: Gate, schema: Schema) -> Metric:
    """Build the metric at the gate's path. Raises PolicyError if nothing there is measured."""
    from hierdata.metrics.kept import KeptWorth

    keys = policy.path(cast("str", gate.on)).keys
    paths = {schema.keys(kind.index): kind.path for kind in schema.types}
    paths |= {field: policy.spell_path(field) for field in (*policy.quasi, *policy.sensitive)}
    if keys not in paths:
        raise PolicyError(
            f"gate on {gate.metric}: this is neither a vertex type nor a published field that is generalized "
            f"or sensitive{nearest(cast('str', gate.on), [*paths.values()])}",
            path=gate.on,
        )
    return KeptWorth(paths[keys])


def bind_attackers(
    policy: Policy, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]
) -> dict[str, dict[str, Risk]]:
    """Build the risk metrics of each attacker of a policy, by name. Raises PolicyError as bind_gates does."""
    from hierdata.metrics import RISKS

    bound = {
        name: {risk: _bound_to(metric, policy, attacker) for risk, metric in RISKS.items()}
        for name, attacker in policy.attackers.items()
    }
    for metrics in bound.values():
        metrics["discrimination_rate"].targets(schema, domains)  # all risks of an attacker have the same
    return bound


def every_metric(
    policy: Policy,
    schema: Schema,
    domains: Sequence[Sequence[SensitiveDomain]],
    gates: Iterable[BoundGate],
) -> tuple[Metric, ...]:
    """Return all metrics of a report: those of every release, of the attackers and of the gates."""
    from hierdata.metrics import metrics_of

    attackers = bind_attackers(policy, schema, domains)
    return (
        *(metric.under(policy.diversity) for metric in metrics_of(policy.metrics).values()),
        *(metric for metrics in attackers.values() for metric in metrics.values()),
        *(gate.metric for gate in gates),
    )


def attacker_risks(
    attackers: Mapping[str, Mapping[str, Risk]], tallies: Tallies
) -> dict[str, dict[str, Measure]]:
    """Return what each attacker learns from a release, by attacker and metric."""
    measured = {
        name: {risk: metric.figures(tallies) for risk, metric in metrics.items()}
        for name, metrics in attackers.items()
    }
    return {name: figures(risks) for name, risks in measured.items() if all(risks.values())}


def _bound_to(metric: type[Risk], policy: Policy, attacker: AttackerModel) -> Risk:
    return metric(
        tuple(policy.spell_path(keys) for keys in after(policy, attacker)),
        _keys(policy, attacker),
        attacker.partition,
        attacker.weight,
    )


def _keys(policy: Policy, attacker: AttackerModel) -> KeyForm | tuple[str, ...]:
    """Return the keys of an attacker as the policy's fields spell them."""
    if isinstance(attacker.keys, str):
        return attacker.keys
    return tuple(policy.spell_path(policy.path(key).keys) for key in attacker.keys)


def pass_gates(gates: Iterable[BoundGate], tallies: Tallies) -> tuple[GateVerdict, ...]:
    """Return the verdicts if all gates pass. Raises GateError that names the gates that fail."""
    verdicts = tuple(gate.judge(tallies) for gate in gates)
    failed = [_sentence(verdict) for verdict in verdicts if not verdict.passed]
    if failed:
        many = f"{len(failed)} of {len(verdicts)} gates failed and nothing was published"
        raise GateError(f"{many}: {'; '.join(failed)}")
    return verdicts


def describe_gate(policy: Policy, gate: Gate) -> dict[str, Any]:
    """Return what is said of a gate whatever was measured: the keys by path, no values of a partition."""
    attacker = None if gate.metric_class.gated else gate.attacker_in(policy.attackers)
    return {
        "name": gate.name,
        "metric": gate.metric,
        "figure": gate.on if gate.figure is None and gate.metric_class.takes_place else gate.figure,
        "operator": gate.operator,
        "limit": Exact.of(gate.value),
        "attacker": gate.attacker,
        "keys": None if attacker is None else _keys(policy, attacker),
        "semantic": attacker is not None and attacker.partition is not None,
        "weight": None if attacker is None else attacker.weight,
        "reason": gate.reason,
    }


def _sentence(verdict: GateVerdict) -> str:
    name = f"{quote(verdict.name)}: " if verdict.name else ""
    asked = f"must be {verdict.operator} {number(Fraction(verdict.limit.exact))}"
    if verdict.value is None:
        return f"{name}{verdict.metric} {asked} and has no figure for this release"
    return f"{name}{verdict.metric} {verdict.figure} is {verdict.value:.6g}, {asked}"


def measures_risks(policy: Policy) -> bool:
    """Return whether the policy asks for a risk or limits one, so that a run attacks what it wrote."""
    from hierdata.metrics import ATTACKS

    return not ATTACKS.keys().isdisjoint((*policy.metrics, *(gate.metric for gate in policy.gates)))
