"""The published form of sensitive values: what is published, its level, its numbers, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from hierdata.documents.document import Numeral, Scalar
from hierdata.documents.scalars import Double
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.levels import Levels, LevelScale
from hierdata.domains.publish import Publish
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.sensitive_forms import SensitiveForm
from hierdata.domains.taxonomy import Taxonomy
from hierdata.ground.errors import PolicyError
from hierdata.privacy import DeltaLDiversity, EpsilonMAnonymity
from hierdata.privacy.base import ClassView

TREE = {"*": {"lung": {"flu": ["flu A", "flu B"], "tb": []}, "skin": ["rash"]}}


def tree() -> Hierarchy:
    return Taxonomy(tree=TREE).compile({}, Path())


def levels(**stated: Any) -> LevelScale:
    return Levels.model_validate(stated).compile({})


def form(spec: Any, scale: LevelScale | None = None, taxonomy: Hierarchy | None = None) -> SensitiveForm:
    return Publish.model_validate(spec).compile(scale, taxonomy)


def test_what_is_published() -> None:
    bins, whole, rounded = form({"interval": 0.5}), form({"interval": 5}), form({"round": "0.2"})
    cases: list[tuple[SensitiveForm, Scalar, Scalar]] = [
        (bins, Numeral("3.22"), "[3.0, 3.5)"),
        (bins, "3.5", "[3.5, 4.0)"),
        (bins, Decimal("-0.1"), "[-0.5, 0.0)"),
        (whole, 1987, "[1985, 1989]"),
        (whole, -1, "[-5, -1]"),
        (form({"interval": 5, "decimals": True}), Decimal("7.5"), "[5, 10)"),
        (rounded, Decimal("0.7"), Decimal("0.8")),
        (rounded, "0.30", "0.4"),
        (rounded, Double("0.91"), Double("1.0")),
        (form("levels", levels(by={"a": 1, "b": 3})), "b", "level 3"),
        (form({"depth": 1}, None, tree()), "flu B", "lung"),
        (form({"depth": 2}, None, tree()), "flu B", "flu"),
        (form({"depth": 2}, None, tree()), "rash", "rash"),
    ]
    for own, value, published in cases:
        found = own.form_of(value)
        assert (found, type(found)) == (published, type(published))
        assert own.is_form(published)
        assert own.hides(value) == (value != "rash")
    for own, value in [(bins, "x"), (bins, True), (whole, Decimal("1.5")), (rounded, "")]:
        with pytest.raises(Uncovered):
            own.form_of(value)
    for own, value in [
        *((bins, one) for one in ("[3.0, 3.4)", "[3.0, 4.0)", "[3, 3.5)", "[3.1, 3.6)", 3, None)),
        *((rounded, one) for one in (Decimal("0.3"), "x", "", None)),
        *((form("levels", levels(by={"a": 1, "b": 3})), one) for one in ("level 4", "a", 3)),
        *((form({"depth": 1}, None, tree()), one) for one in ("flu", "flu A", "*", None)),
    ]:
        assert not own.is_form(value)


def test_a_value_without_a_level_has_no_form() -> None:
    scale = levels(domain=[0, 4], sensitive="low")
    for spec in ({"interval": 0.5}, {"round": 0.5}, "levels"):
        with pytest.raises(Uncovered):
            form(spec, scale).form_of(Decimal("4.2"))


def scales() -> list[LevelScale]:
    sets = [
        {"level": 1, "shape": [0, 0, 1, 3]},
        {"level": 3, "shape": [2, 3, 4]},
        {"level": 2, "shape": [4, 6, 8, 8]},
    ]
    return [
        levels(domain=[0, 4], sensitive="low"),
        levels(domain=[0, 4], sensitive="high"),
        levels(domain=[1, 3], sensitive="high", outside="clamp"),
        levels(sets=sets),
        levels(sets=sets, outside="clamp"),
        levels(by={"1": 2, "2.5": 5, "7": 1}),
    ]


@pytest.mark.parametrize("numbers", [40, pytest.param(400, marks=pytest.mark.full)])
def test_a_bin_has_the_most_sensitive_level_of_its_numbers(numbers: int) -> None:
    """The twin looks at many numbers of the bin, its beginning and what is written just below its end."""
    for scale, spec in product(scales(), ({"interval": "0.7"}, {"round": "0.7"}, {"interval": 2})):
        own = form(spec, scale)
        bins = set()
        for number in range(-5, 100):
            with suppress(Uncovered):
                bins.add(own.form_of(Decimal(number) / (1 if spec == {"interval": 2} else 10)))
        assert bins
        for published in bins:
            low, high, closed = own.extent(published)  # type: ignore[attr-defined]
            steps = numbers if not closed else int(high - low)
            inside = [low + Fraction(high - low) * at / steps for at in range(steps + closed)]
            shown = set()
            for one in inside:
                text = (
                    str(one)
                    if one.denominator == 1
                    else str(Decimal(one.numerator) / Decimal(one.denominator))
                )
                if scale.covers(text):
                    shown.add(scale.level(text))
            if "by" in scale.facts():
                shown |= {level for key, level in ((1, 2), (Fraction(5, 2), 5), (7, 1)) if low <= key < high}
            assert own.level(published) == max(shown)


def test_levels_of_nodes_and_of_levels() -> None:
    scale = levels(by={"flu A": 1, "flu B": 4, "tb": 2, "rash": 3})
    own = form({"depth": 1}, scale, tree())
    assert (own.level("lung"), own.level("skin")) == (4, 3)
    assert own.losses(["lung", "skin"]) == (Fraction(2, 3), 0)
    assert form("levels", scale).level("level 3") == 3
    with pytest.raises(Uncovered):
        form("levels", scale).level("level 5")


def smallest_distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return min(abs(a - b) for a in range(one[0], one[1] + 1) for b in range(other[0], other[1] + 1))


def test_distances_between_bins_are_the_least() -> None:
    """Bins of whole numbers; the twin compares all numbers that two bins may stand for."""
    random = Random(3)
    for _ in range(60):
        step = random.choice([2, 3, 5])
        own = form({"interval": step})
        starts = sorted(random.sample(range(-4, 12), 4))
        values = tuple(own.form_of(start * step) for start in starts)
        ends = [(start * step, start * step + step - 1) for start in starts]
        domain = SensitiveDomain("$.a", values, form=own)
        reach = random.choice([0, 1, 2, 4, 7])
        counts = {code: random.choice([0, 1, 3]) for code in range(4)}
        if not any(counts.values()):
            continue
        most = max(
            sum(counts[b] for b in range(4) if a == b or smallest_distance(ends[a], ends[b]) <= reach)
            for a in range(4)
            if counts[a]
        )
        view = ClassView(99, counts)
        expected = Fraction(sum(counts.values()), most)
        for model, letter in (
            (EpsilonMAnonymity(epsilon=reach, m=1), "m"),
            (DeltaLDiversity(delta=Fraction(reach, 2), l=1), "l"),
        ):
            assert model.bind(domain).achieved_parameters(view) == {letter: expected}


def test_losses_are_shares_of_the_domain() -> None:
    def losses(spec: Any, published: Sequence[Scalar], scale: LevelScale | None = None) -> list[str]:
        return [str(one) for one in form(spec, scale).losses(published)]

    assert losses({"interval": 0.5}, ["[0.0, 0.5)"], levels(domain=[0, 4], sensitive="low")) == ["1/8"]
    assert losses({"interval": 5}, ["[0, 4]", "[10, 14]"]) == ["2/7", "2/7"]
    assert losses({"round": 2}, [0, 8]) == ["1/5", "1/5"]
    assert losses("levels", ["level 1", "level 3"], levels(by={"a": 1, "b": 1, "c": 3})) == ["1/2", "0"]
    assert losses("levels", ["level 1"], levels(domain=[0, 4], sensitive="low")) == ["1/5"]
    assert losses({"round": 5}, [5]) == ["1"]


def test_bad_forms() -> None:
    for spec in (
        {},
        {"interval": 0},
        {"round": -1},
        {"round": "1/3"},
        {"depth": 0},
        {"round": 1, "depth": 1},
        3,
    ):
        with pytest.raises(ValidationError):
            Publish.model_validate(spec)
    with pytest.raises(ValidationError, match="decimals belongs to interval"):
        Publish.model_validate({"round": 1, "decimals": True})
    with pytest.raises(PolicyError, match="finer than the taxonomy"):
        form({"depth": 3}, None, tree())
