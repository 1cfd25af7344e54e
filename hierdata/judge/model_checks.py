"""Checks of classes by models: one for each model and each attribute that it is bound to."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from hierdata.ground.errors import PolicyError
from hierdata.judge.attribute import PlaceContent, RecordContent, SensitiveValues, Tally
from hierdata.judge.rules import Judgement, JudgeRules, Verdict
from hierdata.privacy.base import BY_VALUE, ClassView, Constraint, PrivacyModel


class _ModelCheck:
    """One model at one sensitive attribute. Vertices with equal summaries are decided once."""

    def __init__(self, model: PrivacyModel, constraint: Constraint, stated: Judgement) -> None:
        """Keep what is ``stated`` of the judgement before any class is judged."""
        self.model = model
        self.constraint = constraint
        self._stated = replace(stated, reading=constraint.reading)
        self.achieved: dict[str, Fraction] = {}
        self.failing: set[int] = set()
        self._decided: dict[object, bool] = {}
        self._by_sizes = type(constraint).summary is Constraint.summary

    def holds(self, view: ClassView, sizes: Hashable) -> bool:
        """Judge one vertex; ``sizes`` is the summary of its counts that most models use."""
        summary = sizes if self._by_sizes else self.constraint.summary(view.counts)
        # Only presence depends on what the single records show.
        sets = None if view.sets is None else frozenset(view.sets.items())
        case = (view.records, view.population, summary, sets, view.siblings)
        held = self._decided.get(case)
        if held is None:
            held = self._decided[case] = self.constraint.holds(view)
            self.achieved = self.model.weakest(self.achieved, self.constraint.achieved_parameters(view))
        return held

    def judgement(self) -> Judgement:
        """Return the result over all classes checked so far."""
        return replace(
            self._stated,
            held=not self.failing,
            achieved=self.achieved,
            failing_classes=len(self.failing),
        )


class ModelChecks:
    """All models of the rules, applied to one class after the other once all documents have been walked.

    ``knowledge`` is the judgement on bounded knowledge, if a model asks for it.
    """

    def __init__(
        self,
        rules: JudgeRules,
        attributes: tuple[SensitiveValues, ...],
        knowledge: Judgement | None = None,
    ) -> None:
        self._attributes = attributes
        self._checks = _build_checks(rules, attributes, knowledge)
        self._not_judged = rules.not_judged
        self._on_records: list[_ModelCheck] = []
        self._on_values: list[list[_ModelCheck]] = [[] for _ in attributes]
        self._in_records: list[list[_ModelCheck]] = [[] for _ in attributes]
        for index, check in self._checks:
            if isinstance(check, _ModelCheck):
                of_record = check.constraint.reading.of_record
                on_values = self._in_records if of_record else self._on_values
                (self._on_records if index < 0 else on_values[index]).append(check)
        self._failing: dict[object, list[_ModelCheck]] = {}
        self._tied = rules.ties_values
        self._paths = tuple(attribute.rule.path for attribute in attributes)
        self._guesses = [Fraction(0)] * len(attributes)

    def check_class(
        self,
        ordinal: int,
        records: int,
        places: Iterable[PlaceContent],
        whole: RecordContent | None,
        population: int | None = None,
        attributes: tuple[int, ...] | None = None,
    ) -> None:
        """Check every model on a class as a whole, and at each vertex with values of its attribute.

        ``whole`` are the values of its records at all places, None where these records are judged elsewhere.
        ``attributes`` are those that a member of the class may have (None: all).
        """
        for check in self._failing_as_whole(records, population, attributes):
            check.failing.add(ordinal)
        for place in places:
            self._check(ordinal, records, population, place, self._on_values)
        if whole is not None:
            at_all_places = PlaceContent(whole.anywhere, whole.sets)
            self._check(ordinal, records, population, at_all_places, self._in_records, whole.siblings)
            self._guess(records, whole)

    def check_group(self, ordinal: int, persons: int, values: Tally, attributes: Iterable[int]) -> None:
        """Check the models on values, of a group of persons that is no class of records.

        ``attributes`` are those that a member of the group may have.
        """
        apart = dict(_split_by_attribute(values, len(self._on_values)))
        for index in attributes:
            counts = apart.get(index, {})
            view, sizes = ClassView(persons, counts), tuple(sorted(counts.values()))
            for check in (*self._on_values[index], *self._in_records[index]):
                if not check.holds(view, sizes):
                    check.failing.add(ordinal)
        self._guess(persons, RecordContent(values))

    def _check(
        self,
        ordinal: int,
        records: int,
        population: int | None,
        content: PlaceContent,
        checks: Sequence[list[_ModelCheck]],
        siblings: Mapping[int, int] | None = None,
    ) -> None:
        """Check the values at one place, or those of the records as a whole, with their ``siblings``."""
        if not any(checks):
            return
        for index, counts in _split_by_attribute(content.tally, len(checks)):
            several = content.siblings if siblings is None else siblings.get(index, 1)
            view = ClassView(records, counts, population, content.sets.get(index), several)
            sizes = tuple(sorted(counts.values()))
            for check in checks[index]:
                if not check.holds(view, sizes):
                    check.failing.add(ordinal)

    def _guess(self, records: int, whole: RecordContent) -> None:
        """Note the largest share of the records of a class that show one value, or could."""
        most = [0] * len(self._guesses)
        for joint, count in whole.anywhere.items():
            index = joint % len(most)
            most[index] = max(most[index], count)
        for index, count in enumerate(most):
            if count:
                share = Fraction(min(count, records), max(records, 1))  # rows without persons are malformed
                self._guesses[index] = max(self._guesses[index], share)

    def _failing_as_whole(
        self, records: int, population: int | None, attributes: tuple[int, ...] | None
    ) -> list[_ModelCheck]:
        """Return the checks that a class fails whatever its values are."""
        case = (records, population, attributes)
        failing = self._failing.get(case)
        if failing is None:
            view = ClassView(records, {}, population)
            chosen = range(len(self._on_values)) if attributes is None else attributes
            on_values = (checks[index] for checks in (self._on_values, self._in_records) for index in chosen)
            checks = [*self._on_records, *chain.from_iterable(on_values)]
            failing = self._failing[case] = [check for check in checks if not check.holds(view, ())]
        return failing

    def verdict(self, sizes: Collection[int], forbidden: Mapping[str, int], malformed: int) -> Verdict:
        """Return the verdict on all classes checked, of these sizes; ``forbidden`` as in Verdict."""
        judgements = tuple(
            check.judgement() if isinstance(check, _ModelCheck) else check for _, check in self._checks
        )
        for attribute in self._attributes:
            forbidden = {**forbidden, **attribute.findings()}
        clean = not (forbidden or malformed or self._not_judged)
        return Verdict(
            passed=clean and bool(judgements) and all(judgement.held for judgement in judgements),
            records=sum(sizes),
            classes=len(sizes),
            k=min(sizes, default=0),
            largest_class=max(sizes, default=0),
            k_raw=None,
            k_exempt=None,
            judgements=judgements,
            forbidden=dict(sorted(forbidden.items())),
            malformed=malformed,
            not_judged=self._not_judged,
            worst_guess=dict(zip(self._paths, self._guesses, strict=True)),
        )


def _build_checks(
    rules: JudgeRules, attributes: tuple[SensitiveValues, ...], knowledge: Judgement | None
) -> list[tuple[int, _ModelCheck | Judgement]]:
    """Build a check for each model and attribute it is bound to, by the attribute's index (-1: records).

    If the model cannot be judged, the check is replaced by a Judgement.
    """
    checks: list[tuple[int, _ModelCheck | Judgement]] = []
    for model, on in rules.models:
        chosen = [i for i, attribute in enumerate(attributes) if on is None or attribute.rule.keys in on]
        stated = Judgement(model.kind, None, None)
        if model.needs_population and rules.population is None:
            checks.append((-1, replace(stated, reason="no population table was given")))
        elif model.bounds_knowledge and knowledge is not None:
            checks.append((-1, knowledge))
        elif not model.per_attribute:
            checks.append((-1, _ModelCheck(model, model.bind(None), stated)))
        elif not chosen:
            checks.append((-1, replace(stated, reason="no sensitive attribute is declared for it")))
        else:
            checks += ((index, _check_at(model, attributes[index], rules)) for index in chosen)
    return checks


def _check_at(model: PrivacyModel, attribute: SensitiveValues, rules: JudgeRules) -> _ModelCheck | Judgement:
    """Build the check of a model at an attribute; a Judgement if it cannot be judged there."""
    keys, reading, domain = attribute.rule.keys, attribute.rule.reading, attribute.domain()
    stated = Judgement(
        model.kind,
        attribute.rule.path,
        None,
        reading=reading if model.limits_presence else BY_VALUE,
        repeats=any(keys[:end] in rules.vertices for end in range(1, len(keys) + 1)),
        tied=rules.ties_values,
    )
    try:
        stated = replace(stated, resolved=model.resolve(domain))
        constraint = model.bind_reading(domain, reading, tied=rules.ties_values)
    except PolicyError as error:
        uncovered = attribute.uncovered
        return replace(stated, reason=f"values without a level: {uncovered}" if uncovered else str(error))
    return _ModelCheck(model, constraint, stated)


def _split_by_attribute(tally: Tally, attributes: int) -> Iterable[tuple[int, dict[int, int]]]:
    """Split the counts at one vertex by attribute."""
    apart: dict[int, dict[int, int]] = {}
    for joint, count in tally.items():
        code, index = divmod(joint, attributes)
        apart.setdefault(index, {})[code] = count
    return apart.items()
