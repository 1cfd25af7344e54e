"""The rows of a comparison: a policy with its figures, and what a promise costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


@dataclass(frozen=True)
class ComparedPolicy:
    """A policy and the figures of its release.

    ``number`` counts from 1. ``policy`` is plain data that ``anonymize`` takes, its files relative to the
    stated policy's folder. ``refused`` says why there is no release; then the figures are 0 or empty.
    ``kept`` is the share of the worth of the input that is published, 0..1, by ``weight`` (None if nothing
    has a weight), ``kept_fields`` the same by field. ``worst_guess`` is by sensitive field the largest share
    of a class that shows, or could show, one value, 0..1. ``dominated_by`` are the numbers of the policies
    that promise as much, are at least as good in everything (kept, each worst guess, the smallest class), and
    better in something. ``risks`` are measured rates of right attacks, 0..1, by metric and figure, such as
    ``singling_out.everything``; empty unless the policy asks for them. ``seconds`` of one processor were
    needed.
    """

    number: int
    name: str
    policy: Mapping[str, Any]
    refused: str | None
    records: int
    published: int
    classes: int
    smallest: int
    kept: Fraction | None
    kept_fields: Mapping[str, Fraction]
    worst_guess: Mapping[str, Fraction]
    seconds: float
    dominated_by: tuple[int, ...] = ()
    risks: Mapping[str, float] = field(default_factory=dict)

    @property
    def worst(self) -> Fraction | None:
        """The largest worst guess of any field; None without sensitive fields."""
        return max(self.worst_guess.values(), default=None)

    def as_row(self) -> dict[str, Any]:
        """Return a flat dict; shares are floats."""
        return {
            "number": self.number,
            "name": self.name,
            "refused": self.refused,
            "records": self.records,
            "published": self.published,
            "classes": self.classes,
            "smallest": self.smallest,
            "kept": None if self.kept is None else float(self.kept),
            "worst_guess": None if self.worst is None else float(self.worst),
            **{f"worst_guess.{path}": float(share) for path, share in self.worst_guess.items()},
            **self.risks,
            **{f"kept.{path}": float(share) for path, share in self.kept_fields.items()},
            "dominated_by": list(self.dominated_by),
            "seconds": self.seconds,
        }

    def dominates(self, other: ComparedPolicy) -> bool:
        """Return whether the figures are at least as good in everything, and better in something."""
        if self.refused is not None or other.refused is not None:
            return False
        paths, none = [*self.worst_guess, *other.worst_guess], Fraction(0)
        ours, theirs = (
            (row.kept or none, Fraction(row.smallest), *(-row.worst_guess.get(path, none) for path in paths))
            for row in (self, other)
        )
        return ours != theirs and all(a >= b for a, b in zip(ours, theirs, strict=True))


def promises_as_much(ours: Policy, theirs: Policy) -> bool:
    """Return whether a policy promises all that another one does.

    Each model of the other has one of the same kind here, with parameters that are as strong. What else a
    promise depends on must be equal: who is a person, which fields are sensitive or exempt, and how values
    are read and published.
    """
    guarded = ours.guards_suppressed or not theirs.guards_suppressed
    alike = guarded and _bearing(ours) == _bearing(theirs)
    return alike and all(any(_is_as_strong(model, other) for model in ours.models) for other in theirs.models)


def _bearing(policy: Policy) -> tuple[object, ...]:
    """Return what else two policies must have in common for their promises to be compared."""
    traits = policy.recoding_traits
    judged = {
        keys: rule.model_dump(exclude={"weight"})
        for keys, (_, rule) in policy.rules_by_keys.items()
        if rule.role == "sensitive" or rule.exempt is not None
    }
    return traits.unit, traits.values, judged, policy.individual


def _is_as_strong(ours: Any, theirs: Any) -> bool:
    """Return whether a model is of the kind of another one, and no parameter is weaker."""
    return type(ours) is type(theirs) and all(
        _is_kept(theirs.combine.get(name), getattr(ours, name), getattr(theirs, name))
        for name in type(theirs).model_fields
    )


def _is_kept(direction: str | None, ours: Any, theirs: Any) -> bool:
    """Return whether a parameter is as strong: a ``min`` is a least number, a ``max`` a largest share."""
    if direction is None or None in (ours, theirs) or isinstance(ours, tuple):
        return bool(ours == theirs)
    return bool(ours >= theirs if direction == "min" else ours <= theirs)


@dataclass(frozen=True)
class PromiseCost:
    """What the stated policy loses by one of its models: ``kept``, and ``published`` records.

    They are what the policy without the model has more; ``worst_guess`` is by field what the model takes
    from the worst guess. Negative where the search found less without it.
    """

    model: str
    kept: Fraction
    published: int
    worst_guess: Mapping[str, Fraction]
