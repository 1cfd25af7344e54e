"""What every privacy model must keep."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

import hierdata.privacy
from hierdata.domains.similarity import is_transitive
from hierdata.privacy import MODELS, LEDiversity, PrivacyModel
from hierdata.privacy.base import ClassView, Constraint
from hierdata.privacy.grouping import GroupingModel
from hierdata.testing.answers import is_within
from tests.architecture.families import FAMILIES
from tests.cases import for_each
from tests.privacy.models import CASES, DOMAIN, MULTISETS, Twin, bound, values_of, views

MODELS_AND_TWINS = for_each("model, twin", CASES, member=lambda model, _: str(model.kind), few=1)
PARAMETERS = for_each("model", [model for model, _ in CASES], member=lambda model: str(model.kind))
FEW_OR_ALL = for_each("model", [model for model, _ in CASES], member=lambda model: str(model.kind), few=1)


def test_every_file_holds_models_and_every_model_is_tested() -> None:
    files = {path.stem for path in Path(hierdata.privacy.__file__).parent.glob("*.py")} - {"__init__", "base"}
    files -= FAMILIES["privacy"].helpers.keys()
    assert {model.__module__ for model in MODELS.values()} == {f"hierdata.privacy.{file}" for file in files}
    assert {model.kind for model, _ in CASES} == set(MODELS)
    for kind, model in MODELS.items():
        assert model.model_fields["kind"].default == kind
        counted = {one.by for one, _ in CASES if isinstance(one, GroupingModel) and one.kind == kind}
        ways = (
            get_args(GroupingModel.model_fields["by"].annotation) if issubclass(model, GroupingModel) else ()
        )
        assert counted == set(ways), "each way of counting"


@PARAMETERS
def test_parameters_are_frozen_closed_and_survive_json(model: PrivacyModel) -> None:
    plain = json.loads(model.model_dump_json())
    assert type(model).model_validate(plain) == model
    with pytest.raises(ValidationError):
        type(model).model_validate({**plain, "surprise": 1})
    with pytest.raises(ValidationError):
        model.kind = "other"


@PARAMETERS
def test_the_promise_is_one_line_of_sentences(model: PrivacyModel) -> None:
    assert model.promise().endswith(".")
    assert "\n" not in model.promise()


@MODELS_AND_TWINS
def test_holds_like_the_twin(model: PrivacyModel, twin: Twin) -> None:
    constraint = bound(model)
    for counts in MULTISETS:
        for view in views(counts):
            assert constraint.holds(view) == twin(view.records, values_of(counts)), view


@cache
def closed_under_union(model: PrivacyModel) -> bool:
    """Over all unions of small classes."""
    constraint = bound(model)
    small = [counts for counts in MULTISETS if all(count <= 2 for count in counts.values())]
    good = [view for counts in small for view in views(counts) if constraint.holds(view)]
    return all(
        constraint.holds(union)
        for a, b in combinations_with_replacement(good, 2)
        for union in _unions(model, a, b)
    )


@cache
def closed_under_pooling(model: PrivacyModel) -> bool:
    """Over all pools of two places of small classes."""
    constraint = bound(model)
    small = [counts for counts in MULTISETS if all(count <= 2 for count in counts.values())]
    good = [view for counts in small for view in views(counts) if constraint.holds(view)]
    return all(
        constraint.holds(ClassView(a.records, _sum(a.counts, b.counts), a.population))
        for a, b in combinations_with_replacement(good, 2)
        if (a.records, a.population) == (b.records, b.population)
    )


@FEW_OR_ALL
def test_a_model_that_says_so_survives_all_unions_and_pools(model: PrivacyModel) -> None:
    assert closed_under_union(model) or not bound(model).closed_under_union
    assert closed_under_pooling(model) or not bound(model).closed_under_pooling


@pytest.mark.full
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_is_not_closed_has_a_counterexample(kind: str) -> None:
    """With some parameters: l = 1 survives every union, whatever the model."""
    own = [model for model, _ in CASES if model.kind == kind]
    assert own, "no model without its unions"
    assert all(bound(model).closed_under_union for model in own) == all(map(closed_under_union, own))
    assert all(bound(model).closed_under_pooling for model in own) == all(map(closed_under_pooling, own))


def _unions(model: PrivacyModel, a: ClassView, b: ClassView) -> Iterator[ClassView]:
    """What is published of both fits everybody whom one of them fits, and perhaps others."""
    assert a.population is not None
    assert b.population is not None
    most = a.population + b.population
    for population in {max(a.population, b.population), most, most + 5} if model.needs_population else {None}:
        yield ClassView(a.records + b.records, _sum(a.counts, b.counts), population)


def _sum(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    return {code: a.get(code, 0) + b.get(code, 0) for code in a.keys() | b.keys()}


@PARAMETERS
def test_no_class_below_the_least_size_satisfies_it(model: PrivacyModel) -> None:
    constraint = bound(model)
    for counts in MULTISETS[1:]:
        for records in range(sum(counts.values()), constraint.min_class_size):
            protected = model.kind != "alpha-k" or getattr(model, "values", None) is None
            assert not (protected and constraint.holds(ClassView(records, counts)))


@PARAMETERS
def test_a_vertex_without_values_passes_in_a_class_of_the_least_size(model: PrivacyModel) -> None:
    people = 3 * bound(model).min_class_size if model.kind == "delta-presence" else 10**6
    floor = getattr(model, "delta_min", 0)
    assert bound(model).holds(ClassView(bound(model).min_class_size, {}, people)) == (floor <= Fraction(1, 3))


@PARAMETERS
def test_caps_say_what_holds_says(model: PrivacyModel) -> None:
    """Where no value is missing. Buckets of a relation that is not transitive ask for more (LE-2)."""
    constraint = bound(model)
    if constraint.caps is None:
        return
    ragged = isinstance(model, LEDiversity) and not is_transitive(DOMAIN.paths or (), model.e)
    assert constraint.caps.necessary or ragged
    for counts in MULTISETS:
        present = sum(counts.values())
        if present < constraint.min_class_size:
            continue
        held, within = constraint.holds(ClassView(present, counts)), is_within(constraint.caps, counts)
        assert held or not within or not constraint.caps.sufficient
        assert within or not held or not constraint.caps.necessary


@PARAMETERS
def test_equal_summaries_equal_answers(model: PrivacyModel) -> None:
    constraint = bound(model)
    answers: dict[object, object] = {}
    for counts in MULTISETS:
        view = ClassView(6, counts)
        answer = (constraint.holds(view), constraint.achieved_parameters(view) if counts else None)
        key = (constraint.summary(counts), bool(counts))
        assert answers.setdefault(key, answer) == answer


@FEW_OR_ALL
def test_achieved_is_the_strongest_that_holds(model: PrivacyModel) -> None:
    for counts in MULTISETS:
        for view in views(counts):
            achieved = bound(model).achieved_parameters(view)
            if not achieved:
                assert not counts or not bound(model).holds(view)
            nothing_holds = not achieved or 0 in (achieved.get("l"), achieved.get("distance"))
            assert nothing_holds or _bound_to(model, achieved).holds(view)
            for letter, value in achieved.items():
                for stronger in _stronger(model, letter, value):
                    assert not _bound_to(model, {**achieved, letter: stronger}).holds(view)


def _bound_to(model: PrivacyModel, achieved: dict[str, Fraction]) -> Constraint:
    """Many classes achieve the same."""
    return _bound(model, tuple(achieved.items()))


@cache
def _bound(model: PrivacyModel, achieved: tuple[tuple[str, Fraction], ...]) -> Constraint:
    return bound(_stated(model, dict(achieved)))


def _stated(model: PrivacyModel, achieved: dict[str, Fraction]) -> PrivacyModel:
    """The same model with what it is said to achieve as its parameters."""
    plain = model.model_dump(exclude_unset=True)
    for letter, value in achieved.items():
        stem, _, level = letter.partition("_")
        if letter == "distance":
            # Distances are halves, so just below one means a quarter below.
            plain["e"] = max(value - Fraction(1, 4), Fraction(0))
        elif level.isdigit():
            plain[stem] = (*plain[stem][: int(level) - 1], value, *plain[stem][int(level) :])
        else:
            # Whole parameters are stated as whole numbers; l = 0 says that no l holds.
            plain[letter] = max(1, int(value)) if isinstance(getattr(model, letter), int) else value
    return type(model).model_validate(plain)


def _stronger(model: PrivacyModel, letter: str, value: Fraction) -> list[Fraction]:
    if letter == "distance":
        return [value + Fraction(1, 4)]
    if letter.startswith("delta_"):
        return []  # its two bounds meet at what is achieved
    if letter == "delta" and model.kind == "delta-disclosure":
        return [value - Fraction(1, 10**6)] if value > Fraction(1, 10**6) else []
    if type(model).combine[letter.partition("_")[0]] == "max":
        return [value - value / 10**9] if value else []
    whole = isinstance(getattr(model, letter), int)
    return [value + 1] if whole else [value + Fraction(1, 10**6)]


@PARAMETERS
def test_achieved_letters_are_parameters_and_combine_to_the_weakest(model: PrivacyModel) -> None:
    left = bound(model).achieved_parameters(ClassView(4, {0: 2, 1: 1, 3: 1}))
    right = bound(model).achieved_parameters(ClassView(3, {1: 2, 2: 1}))
    letters = {letter if letter in type(model).combine else letter.partition("_")[0] for letter in left}
    assert letters <= set(type(model).combine) <= {*model.model_dump(), "distance"}
    both = model.weakest(left, right)
    for letter, value in both.items():
        pick = {"min": min, "max": max}[type(model).combine[letter.partition("_")[0]]]
        assert value == pick(left.get(letter, value), right.get(letter, value))
    assert model.weakest({}, left) == left == model.weakest(left, {})


def test_models_on_values_bind_to_a_domain_only() -> None:
    for model, _ in CASES:
        if model.per_attribute:
            with pytest.raises(TypeError):
                model.bind(None)


def test_the_entropy_twin_is_the_entropy() -> None:
    values = [0, 0, 0, 1, 1, 2]
    shares = [values.count(value) / len(values) for value in set(values)]
    reached = math.exp(-sum(share * math.log(share) for share in shares))
    model = MODELS["entropy-l-diversity"].model_validate({"l": 1})
    assert (
        abs(float(bound(model).achieved_parameters(ClassView(6, {0: 3, 1: 2, 2: 1}))["l"]) - reached) < 1e-6
    )
