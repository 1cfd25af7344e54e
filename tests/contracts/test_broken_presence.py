"""hierdata.testing: a model that answers wrongly about presence is refused, with the part that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy import DistinctLDiversity, FrequencyLDiversity
from hierdata.privacy.base import BY_VALUE, ClassView, Constraint
from hierdata.privacy.presence import GroupPresence
from hierdata.testing import ContractError, check_model

Within = Literal["place", "record"]


class Careless(FrequencyLDiversity):
    """frequency-l-diversity, spoilt where it is asked for presence."""

    spoil: ClassVar[Callable[[Constraint], object]]

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        bound = super().bind_presence(domain, within, tied=tied)
        type(self).spoil(bound)
        return bound


class Pooled(Careless):
    """Two places may show a value of different records, so that their pool shows it more often."""

    @staticmethod
    def spoil(bound: Constraint) -> None:
        bound.closed_under_pooling = True


class Unread(Careless):
    """It does not say what it answers."""

    @staticmethod
    def spoil(bound: Constraint) -> None:
        bound.reading = BY_VALUE


class Unsized(Careless):
    """No class is small enough for it."""

    @staticmethod
    def spoil(bound: Constraint) -> None:
        bound.min_class_size = 0


class Decided(Careless):
    """Its caps do not know what it asks of the records."""

    @staticmethod
    def spoil(bound: Constraint) -> None:
        assert bound.caps is not None
        bound.caps = type(bound.caps)(bound.caps.group_of, (Fraction(0),) * len(bound.caps.share))


class _Values(GroupPresence):
    """It counts values where it should count the records that show them."""

    def count_records(self, view: ClassView) -> tuple[dict[int, int], int]:
        return dict(view.counts), view.present


class Counted(Careless):
    @staticmethod
    def spoil(bound: Constraint) -> None:
        bound.__class__ = _Values


class _Odd(GroupPresence):
    """It holds for an odd number of records alone."""

    def holds(self, view: ClassView) -> bool:
        return not view.present or view.records % 2 == 1

    def achieved_parameters(self, view: ClassView) -> Mapping[str, Fraction]:  # type: ignore[override]
        return {"odd": Fraction(view.records)} if view.present and view.records % 2 else {}


class Odd(Careless):
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min", "odd": "max"}
    letters: ClassVar[Mapping[str, str]] = {"l": "1 / the largest share", "odd": "the records"}

    @staticmethod
    def spoil(bound: Constraint) -> None:
        bound.__class__ = _Odd
        bound.caps = None


class Silent(FrequencyLDiversity):
    """It says nothing about presence."""

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        return "shares"


class Hidden(DistinctLDiversity):
    """It binds to presence, but does not say that it limits it."""

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        return self.bind(domain)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Pooled(l=2), "Pooled on presence is declared closed under pooling, but does not hold where records"),
        (Unread(l=2), "the reading of what bind_presence of Unread returns must be presence within place"),
        (Unsized(l=2), "min_class_size of Unsized on presence must be a whole number from 1 on, not 0"),
        (Decided(l=2), "caps of Decided on presence forbid .*, where it holds"),
        (Counted(l=2), "Counted on presence must count each record once|what Counted achieves"),
        (Odd(l=1), "Odd on presence is declared closed under unions, but does not hold"),
        (Silent(l=2), "promise_presence of Silent must be a sentence on one line"),
        (Hidden(l=2), "Hidden.bind_presence must raise TypeError, or limits_presence be True"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_a_model_that_is_wrong_about_presence_is_refused(model: FrequencyLDiversity, sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_model(model)
