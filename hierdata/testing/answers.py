"""What a constraint says of one class, and the forms in which models speak to engines.

Whether it holds, its strongest parameters, least class sizes and caps, checked by their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from pydantic import ValidationError

from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps, PrivacyModel
from hierdata.testing.contract import require, send_to_worker

_SMALL_STEP = Fraction(1, 10**6)


def check_answers(
    model: PrivacyModel,
    constraint: Constraint,
    view: ClassView,
    bind: Callable[[PrivacyModel], Constraint],
) -> None:
    """Check that what holds and what is achieved at one vertex agree; ``bind`` builds such a constraint."""
    name = type(model).__name__
    holds, achieved = constraint.holds(view), constraint.achieved_parameters(view)
    where = f"in a class of {view.records} records with {dict(view.counts)} values by code"
    require(isinstance(holds, bool), f"holds of {name} must return True or False")
    if model.per_attribute and not view.counts:
        enough = view.records >= constraint.min_class_size
        require(holds or not enough, f"{name} must hold if no value is present")
    letters = {letter if letter in model.combine else letter.partition("_")[0] for letter in achieved}
    require(letters <= set(model.combine), f"{name} achieves letters that its combine does not name")
    require(
        all(isinstance(value, Fraction) for value in achieved.values()),
        f"the achieved parameters of {name} must be Fractions, which are exact",
    )
    merged = model.weakest({}, achieved)
    require(
        merged == achieved == model.weakest(achieved, {}),
        f"weakest of {name} must keep letters that only one argument has",
    )
    if not view.counts and model.per_attribute:
        return
    if not achieved:
        require(not holds, f"{name} holds {where} but achieves nothing")
        return
    reached = _restate_achieved(model, achieved)
    if reached is None:
        return
    require(bind(reached).holds(view), f"what {name} achieves does not hold {where}")
    for letter, value in achieved.items():
        step = _stronger(model, letter, value)
        stronger = None if step is None else _restate_achieved(model, {**achieved, letter: step})
        require(
            stronger is None or not bind(stronger).holds(view),
            f"{name} achieves {letter} = {value} {where}, but a stronger {letter} holds too",
        )


def _restate_achieved(model: PrivacyModel, achieved: Mapping[str, Fraction]) -> PrivacyModel | None:
    """Return the model with the achieved values as parameters; None if they are not its parameters."""
    plain = model.model_dump(exclude_unset=True)
    for letter, value in achieved.items():
        stem, _, level = letter.partition("_")
        if letter in type(model).model_fields:
            whole = isinstance(getattr(model, letter), int)
            plain[letter] = int(value) if whole else value
        elif level.isdigit() and isinstance(plain.get(stem), tuple):
            index = int(level) - 1
            plain[stem] = (*plain[stem][:index], value, *plain[stem][index + 1 :])
        else:
            return None
    try:
        return type(model).model_validate(plain)
    except ValidationError:
        return None


def _stronger(model: PrivacyModel, letter: str, value: Fraction) -> Fraction | None:
    """Return a value stronger by one, or by a millionth, since irrational figures are rounded; or None."""
    stem = letter if letter in model.combine else letter.partition("_")[0]
    if isinstance(getattr(model, letter, None), int):
        return value + (1 if model.combine[stem] == "min" else -1)
    step = max(abs(value), Fraction(1)) * _SMALL_STEP
    if model.combine[stem] == "min":
        return value + step
    return value - step if value > step else None


def check_constraint(name: str, constraint: Constraint) -> None:
    """Check that a constraint, called ``name`` in messages, has a least class size and survives pickling."""
    require(send_to_worker(constraint) is not None, f"the constraint of {name} must survive pickling")
    least = constraint.min_class_size
    require(
        isinstance(least, int) and least >= 1,
        f"min_class_size of {name} must be a whole number from 1 on, not {least}",
    )


def check_caps(name: str, caps: FrequencyCaps, counts: Mapping[int, int], holds: bool) -> None:
    """Check that caps are sufficient and necessary, as they state, where a constraint ``holds`` or not."""
    within = is_within(caps, counts)
    require(
        holds or not within or not caps.sufficient,
        f"caps of {name} allow {dict(counts)}, where it does not hold; they are not sufficient",
    )
    require(
        within or not holds or not caps.necessary,
        f"caps of {name} forbid {dict(counts)}, where it holds; they are not necessary",
    )


def is_within(caps: FrequencyCaps, counts: Mapping[int, int]) -> bool:
    """Return whether counts satisfy caps, computed from the definition in FrequencyCaps."""
    groups = [0] * len(caps.share)
    for code, count in counts.items():
        groups[caps.group_of[code]] += count
    present = sum(groups)
    for group, count in enumerate(groups):
        low, high = caps.reach[group] if caps.reach else (group, group)
        together = sum(groups[low : high + 1])
        if count and (together > caps.share[group] * present or (caps.most and together > caps.most)):
            return False
    return True
