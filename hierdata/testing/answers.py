"""What a constraint says of one class: whether it holds, and the strongest parameters that hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from pydantic import ValidationError

from hierdata.privacy.base import ClassView, Constraint, PrivacyModel
from hierdata.testing.contract import require

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
    at = f"in a class of {view.records} records with {dict(view.counts)} values by code"
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
        require(not holds, f"{name} holds {at} but achieves nothing")
        return
    reached = _restate_achieved(model, achieved)
    if reached is None:
        return
    require(bind(reached).holds(view), f"what {name} achieves does not hold {at}")
    for letter, value in achieved.items():
        step = _stronger(model, letter, value)
        stronger = None if step is None else _restate_achieved(model, {**achieved, letter: step})
        require(
            stronger is None or not bind(stronger).holds(view),
            f"{name} achieves {letter} = {value} {at}, but a stronger {letter} holds too",
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
            at = int(level) - 1
            plain[stem] = (*plain[stem][:at], value, *plain[stem][at + 1 :])
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
