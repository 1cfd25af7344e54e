"""Measure the three risks of a release that was read with its original and control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hierdata.ground.errors import InputError
from hierdata.measurement.risks.rates import LEAST_CONTROL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hierdata.measurement.adversary.attack import Attacked
    from hierdata.measurement.risks.evidence import Evidence
    from hierdata.measurement.risks.measure import Readers
    from hierdata.measurement.risks.rates import MeasuredRisk
    from hierdata.pipeline.read_release import ReadRelease
    from hierdata.policy.policy import Policy
    from hierdata.release.report.models import StewardReport


class IsolationYardstick(NamedTuple):
    """The smallest published class, and the chance that a predicate of weight 1/c isolates one of it."""

    smallest_class: int
    chance: float


class MeasuredRisks(NamedTuple):
    """The risks, what could not be measured and why, and a yardstick for singling out."""

    risks: tuple[MeasuredRisk, ...]
    not_measured: tuple[str, ...]
    isolation: IsolationYardstick | None


def require_control(count: int) -> None:
    """Raise InputError for a control of so few individuals that it tells nothing."""
    if count < LEAST_CONTROL:
        raise InputError(
            f"the control has {count} individuals, so that half of an interval would be wider than 0.05: "
            f"{LEAST_CONTROL} are needed"
        )


def measure_read(
    read: ReadRelease,
    attacked: Attacked,
    control: Attacked | None,
    asked: tuple[int, int, int],
) -> MeasuredRisks:
    """Measure the risks of a release; ``attacked`` is what an adversary guesses of its victims.

    ``control`` is the same of the control, None without one; ``asked`` are facts, attacks and draw.
    """
    from hierdata.measurement.risks.evidence import Evidence
    from hierdata.measurement.risks.measure import NO_READERS, NO_WITNESS, list_inferences, measure_risks
    from hierdata.measurement.risks.singling_out import isolate_in_class

    rebuilt, policy = read.rebuilt, read.prepared.policy
    evidence = Evidence.of(
        read.original,
        read.is_control,
        rebuilt.forest,
        rebuilt.publication,
        rebuilt.form,
        grouped=not policy.recoding_traits.ties_values,
    )
    readers = find_readers(policy, evidence)
    true = None if read.links is None else list_true_codes(read, evidence, read.links)
    risks = measure_risks(evidence, readers, true, *asked)
    risks += list_inferences(attacked, control)
    missing = [NO_READERS] if readers is None else []
    missing += [NO_WITNESS] if true is None else []
    smallest = int(min(evidence.alike, default=1))
    # A record that looks like no other is no class: anatomy and bounded knowledge promise none.
    yardstick = IsolationYardstick(smallest, float(isolate_in_class(smallest))) if smallest > 1 else None
    return MeasuredRisks(tuple(risks), tuple(missing), yardstick)


def find_readers(policy: Policy, evidence: Evidence) -> Readers | None:
    """Return the first two attackers of a policy with disjoint paths, else those of root and lists."""
    from hierdata.measurement.risks.measure import Readers, split_readers

    known = {attribute.path for attribute in evidence.attributes if attribute.is_quasi}
    stated = [
        (name, {policy.spell_path(policy.path(text).keys) for text in attacker.paths} & known)
        for name, attacker in policy.attackers.items()
    ]
    for number, (name, paths) in enumerate(stated):
        for other, theirs in stated[number + 1 :]:
            if paths and theirs and paths.isdisjoint(theirs):
                return Readers(f"{name} and {other}", tuple(sorted(paths)), tuple(sorted(theirs)))
    return split_readers(evidence)


def list_true_codes(
    read: ReadRelease, evidence: Evidence, links: NDArray[np.int64]
) -> list[NDArray[np.int64] | None]:
    """Return by attribute the code of the original behind each published value, -1 where it is not known."""
    forest, original = read.rebuilt.forest, read.original
    shown = read.rebuilt.publication.shown >= 0
    codes_by_attribute: list[NDArray[np.int64] | None] = []
    for attribute in evidence.attributes:
        if not attribute.is_quasi:
            codes_by_attribute.append(None)
            continue
        vertices = np.flatnonzero(shown & (forest.type == attribute.kind))
        linked = links[vertices]
        fits = (linked >= 0) & (original.type[linked] == attribute.kind)
        codes = np.full(len(vertices), -1)
        codes[fits] = original.nodes[original.first_node[linked[fits]] + attribute.position]
        codes_by_attribute.append(codes)
    return codes_by_attribute


GATE_FACTS, GATE_ATTACKS = 3, 1000
"""Facts and attacks of each sort with which a run measures the risks that a policy asks for or limits."""


def find_worst(measured: MeasuredRisks) -> dict[str, float]:
    """Return the largest observed risk of each metric and figure; 0 where no attack could be made."""
    from hierdata.measurement.risks.singling_out import BY_EVERYTHING, BY_QUASI

    names = {BY_QUASI: "quasi_identifiers", BY_EVERYTHING: "everything"}
    worst: dict[str, float] = {}
    for risk in measured.risks:
        figure = names.get(risk.by) if risk.risk == "singling_out" else "worst"
        if figure is not None:
            key = f"{risk.risk}.{figure}"
            worst[key] = max(worst.get(key, 0.0), risk.raw_value)
    return worst


def attacked_figures(report: StewardReport) -> dict[str, Any]:
    """Return what attacks on the files measured of a release, by metric and figure."""
    from hierdata.metrics import ATTACKS

    return {
        f"{metric}.{figure}": value
        for metric, measure in report.metrics.items()
        if metric in ATTACKS
        for figure, value in (measure.model_extra or {}).items()
    }
