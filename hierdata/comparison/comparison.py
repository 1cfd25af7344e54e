"""The outcome of a comparison: one row a policy, which policy is better in everything, what promises cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

from hierdata.comparison.rows import ComparedPolicy, PromiseCost, promises_as_much
from hierdata.comparison.variants import Variant
from hierdata.pipeline.points import JSON
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy


@dataclass(frozen=True, repr=False)
class PolicyComparison(Sequence[ComparedPolicy]):
    """The compared policies, as a sequence; a notebook shows them as a picture and a table."""

    policies: tuple[ComparedPolicy, ...]
    costs: tuple[PromiseCost, ...]

    @overload
    def __getitem__(self, index: int) -> ComparedPolicy: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ComparedPolicy, ...]: ...
    def __getitem__(self, index: int | slice) -> ComparedPolicy | tuple[ComparedPolicy, ...]:
        return self.policies[index]

    def __len__(self) -> int:
        return len(self.policies)

    def __iter__(self) -> Iterator[ComparedPolicy]:
        return iter(self.policies)

    def __repr__(self) -> str:
        best = sum(row.refused is None and not row.dominated_by for row in self)
        return f"<PolicyComparison of {len(self)} policies, {best} of them not dominated>"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat dict a policy, such as for a DataFrame; shares are floats."""
        return [row.as_row() for row in self]

    def _repr_html_(self) -> str:
        from hierdata.comparison.page import write_fragment

        return write_fragment(self.policies)


def build_comparison(variants: Sequence[Variant], figures: Sequence[JSON]) -> PolicyComparison:
    """Put policies and their figures together; see who dominates whom, and what promises cost."""
    rows = [_row(number, *pair) for number, pair in enumerate(zip(variants, figures, strict=True), 1)]
    stated = [from_data(variant.policy, variant.folder) for variant in variants]
    ranked = tuple(
        replace(row, dominated_by=tuple(_find_dominating(row, promise, zip(rows, stated, strict=True))))
        for row, promise in zip(rows, stated, strict=True)
    )
    pairs = zip(variants, ranked, strict=True)
    costs = (_cost(ranked[0], row, variant.without) for variant, row in pairs if variant.without is not None)
    return PolicyComparison(ranked, tuple(cost for cost in costs if cost is not None))


def _find_dominating(
    row: ComparedPolicy, promise: Policy, others: Iterable[tuple[ComparedPolicy, Policy]]
) -> Iterator[int]:
    """Yield the numbers of the policies that promise as much and have better figures."""
    for other, promised in others:
        if other.dominates(row) and promises_as_much(promised, promise):
            yield other.number


def _row(number: int, variant: Variant, figures: Mapping[str, Any]) -> ComparedPolicy:
    kept = figures.get("kept")
    return ComparedPolicy(
        number=number,
        name=variant.name,
        policy=variant.policy,
        refused=figures["refused"],
        records=figures.get("records", 0),
        published=figures.get("published", 0),
        classes=figures.get("classes", 0),
        smallest=figures.get("smallest", 0),
        kept=None if kept is None else Fraction(kept),
        kept_fields=_fractions(figures.get("kept_fields", {})),
        worst_guess=_fractions(figures.get("worst_guess", {})),
        seconds=figures["seconds"],
        risks=figures.get("risks", {}),
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


def _fractions(spelled: Mapping[str, str]) -> dict[str, Fraction]:
    return {path: Fraction(share) for path, share in spelled.items()}
