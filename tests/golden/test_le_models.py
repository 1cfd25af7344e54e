"""The worked examples of the paper on similar values that concern distance and model: package and twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hierdata.domains.sensitive import SensitiveDomain, path_in
from hierdata.domains.similarity import components, distance
from hierdata.domains.taxonomy import Taxonomy
from hierdata.privacy import LEDiversity
from hierdata.privacy.base import ClassView
from tests import naive_semantics as naive
from tests.golden.cases import Case, agrees, load

GOLDEN = load("le_diversity.json")
Parents = Mapping[str, str | None]


def parents_of(taxonomy: str | None, inline: Parents | None) -> Parents:
    parents: Parents = inline or GOLDEN.inputs["taxonomy_variants"][taxonomy]
    return parents


@dataclass(frozen=True)
class Package:
    """The package, asked about one tree of the file."""

    parents: Parents

    @property
    def domain(self) -> SensitiveDomain:
        def below(node: str) -> dict[str, Any]:
            return {child: below(child) for child, above in self.parents.items() if above == node}

        (root,) = (node for node, above in self.parents.items() if above is None)
        tree = Taxonomy(tree={"*": below(root)}, inner=True).compile({}, Path())
        values = tuple(node for node in self.parents if node != root)
        return SensitiveDomain("$.a", values, paths=tuple(path_in(tree, value) for value in values))

    def distance(self, a: str, b: str) -> Fraction:
        paths = dict(zip(self.domain.values, self.domain.paths or (), strict=True))
        return distance(paths[a], paths[b])

    def holds(self, values: list[str], least: int, e: Fraction) -> bool:
        domain = self.domain
        codes = [domain.code_of(value) for value in values]
        view = ClassView(len(values), {code: codes.count(code) for code in codes})
        return LEDiversity(l=least, e=e).bind(domain).holds(view)

    def bucket_of(self, values: list[str], e: Fraction) -> dict[str, int]:
        domain = self.domain
        own = list(dict.fromkeys(values))
        paths = [(domain.paths or ())[domain.code_of(value)] for value in own]
        return dict(zip(own, components(paths, e), strict=True))


@dataclass(frozen=True)
class Twin:
    """The twin, asked the same."""

    parents: Parents

    def distance(self, a: str, b: str) -> Fraction:
        return naive.distance(self.parents, a, b)

    def holds(self, values: list[str], least: int, e: Fraction) -> bool:
        return naive.l_e(self.parents, len(values), values, least, e)

    def bucket_of(self, values: list[str], e: Fraction) -> dict[str, int]:
        found = naive.buckets(self.parents, values, e)
        return {value: number for number, bucket in enumerate(found) for value in bucket}


Side = Callable[[Parents], Package | Twin]


def similarity(side: Side, a: str, b: str, taxonomy: str) -> Any:
    return side(parents_of(taxonomy, None)).distance(a, b)


def similarity_matrix(side: Side, values: list[str], taxonomy_inline: Parents) -> Any:
    asked = side(taxonomy_inline)
    return {f"{a}-{b}": asked.distance(a, b) for a, b in combinations(values, 2)}


def le_diversity_check(side: Side, taxonomy: str, classes: list[list[str]], l: int, e: str) -> Any:  # noqa: E741
    asked = side(parents_of(taxonomy, None))
    held = [asked.holds(values, l, Fraction(e)) for values in classes]
    return {"satisfied": all(held), "per_class": held}


def buckets(
    side: Side,
    e: str,
    taxonomy: str | None = None,
    taxonomy_inline: Parents | None = None,
    records: list[list[Any]] | None = None,
    values: list[str] | None = None,
) -> Any:
    """Of records their numbers, of values themselves."""
    named = [(row[0], row[-1]) for row in records] if records else [(value, value) for value in values or []]
    bucket_of = side(parents_of(taxonomy, taxonomy_inline)).bucket_of(
        [value for _, value in named], Fraction(e)
    )
    found: dict[int, list[Any]] = {}
    for name, value in named:
        found.setdefault(bucket_of[value], []).append(name)
    return list(found.values())


KINDS: dict[str, Callable[..., Any]] = {
    "similarity": similarity,
    "distance": similarity,
    "similarity_matrix": similarity_matrix,
    "le_diversity_check": le_diversity_check,
    "buckets": buckets,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("side", [Package, Twin], ids=lambda side: side.__name__.lower())
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case, side: Side) -> None:
    assert agrees(case.expected, KINDS[case.kind](side, **case.input))


def test_every_kind_has_cases() -> None:
    assert {case.kind for case in CASES} == set(KINDS)
    assert len(CASES) == 21
