"""Single values of what is published, beside their slow twin, for all that may be known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from itertools import product
from typing import get_args

import numpy as np
import pytest

from hierdata.measurement.release.measuring import list_known_values
from hierdata.metrics import RISKS
from hierdata.metrics.rates import ValueRate
from hierdata.metrics.risk import Risk
from hierdata.metrics.tallies import tally
from hierdata.records.schema import KeyForm, Weight
from tests import naive_risks as naive
from tests.cases import first_few
from tests.contracts.test_discrimination_rate import BUILT, PARTITION, published, uncertainty
from tests.contracts.test_risks import as_it_stands
from tests.naive_joint import Reader, Table
from tests.random_collections import Collection


def figures(table: Table, usual: Table) -> list[tuple[float, ...]]:
    """Count, share, entropy, rate, refinement, divergence and distance of each key."""
    sums: Counter[Hashable] = Counter()
    for parts in table.values():
        sums.update(parts)  # type: ignore[arg-type]
    total, whole = sum(sums.values()), uncertainty(sums.values())  # type: ignore[arg-type]
    before = naive.altogether(usual)
    found = []
    for parts in table.values():
        size = sum(parts.values())
        left = uncertainty(parts.values())
        entropy = left / float(size) / math.log(2)
        rate = 1 - left / whole if len(sums) > 1 else 0
        refinement = 1 - left / float(size) / (whole / float(total)) if len(sums) > 1 else 0
        alone = {0: parts}
        apart = naive.divergence(alone, before), float(naive.distance(alone, before))
        found.append((float(size), float(size / total), entropy, rate, refinement, *apart))
    return sorted(found, key=digits)


def digits(own: tuple[float, ...]) -> tuple[float, ...]:
    """So that figures that differ in their last digit only are in one order."""
    return tuple(round(one, 9) + 0.0 for one in own)


def listed(own: ValueRate) -> tuple[float, ...]:
    named = (own.count, own.share, own.entropy, own.rate, own.refinement, own.divergence, own.distance)
    return tuple(map(float, named))


@pytest.mark.parametrize("built", first_few(2, BUILT), ids=range(len(BUILT)))
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("weight", get_args(Weight))
def test_the_figures_are_those_of_the_twin(built: Collection, together: bool, weight: Weight) -> None:
    forest = built.forest
    publication = published(built, together)
    shown, whole = Reader(publication, forest, together), Reader(as_it_stands(forest), forest, False)
    for kind, domains in enumerate(forest.domains):
        for (at, domain), form, semantic in product(enumerate(domains), get_args(KeyForm), (False, True)):
            if together and form == "record":  # the twin knows more of a vertex, which tells no more
                continue
            blocks = PARTITION.block_of(domain) if semantic else tuple(range(len(domain.values)))

            def block(v: int, at: int = at, blocks: tuple[int, ...] = blocks) -> int | None:
                code = int(forest.sensitive[forest.first_sensitive[v] + at])
                return blocks[code] if code >= 0 else None

            every = np.flatnonzero(forest.type == kind).tolist()
            usual = naive.one_each(forest, every, getattr(whole, form), block, weight)
            table = shown.table(kind, at, getattr(shown, form), blocks.__getitem__, weight)
            asked: dict[str, Risk] = {
                name: risk([domain.path], form, PARTITION if semantic else None, weight)
                for name, risk in RISKS.items()
            }
            tallies = tally(publication, forest, asked.values())
            (found,), names = list_known_values(
                publication, forest, {None: asked["discrimination_rate"]}, tallies
            )
            ours = sorted(map(listed, found.values.values()), key=digits)
            assert np.allclose(ours, figures(table, usual), atol=1e-12)
            assert len(ours) == len(table)
            known = sum(1 - Fraction(own.rate) for own in found.values.values())
            rate = asked["discrimination_rate"].figures(tallies)[0].value
            if len({value for parts in table.values() for value in parts}) > 1:
                assert math.isclose(known, 1 - rate, abs_tol=1e-12)  # erratum DR-7
            assert set(names) == set(found.keys)
