"""All steps to attack a release: read it and its original, draw victims, look for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.look_over import PolicySource
from hierdata.pipeline.read_release import ReadRelease, read_release
from hierdata.pipeline.resources import Resources
from hierdata.pipeline.risks import IsolationYardstick, MeasuredRisks, measure_read, require_control
from hierdata.policy.checks.sensitive import class_size

if TYPE_CHECKING:
    from hierdata.forest.forest import Forest
    from hierdata.forest.sensitive_facts import Positions
    from hierdata.measurement.adversary.attack import Attacked, Candidates, Findings
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.measurement.adversary.knowledge import Knowledge
    from hierdata.measurement.release import Rebuilt
    from hierdata.measurement.risks.rates import MeasuredRisk

MOST_FACTS = 8
"""Of each victim: the ways to lay facts into a record are tried for every set of them."""
MOST_VICTIMS = 1_000_000
_TOGETHER = 1_000
"""Victims of one task; every process prepares the publication for itself."""
LARGEST_DRAW = 2**31 - 1


@dataclass(frozen=True)
class Attack:
    """What an adversary found in a release, and in the original with only its identifiers dropped.

    ``victims`` of ``records`` were drawn, with ``facts`` facts each; ``least`` is the smallest class that the
    policy promises. ``persons`` is how many persons the records are of, None if each counts as one. With
    ``by_facts`` values of the root are among the facts. ``control`` is the number of individuals of the
    control, None without one; ``risks`` are the three risks and downcoding, and ``not_measured`` says which
    could not be measured and why. ``both`` are the candidates that agree in another release too, by number of
    facts, None without one. Nothing in it is a value of the data.
    """

    records: int
    victims: int
    facts: int
    counts: bool
    negative: bool
    least: int
    release: Attacked
    identifiers_dropped: Attacked
    persons: int | None = None
    by_facts: bool = False
    control: int | None = None
    risks: tuple[MeasuredRisk, ...] = ()
    isolation: IsolationYardstick | None = None
    not_measured: tuple[str, ...] = ()
    both: tuple[Candidates, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "risks": [risk.as_dict() for risk in self.risks]}


def attack(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    control: object | None = None,
    as_data: bool = False,
    other: object | None = None,
    facts: int,
    victims: int = 1000,
    counts: bool = False,
    negative: bool = False,
    draw: int = 1,
    person: str | None = None,
    key: bytes | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Attack a release: who can be singled out, linked, and what can be inferred, beside a control.

    Victims and what is known of them are drawn from the original. Of each victim an adversary knows all
    quasi-identifiers of the root, and 0 to ``facts`` (1 to 8) facts:
    single quasi-identifier values at vertices below it, and how these vertices hang together. Under bounded
    knowledge with ``root: counted`` values of the root are among the facts instead. With ``counts``
    also how many vertices of each type the person has, with ``negative`` as many values that the person does
    not have. ``person`` is the path of the value that says whose a record of the original is, for a policy
    without ``individual``: then persons are counted, and one record of each victim is known, for which the
    folder of the release must have its witness. ``victims`` is their number and that of the attacks of each
    sort, ``draw`` chooses them. ``control`` has individuals who are not in the release, by default those of
    the policy's ``control``. ``as_data``: ``published`` are records of any origin, such as those of a
    synthesizer. With many victims several processes search, as ``resources`` say; the findings are the same.
    The other parameters are those of ``measure_release``, and so are the errors; PolicyError for numbers out
    of range and for an ``other`` release of other fields, InputError for a control that is too small, of
    another shape, or of the same individuals.

    Candidates are the published records that agree with the most of what is known. The code shares nothing
    with engines and judge. The same attack on the original, identifiers dropped, is the comparison. The risks
    are defined in ``hierdata.measurement.risks``.
    """
    _require("facts", facts, 1, MOST_FACTS)
    _require("victims", victims, 1, MOST_VICTIMS)
    _require("draw", draw, 0, LARGEST_DRAW)
    if other is not None and person is not None:
        raise PolicyError("two releases are attacked record by record: state no `person`")
    read = read_release(
        published,
        policy,
        original=original,
        key=key,
        person=person,
        progress=progress,
        with_control=True,
        control=control,
        as_data=as_data,
    )
    if read.is_control is not None:
        require_control(int(read.is_control.sum()))
    plan = AttackPlan(facts, victims, counts, negative, draw)
    return _attack_read(read, other, plan, resources or Resources(), progress or silent)


class AttackPlan(NamedTuple):
    """What an attack is asked for (see ``attack``)."""

    facts: int
    victims: int
    counts: bool = False
    negative: bool = False
    draw: int = 1


class AttackFindings(NamedTuple):
    """What attacks on a release found: the ``known`` victims, their ``forms``, how others are searched."""

    original: Forest
    known: list[Knowledge]
    forms: Forms
    of_release: Attacked
    measured: MeasuredRisks
    search: Callable[[str, Callable[[], Searcher], list[Knowledge]], Attacked]


def attack_release(
    read: ReadRelease, plan: AttackPlan, resources: Resources, progress: Progress
) -> AttackFindings:
    """Attack a release that was read, with its control."""
    from hierdata.forest.sensitive_facts import add_sensitive_facts
    from hierdata.measurement.adversary.attack import Adversary, draw_victims
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.measurement.adversary.knowledge import Curiosity

    whose, shown = (None, None) if read.persons is None else read.persons
    curiosity = Curiosity(plan.facts, plan.counts, plan.negative, _knows_by_facts(read))
    positions = read.prepared.constraints.facts
    original = add_sensitive_facts(read.original, positions)
    rebuilt = _add_known_values(read.rebuilt, positions)
    others = read.is_control
    least = class_size(read.prepared.policy)
    search = partial(_search, facts=plan.facts, least=least, on=(resources, progress))
    forms = Forms.of(rebuilt.forest, rebuilt.publication, rebuilt.form, shown)
    inside = None if others is None else ~others
    known = draw_victims(original, plan.victims, curiosity, plan.draw, whose, inside)
    adversary = partial(Adversary, original, forms)
    of_release, of_control = search("attacking the release", adversary, known), None
    if others is not None:
        strangers = draw_victims(original, plan.victims, curiosity, plan.draw, whose, others)
        of_control = search("attacking the control", adversary, strangers)
    measured = measure_read(read, of_release, of_control, (plan.facts, plan.victims, plan.draw))
    return AttackFindings(original, known, forms, of_release, measured, search)


def _knows_by_facts(read: ReadRelease) -> bool:
    model = read.prepared.policy.knowledge
    return model is not None and model.root == "counted"


def _attack_read(
    read: ReadRelease, other: object | None, plan: AttackPlan, resources: Resources, progress: Progress
) -> Attack:
    """Attack a release, alone and together with another, and the original with its identifiers dropped."""
    from hierdata.measurement.adversary.attack import Adversary
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.pipeline.other_release import read_other, require_tied

    second = None
    if other is not None:
        require_tied(read.prepared.policy)
        second = read_other(other, read.prepared, read.original, progress)
    findings = attack_release(read, plan, resources, progress)
    whose = None if read.persons is None else read.persons.original
    others = read.is_control
    dropped = Forms.of_original(findings.original, whose, None if others is None else ~others)
    adversary = partial(Adversary, findings.original, dropped)
    held_out = 0 if others is None else int(others.sum())
    return Attack(
        read.original.record_count - held_out,
        len(findings.known),
        plan.facts,
        plan.counts,
        plan.negative,
        class_size(read.prepared.policy),
        findings.of_release,
        findings.search("attacking the original", adversary, findings.known),
        None if whose is None else len(set(whose.tolist())),
        _knows_by_facts(read),
        held_out or None,
        findings.measured.risks,
        findings.measured.isolation,
        findings.measured.not_measured,
        None if second is None else _attack_both(read, second, findings),
    )


def _attack_both(read: ReadRelease, second: Rebuilt, findings: AttackFindings) -> tuple[Candidates, ...]:
    """Look for the victims in two releases together."""
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.measurement.risks.composition import Composition, ShownRelease
    from hierdata.measurement.risks.evidence import Evidence

    shown_values = _add_known_values(second, read.prepared.constraints.facts)
    forms = Forms.of(shown_values.forest, shown_values.publication, shown_values.form)
    evidence = [
        Evidence.of(read.original, read.is_control, rebuilt.forest, rebuilt.publication, rebuilt.form)
        for rebuilt in (read.rebuilt, second)
    ]
    shown = ShownRelease(findings.forms, evidence[0]), ShownRelease(forms, evidence[1])
    both = partial(Composition, findings.original, *shown)
    return findings.search("attacking both releases", both, findings.known).candidates


def _search(
    stage: str,
    make: Callable[[], Searcher],
    victims: list[Knowledge],
    facts: int,
    least: int,
    on: tuple[Resources, Progress],
) -> Attacked:
    """Look for victims in what is published, in several processes where there are many."""
    resources, progress = on
    parts = [victims[first : first + _TOGETHER] for first in range(0, len(victims), _TOGETHER)]
    with resources.open_context(len(parts), None, progress) as spread:
        inner, watch = spread.progress_callbacks(stage, len(victims), len(parts))
        search = AttackPart(make, facts, lambda done: inner(stage, done, len(victims)))
        held = spread.executor.hold(parts)
        return reduce(add, held.map(search, watch).collect()).summarize(least)


def _add_known_values(rebuilt: Rebuilt, positions: Positions) -> Rebuilt:
    """Return a release with the sensitive values that may be known as facts."""
    from hierdata.forest.publication import group_by_form
    from hierdata.forest.sensitive_facts import add_sensitive_facts

    if not any(positions):
        return rebuilt
    forest = add_sensitive_facts(rebuilt.forest, positions, published=True)
    publication = replace(rebuilt.publication, nodes=forest.nodes)
    form, _ = group_by_form(forest, rebuilt.publication.shown, forest.nodes)
    return replace(rebuilt, forest=forest, publication=publication, form=form)


class Searcher(Protocol):
    """Looks for victims in what is published, as ``Adversary`` does."""

    def attack(self, victims: Sequence[Knowledge], facts: int, progress: Callable[[int], object]) -> Findings:
        """Return what was found with 0 to ``facts`` facts."""


@dataclass(frozen=True)
class AttackPart:
    """Attack some victims; ``progress`` receives the number of victims done."""

    make: Callable[[], Searcher]
    facts: int
    progress: Callable[[int], object]

    @cached_property
    def searcher(self) -> Searcher:
        """The searcher with its index, which every process makes once."""
        return self.make()

    def __call__(self, victims: list[Knowledge]) -> Findings:
        """Return what was found."""
        return self.searcher.attack(victims, self.facts, self.progress)


def _require(name: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise PolicyError(f"{name} must be a number from {least} to {most:,}")
