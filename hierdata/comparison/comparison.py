"""The outcome of a comparison: one row a policy, which policy is better in everything, what promises cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

from hierdata.comparison.variants import Variant
from hierdata.points import JSON


@dataclass(frozen=True)
class ComparedPolicy:
    """A policy and the figures of its release.

    ``number`` counts from 1. ``policy`` is plain data that ``anonymize`` takes, its files relative to the
    stated policy's folder. ``refused`` says why there is no release; then the figures are 0 or empty.
    ``kept`` is the share of the worth of the input that is published, 0..1, by ``weight`` (None if nothing
    has a weight), ``kept_fields`` the same by field. ``worst_guess`` is by sensitive field the largest share
    of a class that shows, or could show, one value, 0..1. ``dominated_by`` are the numbers of the policies
    that are at least as good in everything (kept, each worst guess, the smallest class), and better in
    something. ``seconds`` of one processor were needed.
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

    @property
    def worst(self) -> Fraction | None:
        """The largest worst guess of any field; None without sensitive fields."""
        return max(self.worst_guess.values(), default=None)

    def dominates(self, other: ComparedPolicy) -> bool:
        """Return whether this is at least as good in everything, and better in something."""
        if self.refused is not None or other.refused is not None:
            return False
        paths = {*self.worst_guess, *other.worst_guess}
        none = Fraction(0)
        ours = (self.kept or none, self.smallest, *(-self.worst_guess.get(path, none) for path in paths))
        theirs = (other.kept or none, other.smallest, *(-other.worst_guess.get(path, none) for path in paths))
        return ours != theirs and all(a >= b for a, b in zip(ours, theirs, strict=True))


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


@dataclass(frozen=True, repr=False)
class PolicyComparison(Sequence[ComparedPolicy]):
    """The compared policies, as a sequence; a notebook shows them as a picture and a table."""

    policies: tuple[ComparedPolicy, ...]
    costs: tuple[PromiseCost, ...]

    @overload
    def __getitem__(self, at: int) -> ComparedPolicy: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ComparedPolicy, ...]: ...
    def __getitem__(self, at: int | slice) -> ComparedPolicy | tuple[ComparedPolicy, ...]:
        return self.policies[at]

    def __len__(self) -> int:
        return len(self.policies)

    def __iter__(self) -> Iterator[ComparedPolicy]:
        return iter(self.policies)

    def __repr__(self) -> str:
        best = sum(one.refused is None and not one.dominated_by for one in self)
        return f"<PolicyComparison of {len(self)} policies, {best} of them not dominated>"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat dict a policy, such as for a DataFrame; shares are floats."""
        return [
            {
                "number": one.number,
                "name": one.name,
                "refused": one.refused,
                "records": one.records,
                "published": one.published,
                "classes": one.classes,
                "smallest": one.smallest,
                "kept": _float(one.kept),
                "worst_guess": _float(one.worst),
                **{f"worst_guess.{path}": float(share) for path, share in one.worst_guess.items()},
                **{f"kept.{path}": float(share) for path, share in one.kept_fields.items()},
                "dominated_by": list(one.dominated_by),
                "seconds": one.seconds,
            }
            for one in self
        ]

    def _repr_html_(self) -> str:
        from hierdata.comparison.page import write_fragment

        return write_fragment(self)


def build_comparison(variants: Sequence[Variant], figures: Sequence[JSON]) -> PolicyComparison:
    """Put policies and their figures together; see who dominates whom, and what promises cost."""
    rows = [_row(at, *pair) for at, pair in enumerate(zip(variants, figures, strict=True), 1)]
    ranked = tuple(
        ComparedPolicy(
            **{
                **vars(one),
                "dominated_by": tuple(other.number for other in rows if other.dominates(one)),
            }
        )
        for one in rows
    )
    pairs = zip(variants, ranked, strict=True)
    costs = (_cost(ranked[0], one, own.without) for own, one in pairs if own.without is not None)
    return PolicyComparison(ranked, tuple(cost for cost in costs if cost is not None))


def _row(number: int, variant: Variant, figures: Mapping[str, Any]) -> ComparedPolicy:
    kept = figures.get("kept")
    return ComparedPolicy(
        number,
        variant.name,
        variant.policy,
        figures["refused"],
        *(figures.get(name, 0) for name in ("records", "published", "classes", "smallest")),
        None if kept is None else Fraction(kept),
        _fractions(figures.get("kept_fields", {})),
        _fractions(figures.get("worst_guess", {})),
        figures["seconds"],
    )


def _cost(stated: ComparedPolicy, weaker: ComparedPolicy, model: str) -> PromiseCost | None:
    if stated.refused is not None or weaker.refused is not None:
        return None
    none = Fraction(0)
    return PromiseCost(
        model,
        (weaker.kept or none) - (stated.kept or none),
        weaker.published - stated.published,
        {path: share - stated.worst_guess.get(path, none) for path, share in weaker.worst_guess.items()},
    )


def _fractions(found: Mapping[str, str]) -> dict[str, Fraction]:
    return {path: Fraction(share) for path, share in found.items()}


def _float(share: Fraction | None) -> float | None:
    return None if share is None else float(share)
