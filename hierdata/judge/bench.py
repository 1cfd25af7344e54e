"""Checks of classes by models: one for each model and each attribute that it is bound to."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from fractions import Fraction

from hierdata.errors import PolicyError
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.rules import Judgement, JudgeRules, Verdict
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel


class _ModelCheck:
    """One model at one sensitive attribute. Vertices with equal summaries are decided once."""

    def __init__(self, model: PrivacyModel, constraint: Constraint, path: str | None) -> None:
        self.model = model
        self.constraint = constraint
        self.path = path
        self.achieved: dict[str, Fraction] = {}
        self.failing: set[int] = set()
        self._decided: dict[object, bool] = {}
        self._by_sizes = type(constraint).summary is Constraint.summary

    def holds(self, view: ClassView, sizes: Hashable) -> bool:
        """Judge one vertex; ``sizes`` is the summary of its counts that most models use."""
        summary = sizes if self._by_sizes else self.constraint.summary(view.counts)
        case = (view.records, view.population, summary)
        held = self._decided.get(case)
        if held is None:
            held = self._decided[case] = self.constraint.holds(view)
            self.achieved = self.model.weakest(self.achieved, self.constraint.achieved_parameters(view))
        return held

    def judgement(self) -> Judgement:
        """Return the result over all classes checked so far."""
        return Judgement(self.model.kind, self.path, not self.failing, self.achieved, len(self.failing))


class ModelChecks:
    """All models of the rules, applied to one class after the other once all documents have been walked."""

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self._benches = _benches(rules, attributes)
        self._not_judged = rules.not_judged
        self._on_records: list[_ModelCheck] = []
        self._on_values: list[list[_ModelCheck]] = [[] for _ in attributes]
        for index, bench in self._benches:
            if isinstance(bench, _ModelCheck):
                (self._on_records if index < 0 else self._on_values[index]).append(bench)
        self._failing: dict[object, list[_ModelCheck]] = {}

    def check_class(
        self,
        ordinal: int,
        records: int,
        tallies: Iterable[dict[int, int]],
        population: int | None = None,
        own: tuple[int, ...] | None = None,
    ) -> None:
        """Check every model on a class as a whole, and at each vertex with values of its attribute.

        A tally counts the values at one vertex by ``code * attributes + index of the attribute``. ``own`` are
        the attributes that a member of the class may have (None: all).
        """
        for bench in self._failing_as_whole(records, population, own):
            bench.failing.add(ordinal)
        for tally in tallies:
            for index, counts in _split_by_attribute(tally, len(self._on_values)):
                view = ClassView(records, counts, population)
                sizes = tuple(sorted(counts.values()))
                for bench in self._on_values[index]:
                    if not bench.holds(view, sizes):
                        bench.failing.add(ordinal)

    def _failing_as_whole(
        self, records: int, population: int | None, own: tuple[int, ...] | None
    ) -> list[_ModelCheck]:
        """Return the checks that a class fails whatever its values are."""
        case = (records, population, own)
        failing = self._failing.get(case)
        if failing is None:
            view = ClassView(records, {}, population)
            chosen = range(len(self._on_values)) if own is None else own
            benches = [*self._on_records, *(bench for index in chosen for bench in self._on_values[index])]
            failing = self._failing[case] = [bench for bench in benches if not bench.holds(view, ())]
        return failing

    def verdict(self, sizes: Collection[int], found: Mapping[str, int], malformed: int) -> Verdict:
        """Return the verdict on all classes checked, of these sizes; ``found`` counts forbidden content."""
        judgements = tuple(
            bench.judgement() if isinstance(bench, _ModelCheck) else bench for _, bench in self._benches
        )
        clean = not (found or malformed or self._not_judged)
        return Verdict(
            passed=clean and bool(judgements) and all(judgement.held for judgement in judgements),
            records=sum(sizes),
            classes=len(sizes),
            k=min(sizes, default=0),
            largest_class=max(sizes, default=0),
            k_raw=None,
            k_exempt=None,
            judgements=judgements,
            forbidden=dict(sorted(found.items())),
            malformed=malformed,
            not_judged=self._not_judged,
        )


def _benches(
    rules: JudgeRules, attributes: tuple[SensitiveValues, ...]
) -> list[tuple[int, _ModelCheck | Judgement]]:
    """Build a check for each model and attribute it is bound to, by the attribute's index (-1: records).

    If the model cannot be judged, the check is replaced by a Judgement.
    """
    found: list[tuple[int, _ModelCheck | Judgement]] = []
    for model, on in rules.models:
        if model.needs_population and rules.population is None:
            found.append((-1, Judgement(model.kind, None, None, reason="no population table was given")))
            continue
        if not model.per_attribute:
            found.append((-1, _ModelCheck(model, model.bind(None), None)))
            continue
        chosen = [i for i, attribute in enumerate(attributes) if on is None or attribute.rule.keys in on]
        if not chosen:
            found.append(
                (-1, Judgement(model.kind, None, None, reason="no sensitive attribute is declared for it"))
            )
        for index in chosen:
            attribute = attributes[index]
            try:
                constraint = model.bind(attribute.domain())
            except PolicyError as error:
                reason = (
                    f"values without a level: {attribute.uncovered}" if attribute.uncovered else str(error)
                )
                found.append((index, Judgement(model.kind, attribute.rule.path, None, reason=reason)))
            else:
                found.append((index, _ModelCheck(model, constraint, attribute.rule.path)))
    return found


def _split_by_attribute(tally: dict[int, int], attributes: int) -> Iterable[tuple[int, dict[int, int]]]:
    """Split the counts at one vertex by attribute."""
    apart: dict[int, dict[int, int]] = {}
    for joint, count in tally.items():
        code, index = divmod(joint, attributes)
        apart.setdefault(index, {})[code] = count
    return apart.items()
